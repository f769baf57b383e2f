"""What Figures 16 and 17 say: whether on-demand paging is clean, and which way the means go."""

from __future__ import annotations

import pytest

from simulator.experiments.experiment import Row
from simulator.experiments.memory_verdicts import (
    LOAD,
    SKEW,
    Axis,
    judge_effective_usage,
    judge_usage,
)


def a_row(memory: str, x: str, value: float, used: float) -> Row:
    """Return a row in which a memory holds 100 tuples for each of them, and uses this share."""
    return {
        "memory": memory,
        x: value,
        "tuples_per_page": 4,
        "usage": 100 * used,
        "page_usage": 100 * used,
        "effective_usage": used,
        "effective_page_usage": used,
    }


def effective(axis: Axis, *naive: float, on_demand: float = 1.0) -> list[Row]:
    rows = [a_row("naive", axis.column, value, used) for value, used in enumerate(naive)]
    return rows + [a_row("on-demand", axis.column, value, on_demand) for value in range(len(naive))]


@pytest.mark.parametrize(
    ("axis", "naive", "said", "held"),
    [
        (SKEW, (0.9, 0.5), "every distribution; that of naive memory falls with the skew", True),
        (SKEW, (0.5, 0.9), "naive memory does not always fall with the skew", False),
        (LOAD, (0.5, 0.9), "every load; that of naive memory rises with the load", True),
        (LOAD, (0.9, 0.5), "naive memory does not always rise with the load", False),
    ],
)
def test_effective_usage_of_naive_memory_falls_with_skew_and_rises_with_load(
    axis: Axis, naive: tuple[float, ...], said: str, held: bool
) -> None:
    verdict = judge_effective_usage(effective(axis, *naive), axis)
    assert said in verdict.sentence
    assert verdict.held is held
    assert f"from {naive[0]:.2f} at {axis.column} 0 to {naive[1]:.2f} at 1" in verdict.sentence


def test_on_demand_paging_has_to_be_clean() -> None:
    verdict = judge_effective_usage(effective(SKEW, 0.9, 0.5, on_demand=0.99), SKEW)
    assert verdict.held is False
    assert "on-demand paging is not 1" in verdict.sentence


def usage(axis: Axis, *on_demand: float, naive: float = 1.0) -> list[Row]:
    rows = [a_row("on-demand", axis.column, value, used) for value, used in enumerate(on_demand)]
    return rows + [a_row("naive", axis.column, value, naive) for value in range(len(on_demand))]


@pytest.mark.parametrize(
    ("axis", "on_demand", "said", "held"),
    [
        (SKEW, (0.9, 0.5), "its usage falls with the skew", True),
        (SKEW, (0.5, 0.9), "its usage does not always fall with the skew", False),
        (LOAD, (0.5, 0.9), "its usage rises with the load", True),
        (LOAD, (0.9, 0.5), "its usage does not always rise with the load", False),
    ],
)
def test_what_on_demand_paging_holds_falls_with_skew_and_rises_with_load(
    axis: Axis, on_demand: tuple[float, ...], said: str, held: bool
) -> None:
    verdict = judge_usage(usage(axis, *on_demand), axis)
    assert said in verdict.sentence
    assert verdict.held is held
    assert "saves 10% to 50% with 4 tuples a page" in verdict.sentence


def test_on_demand_paging_has_to_hold_less() -> None:
    verdict = judge_usage(usage(SKEW, 0.9, 0.5, naive=0.5), SKEW)
    assert verdict.held is False
    assert "not always less than naive memory" in verdict.sentence
