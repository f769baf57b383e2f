"""How fast things happen in a queue."""

from __future__ import annotations

from upstream.cli.queue_rates import Look, rates_between
from upstream.client import Counters, Staleness

STALE = Staleness(queue_staleness=0.5, present_queue_staleness=0.7, lower_bound=0.4, ratio=1.25)


def test_rates_are_differences_by_time() -> None:
    before = Counters(arrived=10, dequeued=4, superseded=3, late=1, waiting=2)
    now = Counters(arrived=30, dequeued=10, superseded=13, late=2, shed=1, rejected=2, waiting=6)
    rates = rates_between("q", Look(5.0, before, Staleness()), Look(7.0, now, STALE))
    assert (rates.in_per_second, rates.out_per_second) == (10.0, 3.0)
    assert (rates.superseded_per_second, rates.dropped_per_second) == (5.0, 2.0)
    assert (rates.queue, rates.waiting) == ("q", 6)
    assert (rates.staleness, rates.present_staleness) == (0.5, 0.7)
    assert (rates.lower_bound, rates.times_the_bound) == (0.4, 1.25)


def test_there_are_no_rates_before_the_second_look() -> None:
    look = Look(5.0, Counters(arrived=10, waiting=3), STALE)
    for rates in (rates_between("q", None, look), rates_between("q", look, look)):
        assert rates.in_per_second is None
        assert rates.dropped_per_second is None
        assert rates.waiting == 3


def test_of_a_queue_that_was_made_again_the_rates_are_not_known() -> None:
    before = Look(0.0, Counters(arrived=10, dequeued=5), STALE)
    now = Look(2.0, Counters(arrived=20, dequeued=1, waiting=19), STALE)
    rates = rates_between("q", before, now)
    assert (rates.in_per_second, rates.out_per_second, rates.waiting) == (None, None, 19)
    assert rates.superseded_per_second is None


def test_of_windows_the_windows_are_counted_and_the_updates_that_came() -> None:
    before = Counters(windows={"committed": 1, "held": 1}, tuples={"arrived": 10})
    windows = {"committed": 4, "superseded": 2, "shed": 1, "rejected": 1, "held": 5}
    now = Counters(windows=windows, tuples={"arrived": 50})
    rates = rates_between("q", Look(0.0, before, STALE), Look(2.0, now, STALE))
    assert (rates.waiting, rates.in_per_second, rates.out_per_second) == (5, 20.0, 1.5)
    assert (rates.superseded_per_second, rates.dropped_per_second) == (1.0, 1.0)
