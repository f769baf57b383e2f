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
from statistics import mean, median

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from tests.benchmarks.measure import Table, timed
from tests.benchmarks.tpch_rows import batches_of, rows_of
from tests.benchmarks.view_systems import Deferred, Views, tpch
from tests.queries.differential.comparison import difference, handed_out
from upstream import Engine, ManualClock

pytestmark = pytest.mark.benchmark

SCALE = float(os.environ.get("TPCH_SCALE", "1"))
BATCH = 10_000
PAPER = ("Q1", "Q3", "Q6", "Q15", "Q20")
"""The queries that the views paper measures."""
SMALL = ("Q3", "Q7", "Q8", "Q12", "Q14", "Q15")
"""The queries whose increments cost more than evaluating anew before there were views."""
SIMPLE = ("Q1", "Q6")
LAST = 60 if SCALE >= 1 else 20
"""The view is asked after each of so many batches."""
FULL = 6
"""And the query is evaluated in full after each of the last ones."""
SHARE_OF_FULL = {"Q15": 1 / 40, "Q20": 1 / 10}
"""What asking after a batch may cost, in the median and at scale 1; 1 / 50 elsewhere.

Q15 takes 46 to 66 times less. If a batch changes what Q15 or Q20 returns, the finish runs. That
costs one to two milliseconds, however few rows it reads.
"""


def seconds_of_each(work: Callable[[pa.Table], object], batches: list[pa.Table]) -> list[float]:
    return [timed(lambda batch=batch: work(batch)) for batch in batches]  # type: ignore[misc]


@pytest.mark.parametrize("name", PAPER)
def test_a_view_beside_deferred_and_eager_maintenance(name: str) -> None:
    batches = batches_of(rows_of("lineitem", SCALE), BATCH)
    count = sum(batch.num_rows for batch in batches)
    view, anew = Views(tpch(name, scale=SCALE)), Deferred(tpch(name, scale=SCALE))
    inserted = seconds_of_each(view.insert, batches[:-LAST])
    appended = seconds_of_each(anew.insert, batches[:-LAST])
    view.ask(name)
    fresh, full = [], []
    for number, batch in enumerate(batches[-LAST:]):
        view.insert(batch)
        anew.insert(batch)
        fresh.append(timed(partial(view.ask, name)))
        if number >= LAST - FULL:
            full.append(timed(partial(anew.ask, name)))
    again = median(timed(partial(view.ask, name)) for _ in range(100))
    assert not difference(anew.ask(name), view.ask(name), is_ordered=False)
    table = Table(f"{name} as a view, {count:,} rows in batches of {BATCH:,}")
    is_simple = name in SIMPLE
    rate = (count - LAST * BATCH) / sum(inserted) / 1e6
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
    share = SHARE_OF_FULL.get(name, 1 / 50) if SCALE >= 1 else None
    table.row("asked after a batch, by full evaluation", median(fresh) / median(full), share)
    table.row("in the mean of all batches", mean(fresh) / median(full), None)
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


# Rows that are taken away by a column of signs

SIGNED = {
    "sums": "SELECT k, sum(x) AS a, avg(x) AS m, count(*) AS n FROM s GROUP BY k",
    "distinct values": "SELECT k, count(DISTINCT x) AS n FROM s GROUP BY k",
}
ROWS, KEYS, VALUES = 1_000_000, 1_000, 100


def _rows_and_signs() -> pa.Table:
    """Return rows of which, from the first ten thousand on, every second takes one away."""
    random = np.random.default_rng(18)
    half = (ROWS - BATCH) // 2
    keys = random.integers(0, KEYS, BATCH + half)
    values = random.integers(0, VALUES, BATCH + half)
    added = np.arange(BATCH, BATCH + half)
    order = np.r_[np.arange(BATCH), np.column_stack([added, added - BATCH]).ravel()]
    signs = np.r_[np.ones(BATCH), np.tile([1, -1], half)].astype(np.int8)
    names = pa.array([f"K{key}" for key in range(KEYS)])
    return pa.table({"k": names.take(pa.array(keys[order])), "x": values[order], "op": signs})


@pytest.mark.parametrize("name", SIGNED)
def test_rows_with_signs_beside_rows_without(name: str) -> None:
    rows = _rows_and_signs()
    plain, _ = _fed_and_read(name, "", rows)
    signed, found = _fed_and_read(name, "WITH (sign = 'op')", rows)
    left = rows.slice(ROWS - 2 * BATCH).filter(pc.field("op") == 1)
    assert left.num_rows == BATCH
    connection = duckdb.connect(config={"threads": 1})
    connection.register("s", left)
    expected = handed_out(connection.sql(SIGNED[name]))
    assert not difference(expected, found, is_ordered=False)
    table = Table(f"{name} of {KEYS:,} groups, {ROWS:,} rows in batches of {BATCH:,}, each read")
    table.row("all rows added, million rows/s", ROWS / plain / 1e6, None, "")
    table.row("half of them taken away, million rows/s", ROWS / signed / 1e6, None, "")
    table.row("seconds with signs, by those without", signed / plain, 2.5)
    table.assert_met()


def _fed_and_read(name: str, options: str, rows: pa.Table) -> tuple[float, pa.Table]:
    """Return the seconds that batches take, each of which is read, and the last result."""
    with Engine(clock=ManualClock()) as engine:
        engine.sql("CREATE STREAM s (k TEXT, x BIGINT, op TINYINT)")
        engine.sql(f"CREATE VIEW v {options} AS {SIGNED[name]}")

        def take(batch: pa.Table) -> None:
            engine.append("s", batch)
            engine.view("v").table()

        spent = sum(seconds_of_each(take, batches_of(rows, BATCH)))
        return spent, engine.sql("FROM v")
