"""Figure 12: the execution traces of LAZY and EAGER windows, and traces of one key, tick by tick.

What leaves when, and both lines, are those of `tests/queues/test_window_figures.py`, where a
consumer written by hand takes the place of the simulation.
"""

from __future__ import annotations

import pytest

from simulator.experiments.experiment import Experiment, Row, Table, column
from simulator.experiments.figure_12 import FIGURES, falls, judge, trace_run
from upstream import EagerWindowBuffer, LazyWindowBuffer, WindowBuffer

from .golden import quick_table

LAZY, EAGER = FIGURES


def told(table: Table, name: str) -> dict[float, str]:
    """Return when a cell is not empty, and what is in it."""
    times = column(table, "time")
    cells = ((time, str(row[name])) for time, row in zip(times, table, strict=True))
    return {time: cell for time, cell in cells if cell}


def line(table: Table, kind: str) -> list[float | tuple[float, float]]:
    """Return staleness at each tick; where it falls, before and after."""
    sides = zip(column(table, f"{kind}_before"), column(table, f"{kind}_after"), strict=True)
    return [before if before == after else (before, after) for before, after in sides]


def test_lazy_windows_are_traced_as_in_figure_12_a() -> None:
    # closes             1  2  3  4  5  6  7  8  9 10 11 12 13 14   the window that starts then
    # leaves             1-----2-----3-----7-----8-----9-----13---- each costs 2
    # result                              [1,4)             [7,10)
    table = trace_run(LazyWindowBuffer, ticks=16)
    assert "".join(str(row["arrival"]) for row in table) == "--IIUUUUUIUUUUUI"
    assert told(table, "left") == {3: "1", 5: "2", 7: "3", 9: "7", 11: "8", 13: "9", 15: "13"}
    assert told(table, "mark") == {3: "4", 5: "0", 7: "0", 9: "10", 11: "0", 13: "0", 15: "16"}
    assert told(table, "result") == {9: "[1,4)", 15: "[7,10)"}
    assert line(table, "queue") == [0, 0, 0, 0, 1, 2, 3, 4, (5, 0), 0, 1, 2, 3, 4, (5, 0), 0]
    staleness = [0, 0, 0, 1, 2, 3, 4, 5, (6, 5), 6, 7, 8, 9, 10, (11, 5), 6]
    assert line(table, "application") == staleness


def test_eager_windows_are_traced_as_in_figure_12_b() -> None:
    # closes             1  2  3  4  5  6  7  8  9 10 11 12   the window that starts then
    # leaves       1-----2-----3-----7-----8-----9-----13---- each costs 2
    # result                        [1,4)            [7,10)
    table = trace_run(EagerWindowBuffer, ticks=14)
    assert "".join(str(row["arrival"]) for row in table) == "IIUUUUUIUUUUUI"
    assert told(table, "left") == {1: "1", 3: "2", 5: "3", 7: "7", 9: "8", 11: "9", 13: "13"}
    assert told(table, "mark") == {1: "4", 3: "0", 5: "0", 7: "10", 9: "0", 11: "0", 13: "16"}
    assert told(table, "result") == {7: "[1,4)", 13: "[7,10)"}
    assert line(table, "queue") == [0, 0, 1, 2, 3, 4, (5, 0), 0, 1, 2, 3, 4, (5, 0), 0]
    assert line(table, "application") == [0, 0, 0, 1, 2, 3, (4, 3), 4, 5, 6, 7, 8, (9, 3), 4]


@pytest.mark.parametrize("buffer", [LazyWindowBuffer, EagerWindowBuffer])
def test_a_longer_trace_begins_as_a_shorter_one(buffer: type[WindowBuffer]) -> None:
    assert trace_run(buffer, ticks=20)[:9] == trace_run(buffer, ticks=9)


def a_row(time: float, before: float, after: float) -> Row:
    return {"time": time, "application_before": before, "application_after": after}


def test_falls_are_found_where_staleness_is_less_afterwards() -> None:
    assert falls([a_row(1, 2, 2), a_row(2, 3, 1), a_row(3, 2, 2), a_row(4, 3, 0)]) == (
        (2, 1),
        (4, 0),
    )


def test_the_verdict_tells_both_if_they_differ() -> None:
    verdict = judge([a_row(2, 3, 1)], expected=((2, 0), (4, 0)))
    assert verdict.held is False
    assert verdict.sentence == (
        "Application staleness falls to 1 at 2, in the report to 0 at 2 and to 0 at 4."
    )
    assert "falls nowhere" in judge([a_row(2, 3, 3)], expected=((2, 0),)).sentence


@pytest.mark.parametrize(("figure", "tick"), [(LAZY, 9), (EAGER, 7)], ids=["lazy", "eager"])
def test_both_stalenesses_fall_when_a_window_is_committed_and_another_delivered(
    figure: Experiment, tick: int
) -> None:
    row = quick_table(figure)[tick - 1]
    assert (row["time"], row["left"], row["result"]) == (tick, "7", "[1,4)")
    assert column([row], "queue_before") > column([row], "queue_after")
    assert column([row], "application_before") > column([row], "application_after")


@pytest.mark.parametrize(
    ("figure", "said"),
    [(LAZY, "5 at 9 and to 5 at 15"), (EAGER, "3 at 7 and to 3 at 13")],
    ids=["lazy", "eager"],
)
def test_the_verdict_says_whether_the_claim_held(figure: Experiment, said: str) -> None:
    table = quick_table(figure)
    assert figure.verdict(table).held
    assert said in figure.verdict(table).sentence
    assert figure.verdict([{**row, "application_after": 0.0} for row in table]).held is False
