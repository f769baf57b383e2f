"""Families of query shapes, each by increments, whole, and by DuckDB over the same rows."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest

from .shapes import Family, problems


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


@pytest.mark.parametrize(
    "family",
    [
        pytest.param(COLLATE, id="COLLATE"),
        pytest.param(COLLATED_TABLE, id="collated table"),
        pytest.param(DEFAULT_COLLATION, id="default_collation"),
    ],
)
def test_a_shape_gives_in_each_way_what_duckdb_gives(family: Family) -> None:
    found = problems(family)
    assert not found, "\n".join(found)
