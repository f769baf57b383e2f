"""Usage is integrated exactly, and reading it changes nothing."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.memory.usage import MemoryUsage, UsageMeter


@pytest.fixture
def meter() -> UsageMeter:
    return UsageMeter(location_bytes=10, page_bytes=100)


def test_averages_equal_integrals_by_hand(meter: UsageMeter) -> None:
    # time   5    6      8     9       12    13    15
    # held      2     4     5      0      1     1
    # dirty     0     1     5      0      1     0
    # pages     1     2     2      0      1     1
    meter.change(5.0, 2, 0, 1)
    meter.change(6.0, 4, 1, 2)
    meter.change(8.0, 5, 5, 2)
    meter.change(9.0, 0, 0, 0)
    meter.change(12.0, 1, 1, 1)
    meter.change(13.0, 1, 0, 1)
    usage = meter.usage(15.0)
    assert usage.average_usage_locations == (2 + 2 * 4 + 5 + 1 + 2) / 10
    assert usage.average_usage_bytes == 18.0
    assert usage.average_page_usage_bytes == 100 * (1 + 2 * 2 + 2 + 1 + 2) / 10
    assert usage.average_effective_usage == pytest.approx((1 + 2 * 0.75 + 0 + 0 + 2) / 7)
    assert (usage.locations_live, usage.locations_held, usage.bytes_held) == (1, 1, 10)
    assert (usage.pages_in_use, usage.page_bytes_in_use) == (1, 100)


def test_nothing_is_held_and_nothing_is_dirty_before_the_first_event(meter: UsageMeter) -> None:
    assert meter.usage(100.0) == MemoryUsage(
        locations_live=0,
        locations_held=0,
        bytes_held=0,
        pages_in_use=0,
        page_bytes_in_use=0,
        average_usage_locations=0.0,
        average_usage_bytes=0.0,
        average_page_usage_bytes=0.0,
        average_effective_usage=1.0,
    )


def test_averages_are_the_values_themselves_where_no_time_has_passed(meter: UsageMeter) -> None:
    meter.change(3.0, 4, 1, 2)
    usage = meter.usage(3.0)
    assert usage.average_usage_locations == 4.0
    assert usage.average_page_usage_bytes == 200.0
    assert usage.average_effective_usage == 0.75


def test_time_begins_with_the_first_event(meter: UsageMeter) -> None:
    meter.change(1e9, 4, 0, 1)
    assert meter.usage(1e9 + 2).average_usage_locations == 4.0


def test_reading_the_usage_changes_nothing(meter: UsageMeter) -> None:
    meter.change(0.0, 3, 1, 1)
    later = meter.usage(10.0)
    meter.usage(4.0)
    assert meter.usage(10.0) == later


def test_an_event_with_an_earlier_time_counts_as_of_the_last_event(meter: UsageMeter) -> None:
    meter.change(2.0, 1, 0, 1)
    meter.change(1.0, 3, 0, 2)
    usage = meter.usage(4.0)
    assert usage.average_usage_locations == 3.0
    assert usage.locations_held == 3


def test_a_time_before_the_last_event_is_that_events(meter: UsageMeter) -> None:
    meter.change(1.0, 2, 0, 1)
    meter.change(2.0, 1, 0, 1)
    assert meter.usage(1.0) == meter.usage(2.0)


counts = st.integers(0, 9).flatmap(
    lambda held: st.tuples(st.just(held), st.integers(0, held), st.integers(0, 5))
)


@given(st.integers(0, 10**9), st.lists(st.tuples(counts, st.integers(0, 50)), min_size=1))
def test_averages_equal_those_computed_in_fractions(
    start: int, events: list[tuple[tuple[int, int, int], int]]
) -> None:
    meter = UsageMeter(location_bytes=10, page_bytes=100)
    now, held_seconds, location_seconds, page_seconds = start, 0, 0, 0
    effective_seconds = Fraction(0)
    for (held, dirty, pages), elapsed in events:
        meter.change(float(now), held, dirty, pages)
        now += elapsed
        location_seconds += held * elapsed
        page_seconds += pages * elapsed
        if held:
            held_seconds += elapsed
            effective_seconds += Fraction(held - dirty, held) * elapsed
    usage = meter.usage(float(now))
    if now > start:
        assert usage.average_usage_locations == location_seconds / (now - start)
        assert usage.average_usage_bytes == 10 * usage.average_usage_locations
        assert usage.average_page_usage_bytes == page_seconds / (now - start) * 100
    if held_seconds:
        effective = float(effective_seconds / held_seconds)
        assert usage.average_effective_usage == pytest.approx(effective, abs=1e-12)
