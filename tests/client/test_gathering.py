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
from upstream.client.exchange import Request
from upstream.client.gathering import Gathering, check_batch_seconds

LOST = ServiceUnreachableError("http://a", "lost", 1)
NEVER_SENT = ServiceUnreachableError("http://a", "refused", 1, may_have_arrived=False)
BUSY = ServiceUnavailableError(503, "Overloaded")
GONE = NotFoundError(404, "Unknown name")
POLICY = RetryPolicy(first_delay=1.0, longest_delay=8.0, longest_total=300.0)


def gathering(size: int = 3, clock: ManualClock | None = None) -> Gathering:
    clock = clock or ManualClock()
    return Gathering("s", size=size, clock=clock, policy=POLICY, random=Random(1))


def keys_of(request: Request[Counts] | None) -> list[object]:
    assert request is not None
    return [row[0] for row in msgspec.json.decode(request.body)]


def test_a_batch_is_full_when_it_has_enough() -> None:
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
    assert keys_of(one.next_request()) == ["a"]
    one.sent(Counts(waiting=1))
    assert not one.is_full
    assert keys_of(one.next_request()) == ["b"]


def test_what_piled_up_goes_in_batches_of_the_size() -> None:
    one = gathering(size=2)
    for key in "abcde":
        one.add(key, 1, None)
    found = []
    while (request := one.next_request()) is not None:
        found.append(keys_of(request))
        one.sent(Counts())
    assert found == [["a", "b"], ["c", "d"], ["e"]]


def test_the_oldest_update_says_when_a_batch_is_due() -> None:
    clock = ManualClock()
    one = gathering(clock=clock)
    assert one.due_in(3.0) is None
    one.add("a", 1, None)
    clock.advance(2.0)
    one.add("b", 2, None)
    assert one.due_in(3.0) == 1.0
    assert one.due_in(1.0) == 0.0
    assert one.next_request() is not None
    one.sent(Counts())
    assert one.due_in(3.0) is None


def test_a_batch_that_failed_is_due_after_a_while_that_grows() -> None:
    clock = ManualClock()
    one = gathering(clock=clock)
    one.add("a", 1, None)
    pauses = []
    for _ in range(3):
        one.next_request()
        one.failed(LOST)
        pauses.append(one.due_in(0.1) or 0.0)
    assert 0.5 <= pauses[0] <= 1.0
    assert 2.0 <= pauses[2] <= 4.0
    clock.advance(4.0)
    assert one.due_in(0.1) == 0.0


@pytest.mark.parametrize("error", [LOST, NEVER_SENT, BUSY, ServiceFailedError(500, "Oh")])
def test_a_batch_that_may_succeed_later_is_kept_with_its_key(error: ServiceError) -> None:
    one = gathering()
    one.add("a", 1, None)
    request = one.next_request()
    one.failed(error)
    again = one.next_request()
    assert request is not None
    assert again is not None
    assert (again.idempotency_key, again.body) == (request.idempotency_key, request.body)
    assert one.unconfirmed == 1


def test_the_retries_of_a_later_attempt_end_with_those_of_the_first() -> None:
    clock = ManualClock(1_000.0)
    one = gathering(clock=clock)
    one.add("a", 1, None)
    for _ in range(2):
        request = one.next_request()
        assert request is not None
        assert request.began_at == 1_000.0
        one.failed(LOST)
        clock.advance(100.0)


def test_a_batch_that_is_refused_is_dropped() -> None:
    one = gathering()
    one.add("a", 1, None)
    one.next_request()
    one.failed(GONE)
    assert one.next_request() is None
    assert one.due_in(1.0) is None


def test_a_batch_that_the_service_may_have_forgotten_is_dropped_and_that_is_raised() -> None:
    clock = ManualClock()
    one = gathering(clock=clock, size=2)
    one.add("a", 1, None)
    one.add("b", 1, None)
    one.next_request()
    one.failed(LOST)
    one.add("c", 1, None)
    clock.advance(300.0)
    assert keys_of(one.next_request()) == ["a", "b"]
    one.failed(NEVER_SENT)
    clock.advance(1.0)
    with pytest.raises(OutcomeUnknownError, match="may or may not have been applied") as caught:
        one.next_request()
    assert (caught.value.updates, caught.value.seconds) == (2, 301.0)
    assert keys_of(one.next_request()) == ["c"]
    one.sent(Counts(waiting=1))
    assert one.unconfirmed == 2


