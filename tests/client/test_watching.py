"""One watch over all of its connections, without any network."""

from __future__ import annotations

from random import Random
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosedError, InvalidStatus
from websockets.frames import Close
from websockets.http11 import Response

from upstream import ManualClock, ParameterError
from upstream.client import (
    AnswerNotUnderstoodError,
    NotFoundError,
    ReceivedUpdate,
    RequestRefusedError,
    RetryPolicy,
    ServiceUnreachableError,
    WatchMessage,
)
from upstream.client.connection import Connection
from upstream.client.watching import OnLost, Watching, WatchOptions
from upstream.push_limits import MOST_WINDOW

UPDATE = b'{"key":"a","value":1,"time":2}'


def watching(
    options: WatchOptions | None = None,
    *,
    retries: int = 2,
    reconnects: int | None = None,
    clock: ManualClock | None = None,
    on_lost: OnLost | None = None,
) -> Watching:
    connection = Connection(
        "http://a:1/b",
        timeout=3.0,
        retries=RetryPolicy(retries, first_delay=1.0, longest_delay=8.0),
        headers={"X": "y"},
        clock=clock or ManualClock(),
        random=Random(1),
    )
    options = options or WatchOptions()
    return Watching(connection, "q", options, reconnects=reconnects, on_lost=on_lost)


def query(address: str) -> list[tuple[str, str]]:
    return parse_qsl(urlsplit(address).query)


def refused(status: int, body: bytes = b"", **headers: str) -> InvalidStatus:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return InvalidStatus(Response(status, "", Headers(named), bytearray(body)))


def closed(code: int, why: str = "") -> ConnectionClosedError:
    return ConnectionClosedError(Close(code, why), None, None)


def test_a_connection_is_opened_to_the_socket_of_the_queue() -> None:
    one = watching()
    assert one.address() == "ws://a:1/b/v1/queues/q/socket?"
    assert one.connect_options()["open_timeout"] == 3.0
    assert one.connect_options()["additional_headers"] == {"X": "y"}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            WatchOptions(window=3, keys=["A*", "ü"], snapshot=False),
            [("window", "3"), ("keys", "A*"), ("keys", "ü"), ("snapshot", "false")],
        ),
        (
            WatchOptions(max_rate=2.5, max_rate_per_key={"GOOG": 1.0, "G*:&": 0.1}),
            [
                ("max_rate", "2.5"),
                ("max_rate_per_key", "GOOG:1.0"),
                ("max_rate_per_key", "G*:&:0.1"),
            ],
        ),
        (WatchOptions(max_rate_per_key=0.5), [("max_rate_per_key", "0.5")]),
        (
            WatchOptions(max_rate=np.float64(2.5), max_rate_per_key={"a": np.float64(0.5)}),
            [("max_rate", "2.5"), ("max_rate_per_key", "a:0.5")],
        ),
    ],
    ids=["keys", "rates by pattern", "a rate for all keys", "NumPy"],
)
def test_the_options_are_in_the_query(
    options: WatchOptions, expected: list[tuple[str, str]]
) -> None:
    assert query(watching(options).address()) == expected


def test_one_pattern_is_not_a_list_of_letters() -> None:
    with pytest.raises(ParameterError, match="keys"):
        WatchOptions(keys="GO*")


def test_a_watch_may_ask_for_an_end_instead_of_conflation() -> None:
    assert WatchOptions(conflate="never").query("", snapshot=True) == "conflate=never"
    assert WatchOptions(conflate="auto").query("", snapshot=True) == ""
    with pytest.raises(ParameterError, match="conflate"):
        WatchOptions(conflate="always")  # type: ignore[arg-type]


def test_patterns_from_a_generator_last_for_all_connections() -> None:
    one = watching(WatchOptions(keys=(letter for letter in "ab")))
    assert query(one.address()) == query(one.address())
    assert ("keys", "b") in query(one.address())


def test_the_next_connection_continues_after_the_last_message() -> None:
    one = watching()
    message = one.received('{"updates":[{"key":"a","value":1,"time":2}],"id":"r-7"}')
    assert isinstance(message, WatchMessage)
    assert message.updates[0].key == "a"
    assert ("last_event_id", "r-7") in query(one.address())
    one.received(b'{"updates":[],"id":"r-9","reset":true}')
    assert ("last_event_id", "r-9") in query(one.address())


def test_a_connection_lost_before_its_first_message_is_followed_by_a_snapshot() -> None:
    one = watching(WatchOptions(snapshot=False))
    assert ("snapshot", "false") in query(one.address())
    one.after_loss(OSError("refused"))
    assert ("snapshot", "false") in query(one.address())
    one.connected()
    one.after_loss(OSError("lost"))
    assert ("snapshot", "false") not in query(one.address())
    one.received('{"updates":[],"id":"r-1"}')
    assert ("snapshot", "false") in query(one.address())
    assert ("last_event_id", "r-1") in query(one.address())


