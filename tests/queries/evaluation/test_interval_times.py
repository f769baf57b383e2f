"""Interval joins over times of every type, beside one DuckDB join over all rows."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from tests.queries.differential.comparison import difference
from tests.queries.rewriting.times import INSTANTS, INTERVALS
from upstream import Engine, ManualClock

TYPES = {
    "s": "TIMESTAMP_S",
    "ms": "TIMESTAMP_MS",
    "us": "TIMESTAMP",
    "ns": "TIMESTAMP_NS",
    "zoned": "TIMESTAMPTZ",
    "date": "DATE",
    "integer": "BIGINT",
    "double": "DOUBLE",
    "float": "FLOAT",
}
FORMS = (
    "b.time BETWEEN a.time - {0} AND a.time + {0}",
    "a.time <= b.time + {0} AND b.time - {0} < a.time",
    "b.time >= a.time AND b.time < a.time + {0}",
)
CASES = [
    (kind, form.format(constant))
    for kind, constants in INTERVALS.items()
    for constant in constants[:: 2 if kind == "zoned" else 5]
    for form in FORMS
    if kind != "float" and not (kind == "date" and "." in constant)
]
CASES.append(("float", "a.time = b.time"))


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine(clock=ManualClock()) as engine:
        for kind, sql in TYPES.items():
            for name in "ab":
                columns = f"time {sql}, n BIGINT"
                engine.sql(f"CREATE STREAM {name}_{kind} ({columns}) KEY (n) TIME (time)")
            engine.create_table(f"all_{kind}", rows(kind))
        yield engine


def rows(kind: str) -> pa.Table:
    times = INSTANTS[kind].take(pc.sort_indices(INSTANTS[kind]))
    return pa.table({"time": times, "n": range(len(times))})


@pytest.mark.parametrize(("kind", "condition"), CASES)
def test_times_of_each_type_are_joined_as_duckdb_joins_them(
    engine: Engine, kind: str, condition: str
) -> None:
    text = f"SELECT a.n, b.n AS m FROM {{0}}_{kind} a LEFT JOIN {{1}}_{kind} b ON {condition}"
    query = engine.continuous_query(text.format("a", "b"))
    data = rows(kind)
    found = []
    for start in range(0, data.num_rows, 17):
        for name in "ab":
            engine.append(f"{name}_{kind}", data.slice(start, 17))
        found += [result.table for result in query.results()]
    met = pa.concat_tables(found)
    expected = engine.sql(text.format("all", "all"))
    assert query.statistics().rows_late == 0
    missing = expected.num_rows - met.num_rows  # the last rows still wait for partners
    alone = expected.filter(pc.is_null(expected["m"]))
    told = difference(without_alone(expected), without_alone(met), is_ordered=False)
    assert not told, told
    assert 0 <= missing <= alone.num_rows
    query.close()


def without_alone(table: pa.Table) -> pa.Table:
    return table.filter(pc.is_valid(table["m"]))
