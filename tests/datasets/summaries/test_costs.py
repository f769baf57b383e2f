"""The processing cost of a log that does not say it."""

from __future__ import annotations

from . import hand_written as by_hand
from .conftest import Summarized


def test_the_cost_is_the_time_in_process_over_the_deliveries(summarized: Summarized) -> None:
    each = summarized.run("by hand/undescribed")
    assert (each.cost, each.is_cost_measured) == (by_hand.UNDESCRIBED_COST, True)


def test_a_cost_that_is_described_is_taken(summarized: Summarized) -> None:
    each = summarized.run("servers/index")
    assert (each.cost, each.is_cost_measured) == (12.0, False)
    # Three servers share it; what they do to application staleness has no bound.
    assert each.staleness["application"].lower_bound is None
    assert each.staleness["queue"].lower_bound is not None
