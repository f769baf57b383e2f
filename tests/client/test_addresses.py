"""Addresses of the service: which are taken, and what is made of them."""

from __future__ import annotations

import pytest

from upstream import ParameterError
from upstream.client.addresses import service_url, web_socket_url, without_password


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("https://example.org/", "https://example.org"),
        ("http://example.org/up/stream/", "http://example.org/up/stream"),
        ("http://[::1]:8000", "http://[::1]:8000"),
    ],
)
def test_an_address_loses_its_last_slash(given: str, url: str) -> None:
    assert service_url(given) == url


@pytest.mark.parametrize(
    "given",
    [
        *("", "127.0.0.1:8000", "localhost:8000", "ftp://example.org", "http://"),
        *("http://example.org:99999", "http://example.org?x=1", "http://example.org#x"),
        *("http://[::1", "http://example.org:port"),
        *("http://exa mple.org", "http://a\x7f.org", "http://example.org/\x01", "http://a\nb"),
        *("http://\u2603..org", "http://-\u2603-.org", "http://a..b", f"http://{'a' * 70}.org"),
        "http://" + "a" * 70_000,
    ],
)
def test_an_invalid_address_is_refused(given: str) -> None:
    with pytest.raises(ParameterError, match=r"such as http://127\.0\.0\.1:8000"):
        service_url(given)


def test_an_address_that_is_not_text_is_refused() -> None:
    with pytest.raises(ParameterError):
        service_url(None)  # type: ignore[arg-type]


def test_hosts_beyond_ascii_are_taken() -> None:
    assert service_url("http://m\u00fcnchen.de/") == "http://m\u00fcnchen.de"


def test_a_password_is_not_shown() -> None:
    assert without_password("http://me:se/c@ret@a:1/b") == "http://me:***@a:1/b"
    assert without_password("http://a:1/b") == "http://a:1/b"
    assert without_password(None) is None
    with pytest.raises(ParameterError) as caught:
        service_url("http://me:secret@a:1?x=1")
    assert "secret" not in f"{caught.value} {caught.value.value}"


def test_a_websocket_is_as_secure_as_the_service() -> None:
    assert web_socket_url("http://a:1/b") == "ws://a:1/b"
    assert web_socket_url("https://a:1/b") == "wss://a:1/b"
