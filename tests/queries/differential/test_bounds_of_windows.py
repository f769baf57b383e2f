"""Queries over bounds answered by the engine, and by DuckDB over the rows of each window.

DuckDB reads the text of the query as it is, with numbers instead of bounds and a table instead of
the window, so what the engine leaves out or moves to the finish is not left out there.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import duckdb
import pyarrow as pa
import pytest

from upstream import ContinuousQuery, Engine, ManualClock, Result
from upstream.queries.choices import Way

from ..setting import WAYS

TIMES = [*range(25), *range(52, 90)]  # with a gap in which windows have no rows
_CREATE = "CREATE STREAM {} (t BIGINT, k TEXT, n BIGINT) KEY (k) TIME (t)"

INCREMENTAL = {
    "groups": """SELECT {start} AS s, {end} AS e, k, sum(n) AS n FROM {a}
        GROUP BY {start}, {end}, k""",
    "no other groups": "SELECT {start} AS s, count(*) AS c FROM {a} GROUP BY {start}",
    "no groups": "SELECT {start} AS s, count(*) AS c FROM {a}",
    "groups alone": "SELECT {start} AS s, {end} AS e FROM {a} GROUP BY s, e",
    "by number": "SELECT k, {end} AS e, avg(n) AS m FROM {a} GROUP BY 1, 2",
    "by alias": "SELECT {end} // 10 AS e, min(n) AS m FROM {a} GROUP BY e ORDER BY e",
    "having": """SELECT k, max(t) - {start} AS age FROM {a} GROUP BY k, {start}
        HAVING max(t) >= {end} - 2""",
    "first groups": """SELECT {start} AS s, k, sum(n) AS n FROM {a} GROUP BY ALL
        ORDER BY s, n DESC, k LIMIT 2""",
    "ranks": """SELECT {start} AS s, k, row_number() OVER (ORDER BY sum(n), k) AS r FROM {a}
        GROUP BY {start}, k QUALIFY r <= 2""",
    "totals": "SELECT {start} AS s, k, count(*) AS c FROM {a} GROUP BY {start}, ROLLUP (k)",
    "only totals": "SELECT count(*) AS c FROM {a} GROUP BY {start}, GROUPING SETS ((), ())",
    "two levels": """SELECT s, max(c) AS c FROM (
        SELECT {start} AS s, k, count(*) AS c FROM {a} GROUP BY ALL) GROUP BY s""",
    "join": """SELECT {a_start} AS s, a.k, sum(a.n * b.n) AS n FROM {a} a JOIN {b} b
        ON a.k = b.k AND {a_start} = {b_start} AND {a_end} = {b_end}
        GROUP BY {a_start}, {b_end}, a.k""",
    "handed on": """SELECT {w_start} AS s, sum(n) AS n FROM (SELECT * FROM {a} WHERE n > 2) w
        GROUP BY {w_start}""",
    "joined as handed on": """SELECT {v_start} AS s, v.k, sum(v.n + w.n) AS n
        FROM (SELECT * FROM {a}) v JOIN (SELECT * FROM {b}) w
        ON v.k = w.k AND {v_start} = {w_start} AND {v_end} = {w_end} GROUP BY ALL""",
    "outer rows": """SELECT {start} AS s, k, name, count(*) AS c FROM {a} LEFT JOIN names USING (k)
        GROUP BY ALL""",
}
KEPT = {
    "rows": "SELECT *, {end} AS e FROM {a}",
    "newest rows": "SELECT k, n FROM {a} WHERE t >= {end} - 3",
    "newest rows in groups": "SELECT k, sum(n) AS n FROM {a} WHERE t >= {end} - 3 GROUP BY k",
    "arguments": "SELECT k, sum(CASE WHEN t < {start} + 5 THEN n END) AS n FROM {a} GROUP BY k",
    "filter": "SELECT count(*) FILTER (WHERE t > {end} - 4) AS c FROM {a}",
    "groups of ages": "SELECT {end} - t AS age, count(*) AS c FROM {a} GROUP BY age",
    "order": "SELECT t, n FROM {a} ORDER BY abs(t - {start} - 4), n, t LIMIT 5",
    "median": "SELECT {start} AS s, median(n) AS m FROM {a} GROUP BY {start}",
    "different": "SELECT DISTINCT {start} AS s, k FROM {a}",
    "subquery": "SELECT s, k, count(*) AS c FROM (SELECT {start} AS s, k FROM {a}) GROUP BY ALL",
    "named subquery": """WITH w AS (SELECT *, {end} AS e FROM {a} WHERE n > 3)
        SELECT e, sum(n) AS n FROM w GROUP BY e""",
    "union": """SELECT s, count(*) AS c FROM (SELECT {start} AS s FROM {a}
        UNION ALL SELECT {end} AS s FROM {a} WHERE n > 5) GROUP BY s""",
    "condition of a join": """SELECT a.t, b.n FROM {a} a JOIN {b} b
        ON a.k = b.k AND a.t >= {b_end} - 2""",
    "aggregated bounds": "SELECT k, max({end}) AS e, count({start}) AS c FROM {a} GROUP BY k",
    "beside": """SELECT (SELECT max(n) FROM {a} x WHERE x.t > {end} - 4) AS m, count(*) AS c
        FROM {b} GROUP BY ALL""",
}


AS_COLUMNS = {
    "left": """SELECT v.k, w.window_start AS s, count(*) AS c FROM {a} v LEFT JOIN {b} w
        ON v.t = w.t AND w.n > 6 AND v.window_start = w.window_start GROUP BY ALL""",
    "right": """SELECT v.t, v.window_end, w.window_start FROM (SELECT * FROM {a} WHERE n < 3) v
        RIGHT JOIN {b} w ON v.t = w.t AND v.k = w.k""",
    "full": """SELECT coalesce(v.window_start, w.window_start) AS s, v.window_end AS e, count(*)
        FROM (SELECT * FROM {a} WHERE n < 3) v FULL JOIN (SELECT * FROM {b} WHERE n > 7) w
        ON v.t = w.t AND v.k = w.k AND v.window_end = w.window_end GROUP BY 1, 2""",
    "none": """SELECT v.t FROM {a} v LEFT JOIN {b} w ON v.t = w.t AND w.n > 6
        WHERE w.window_start IS NULL""",
    "not there": """SELECT v.t FROM {a} v WHERE NOT EXISTS (SELECT 1 FROM {b} w
        WHERE v.t = w.t AND w.n > 6 AND v.window_start = w.window_start)""",
}
"""Queries in which a bound is a column that may be NULL."""


@pytest.fixture(scope="module")
def rows() -> pa.Table:
    """Return rows of a stream: three at each time."""
    random = Random(7)
    times = [time for time in TIMES for _ in range(3)]
    columns = {
        "t": times,
        "k": [random.choice("abcd") for _ in times],
        "n": [random.randrange(10) for _ in times],
    }
    return pa.table(columns, pa.schema({"t": pa.int64(), "k": pa.string(), "n": pa.int64()}))


@pytest.fixture(scope="module")
def plain(rows: pa.Table) -> Iterator[duckdb.DuckDBPyConnection]:
    """Return a database with all rows in a table."""
    with duckdb.connect() as connection:
        connection.register("rows_of_all", rows)
        connection.execute("CREATE TABLE names AS SELECT 'a' AS k, 'Ann' AS name")
        yield connection


@pytest.fixture
def engine() -> Iterator[Engine]:
    """Return an engine with two streams and a table."""
    with Engine(clock=ManualClock()) as engine:
        engine.sql(_CREATE.format("a"))
        engine.sql(_CREATE.format("b"))
        engine.sql("CREATE TABLE names AS SELECT 'a' AS k, 'Ann' AS name")
        yield engine


def expected(text: str, result: Result, plain: duckdb.DuckDBPyConnection) -> list[str]:
    """Return what DuckDB answers over the rows of a window, with numbers for the bounds."""
    start, end = f"{result.window_start}::BIGINT", f"{result.window_end}::BIGINT"
    window = f"(SELECT * FROM rows_of_all WHERE t >= {start} AND t < {end})"
    names = {"start": start, "end": end} | {
        f"{name}_{bound}": value
        for name in "abvw"
        for bound, value in (("start", start), ("end", end))
    }
    found = plain.execute(text.format(a=window, b=window, **names)).fetchall()
    return sorted(map(repr, found))


def expected_of_columns(text: str, result: Result, plain: duckdb.DuckDBPyConnection) -> list[str]:
    """Return what DuckDB answers where the bounds are columns of the rows of a window."""
    window = f"""(SELECT *, {result.window_start} AS window_start, {result.window_end} AS window_end
        FROM rows_of_all WHERE t >= {result.window_start} AND t < {result.window_end})"""
    return sorted(map(repr, plain.execute(text.format(a=window, b=window)).fetchall()))


def given(result: Result) -> list[str]:
    """Return the rows of a result as DuckDB gives rows."""
    return sorted(repr(tuple(row.values())) for row in result.table.to_pylist())


def results_of(query: ContinuousQuery, engine: Engine, rows: pa.Table) -> list[Result]:
    """Return the results of a query to which the rows come bit by bit, in both streams."""
    results = []
    for start in range(0, rows.num_rows, 25):
        for stream in "ab":
            engine.append(stream, rows.slice(start, 25))
        results += query.results()
    assert len(results) > 5
    assert not any(result.error for result in results)
    return results


@pytest.mark.parametrize(
    "window", ["tumble({}, 10)", "hop({}, 12, 4)", "hop({}, 5, 8, offset => 3)"]
)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", [*INCREMENTAL, *KEPT])
def test_a_query_with_bounds_is_that_over_the_rows_with_numbers(
    *,
    name: str,
    way: Way,
    window: str,
    engine: Engine,
    rows: pa.Table,
    plain: duckdb.DuckDBPyConnection,
) -> None:
    text = (INCREMENTAL | KEPT)[name]
    names = {bound: f"window_{bound}" for bound in ("start", "end")}
    if " x " in text:
        names["end"] = "x.window_end"
    names |= {
        f"{of}_{bound}": f"{of}.window_{bound}" for of in "abvw" for bound in ("start", "end")
    }
    sql = text.format(a=window.format("a"), b=window.format("b"), **names)
    query = engine.continuous_query(sql, evaluation=way)
    for result in results_of(query, engine, rows):
        assert given(result) == expected(text, result, plain), result.window_start
    if way == "increments":
        is_incremental = query.explain().startswith("incrementally")
        assert is_incremental == (name in INCREMENTAL), query.explain()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", AS_COLUMNS)
def test_a_bound_is_null_where_an_outer_join_makes_up_a_row(
    name: str, way: Way, engine: Engine, rows: pa.Table, plain: duckdb.DuckDBPyConnection
) -> None:
    text = AS_COLUMNS[name]
    query = engine.continuous_query(text.format(a="hop(a, 8, 4)", b="hop(b, 8, 4)"), evaluation=way)
    for result in results_of(query, engine, rows):
        assert given(result) == expected_of_columns(text, result, plain), result.window_start
