"""The exact staleness of a single key, against its formulas and against a loop over events."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.staleness.event_loop import Server, measure, serve_longest_waiting
from upstream.errors import CostError, RateError
from upstream.staleness.single_key import (
    single_key_application_staleness,
    single_key_queue_staleness,
)

BOTH = [single_key_queue_staleness, single_key_application_staleness]
Formula = Callable[[float, float], float]


@pytest.mark.parametrize("rate", [0.2, 0.7, 1.0, 4.0, 30.0])
@pytest.mark.parametrize("cost", [0.5, 1.0, 3.0])
def test_the_values_are_those_of_the_formulas_as_written(rate: float, cost: float) -> None:
    none_in_time = math.exp(-rate * cost)
    cycle = cost + none_in_time / rate
    early = cost**2 - 2 * cost / rate + 2 * (1 - none_in_time) / rate**2
    late = cost**2 / 2 + cost * (cost - (1 - none_in_time) / rate)
    queue = single_key_queue_staleness(rate, cost)
    application = single_key_application_staleness(rate, cost)
    assert queue == pytest.approx(early / 2 / cycle, rel=1e-10)
    assert application == pytest.approx(late / cycle, rel=1e-10)


@pytest.mark.parametrize("rate", [0.3, 1.0, 2.5, 10.0])
def test_a_loop_over_events_measures_the_same(rate: float) -> None:
    server = Server(np.array([rate]), np.array([1.0]), np.array([1.0]))
    queue, application = measure(server, serve_longest_waiting, services=60_000, seed=7)
    assert queue.mean() == pytest.approx(single_key_queue_staleness(rate, 1.0), rel=0.015)
    assert application.mean() == pytest.approx(
        single_key_application_staleness(rate, 1.0), rel=0.015
    )


@pytest.mark.parametrize("load", [1e-15, 1e-9, 1e-5])
def test_few_updates_lose_no_digits(load: float) -> None:
    # To first order: an update within the processing before it waits c/3 in the mean, and every
    # update ages c/2 while it is processed, for lambda c of the time.
    assert single_key_queue_staleness(load, 1.0) == pytest.approx(
        load**2 / 6, rel=2 * load + 1e-14, abs=0
    )
    assert single_key_application_staleness(load, 1.0) == pytest.approx(
        load / 2, rel=2 * load + 1e-14, abs=0
    )


def test_many_updates_make_it_half_and_one_and_a_half_processing_costs() -> None:
    assert single_key_queue_staleness(1e300, 4e200) == pytest.approx(2e200)
    assert single_key_application_staleness(1e300, 4e200) == pytest.approx(6e200)


@pytest.mark.parametrize("formula", BOTH)
def test_no_updates_and_no_cost_make_no_staleness(formula: Formula) -> None:
    assert formula(0.0, 1.0) == 0.0
    assert formula(1.0, 0.0) == 0.0


@given(rate=st.floats(1e-9, 1e9), cost=st.floats(1e-9, 1e9), exponent=st.integers(-30, 30))
def test_the_unit_of_time_does_not_matter(rate: float, cost: float, exponent: int) -> None:
    unit = 2.0**exponent
    for formula in BOTH:
        expected = pytest.approx(unit * formula(rate, cost), rel=1e-12, abs=0)
        assert formula(rate / unit, cost * unit) == expected


@pytest.mark.parametrize("formula", BOTH)
@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf])
def test_rates_and_costs_that_are_negative_or_not_finite_are_refused(
    formula: Formula, bad: float
) -> None:
    with pytest.raises(RateError):
        formula(bad, 1.0)
    with pytest.raises(CostError):
        formula(1.0, bad)
