"""Interval joins: rows a second, beside a join in plain Python that does the same, and held rows.

Two streams of a million rows each, a thousand a second, with ten thousand keys, are joined within
five seconds. So about half of the rows have a partner, and five thousand rows are held.
"""

from __future__ import annotations

from time import thread_time

import numpy as np
import pyarrow as pa
import pytest

from tests.benchmarks.measure import Table
from upstream import Engine, ManualClock

from .plain_interval_join import PlainIntervalJoin, Rows

pytestmark = pytest.mark.benchmark

ROWS = 1_000_000
KEYS = 10_000
PER_SECOND = 1_000
BAND = 5
SECOND = 1_000_000
NEAR = "a.k = b.k AND b.time BETWEEN a.time - INTERVAL '5 seconds' AND a.time"
BUDGETS = {1_000: 4.0, 10_000: 0.5}
"""By the size of batches: the time by that of plain Python. DuckDB runs three statements for each
two batches, which take as long for few rows as for a thousand."""
QUERIES = {
    "inner": f"SELECT a.k, a.x, b.x AS y FROM a JOIN b ON {NEAR}",
    "left": f"SELECT a.k, a.x, b.x AS y FROM a LEFT JOIN b ON {NEAR}",
    "anti": f"SELECT a.k, a.x FROM a ANTI JOIN b ON {NEAR}",
}


def stream(seed: int, rows: int) -> pa.Table:
    """Return the rows of a stream, of which one in a hundred is late."""
    random = np.random.default_rng(seed)
    times = np.arange(rows) * (SECOND // PER_SECOND)
    times[random.random(rows) < 0.01] -= SECOND
    columns = {
        "time": pa.array(times, pa.timestamp("us")),
        "k": random.integers(0, KEYS, rows),
        "x": random.integers(0, 1_000, rows),
    }
    return pa.table(columns)


def by_engine(
    text: str, tables: dict[str, pa.Table], size: int, *, every: int = 1
) -> tuple[float, int, int, int]:
    """Return the seconds, the rows of results, the late rows, and the most rows that were held.

    Results are requested after so many batches of each stream.
    """
    with Engine(clock=ManualClock()) as engine:
        for name in tables:
            columns = "time TIMESTAMP, k BIGINT, x BIGINT"
            engine.sql(f"CREATE STREAM {name} ({columns}) KEY (k) TIME (time)")
        query = engine.continuous_query(text)
        seconds = 0.0
        rows = held = 0
        for number, start in enumerate(range(0, tables["a"].num_rows, size), 1):
            began = thread_time()
            for name, table in tables.items():
                engine.append(name, table.slice(start, size))
            results = query.results() if number % every == 0 else []
            seconds += thread_time() - began
            rows += sum(result.table.num_rows for result in results)
            held = max(held, query.statistics().rows_held)
        return seconds, rows, query.statistics().rows_late, held


def by_plain(tables: dict[str, pa.Table], size: int) -> tuple[float, int, int]:
    """Return the seconds, the pairs and the late rows of a join in plain Python."""
    join = PlainIntervalJoin(BAND * SECOND)
    seconds, pairs = 0.0, 0
    for start in range(0, tables["a"].num_rows, size):
        rows = [lists_of(table.slice(start, size)) for table in tables.values()]
        began = thread_time()
        found = [join.take_a(rows[0]), join.take_b(rows[1])]
        seconds += thread_time() - began
        pairs += sum(map(len, found))
    return seconds, pairs, join.late


def lists_of(table: pa.Table) -> Rows:
    times = table.column("time").cast(pa.int64()).to_pylist()
    return times, table.column("k").to_pylist(), table.column("x").to_pylist()


@pytest.mark.parametrize("size", [1_000, 10_000])
def test_an_interval_join_beside_plain_python(size: int) -> None:
    tables = {"a": stream(1, ROWS), "b": stream(2, ROWS)}
    plain, pairs, late = by_plain(tables, size)
    table = Table(f"Interval joins of two streams of {ROWS:,} rows, in batches of {size:,}")
    table.row("plain Python", 2 * ROWS / plain / 1e6, None, "M/s")
    for name, text in QUERIES.items():
        seconds, rows, late_rows, held = by_engine(text, tables, size)
        assert late_rows == late > ROWS / 100
        if name == "inner":
            assert rows == pairs > ROWS / 4
        assert held <= 3 * (BAND * PER_SECOND + 2 * size)
        table.row(f"{name} join", 2 * ROWS / seconds / 1e6, None, "M/s")
        table.row(f"{name} join, by plain Python", seconds / plain, BUDGETS[size])
    seconds, rows, _, _ = by_engine(QUERIES["inner"], tables, size, every=10)
    assert rows == pairs
    table.row("inner join, results after ten batches", 2 * ROWS / seconds / 1e6, None, "M/s")
    table.assert_met()
