"""One watch over all of its connections, without any network."""

from __future__ import annotations

from random import Random
from urllib.parse import parse_qsl, urlsplit

import pytest
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosedError, InvalidStatus
from websockets.frames import Close
from websockets.http11 import Response

from upstream import ManualClock, ParameterError
from upstream.client import (
    AnswerNotUnderstoodError,
    NotFoundError,
    RequestRefusedError,
    RetryPolicy,
    ServiceUnreachableError,
    WatchMessage,
)
from upstream.client.watching import Watching, WatchOptions


def watching(
    options: WatchOptions | None = None,
    *,
    retries: int = 2,
    reconnects: int | None = None,
    clock: ManualClock | None = None,
) -> Watching:
    return Watching(
        "http://a:1",
        "q",
        options or WatchOptions(),
        policy=RetryPolicy(retries, first_delay=1.0, longest_delay=8.0),
        reconnects=reconnects,
        random=Random(1),
        now=(clock or ManualClock()).now,
    )


def query(address: str) -> list[tuple[str, str]]:
    return parse_qsl(urlsplit(address).query)


def refused(status: int, body: bytes = b"", **headers: str) -> InvalidStatus:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return InvalidStatus(Response(status, "", Headers(named), bytearray(body)))


def closed(code: int, why: str = "") -> ConnectionClosedError:
    return ConnectionClosedError(Close(code, why), None, None)


def test_a_connection_is_to_the_socket_of_the_queue() -> None:
    address = watching().address()
    assert address.startswith("ws://a:1/v1/queues/q/socket?")
    assert query(address) == [("window", "8"), ("snapshot", "true")]


def test_the_options_are_in_the_query() -> None:
    options = WatchOptions(
        window=3,
        max_rate=2.5,
        max_rate_per_key={"GOOG": 1.0, "G*:&": 0.1},
        keys=["A*", "ü"],
        snapshot=False,
    )
    assert query(watching(options).address()) == [
        ("window", "3"),
        ("max_rate", "2.5"),
        ("max_rate_per_key", "GOOG:1.0"),
        ("max_rate_per_key", "G*:&:0.1"),
        ("keys", "A*"),
        ("keys", "ü"),
        ("snapshot", "false"),
    ]


def test_one_rate_is_that_of_every_key() -> None:
    options = WatchOptions(max_rate_per_key=0.5)
    assert ("max_rate_per_key", "0.5") in query(watching(options).address())


def test_one_pattern_is_not_a_list_of_letters() -> None:
    with pytest.raises(ParameterError, match="keys"):
        WatchOptions(keys="GO*")


def test_patterns_may_come_from_anything_and_last_for_all_connections() -> None:
    one = watching(WatchOptions(keys=(letter for letter in "ab")))
    assert query(one.address()) == query(one.address())
    assert ("keys", "b") in query(one.address())


def test_the_next_connection_goes_on_after_the_last_message() -> None:
    one = watching()
    message = one.received('{"updates":[{"key":"a","value":1,"time":2}],"id":"r-7"}')
    assert isinstance(message, WatchMessage)
    assert message.updates[0].key == "a"
    assert ("last_event_id", "r-7") in query(one.address())
    one.received(b'{"updates":[],"id":"r-9","reset":true}')
    assert ("last_event_id", "r-9") in query(one.address())


def test_a_message_of_somebody_else_is_not_understood() -> None:
    with pytest.raises(AnswerNotUnderstoodError):
        watching().received("hello")


def test_the_first_connection_is_tried_as_often_as_any_request() -> None:
    one = watching(retries=2)
    assert 0.5 <= one.after_loss(OSError("refused")) <= 1.0
    assert 1.0 <= one.after_loss(OSError("refused")) <= 2.0
    with pytest.raises(ServiceUnreachableError) as caught:
        one.after_loss(OSError("refused"))
    assert (caught.value.attempts, caught.value.reason) == (3, "refused")


def test_later_ones_are_tried_for_ever_with_delays_that_grow_no_further() -> None:
    one = watching(retries=0)
    one.connected()
    delays = [one.after_loss(OSError()) for _ in range(100)]
    assert delays[0] <= 1.0
    assert 4.0 <= delays[-1] <= 8.0


def test_later_ones_are_tried_so_often_in_a_row() -> None:
    one = watching(reconnects=1)
    one.connected()
    one.after_loss(OSError())
    with pytest.raises(ServiceUnreachableError):
        one.after_loss(OSError())


def test_a_message_ends_the_row() -> None:
    one = watching(reconnects=1)
    for _ in range(3):
        one.connected()
        one.received('{"updates":[],"id":"r-1"}')
        assert one.after_loss(OSError()) <= 1.0


def test_a_connection_that_lasts_ends_the_row_and_a_short_one_does_not() -> None:
    clock = ManualClock()
    one = watching(reconnects=1, clock=clock)
    for _ in range(3):
        one.connected()
        clock.advance(8.0)
        assert one.after_loss(OSError()) <= 1.0
    one.connected()
    clock.advance(7.9)
    with pytest.raises(ServiceUnreachableError):
        one.after_loss(OSError())


@pytest.mark.parametrize("code", [1000, 1001, 1006, 1011, 1012, 1013])
def test_a_connection_that_ended_is_made_again(code: int) -> None:
    assert watching().after_loss(closed(code)) > 0


@pytest.mark.parametrize("code", [1002, 1003, 1007, 1008, 4000, 4404])
def test_a_connection_that_was_ended_on_purpose_is_not(code: int) -> None:
    with pytest.raises(RequestRefusedError, match="the queue was removed") as caught:
        watching().after_loss(closed(code, "the queue was removed"))
    assert caught.value.status == code


def test_a_connection_that_broke_is_made_again() -> None:
    assert watching().after_loss(ConnectionClosedError(None, None, None)) > 0
    assert watching().after_loss(TimeoutError()) > 0


def test_a_queue_that_is_not_there_is_said_at_once() -> None:
    with pytest.raises(NotFoundError, match="no such queue"):
        watching().after_loss(refused(404, b'{"title":"Unknown name","detail":"no such queue"}'))


def test_a_service_that_is_busy_is_given_the_time_it_asks_for() -> None:
    assert watching().after_loss(refused(503, Retry_After="20")) == 20.0
    assert watching().after_loss(refused(502)) <= 1.0
    with pytest.raises(ServiceUnreachableError):
        watching().after_loss(refused(503, Retry_After="3600"))