def test_a_batch_that_the_service_never_had_may_become_as_old_as_it_likes() -> None:
    clock = ManualClock()
    one = gathering(clock=clock)
    one.add("a", 1, None)
    for _ in range(3):
        assert keys_of(one.next_request()) == ["a"]
        one.failed(NEVER_SENT)
        clock.advance(1_000.0)


def test_a_batch_whose_sending_was_cut_short_may_have_arrived() -> None:
    clock = ManualClock()
    one = gathering(clock=clock)
    one.add("a", 1, None)
    one.next_request()  # its outcome is never reported
    clock.advance(301.0)
    with pytest.raises(OutcomeUnknownError):
        one.next_request()


def test_a_failure_in_the_background_is_raised_once() -> None:
    one = gathering()
    one.note(LOST)
    with pytest.raises(ServiceUnreachableError):
        one.raise_failure()
    one.raise_failure()


def test_a_failure_that_passed_is_forgotten_once_its_batch_was_sent() -> None:
    one = gathering()
    one.add("a", 1, None)
    one.next_request()
    one.failed(LOST)
    one.note(LOST)
    one.next_request()
    one.sent(Counts(waiting=1))
    one.raise_failure()
    one.note(LOST)
    one.raise_failure(but_passing=True)


def test_a_refusal_is_not_forgotten_for_what_passes() -> None:
    one = gathering()
    for failure in (LOST, GONE, LOST):
        one.note(failure)
    with pytest.raises(NotFoundError):
        one.raise_failure(but_passing=True)


def test_a_request_has_all_updates_in_their_order() -> None:
    one = gathering()
    one.add("a", [1, {"x": None}], None)
    one.add(("b", 1), msgspec.Raw(b"1.0"), 2.5)
    request = one.next_request()
    assert request is not None
    assert request.body == b'[["a",null,[1,{"x":null}]],[["b",1],2.5,1.0]]'


def test_what_was_not_sent_comes_again_with_its_key_and_before_all_else() -> None:
    one = gathering()
    one.add("a", 1, None)
    lost = one.next_request()
    one.add("b", 2, None)
    assert one.next_request() == lost
    one.sent(Counts(waiting=1))
    following = one.next_request()
    assert following is not None
    assert following.body == b'[["b",null,2]]'


def test_what_was_sent_is_counted_and_rejections_keep_their_places() -> None:
    one = gathering()
    for keys in ("abc", "de"):
        for key in keys:
            one.add(key, 1, None)
        assert one.next_request() is not None
        one.sent(Counts(waiting=1, rejected=1, rejections=[Rejection(1, "x")]))
    assert one.next_request() is None
    assert one.counts == Counts(
        waiting=2, rejected=2, rejections=[Rejection(1, "x"), Rejection(4, "x")]
    )


def test_a_dropped_batch_keeps_its_places_among_the_updates() -> None:
    one = gathering()
    one.add("a", 1, None)
    one.next_request()
    one.failed(GONE)
    assert one.next_request() is None
    one.add("b", 1, None)
    one.next_request()
    one.sent(Counts(rejected=1, rejections=[Rejection(0, "x")]))
    assert one.counts.rejections == [Rejection(1, "x")]


def test_what_cannot_be_sent_is_refused_as_it_is_added() -> None:
    one = gathering()
    one.add("a", 1, None)
    with pytest.raises(ValueNotEncodableError):
        one.add("b", math.nan, None)
    request = one.next_request()
    assert request is not None
    assert request.body == b'[["a",null,1]]'


def test_a_size_or_a_time_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(ParameterError, match="batch_size"):
        gathering(size=0)
    for seconds in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(ParameterError, match="batch_seconds"):
            check_batch_seconds(seconds)
    check_batch_seconds(None)
    check_batch_seconds(0.001)
