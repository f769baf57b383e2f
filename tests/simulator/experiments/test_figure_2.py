"""Figure 2: staleness of one key, and to what it falls."""

from __future__ import annotations

import pytest

from simulator.experiments.experiment import Row, column, number, where
from simulator.experiments.figure_2 import EXPERIMENT, verdict

from .golden import quick_table


def changed(row: Row, **cells: float) -> Row:
    return {**row, **cells}


@pytest.mark.parametrize(
    ("policy", "delivered", "falls"),
    [
        # time         0     2  3  4     6     8  9 10    12       15
        # arrivals     a     b     c     d     e     f     g
        # processing   |---a----|---b----|---d----|---e----|---g----|
        ("in-place", "abdeg", [(3, 1), (4, 2), (5, 1), (4, 2), (5, 0)]),
        # processing   |---a----|---b----|---c----|---d----|---e----|---f----|---g----|
        ("append", "abcdefg", [(3, 1), (4, 2), (5, 3), (6, 4), (7, 5), (8, 6), (9, 0)]),
    ],
)
def test_staleness_falls_with_every_delivery(
    policy: str, delivered: str, falls: list[tuple[int, int]]
) -> None:
    rows = where(quick_table(EXPERIMENT), policy=policy)
    deliveries = where(rows, what="delivery")
    assert "".join(str(row["update"]) for row in deliveries) == delivered
    assert column(deliveries, "time") == [3.0 * count for count in range(1, len(falls) + 1)]
    for row, (before, after) in zip(deliveries, falls, strict=True):
        line = where(rows, what="line", time=row["time"])
        assert column(line, "staleness") == [before, after]
        assert row["staleness"] == after


def test_staleness_starts_to_grow_with_the_first_arrival_and_ends_at_zero() -> None:
    for policy in ("in-place", "append"):
        line = where(quick_table(EXPERIMENT), policy=policy, what="line")
        assert (line[0]["time"], line[0]["staleness"]) == (0.0, 0.0)
        assert line[-1]["staleness"] == 0.0


def test_the_verdict_says_what_happens_when_a_is_delivered() -> None:
    found = verdict(quick_table(EXPERIMENT))
    assert found.held
    assert "delivered at 3, staleness falls to 1 (now - arrival of b is 1)" in found.sentence
    assert "12 of 12 deliveries" in found.sentence
    assert "rises each time with an append queue" in found.sentence
    assert "does not rise each time with IN-PLACE" in found.sentence


def test_the_verdict_does_not_hold_if_one_delivery_differs() -> None:
    table = [
        changed(row, staleness=number(row, "staleness") + (row["update"] == "e"))
        for row in quick_table(EXPERIMENT)
    ]
    found = verdict(table)
    assert found.held is False
    assert "10 of 12 deliveries" in found.sentence
