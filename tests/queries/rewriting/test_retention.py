"""Which columns and rows of a chunk can be needed."""

from __future__ import annotations

import pytest
from sqlglot import exp

from upstream.database.duck import Duck
from upstream.queries.rewriting.retention import columns_read

from ..parsed import select_of
from .fixture_files import split_of
from .random_steps import SCHEMA
from .rule_contract import RuleContract


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        ("SELECT X, g FROM chunk_0 s WHERE k > 1", ("g", "k", "x")),
        ("SELECT count(*) FROM chunk_0 s", ("t",)),
        ("SELECT * FROM chunk_0 s", tuple(SCHEMA.names)),
        ("SELECT s.* FROM chunk_0 s", tuple(SCHEMA.names)),
        ("SELECT COLUMNS('x') FROM chunk_0 s", tuple(SCHEMA.names)),
        ("SELECT 1 FROM chunk_0 s NATURAL JOIN names", tuple(SCHEMA.names)),
        ('SELECT "Odd name" FROM chunk_0 s', ("Odd name",)),
    ],
)
def test_columns_are_those_that_are_named(sql: str, columns: tuple[str, ...]) -> None:
    assert columns_read(select_of(sql), SCHEMA) == columns


def _filters(sql: str, tables: Duck) -> list[str]:
    queries: list[exp.Query] = []
    for leaf in split_of(sql, tables).leaves:
        picks = [leaf.picks[i] for i in leaf.windows if leaf.picks]
        queries += picks or [leaf.partial]
    return [query.sql("duckdb").partition(" WHERE ")[2].replace('"', "") for query in queries]


@pytest.mark.parametrize(
    ("sql", "filters"),
    [
        (
            "SELECT 1 FROM chunk_0 a JOIN chunk_1 b ON a.k < b.k AND b.x > 1 WHERE a.b",
            ["a.b", "b.x > 1"],
        ),
        (
            "SELECT a.x FROM chunk_0 a, chunk_1 b WHERE a.k = b.k AND (a.x > 1 AND b.g = 'a')",
            ["a.x > 1", "b.g = 'a'"],
        ),
        (
            (
                "SELECT count(*) FROM (SELECT k FROM chunk_0 s) q JOIN chunk_1 s ON q.k = s.k"
                " WHERE s.x > 1"
            ),
            ["", "s.x > 1"],
        ),
        ("SELECT n.name FROM names n LEFT JOIN chunk_0 s ON n.id = s.k WHERE s.x IS NULL", [""]),
        (
            "SELECT a.x FROM chunk_0 a, chunk_1 b WHERE a.b AND a.k IN (SELECT id FROM names)",
            ["a.b", ""],
        ),
        ("SELECT x FROM chunk_0 s WHERE b AND x > (SELECT avg(x) FROM chunk_1 u)", ["", "s.b"]),
    ],
)
def test_rows_are_those_that_meet_the_conditions_on_one_side(
    sql: str, filters: list[str], tables: Duck
) -> None:
    assert _filters(sql, tables) == filters


class TestVolatileFunctions(RuleContract):
    """What cannot be split: the rows are kept, the whole is evaluated."""

    rule = "volatile"
