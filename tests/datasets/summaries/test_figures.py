"""Figures of a run: percentiles, worst keys, the lower bound, and the cost of an update."""

from __future__ import annotations

import numpy as np
import pytest

from datasets.summaries.figures import Figures, lower_bound
from upstream import staleness_lower_bound

from . import hand_written as by_hand
from .conftest import Summarized

NOTHING = Figures(0, {}, {}, {}, None, None, (), ())


def test_percentiles_and_worst_keys_are_those_of_what_the_queues_integrated(
    summarized: Summarized,
) -> None:
    for folder, integrated in summarized.integrated.items():
        each = summarized.run(folder)
        by_queue = np.array([queue for queue, _ in integrated.values()])
        found = [each.staleness["queue"].at(percent) for percent in (0, 50, 90, 99, 100)]
        expected = np.percentile(by_queue, (0, 50, 90, 99, 100))
        assert found == pytest.approx(expected.tolist(), rel=1e-9, abs=1e-15)
        assert each.figures.keys == len(integrated)
        stalest = sorted((queue for queue, _ in integrated.values()), reverse=True)[:2]
        worst = [key.queue_staleness for key in each.figures.worst]
        assert worst == pytest.approx(stalest, rel=1e-9, abs=1e-15)


def test_the_bound_is_that_of_the_rates_that_were_seen() -> None:
    found = Figures(3, {}, {}, {}, None, None, (), rates=((10, 1), (40, 2)))
    for of in ("queue", "application"):
        bound = lower_bound(found, seconds=20.0, cost=3.0, of=of)
        assert bound == staleness_lower_bound([0.5, 2.0, 2.0], 3.0, of=of)
        assert bound is not None
        assert bound > 0


def test_there_is_no_bound_without_time_or_updates() -> None:
    assert lower_bound(NOTHING, seconds=1.0, cost=1.0, of="queue") is None
    some = Figures(1, {}, {}, {}, None, None, (), rates=((1, 1),))
    assert lower_bound(some, seconds=0.0, cost=1.0, of="queue") is None


def test_the_rates_of_a_run_count_every_key_and_every_update(summarized: Summarized) -> None:
    for each in summarized.summary.runs:
        rates = each.figures.rates
        assert sum(keys for _, keys in rates) == each.figures.keys
        total = sum(accepted * keys for accepted, keys in rates)
        assert total == each.figures.counters["accepted"]


def test_the_cost_is_the_time_in_process_over_the_deliveries(summarized: Summarized) -> None:
    each = summarized.run("by hand/undescribed")
    assert (each.cost, each.is_cost_measured) == (by_hand.UNDESCRIBED_COST, True)


def test_a_described_cost_is_used(summarized: Summarized) -> None:
    each = summarized.run("servers/index")
    assert (each.cost, each.is_cost_measured) == (12.0, False)
    # Three servers share it; what they do to application staleness has no bound.
    assert each.staleness["application"].lower_bound is None
    assert each.staleness["queue"].lower_bound is not None
