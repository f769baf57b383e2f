"""Staleness is compared with its bound once it has been measured for long enough."""

from __future__ import annotations

import pytest

from upstream import InPlaceScheduler, ManualClock, UpdateQueue
from upstream.staleness import AgainstBound, against_bound, observed_seconds
from upstream.staleness.against_bound import WARM_UP_BOUNDS


@pytest.mark.parametrize("bound", [None, 0.0])
def test_there_is_nothing_to_compare_without_a_bound(bound: float | None) -> None:
    assert against_bound(1.0, bound, observed=1e9) == AgainstBound(None, is_warming_up=False)


def test_until_several_bounds_have_passed_it_is_warming_up() -> None:
    enough = 2.0 * WARM_UP_BOUNDS
    assert against_bound(3.0, 2.0, observed=0.99 * enough) == AgainstBound(None, True)
    assert against_bound(3.0, 2.0, observed=enough) == AgainstBound(1.5, False)


def test_a_mean_that_rises_to_the_bound_lacks_a_tenth_of_it_at_most_when_it_is_warm() -> None:
    bound = 2.0
    observed = WARM_UP_BOUNDS * bound
    # Staleness is the time since the start until it is the bound, and stays there.
    mean = (bound**2 / 2 + bound * (observed - bound)) / observed
    times, _ = against_bound(mean, bound, observed=observed)
    assert times is not None
    assert 0.9 < times < 1.0


def test_observed_seconds_is_the_mean_time_since_the_first_arrivals() -> None:
    clock = ManualClock()
    queue = UpdateQueue(InPlaceScheduler(), clock=clock)
    assert observed_seconds(queue.key_staleness()) == 0.0
    queue.enqueue("IBM", 1)
    clock.advance(3.0)
    queue.enqueue("GM", 1)
    queue.enqueue("IBM", 2)
    clock.advance(1.0)
    assert [row.known_seconds for row in queue.key_staleness()] == [4.0, 1.0]
    assert observed_seconds(queue.key_staleness()) == 2.5
