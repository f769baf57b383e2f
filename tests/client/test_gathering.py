"""Updates gathered into batches, without the sending."""

from __future__ import annotations

import math
from random import Random

import msgspec
import pytest

from upstream import ManualClock, ParameterError, ValueNotEncodableError
from upstream.client import (
    Counts,
    NotFoundError,
    OutcomeUnknownError,
    Rejection,
    RetryPolicy,
    ServiceError,
    ServiceFailedError,
    ServiceUnavailableError,
    ServiceUnreachableError,
)
from upstream.client.bodies import BODY_BYTES
from upstream.client.connection import Connection
from upstream.client.exchange import Request
from upstream.client.gathering import Gathering, check_batch_seconds

LOST = ServiceUnreachableError("http://a", "lost", 1)
NEVER_SENT = ServiceUnreachableError("http://a", "refused", 1, may_have_arrived=False)
BUSY = ServiceUnavailableError(503, "Overloaded")
GONE = NotFoundError(404, "Unknown name")
POLICY = RetryPolicy(first_delay=1.0, longest_delay=8.0, longest_total=300.0)


def gathering(*keys: str, size: int = 3, clock: ManualClock | None = None) -> Gathering:
    """Return the state of a feed to which an update of each key was added."""
    clock = clock or ManualClock()
    connection = Connection("http://a", retries=POLICY, clock=clock, random=Random(1))
    one = Gathering(connection, "s", size)
    for key in keys:
        one.add(key, 1, None)
    return one


def requested(one: Gathering) -> Request[Counts]:
    """Return the next request, of which there must be one."""
    request = one.next_request()
    assert request is not None
    return request


def keys_of(request: Request[Counts]) -> list[object]:
    return [row[0] for row in msgspec.json.decode(request.body)]


def test_a_batch_is_full_when_it_has_enough_updates() -> None:
    one = gathering(size=2)
    assert one.add("a", 1, None) == 1
    assert not one.is_full
    assert one.add("b", 2, None) == 2
    assert one.is_full


