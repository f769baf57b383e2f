"""The parameters that both clients share."""

from __future__ import annotations

from random import Random

import httpx2
import pytest

from upstream import ManualClock, ParameterError
from upstream.client import RetryPolicy, ServiceUnreachableError, requests
from upstream.client.connection import (
    LIMITS,
    Connection,
    checked_headers,
    service_url,
    web_socket_url,
    without_password,
)


def connection(url: str = "http://a:1/b/", **given: float) -> Connection:
    parameters = {"timeout": 5.0} | given
    return Connection.to(
        url,
        timeout=parameters["timeout"],
        retries=2,
        headers={"Authorization": "Bearer t"},
        clock=ManualClock(100.0),
        random=Random(1),
    )


def test_the_path_follows_the_address() -> None:
    message = connection().message(requests.get("s", "x/y"))
    assert message.method == "GET"
    assert str(message.url) == "http://a:1/b/v1/streams/s/keys/x%2Fy"


def test_the_headers_of_the_client_go_with_those_of_the_request() -> None:
    message = connection().message(requests.put("s", "a", 1, None))
    assert message.headers["Authorization"] == "Bearer t"
    assert message.headers["Content-Type"] == "application/json"
    assert message.headers["Idempotency-Key"]
    assert message.content == b'{"key":"a","value":1}'


def test_a_request_that_waits_has_a_longer_timeout() -> None:
    timeout = connection().message(requests.dequeue("q", limit=1, wait=20.0)).extensions["timeout"]
    assert timeout == {"connect": 5.0, "read": 25.0, "write": 5.0, "pool": 5.0}


def test_an_answer_states_when_to_retry() -> None:
    response = httpx2.Response(503, headers={"Retry-After": "7"}, content=b"x")
    answer = connection().answer(response)
    assert (answer.status, answer.body, answer.retry_after) == (503, b"x", 7.0)
    date = {"Retry-After": "Thu, 01 Jan 1970 00:01:45 GMT"}
    assert connection().answer(httpx2.Response(503, headers=date)).retry_after == 5.0


def test_retries_are_a_number_or_a_policy() -> None:
    assert connection().retries == RetryPolicy(2)
    policy = RetryPolicy(7, first_delay=0.5)
    given = Connection.to(
        "http://a", timeout=1, retries=policy, headers=None, clock=None, random=None
    )
    assert given.retries is policy


@pytest.mark.parametrize("timeout", [0.0, -1.0, float("nan"), float("inf"), 1e300, "3", None])
def test_an_invalid_timeout_is_refused(timeout: float) -> None:
    with pytest.raises(ParameterError, match="timeout"):
        connection(timeout=timeout)


@pytest.mark.parametrize(
    "headers",
    [
        {"X": "\u2603"},
        {"X": "a\nb"},
        {"X": "a\rb"},
        {"X": "a\0"},
        {"X": 1},
        {"X Y": "a"},
        {"": "a"},
    ],
)
def test_headers_that_cannot_be_sent_are_refused(headers: dict[str, str]) -> None:
    with pytest.raises(ParameterError, match="header"):
        checked_headers(headers)


def test_headers_may_be_latin_1() -> None:
    message = Connection("http://a:1", headers=checked_headers({"X": "\u00e9"})).message(
        requests.streams()
    )
    assert (b"X", b"\xe9") in message.headers.raw


def test_a_password_is_sent_but_not_shown() -> None:
    one = connection("http://me:secret@a:1")
    assert one.message(requests.streams()).url.userinfo == b"me:secret"
    exchange = one.exchange(requests.streams())
    with pytest.raises(ServiceUnreachableError, match=r"http://me:\*\*\*@a:1") as caught:
        [exchange.after_failure("lost") for _ in "abc"]
    assert "secret" not in f"{caught.value} {caught.value.url}"


def test_calls_do_not_wait_for_one_another() -> None:
    assert LIMITS.max_connections is None


# Addresses


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


def test_a_host_may_have_other_letters_than_ascii() -> None:
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