@pytest.mark.parametrize("window", [0, -1, MOST_WINDOW + 1])
def test_a_window_out_of_bounds_is_refused_at_once(window: int) -> None:
    with pytest.raises(ParameterError, match=f"window must be .* from 1 to {MOST_WINDOW}"):
        WatchOptions(window=window)


def test_updates_that_were_left_out_are_counted() -> None:
    one = watching()
    assert one.received('{"updates":[],"id":"r-7","superseded":3}').superseded == 3
    assert one.received('{"updates":[],"id":"r-8"}').superseded == 0
    one.received('{"updates":[],"id":"r-9","superseded":4}')
    assert one.superseded == 7


def test_kept_updates_are_returned_one_by_one_or_together() -> None:
    one = watching()
    one.keep(one.received(b'{"updates":[%s],"id":"r-7"}' % b",".join([UPDATE] * 3)))
    assert one.next_update() == ReceivedUpdate("a", 1, 2.0)
    rest = one.rest()
    assert rest is not None
    assert (len(rest.updates), rest.id, rest.is_reset) == (2, "r-7", False)
    assert one.rest() is None
    assert one.next_update() is None


def test_credit_is_owed_once_for_each_message() -> None:
    one = watching()
    assert not one.takes_credit()
    one.received('{"updates":[]}')
    assert [one.takes_credit(), one.takes_credit()] == [True, False]
    one.received('{"updates":[]}')
    one.connected()
    assert not one.takes_credit()


def test_a_message_that_cannot_be_parsed_is_refused() -> None:
    with pytest.raises(AnswerNotUnderstoodError):
        watching().received("hello")


def test_the_first_connection_is_attempted_as_often_as_any_request() -> None:
    one = watching(retries=2)
    assert 0.5 <= one.after_loss(OSError("refused")) <= 1.0
    assert 1.0 <= one.after_loss(OSError("refused")) <= 2.0
    with pytest.raises(ServiceUnreachableError) as caught:
        one.after_loss(OSError("refused"))
    assert (caught.value.attempts, caught.value.reason) == (3, "refused")


def test_later_connections_are_attempted_without_limit_and_with_bounded_delays() -> None:
    one = watching(retries=0)
    one.connected()
    delays = [one.after_loss(OSError()) for _ in range(100)]
    assert delays[0] <= 1.0
    assert 4.0 <= delays[-1] <= 8.0


def test_the_number_of_attempts_in_a_row_can_be_limited() -> None:
    one = watching(reconnects=1)
    one.connected()
    one.after_loss(OSError())
    with pytest.raises(ServiceUnreachableError):
        one.after_loss(OSError())


def test_a_message_restarts_the_count_of_attempts() -> None:
    one = watching(reconnects=1)
    for _ in range(3):
        one.connected()
        one.received('{"updates":[],"id":"r-1"}')
        assert one.after_loss(OSError()) <= 1.0


def test_only_a_connection_that_lasts_restarts_the_count_of_attempts() -> None:
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


@pytest.mark.parametrize(
    "error",
    [
        *(closed(code) for code in (1000, 1001, 1006, 1011, 1012, 1013)),
        *(ConnectionClosedError(None, None, None), TimeoutError()),
    ],
    ids=["1000", "1001", "1006", "1011", "1012", "1013", "broken", "too late"],
)
def test_a_lost_connection_is_opened_again(error: Exception) -> None:
    assert watching().after_loss(error) > 0


@pytest.mark.parametrize("code", [1002, 1003, 1007, 1008, 4000, 4404])
def test_a_connection_that_was_closed_on_purpose_is_not_opened_again(code: int) -> None:
    with pytest.raises(RequestRefusedError, match="the queue was removed") as caught:
        watching().after_loss(closed(code, "the queue was removed"))
    assert caught.value.status == code


def test_a_missing_queue_is_raised_at_once() -> None:
    with pytest.raises(NotFoundError, match="no such queue"):
        watching().after_loss(refused(404, b'{"title":"Unknown name","detail":"no such queue"}'))


def test_a_queue_that_existed_may_be_created_again() -> None:
    one = watching(reconnects=1)
    one.connected()
    gone = refused(404, b'{"title":"Unknown name","detail":"no such queue"}')
    assert one.after_loss(gone) > 0
    assert isinstance(one.meaning(gone), NotFoundError)
    with pytest.raises(NotFoundError, match="no such queue"):
        one.after_loss(gone)


def test_deleting_a_watched_queue_raises_not_found() -> None:
    one = watching()
    one.connected()
    with pytest.raises(NotFoundError, match="the queue was deleted"):
        one.after_loss(closed(1001, "the queue was deleted"))


def test_a_busy_service_decides_the_delay() -> None:
    assert watching().after_loss(refused(503, Retry_After="20")) == 20.0
    assert watching().after_loss(refused(502)) <= 1.0
    with pytest.raises(ServiceUnreachableError):
        watching().after_loss(refused(503, Retry_After="3600"))