def test_a_batch_is_full_when_it_is_long_enough() -> None:
    one = gathering(size=1_000)
    one.add("a", "x" * (BODY_BYTES // 2), None)
    assert not one.is_full
    one.add("b", "x" * (BODY_BYTES // 2), None)
    assert one.is_full
    assert keys_of(requested(one)) == ["a"]
    one.sent(Counts(waiting=1))
    assert not one.is_full
    assert keys_of(requested(one)) == ["b"]


def test_updates_that_piled_up_are_sent_in_batches_of_the_given_size() -> None:
    one = gathering(*"abcde", size=2)
    found = []
    while (request := one.next_request()) is not None:
        found.append(keys_of(request))
        one.sent(Counts())
    assert found == [["a", "b"], ["c", "d"], ["e"]]


def test_the_oldest_update_decides_when_a_batch_is_due() -> None:
    clock = ManualClock()
    one = gathering(clock=clock)
    assert one.due_in(3.0) is None
    one.add("a", 1, None)
    clock.advance(2.0)
    one.add("b", 2, None)
    assert one.due_in(3.0) == 1.0
    assert one.due_in(1.0) == 0.0
    requested(one)
    one.sent(Counts())
    assert one.due_in(3.0) is None


def test_the_delay_of_a_failed_batch_grows_with_each_failure() -> None:
    clock = ManualClock()
    one = gathering("a", clock=clock)
    pauses = []
    for _ in range(3):
        requested(one)
        one.failed(LOST)
        pauses.append(one.due_in(0.1) or 0.0)
    assert 0.5 <= pauses[0] <= 1.0
    assert 2.0 <= pauses[2] <= 4.0
    clock.advance(4.0)
    assert one.due_in(0.1) == 0.0


@pytest.mark.parametrize("error", [LOST, NEVER_SENT, BUSY, ServiceFailedError(500, "Oh")])
def test_a_batch_that_may_succeed_later_is_kept_with_its_idempotency_key(
    error: ServiceError,
) -> None:
    one = gathering("a")
    request = requested(one)
    one.failed(error)
    again = requested(one)
    assert (again.idempotency_key, again.body) == (request.idempotency_key, request.body)
    assert one.unconfirmed == 1


def test_the_time_limit_for_retries_counts_from_the_first_attempt() -> None:
    clock = ManualClock(1_000.0)
    one = gathering("a", clock=clock)
    for _ in range(2):
        assert requested(one).began_at == 1_000.0
        one.failed(LOST)
        clock.advance(100.0)


def test_a_refused_batch_is_dropped_and_later_rejections_keep_their_places() -> None:
    one = gathering("a")
    requested(one)
    one.failed(GONE)
    assert one.next_request() is None
    assert one.due_in(1.0) is None
    one.add("b", 1, None)
    requested(one)
    one.sent(Counts(rejected=1, rejections=[Rejection(0, "x")]))
    assert one.counts.rejections == [Rejection(1, "x")]


def test_a_batch_that_the_service_may_no_longer_recognise_is_dropped_with_an_error() -> None:
    clock = ManualClock()
    one = gathering("a", "b", clock=clock, size=2)
    requested(one)
    one.failed(LOST)
    one.add("c", 1, None)
    clock.advance(300.0)
    assert keys_of(requested(one)) == ["a", "b"]
    one.failed(NEVER_SENT)
    clock.advance(1.0)
    with pytest.raises(OutcomeUnknownError, match="may or may not have been applied") as caught:
        one.next_request()
    assert (caught.value.updates, caught.value.seconds) == (2, 301.0)
    assert keys_of(requested(one)) == ["c"]
    one.sent(Counts(waiting=1))
    assert one.unconfirmed == 2


def test_a_batch_that_never_arrived_is_repeated_however_old_it_is() -> None:
    clock = ManualClock()
    one = gathering("a", clock=clock)
    for _ in range(3):
        assert keys_of(requested(one)) == ["a"]
        one.failed(NEVER_SENT)
        clock.advance(1_000.0)


def test_a_batch_whose_sending_was_interrupted_may_have_arrived() -> None:
    clock = ManualClock()
    one = gathering("a", clock=clock)
    requested(one)  # its outcome is never reported
    clock.advance(301.0)
    with pytest.raises(OutcomeUnknownError):
        one.next_request()


def test_a_failure_in_the_background_is_raised_once() -> None:
    one = gathering()
    one.note(LOST)
    with pytest.raises(ServiceUnreachableError):
        one.raise_failure()
    one.raise_failure()


def test_a_passing_failure_is_forgotten_once_its_batch_was_sent() -> None:
    one = gathering("a")
    requested(one)
    one.failed(LOST)
    one.note(LOST)
    requested(one)
    one.sent(Counts(waiting=1))
    one.raise_failure()
    one.note(LOST)
    one.raise_failure(but_passing=True)


def test_a_passing_failure_does_not_replace_a_refusal() -> None:
    one = gathering()
    for failure in (LOST, GONE, LOST):
        one.note(failure)
    with pytest.raises(NotFoundError):
        one.raise_failure(but_passing=True)


def test_a_request_has_all_updates_in_their_order() -> None:
    one = gathering()
    one.add("a", [1, {"x": None}], None)
    one.add(("b", 1), msgspec.Raw(b"1.0"), 2.5)
    assert requested(one).body == b'[["a",null,[1,{"x":null}]],[["b",1],2.5,1.0]]'


def test_an_unsent_batch_is_requested_again_before_later_updates() -> None:
    one = gathering("a")
    lost = requested(one)
    one.add("b", 2, None)
    assert requested(one) == lost
    one.sent(Counts(waiting=1))
    assert requested(one).body == b'[["b",null,2]]'


def test_counts_add_up_and_rejections_keep_their_places() -> None:
    one = gathering()
    for keys in ("abc", "de"):
        for key in keys:
            one.add(key, 1, None)
        requested(one)
        one.sent(Counts(waiting=1, rejected=1, rejections=[Rejection(1, "x")]))
    assert one.next_request() is None
    assert one.counts == Counts(
        waiting=2, rejected=2, rejections=[Rejection(1, "x"), Rejection(4, "x")]
    )


def test_a_value_that_cannot_be_sent_is_refused_when_it_is_added() -> None:
    one = gathering("a")
    with pytest.raises(ValueNotEncodableError):
        one.add("b", math.nan, None)
    assert requested(one).body == b'[["a",null,1]]'


def test_an_invalid_size_or_time_is_refused() -> None:
    with pytest.raises(ParameterError, match="batch_size"):
        gathering(size=0)
    for seconds in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(ParameterError, match="batch_seconds"):
            check_batch_seconds(seconds)
    check_batch_seconds(None)
    check_batch_seconds(0.001)
