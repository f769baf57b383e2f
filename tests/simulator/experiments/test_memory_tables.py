"""How the tables of Figures 16 and 17 are read."""

from __future__ import annotations

import pytest

from simulator.experiments.experiment import Row, Table
from simulator.experiments.memory_tables import (
    Means,
    by_page,
    falls,
    mean_by,
    page_sizes,
    pages_of,
    rises,
    saving,
)


def row(memory: str, theta: float, usage: float, tuples: int = 4) -> Row:
    return {"memory": memory, "theta": theta, "usage": usage, "tuples_per_page": tuples}


TABLE = [
    row("naive", 0.9, 80.0),
    row("naive", 0.0, 90.0),
    row("naive", 0.0, 110.0),
    row("on-demand", 0.9, 20.0),
    row("on-demand", 0.0, 50.0),
    row("on-demand", 0.0, 70.0),
]


def test_means_come_in_ascending_order_and_are_of_one_memory() -> None:
    assert list(mean_by(TABLE, "theta", "usage", memory="naive").items()) == [
        (0.0, 100.0),
        (0.9, 80.0),
    ]


def test_savings_are_shares_of_what_naive_memory_holds() -> None:
    assert saving(TABLE, "theta", "usage") == pytest.approx({0.0: 0.4, 0.9: 0.75})


@pytest.mark.parametrize(
    ("means", "is_rising", "is_falling"),
    [([1, 2, 3], True, False), ([3, 2, 1], False, True), ([1, 2, 2], False, False)],
)
def test_means_rise_or_fall_if_they_do_at_every_step(
    means: list[float], is_rising: bool, is_falling: bool
) -> None:
    found = dict(enumerate(means, start=0))
    assert rises({float(x): y for x, y in found.items()}) is is_rising
    assert falls({float(x): y for x, y in found.items()}) is is_falling


def test_ranges_are_told_for_each_page_size_and_equal_ends_once() -> None:
    def measured(rows: Table) -> Means:
        return mean_by(rows, "theta", "usage", memory="naive")

    table = [*TABLE, row("naive", 0.0, 7.0, tuples=16), row("naive", 0.9, 7.0, tuples=16)]
    assert page_sizes(table) == [4, 16]
    assert len(pages_of(table, 16)) == 2
    assert (
        by_page(table, measured, ".0f") == "80 to 100 with 4 tuples a page, 7 with 16 tuples a page"
    )
