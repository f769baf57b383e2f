"""Updates gathered into batches, without the sending."""

from __future__ import annotations

import math

import msgspec
import pytest

from upstream import ManualClock, ParameterError, ValueNotEncodableError
from upstream.client import Counts, Rejection
from upstream.client.gathering import Gathering, check_batch_seconds


def gathering(size: int = 3, clock: ManualClock | None = None) -> Gathering:
    return Gathering("s", size=size, clock=clock or ManualClock())


def test_a_batch_is_full_when_it_has_enough() -> None:
    one = gathering(size=2)
    assert one.add("a", 1, None) == 1
    assert not one.is_full
    assert one.add("b", 2, None) == 2
    assert one.is_full


def test_the_age_is_that_of_the_oldest() -> None:
    clock = ManualClock()
    one = gathering(clock=clock)
    assert one.age() is None
    one.add("a", 1, None)
    clock.advance(2.0)
    one.add("b", 2, None)
    assert one.age() == 2.0
    assert one.next_request() is not None
    assert one.age() is None


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
    assert one.next_request() is lost
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


def test_what_is_given_up_keeps_its_places() -> None:
    one = gathering()
    one.add("a", 1, None)
    one.next_request()
    one.gave_up()
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
