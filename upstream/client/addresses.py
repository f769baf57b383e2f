"""Addresses of the service: what the user gives, and what is made of it."""

from __future__ import annotations

from urllib.parse import urlsplit

from upstream.errors import ParameterError


def service_url(url: str) -> str:
    """Return the address of a service without a slash at its end; ParameterError if it is none.

    >>> service_url("http://127.0.0.1:8000/")
    'http://127.0.0.1:8000'
    """
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in {"http", "https"} and bool(parts.hostname)
        is_address = is_address and parts.port != 0 and not (parts.query or parts.fragment)
    except (ValueError, AttributeError, TypeError):
        is_address = False
    if not is_address:
        raise ParameterError(
            "url", url, "the address of the service, such as http://127.0.0.1:8000"
        )
    return url.rstrip("/")


def web_socket_url(url: str) -> str:
    """Return the address under which the same service is reached by websocket.

    >>> web_socket_url("https://example.org/upstream")
    'wss://example.org/upstream'
    """
    return "ws" + url.removeprefix("http")
