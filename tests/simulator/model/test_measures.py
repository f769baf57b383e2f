"""What is measured of a run."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.model.measures import Mark, Measures, Spread, Staleness, mean_since
from upstream import (
    InPlaceScheduler,
    LazyWindowBuffer,
    ManualClock,
    WindowQueue,
    WindowQueueStatistics,
    WindowSpecification,
    make_queue,
)


def measures(
    *, lengths: tuple[tuple[float, int], ...] = (), windows: WindowQueueStatistics | None = None
) -> Measures:
    nothing = Staleness({}, None, observed=0.0)
    return Measures(
        name="in-place",
        elapsed=10.0,
        queue=nothing,
        application=nothing,
        latency=Spread.of(np.empty(0)),
        statistics=windows or make_queue("in-place").statistics(),
        lengths=lengths,
        memory=None,
    )


def test_a_spread_has_mean_percentiles_and_the_largest() -> None:
    spread = Spread.of(np.arange(101.0))
    assert spread == Spread(mean=50.0, p50=50.0, p90=90.0, p99=99.0, largest=100.0)


def test_the_spread_of_one_value_is_that_value_and_of_none_zero() -> None:
    assert Spread.of(np.array([3.0])) == Spread(3.0, 3.0, 3.0, 3.0, 3.0)
    assert Spread.of(np.empty(0)) == Spread(0.0, 0.0, 0.0, 0.0, 0.0)


def test_staleness_is_averaged_over_keys() -> None:
    staleness = Staleness({"a": 1.0, "b": 2.0, "c": 6.0}, 2.0, observed=20.0)
    assert staleness.mean == staleness.spread.mean == 3.0
    assert (staleness.worst_key, staleness.worst) == ("c", 6.0)
    assert staleness.spread.p50 == 2.0
    assert staleness.times_the_bound == 1.5


def test_without_keys_staleness_is_zero() -> None:
    staleness = Staleness({}, None, observed=0.0)
    assert (staleness.mean, staleness.worst, staleness.worst_key) == (0.0, 0.0, None)


@pytest.mark.parametrize("bound", [None, 0.0])
def test_no_ratio_is_given_to_a_bound_that_is_0_or_unknown(bound: float | None) -> None:
    assert Staleness({"a": 1.0}, bound, observed=20.0).times_the_bound is None


def test_a_short_run_is_not_compared_with_its_bound() -> None:
    staleness = Staleness({"a": 1.0}, 2.0, observed=19.0)
    assert staleness.times_the_bound is None
    assert staleness.against_bound.is_warming_up


class TestMeanSince:
    """Staleness of a was 1 on average until 10, of b it was 3."""

    mark = Mark(10.0, queue={"a": 1.0, "b": 3.0}, application={"a": 2.0, "b": 4.0})

    def test_what_was_before_the_mark_is_left_out(self) -> None:
        since = mean_since(self.mark, "queue", {"a": 2.0, "b": 2.0}, now=40.0)
        assert since == pytest.approx({"a": 70 / 30, "b": 50 / 30})

    def test_each_kind_has_its_own_past(self) -> None:
        since = mean_since(self.mark, "application", {"a": 2.0, "b": 4.0}, now=20.0)
        assert since == {"a": 2.0, "b": 4.0}

    def test_where_no_time_has_passed_it_is_zero(self) -> None:
        since = mean_since(self.mark, "queue", {"a": 1.0, "b": 3.0}, now=10.0)
        assert since == {"a": 0.0, "b": 0.0}


def test_the_mean_length_is_that_of_the_lengths_seen() -> None:
    assert measures(lengths=((1.0, 4), (2.0, 0), (3.0, 5))).mean_length == 3.0
    assert measures().mean_length == 0.0


def test_the_counters_are_those_of_a_queue_of_updates() -> None:
    assert measures().counted.arrived == 0
    windows = WindowQueue(
        WindowSpecification(size=1, slide=1),
        LazyWindowBuffer,
        InPlaceScheduler(),
        clock=ManualClock(),
    )
    with pytest.raises(AssertionError):
        _ = measures(windows=windows.statistics()).counted
