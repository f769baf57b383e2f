"""What the tests of the client share: a real service."""

from .service_fixtures import client, name, service_url

__all__ = ["client", "name", "service_url"]
