"""The paper's queries on Bytewax: a stream engine that works on one tuple at a time.

Its windows are times, so each row gets a second of its own. A row is folded into every window it is
in, of which there are as many as a window has steps.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import bytewax.operators as op
import bytewax.operators.windowing as win
from bytewax.dataflow import Dataflow
from bytewax.testing import TestingSink, TestingSource, run_main

from tests.benchmarks.paper_queries import Query, Rows

EPOCH = datetime(2000, 1, 1, tzinfo=UTC)

Row = tuple[int, int, datetime]  # x1, x2, time
Sums = dict[int, dict[int, int]]
"""By window, by group."""


def time_of(row: Row) -> datetime:
    return row[2]


def items(rows: Rows) -> list[list[Row]]:
    """Return the rows of each stream as Bytewax takes them."""
    return [
        [
            (x1, x2, EPOCH + timedelta(seconds=number))
            for number, (x1, x2) in enumerate(
                zip(table["x1"].to_pylist(), table["x2"].to_pylist(), strict=True)
            )
        ]
        for table in rows
    ]


def sums_by_window(query: Query, rows: list[Row], least: int) -> Sums:
    """Answer Q1 for all rows at once."""
    out: list[tuple[str, tuple[int, int]]] = []
    flow = Dataflow("q1")
    stream = op.input("rows", flow, TestingSource(rows, batch_size=query.step))
    kept = op.filter("kept", stream, lambda row: row[0] > least)
    keyed = op.key_on("key", kept, lambda row: str(row[0]))
    sums = win.fold_window(
        "sum",
        keyed,
        win.EventClock(time_of, wait_for_system_duration=timedelta(0)),
        windower(query),
        builder=int,
        folder=lambda total, row: total + row[1],
        merger=lambda one, other: one + other,
    )
    op.output("out", sums.down, TestingSink(out))
    run_main(flow)  # type: ignore[no-untyped-call]  # its types are not told
    found: Sums = {}
    for key, (window, total) in out:
        found.setdefault(window, {})[int(key)] = total
    return found


def matches_by_window(query: Query, streams: list[list[Row]]) -> dict[int, tuple[int, float]]:
    """Answer Q2 for all rows at once."""
    out: list[tuple[str, tuple[int, Any]]] = []
    flow = Dataflow("q2")
    sides = [
        op.key_on(
            f"key{n}", op.input(f"rows{n}", flow, TestingSource(rows)), lambda row: str(row[1])
        )
        for n, rows in enumerate(streams)
    ]
    pairs = win.join_window(
        "join",
        win.EventClock(time_of, wait_for_system_duration=timedelta(0)),
        windower(query),
        *sides,
        insert_mode="product",
        emit_mode="final",
    )
    op.output("out", pairs.down, TestingSink(out))
    run_main(flow)  # type: ignore[no-untyped-call]  # its types are not told
    found: dict[int, list[tuple[int, int]]] = {}
    for _, (window, (one, two)) in out:
        if one is not None and two is not None:
            found.setdefault(window, []).append((one[0], two[0]))
    return {
        window: (max(one for one, _ in both), sum(two for _, two in both) / len(both))
        for window, both in found.items()
    }


def windower(query: Query) -> win.SlidingWindower:
    return win.SlidingWindower(
        length=timedelta(seconds=query.window),
        offset=timedelta(seconds=query.step),
        align_to=EPOCH,
    )
