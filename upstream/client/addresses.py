"""Addresses of the service: checked, as websocket addresses, and as shown in messages."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import httpx2

from upstream.errors import ParameterError


def service_url(url: str) -> str:
    """Return the address of a service without a trailing slash; ParameterError if it is invalid.

    >>> service_url("http://127.0.0.1:8000/")
    'http://127.0.0.1:8000'
    """
    try:
        is_address = _is_address(url)
    except (ValueError, AttributeError, TypeError, httpx2.InvalidURL):
        is_address = False
    if not is_address:
        raise ParameterError(
            "url",
            without_password(url),
            "the address of the service, such as http://127.0.0.1:8000",
        )
    return url.rstrip("/")


def web_socket_url(url: str) -> str:
    """Return the websocket address of the same service.

    >>> web_socket_url("https://example.org/upstream")
    'wss://example.org/upstream'
    """
    return "ws" + url.removeprefix("http")


def without_password(url: object) -> object:
    """Return an address with its password masked, for messages.

    >>> without_password("http://me:secret@example.org")
    'http://me:***@example.org'
    """
    if not isinstance(url, str):
        return url
    return re.sub(r"//([^/@:]*):.*@", r"//\1:***@", url)


def _is_address(url: str) -> bool:
    if not url.isprintable() or " " in url:  # urlsplit silently removes some of these
        return False
    httpx2.URL(url).raw_host.decode("ascii").encode("idna")  # as the name resolver does it
    parts = urlsplit(url)
    is_address = parts.scheme in {"http", "https"} and bool(parts.hostname)
    return is_address and parts.port != 0 and not (parts.query or parts.fragment)
