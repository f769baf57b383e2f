"""Where connections begin."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.push.resume import (
    TICKS_PER_SECOND,
    Beginning,
    arrival_of,
    beginning_of,
    id_of,
    sequence_before,
)
from api.push.selection import Selection, SelectionError
from api.service import Service
from tests.api.push.setting import define, make_service, put
from upstream import TOMBSTONE, ManualClock, Update


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(1_000.0)


@pytest.fixture
def service(clock: ManualClock) -> Service:
    return make_service(clock)


@pytest.mark.parametrize("of_queue", [True, False])
def test_a_connection_begins_with_the_newest_values_however_its_queue_began(
    service: Service, of_queue: bool
) -> None:
    feed = define(service, snapshot=of_queue)
    assert beginning_of(Selection(), feed) == Beginning(snapshot=True)
    assert beginning_of(Selection(snapshot=True), feed) == Beginning(snapshot=True)


def test_a_connection_may_begin_with_the_next_update(service: Service) -> None:
    assert beginning_of(Selection(snapshot=False), define(service)) == Beginning()


def test_an_id_of_this_run_is_where_to_go_on(service: Service, clock: ManualClock) -> None:
    feed = define(service)
    put(feed, IBM=1, GM=2, GOOG=3)
    clock.advance(1)
    stopped = id_of(feed.stream.run, sequence_before(clock.now()))
    feed.stream.delete("GM")
    feed.stream.delete("GOOG")
    beginning = beginning_of(Selection(last_event_id=stopped, key_patterns=("G?", "I*")), feed)
    assert beginning.snapshot
    assert beginning.since == pytest.approx(clock.now(), abs=1e-5)
    assert beginning.deletions == (Update("GM", TOMBSTONE, 1_000.0),)
    assert not beginning.is_reset


def test_an_id_of_another_stream_is_answered_with_a_snapshot(
    service: Service, clock: ManualClock
) -> None:
    feed, other = define(service), define(service, "other")
    stopped = id_of(other.stream.run, sequence_before(clock.now()))
    beginning = beginning_of(Selection(last_event_id=stopped), feed)
    assert beginning == Beginning(snapshot=True, is_reset=True)


@pytest.mark.parametrize(
    "message_id", ["cafe-999999999", "nonsense", "{run}-x", "{run}-9999999999"]
)
def test_any_other_id_is_answered_with_a_snapshot(service: Service, message_id: str) -> None:
    feed = define(service)
    selection = Selection(last_event_id=message_id.format(run=feed.stream.run))
    assert beginning_of(selection, feed) == Beginning(snapshot=True, is_reset=True)


def test_an_id_from_before_the_record_of_deletions_is_answered_with_a_snapshot(
    service: Service, clock: ManualClock
) -> None:
    too_old = sequence_before(clock.now())
    clock.advance(1)
    feed = define(service)
    selection = Selection(last_event_id=id_of(feed.stream.run, too_old))
    assert beginning_of(selection, feed) == Beginning(snapshot=True, is_reset=True)


def test_a_stream_that_keeps_no_values_cannot_begin_with_them(service: Service) -> None:
    feed = define(service, retain=False)
    assert beginning_of(Selection(), feed) == Beginning()
    with pytest.raises(SelectionError, match="snapshot"):
        beginning_of(Selection(snapshot=True), feed)
    stopped = id_of(feed.stream.run, sequence_before(1_000.0))
    assert beginning_of(Selection(last_event_id=stopped), feed) == Beginning(is_reset=True)


NOW = 1e6
ARRIVALS = st.floats(min_value=1.0, max_value=NOW)


@given(ARRIVALS)
def test_a_sequence_is_before_the_arrival_however_it_is_rounded(arrival: float) -> None:
    sequence = sequence_before(arrival)
    assert sequence / TICKS_PER_SECOND < arrival < sequence / TICKS_PER_SECOND + 3e-6


@given(ARRIVALS)
def test_an_id_tells_where_to_go_on(arrival: float) -> None:
    told = arrival_of(id_of("5eb6", sequence_before(arrival)), run="5eb6", now=NOW)
    assert told is not None
    assert told < arrival


def test_before_the_beginning_is_the_beginning() -> None:
    assert sequence_before(0.0) == sequence_before(-5.0) == 0


@pytest.mark.parametrize(
    "message_id",
    [
        *("", "-", "5eb6", "5eb6-", "5eb6-x", "5eb6--1", "-5", "cafe-5", "5eb6-1-5"),
        *("5eb6-٣", "5eb6-1.5", "5eb6-" + "9" * 500),
    ],
)
def test_an_id_of_another_run_has_no_arrival(message_id: str) -> None:
    assert arrival_of(message_id, run="5eb6", now=math.inf) is None


def test_an_id_of_the_future_has_no_arrival() -> None:
    message_id = id_of("5eb6", sequence_before(10.0))
    assert arrival_of(message_id, run="5eb6", now=9.0) is None
    assert arrival_of(message_id, run="5eb6", now=10.0) is not None


def test_a_run_may_have_dashes() -> None:
    assert arrival_of("a-b-1000000", run="a-b", now=2.0) == 1.0
