"""A stream, views that follow its newest rows, and the queries of such views."""

from __future__ import annotations

import pyarrow as pa

from upstream import Engine

COLUMNS = {
    "time": pa.int64(),
    "k": pa.string(),
    "g": pa.string(),
    "x": pa.int64(),
    "i": pa.int32(),
    "d": pa.decimal128(10, 2),
    "h": pa.decimal128(38, 0),
    "b": pa.bool_(),
    "note": pa.string(),
    "f": pa.float64(),
    "day": pa.date32(),
}
SCHEMA = pa.schema(list(COLUMNS.items()))
STREAM = (
    "(time BIGINT, k TEXT, g TEXT, x BIGINT, i INTEGER, d DECIMAL(10, 2), h DECIMAL(38, 0),"
    " b BOOLEAN, note TEXT, f DOUBLE, day DATE) KEY (k) TIME (time)"
)
NAMES = pa.table({"g": ["a", "b", "b", None], "v": [1, 2, 3, 4]})

FOLLOWED = (
    "SELECT g, sum(x) AS a, count(*) AS n, count(x) AS m FROM {s} AS s GROUP BY g",
    "SELECT g, sum(i) AS a, sum(d) AS e, sum(b::INT) AS c FROM {s} AS s GROUP BY g",
    "SELECT g, avg(x) AS a, avg(i) AS e FROM {s} AS s GROUP BY g",
    "SELECT g, sum(h) AS a FROM {s} AS s GROUP BY g",
    "SELECT count_if(b) AS a, count(*) AS n, sum(x) AS c, avg(i) AS e FROM {s} AS s",
    "SELECT g, sum(x) FILTER (x > 0) AS a, count(*) FILTER (b) AS n FROM {s} AS s GROUP BY g",
    "SELECT count(DISTINCT i) AS n, count(DISTINCT g) AS m FROM {s} AS s",
    "SELECT g, count(DISTINCT i) AS n FROM {s} AS s GROUP BY g",
    "SELECT g, sum(x) AS a FROM {s} AS s GROUP BY g HAVING count(*) > 1",
    "SELECT g, b, sum(i) AS a, count(*) AS n FROM {s} AS s GROUP BY ROLLUP (g, b)",
    "SELECT max(n) AS a FROM (SELECT g, count(*) AS n FROM {s} AS s GROUP BY g)",
    "SELECT s.g, sum(i * v) AS a FROM {s} AS s JOIN names ON names.g = s.g GROUP BY s.g",
    "SELECT v, count(*) AS n FROM {s} AS s LEFT JOIN names ON names.g = s.g GROUP BY v",
    "SELECT count(*) AS n FROM {s} AS s WHERE g IN (SELECT g FROM names) AND i > 0",
    "SELECT sum(note::INT) AS a FROM {s} AS s",
    "SELECT n, a FROM (SELECT count(*) AS n FROM {all}), (SELECT sum(i) AS a FROM {s} AS s)",
)
"""Queries of which a leaf follows the rows that come and go."""
EXTREMES = (
    "SELECT g, max(x) AS a, sum(i) AS n FROM {s} AS s GROUP BY g",
    "SELECT g, min(x) AS a, min(h) AS e, max(d) AS c, max(note) AS n FROM {s} AS s GROUP BY g",
    "SELECT max(f) AS a, min(f) AS e, min(day) AS c FROM {s} AS s",
    "SELECT f, max(i) AS a FROM {s} AS s GROUP BY f",
    "SELECT g, sum(x) AS a, bool_or(b) AS c, bool_and(b) AS d FROM {s} AS s GROUP BY g",
    "SELECT g, arg_max(i, x) AS a, min_by(note, f) FILTER (b) AS e FROM {s} AS s GROUP BY g",
    "SELECT g, max(x) FILTER (x < 5) AS a, count(DISTINCT i) AS n FROM {s} AS s GROUP BY g",
    "SELECT s.g, max(i * v) AS a FROM {s} AS s JOIN names ON names.g = s.g GROUP BY s.g",
    "SELECT g, b, max(i) AS a FROM {s} AS s GROUP BY ROLLUP (g, b)",
    "SELECT g, min(note::INT) AS a, avg(i) AS e FROM {s} AS s GROUP BY g",
    "SELECT max(a) AS e FROM (SELECT min(x) AS a FROM {s} AS s GROUP BY g HAVING max(i) > 0)",
)
"""The same, with states that have no inverse."""
DOUBLES = (
    "SELECT g, sum(f) AS a, avg(f) AS e, max(f) AS c FROM {s} AS s GROUP BY g",
    "SELECT sum(f) FILTER (b) AS a, fsum(f) AS e, sum(f / 3) AS c, sum(x) AS n FROM {s} AS s",
    "SELECT g, var_pop(i) AS a, stddev(i / 7) AS e, count(*) AS n FROM {s} AS s GROUP BY g",
    "SELECT stddev_pop(d) FILTER (b) AS a, var_samp(f) AS e FROM {s} AS s",
    "SELECT g, covar_pop(i, f) AS a, regr_slope(f, i) AS e FROM {s} AS s GROUP BY g",
    "SELECT corr(i, note::DOUBLE) AS a, regr_r2(i, i + 1) AS e FROM {s} AS s",
    "SELECT i, sum(v / 10) AS a FROM {s} AS s JOIN names ON names.g = s.g GROUP BY i",
)
"""The same, with sums of doubles."""
FIRST_ROWS = (
    "SELECT k, x FROM {s} AS s ORDER BY x, k, time, note LIMIT 2",
    "SELECT i, f FROM {s} AS s ORDER BY i DESC NULLS LAST, f NULLS FIRST LIMIT 3",
    "SELECT day, note FROM {s} AS s ORDER BY day, note DESC LIMIT 2 OFFSET 1",
    "SELECT DISTINCT ON (g) g, f, b FROM {s} AS s ORDER BY g, f DESC, b, i",
    "SELECT g, i FROM {s} AS s QUALIFY row_number() OVER (PARTITION BY g ORDER BY i, x) <= 2",
    "SELECT i, b FROM {s} AS s QUALIFY row_number() OVER (PARTITION BY i > 0 ORDER BY i, b) <= 2",
    (
        "SELECT f, d FROM (SELECT *, row_number() OVER (PARTITION BY f ORDER BY d) AS n"
        " FROM {s} AS s) WHERE n = 1"
    ),
    (
        "SELECT s.k, v FROM {s} AS s JOIN names ON names.g = s.g"
        " ORDER BY i * v DESC, v, s.k, time LIMIT 3"
    ),
    (
        "SELECT note::INT AS a FROM {s} AS s"
        " QUALIFY row_number() OVER (PARTITION BY g ORDER BY note::INT) <= 2"
    ),
)
"""The same, with rows instead of groups."""
PRESENT = (
    "SELECT p.g, sum(q.i) AS a FROM {s} AS p JOIN {s} AS q USING (k) GROUP BY p.g",
    "SELECT g, max(i, 2) AS a FROM {s} AS s GROUP BY g",
    "SELECT k, x FROM {s} AS s WHERE b",
    "SELECT count(*) AS n FROM {s} AS p, {other} AS q WHERE p.i = q.i",
    "SELECT g, bit_xor(i) AS a, sum(x) AS c FROM {s} AS s GROUP BY g",
    (
        "SELECT sum(n) AS n FROM (SELECT g, count(*) AS n FROM {s} AS s GROUP BY g) JOIN"
        " (SELECT g, count(*) AS m FROM {other} AS o GROUP BY g) USING (g) WHERE m < n"
    ),
)
"""Queries that may be evaluated over the present rows."""
QUERIES = FOLLOWED + EXTREMES + DOUBLES + FIRST_ROWS + PRESENT


def leaves(engine: Engine, name: str = "v") -> list[object]:
    """Return what evaluates the leaves of a view."""
    evaluation = engine._catalogue.views[name]._view_plan.evaluation
    assert evaluation is not None
    return list(evaluation._own)


def feed(engine: Engine, *rows: dict[str, object]) -> None:
    engine.append("s", pa.Table.from_pylist(list(rows), schema=SCHEMA))


def many(engine: Engine, count: int = 1_000) -> None:
    feed(engine, *({"time": 1, "k": f"{n}", "g": "a", "i": 1, "note": "1"} for n in range(count)))
