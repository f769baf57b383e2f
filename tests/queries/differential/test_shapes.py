"""Families of query shapes, each incrementally, whole, and by DuckDB over the same rows."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest

from .shapes import LASTING, WINDOWS, Family, problems


def _texts(random: Random, count: int) -> dict[str, pa.Array]:
    texts = ["a", "A", "b", "B", "é", "E", "e", "Á", None, "c"]
    return {
        "g": pa.array([random.randint(0, 1) for _ in range(count)], pa.int64()),
        "s": pa.array([random.choice(texts) for _ in range(count)], pa.string()),
        "x": pa.array([random.choice([None, 1, 2, 3, 4]) for _ in range(count)], pa.int64()),
    }


TEXTS = "g BIGINT, s TEXT, x BIGINT"

COLLATE = Family(
    TEXTS,
    _texts,
    incremental=[
        "SELECT count(DISTINCT s COLLATE NOCASE) FROM {0}",
        "SELECT g, count(DISTINCT s COLLATE NOCASE), count(*), sum(x) FROM {0} GROUP BY g",
        "SELECT min(s COLLATE NOCASE), max(s COLLATE NOCASE) FROM {0}",
        "SELECT g, min(s COLLATE NOCASE), max(s COLLATE NOACCENT), max(s) FROM {0} GROUP BY g",
        "SELECT max(s COLLATE NOCASE) FILTER (WHERE x > 1), min(s COLLATE de) FROM {0}",
        "SELECT arg_min(x, s COLLATE NOCASE), arg_max(x, s COLLATE NOCASE.NOACCENT) FROM {0}",
        "SELECT arg_min(s COLLATE NOCASE, x), first(s COLLATE NOCASE) FROM {0}",
        (
            "SELECT g, max(s COLLATE NOCASE) AS m FROM {0} GROUP BY g"
            " HAVING max(s COLLATE NOCASE) = 'C' OR min(s COLLATE NOCASE) < 'B'"
        ),
        "SELECT g, max(s) COLLATE NOCASE AS m FROM {0} GROUP BY g ORDER BY 1",
        "SELECT greatest(max(s COLLATE NOCASE), 'B'), max(s COLLATE NOCASE) IN ('A') FROM {0}",
        "SELECT g, count(*) FILTER (WHERE s COLLATE NOCASE = 'A') FROM {0} GROUP BY g",
        (
            "SELECT s COLLATE NOCASE = 'a' AS k, count(*) FROM {0} WHERE s COLLATE NOCASE < 'C'"
            " GROUP BY 1"
        ),
        "SELECT bool_or(s COLLATE NOCASE > 'B'), bool_and(s > 'B' COLLATE NOCASE) FROM {0}",
        "SELECT count(*), count(DISTINCT k) FROM (SELECT s COLLATE NOCASE AS k FROM {0}) AS q",
    ],
    kept=[
        "SELECT max(k), count(DISTINCT k) FROM (SELECT s COLLATE NOCASE AS k FROM {0}) AS q",
        "SELECT s COLLATE NOCASE AS k, count(*), first(s) FROM {0} GROUP BY 1",
        "SELECT lower(s COLLATE NOCASE) AS k, count(*) FROM {0} GROUP BY 1",
        "SELECT s COLLATE NOCASE AS k, g, count(*) FROM {0} GROUP BY ROLLUP (1, 2)",
        "SELECT DISTINCT s COLLATE NOCASE AS k FROM {0}",
        "SELECT DISTINCT ON (s COLLATE NOCASE) s, x FROM {0} ORDER BY s COLLATE NOCASE, x, s",
        "SELECT s COLLATE NOCASE AS k, x, s FROM {0} ORDER BY 1, 2, 3",
        "SELECT s COLLATE NOCASE AS k, x, s FROM {0} ORDER BY 1, 2, 3 LIMIT 3",
        "SELECT s, x FROM {0} ORDER BY s COLLATE de, x, s LIMIT 4",
        "SELECT list(x ORDER BY s COLLATE NOCASE, x), max(s COLLATE NOCASE, 2) FROM {0}",
        "SELECT string_agg(DISTINCT s COLLATE NOCASE, ',' ORDER BY s COLLATE NOCASE) FROM {0}",
        "SELECT approx_count_distinct(s COLLATE NOCASE), mode(s COLLATE NOCASE) FROM {0}",
        "SELECT histogram(s COLLATE NOCASE) FROM {0}",
        "SELECT max({{'a': s COLLATE NOCASE}}), count(DISTINCT [s COLLATE NOCASE]) FROM {0}",
        "SELECT g, max(s COLLATE NOCASE), count(DISTINCT x) FROM {0} GROUP BY g",
        "SELECT s COLLATE NOCASE AS k FROM {0} UNION SELECT 'A'",
        "SELECT s COLLATE NOCASE AS k FROM {0} EXCEPT SELECT 'A'",
        (
            "SELECT k, count(*) FROM (SELECT s COLLATE NOCASE AS k FROM {0} UNION ALL SELECT 'A')"
            " AS u GROUP BY k"
        ),
        "SELECT rank() OVER (ORDER BY s COLLATE NOCASE) AS r, s, x FROM {0}",
        "SELECT count(*) OVER (PARTITION BY s COLLATE NOCASE) AS r, s, x FROM {0}",
        "SELECT x FROM {0} WHERE s COLLATE NOCASE = (SELECT max(s COLLATE NOCASE) FROM {0})",
    ],
)

COLLATED_TABLE = Family(
    TEXTS,
    _texts,
    setup=[
        "CREATE TABLE names (n TEXT COLLATE NOCASE, v INT)",
        "INSERT INTO names VALUES ('A', 1), ('b', 2), ('E', 3), ('é', 4)",
        "CREATE VIEW named AS SELECT n, v FROM names",
        "CREATE MACRO folded(z) AS z::VARCHAR COLLATE NOCASE",
    ],
    incremental=[
        "SELECT s.s, n, x, v FROM {0} JOIN names ON n = s.s",
        "SELECT g, count(DISTINCT n) FROM {0} JOIN named ON n = s.s GROUP BY g",
        "SELECT count(*) FROM {0} WHERE s IN (SELECT n FROM names)",
        "SELECT max(folded(s)), min(folded(s)) FROM {0}",
        "SELECT count(DISTINCT folded(s)) FROM {0}",
        "SELECT g, max(s), max([s]) FROM {0} GROUP BY g",
    ],
    kept=[
        "SELECT n, count(*) FROM {0} JOIN names ON n = s.s GROUP BY n",
        "SELECT max(n), min(n) FROM {0} JOIN named ON n = s.s",
        "SELECT folded(s) AS k, count(*) FROM {0} GROUP BY 1",
    ],
    windows=["hop(s, 2, 1)"],  # rows one by one stand on no landmark
)

DEFAULT_COLLATION = Family(
    TEXTS,
    _texts,
    setup=["SET default_collation = 'nocase'"],
    incremental=[
        "SELECT count(DISTINCT s), max(x) FROM {0}",
        "SELECT max(s), min(s), arg_min(x, s) FROM {0}",
        "SELECT g, max(s), first(s), count(*) FILTER (WHERE s = 'a') FROM {0} GROUP BY g",
        "SELECT g, sum(x) FROM {0} WHERE s > 'b' GROUP BY g",
    ],
    kept=[
        "SELECT s, count(*) FROM {0} GROUP BY s",
        "SELECT DISTINCT s FROM {0}",
        "SELECT s AS k, x FROM {0} ORDER BY 1, 2 LIMIT 2",
        "SELECT list(x ORDER BY s, x), histogram(s), approx_count_distinct(s) FROM {0}",
        "SELECT g, max([s]) FROM {0} GROUP BY g",
    ],
)


STRUCTS = Family(
    TEXTS,
    _texts,
    incremental=[
        "SELECT unnest(max({{'a': g, 'b': x}}), recursive := true) FROM {0}",
        "SELECT g, unnest(max({{'a': x, 'b': [s]}})), count(*) AS n FROM {0} GROUP BY g",
        "SELECT max({{'a': g, 'b': x}}).b AS b FROM {0}",
        "SELECT g, max(x, 2), min(s, 3) FILTER (WHERE x > 1) FROM {0} GROUP BY g",
        "SELECT sum(x) AS total FROM (SELECT x FROM {0})",
        "SELECT max({{'a': g, 'b': x}}, 2), min([x], 2) FROM {0}",
    ],
    kept=[
        "SELECT unnest(max({{'a': g}})), unnest(min({{'b': x}})) FROM {0}",
        "SELECT g AS k, unnest({{'a': x, 'b': s}}) FROM {0} ORDER BY 1, 2, 3 LIMIT 2",
        "SELECT DISTINCT unnest({{'a': g, 'b': x}}) FROM {0}",
        "SELECT g AS k, unnest(max({{'a': x, 'b': s}})) FROM {0} GROUP BY 1",
        "SELECT COLUMNS('^[gx]$') FROM {0}",
    ],
)


def _distinct_keys(random: Random, count: int) -> dict[str, pa.Array]:
    """Return rows of which no two have the same y, some of them NULL or not a number."""
    keys = [random.choice([None, random.random(), random.gauss(0, 1e9)]) for _ in range(count)]
    return {**_texts(random, count), "y": pa.array(keys, pa.float64())}


CHOSEN = Family(
    f"{TEXTS}, y DOUBLE",
    _distinct_keys,
    setup=["CREATE TABLE names (n TEXT, v INT)", "INSERT INTO names VALUES ('a', 1), ('b', 2)"],
    incremental=[
        "SELECT arg_max(x, y, 3), arg_min(s, y, 2), max_by(s, y, 1), argmin(x, y, 50) FROM {0}",
        "SELECT g, arg_max(s, y, 2), min_by(x, y, 3), count(*) FROM {0} GROUP BY g",
        "SELECT s, arg_max(x, y, 2) FILTER (WHERE g = 1), max(x, 2) FROM {0} GROUP BY s",
        "SELECT arg_max({{'x': x, 's': s}}, y, 4), arg_min([s, NULL], y, 2) FROM {0}",
        "SELECT arg_max(x, [y], 3), arg_min(s, {{'a': g, 'b': y}}, 3) FROM {0} WHERE y < 0.9",
        "SELECT g, arg_max(x, y, 2), count(DISTINCT s) FROM {0} GROUP BY g",
        "SELECT g, arg_max(x, y, 2)[1] AS a FROM {0} GROUP BY g HAVING len(arg_min(x, y, 2)) > 1",
        "SELECT g, arg_max(x, y, 2) AS a FROM {0} GROUP BY ROLLUP (g)",
        "SELECT g, arg_min(x, y), max_by(s, y) FROM {0} JOIN names ON n = s GROUP BY g",
        "SELECT v, arg_max(x, y, 2), arg_min(x, y) FROM {0} JOIN names ON n = s GROUP BY v",
        "SELECT arg_max(x, y) FILTER (WHERE v = 1) FROM {0} LEFT JOIN names ON n = s",
    ],
    windows=LASTING,
)

DIVISIONS = [
    "SELECT g, avg(x), var_pop(x), stddev_samp(x), sem(x) FROM {0} GROUP BY g",
    "SELECT g, regr_avgx(x, g), regr_slope(x, g), regr_intercept(x, k) FROM {0} GROUP BY g",
    "SELECT corr(x, k), regr_r2(x, k), covar_samp(x, k), regr_slope(x, k) FROM {0}",
    "SELECT g, sum(x) / 2 AS half, max(x) / count(*) AS share FROM {0} GROUP BY g",
]
"""Aggregates whose merge or finish divides, and queries that do."""


def _pairs(random: Random, count: int) -> dict[str, pa.Array]:
    return {**_texts(random, count), "k": pa.array([random.randint(0, 9) for _ in range(count)])}


INTEGER_DIVISION, NO_IEEE = (
    Family(f"{TEXTS}, k BIGINT", _pairs, incremental=DIVISIONS, setup=[setting])
    for setting in ("SET integer_division = true", "SET ieee_floating_point_ops = false")
)


def _zeros(random: Random, count: int) -> dict[str, pa.Array]:
    zeros = [random.choice([0.0, -0.0, 0.0, -0.0, None]) for _ in range(count)]
    return {**_texts(random, count), "y": pa.array(zeros, pa.float64())}


ZEROS = Family(
    f"{TEXTS}, y DOUBLE",
    _zeros,
    incremental=[
        "SELECT min(y)::VARCHAR AS least, max(y)::VARCHAR AS most FROM {0}",
        "SELECT g, min(y)::VARCHAR AS least, max(y)::VARCHAR AS most FROM {0} GROUP BY g",
        "SELECT s, min(y::FLOAT)::VARCHAR, max(y::FLOAT)::VARCHAR FROM {0} GROUP BY s",
    ],
    windows=("hop(s, 3, 1)", *WINDOWS),
)

VALUES = {
    "UNION": "if(x > 1, x::UNION(a BIGINT, b VARCHAR), s::UNION(a BIGINT, b VARCHAR))",
    "BIT": "x::INT::BIT",
    "HUGEINT": "x::HUGEINT * 1000000000000000000",
    "UHUGEINT": "x::UHUGEINT * 1000000000000000000",
    "DECIMAL": "(x::HUGEINT * 100000000000000000000)::DECIMAL(38, 0)",
    "INTERVAL": "to_days(x::INT)",
    "TIMETZ": "('0' || x || ':00:00+01')::TIMETZ",
    "ENUM": "CASE x WHEN 1 THEN 'sad' WHEN 2 THEN 'ok' WHEN 3 THEN 'happy' END::mood",
    "MAP": "map {{'a': x}}",
    "list of ENUM": "[CASE x WHEN 1 THEN 'sad' ELSE 'ok' END::mood]",
    "struct of UNION": "{{'a': union_value(a := x)}}",
    "ARRAY": "[x, g]::BIGINT[2]",
    "UUID": "md5(x::VARCHAR)::UUID",
    "JSON": "('[' || x || ']')::JSON",
    "VARIANT": "x::VARIANT",
    "BIGNUM": "x::BIGNUM",
    "NULL": "NULL",
}
"""Values of types that Arrow or NumPy have in another way, or not at all."""

TYPES = Family(
    TEXTS,
    _texts,
    setup=["CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')"],
    kept=[
        form.replace("{v}", value)
        for form in (
            "SELECT g, max({v}) AS m, min({v}) AS l, arg_max({v}, x) AS a FROM {0} GROUP BY g",
            "SELECT {v} AS v, first({v}) AS f, list({v}) AS l FROM {0} GROUP BY 1",
        )
        for value in VALUES.values()
    ]
    + [
        f"SELECT a.g, max(v) AS m FROM (SELECT g, {VALUES[name]} AS v FROM {{0}}) AS a"
        f" JOIN (SELECT {VALUES[name]} AS w FROM {{0}}) AS b ON v = w GROUP BY a.g"
        for name in ("UNION", "HUGEINT", "INTERVAL", "ENUM")
    ],
    windows=["hop(s, 2, 1)"],
)


@pytest.mark.parametrize(
    "family",
    [
        pytest.param(COLLATE, id="COLLATE"),
        pytest.param(COLLATED_TABLE, id="collated table"),
        pytest.param(DEFAULT_COLLATION, id="default_collation"),
        pytest.param(STRUCTS, id="structs taken apart"),
        pytest.param(CHOSEN, id="chosen by another"),
        pytest.param(INTEGER_DIVISION, id="integer_division"),
        pytest.param(NO_IEEE, id="no ieee_floating_point_ops"),
        pytest.param(ZEROS, id="zeros of either sign"),
        pytest.param(TYPES, id="types"),
    ],
)
def test_a_shape_gives_in_each_way_what_duckdb_gives(family: Family) -> None:
    found = problems(family)
    assert not found, "\n".join(found)
