"""Views beside full evaluation in DuckDB: TPC-H with lineitem as the stream.

Deferred maintenance appends rows to a table and evaluates the query when it is asked. Eager
maintenance evaluates it after each batch. A view takes batches into partials, and finishes when it
is asked. All run in one thread, and processor time is measured.

`TPCH_SCALE` sets the scale, which is 1 otherwise: six million line items.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from statistics import median

import pyarrow as pa
import pytest

from tests.benchmarks.measure import Table, timed
from tests.benchmarks.tpch_rows import batches_of, rows_of
from tests.benchmarks.view_systems import Deferred, Views, tpch
from tests.queries.differential.comparison import difference

pytestmark = pytest.mark.benchmark

SCALE = float(os.environ.get("TPCH_SCALE", "1"))
BATCH = 10_000
PAPER = ("Q1", "Q3", "Q6", "Q15", "Q20")
"""The queries that the views paper measures."""
SMALL = ("Q3", "Q7", "Q8", "Q12", "Q14", "Q15")
"""The queries whose increments cost more than evaluating anew before there were views."""
SIMPLE = ("Q1", "Q6")


def seconds_of_each(work: Callable[[pa.Table], object], batches: list[pa.Table]) -> list[float]:
    return [timed(lambda batch=batch: work(batch)) for batch in batches]  # type: ignore[misc]


@pytest.mark.parametrize("name", PAPER)
def test_a_view_beside_deferred_and_eager_maintenance(name: str) -> None:
    batches = batches_of(rows_of("lineitem", SCALE), BATCH)
    count = sum(batch.num_rows for batch in batches)
    view, anew = Views(tpch(name, scale=SCALE)), Deferred(tpch(name, scale=SCALE))
    inserted = seconds_of_each(view.insert, batches[:-6])
    appended = seconds_of_each(anew.insert, batches[:-6])
    view.ask(name)
    fresh, full = [], []
    for batch in batches[-6:]:
        view.insert(batch)
        anew.insert(batch)
        fresh.append(timed(partial(view.ask, name)))
        full.append(timed(partial(anew.ask, name)))
    again = median(timed(partial(view.ask, name)) for _ in range(100))
    assert not difference(anew.ask(name), view.ask(name), is_ordered=False)
    table = Table(f"{name} as a view, {count:,} rows in batches of {BATCH:,}")
    is_simple = name in SIMPLE
    rate = (count - 6 * BATCH) / sum(inserted) / 1e6
    table.row("view, inserts, million rows/s", rate, None, "")
    table.row(
        "an insert, by an append to a table",
        median(inserted) / median(appended),
        1.5 if is_simple else None,
    )
    if name == "Q6":
        table.row("seconds for a million rows", 1 / rate, 0.5, "s")
    table.row("asked with nothing new", again * 1e3, 0.5, "ms")
    table.row("insert and ask, a batch", (median(inserted) + median(fresh)) * 1e3, None, "ms")
    table.row("evaluated in full", median(full) * 1e3, None, "ms")
    table.row("asked after a batch, by full evaluation", median(fresh) / median(full), None)
    eager = (median(inserted) + median(fresh)) / (median(appended) + median(full))
    table.row(
        "insert and ask each batch, by eager evaluation",
        eager,
        1 / 50 if name == "Q1" and SCALE >= 1 else None,
    )
    table.row("rows held", view.engine.view(name).statistics().rows_held, None, "")
    table.assert_met()
    view.close()
    anew.close()


@pytest.mark.parametrize("name", SMALL)
def test_a_view_of_few_rows_costs_no_more_than_evaluating_anew(name: str) -> None:
    batches = batches_of(rows_of("lineitem", 0.01), 6_000)
    view, anew = Views(tpch(name, scale=0.01)), Deferred(tpch(name, scale=0.01))

    def of_view(batch: pa.Table) -> None:
        view.insert(batch)
        view.ask(name)

    alone = list[float]()

    def of_table(batch: pa.Table) -> None:
        anew.insert(batch)
        alone.append(timed(partial(anew.ask, name)))

    of_view(batches[0])
    of_table(batches[0])
    ours, theirs = seconds_of_each(of_view, batches[1:]), seconds_of_each(of_table, batches[1:])
    assert not difference(anew.ask(name), view.ask(name), is_ordered=False)
    table = Table(f"{name} as a view, 60,000 rows in batches of 6,000, asked after each")
    table.row("a batch", median(ours) * 1e3, None, "ms")
    table.row("by inserting into a table and evaluating", median(ours) / median(theirs), 1.0)
    table.row("by evaluating alone", median(ours) / median(alone[1:]), None)
    table.assert_met()
    view.close()
    anew.close()
