"""What routes find around them: the service that the application runs."""

from __future__ import annotations

from fastapi import Request

from ..service import Service


def service_of(request: Request) -> Service:
    """Return the service that the application runs."""
    service = request.app.state.service
    assert isinstance(service, Service), "an application without its service"
    return service
