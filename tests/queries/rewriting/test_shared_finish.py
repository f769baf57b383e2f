"""Finishes that read each merged row by itself run together, as columns of one query."""

from __future__ import annotations

import pytest

from upstream.database.duck import Duck
from upstream.queries.rewriting.shared_finish import (
    FinishInCommon,
    finish_in_common,
    shared_finish,
)
from upstream.queries.rewriting.shared_partial import OwnColumns
from upstream.queries.sql.functions import functions_of
from upstream.queries.sql.window_clause import WindowClause, WindowKind

from .fixture_files import split_of

WINDOWS = (WindowClause(WindowKind.HOP, "s", size=4, slide=2),)


def finish_of(sql: str, tables: Duck) -> FinishInCommon | None:
    return finish_in_common(split_of(sql, tables, WINDOWS), functions_of(tables))


@pytest.mark.parametrize(
    ("sql", "is_one_row"),
    [
        ("SELECT g, avg(x) AS a FROM chunk_0 s GROUP BY g", False),
        ("SELECT sum(x) + 1 AS a, g AS b FROM chunk_0 s GROUP BY g", False),
        ("SELECT avg(x) AS a, count(*) AS n FROM chunk_0 s", True),
    ],
)
def test_a_finish_over_single_rows_can_run_with_others(
    sql: str, is_one_row: bool, tables: Duck
) -> None:
    finish = finish_of(sql, tables)
    assert finish is not None
    assert finish.is_one_row is is_one_row


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT g, sum(k) AS a FROM chunk_0 s GROUP BY g ORDER BY a LIMIT 1",
        "SELECT g, avg(x) AS a FROM chunk_0 s GROUP BY g HAVING a > 1",
        "SELECT g, count(DISTINCT x) AS a FROM chunk_0 s GROUP BY g",
        "SELECT g, avg(x) AS a, rank() OVER (ORDER BY avg(x)) AS b FROM chunk_0 s GROUP BY g",
        "SELECT g, avg(x) > (SELECT 1) AS a FROM chunk_0 s GROUP BY g",
        "SELECT g, sum(x) AS a FROM chunk_0 s WHERE g IN (SELECT 'a') GROUP BY g",
        "SELECT 1 AS a, count(*) AS b FROM chunk_0 s",
    ],
)
def test_another_finish_runs_alone(sql: str, tables: Duck) -> None:
    assert finish_of(sql, tables) is None


def test_finishes_are_columns_of_one_query_behind_numbers_of_rows(tables: Duck) -> None:
    finish = finish_of("SELECT g, avg(x) AS a FROM chunk_0 s GROUP BY g", tables)
    assert finish is not None
    one = OwnColumns("r", {"__s0": "c1", "__s1": "c2"})
    other = OwnColumns("q", {"__s0": "d1", "__s1": "d2"})
    made = shared_finish([(finish, one), (finish, other)])
    assert made.columns == (("__f0", "__f1", "__f2"), ("__f3", "__f4", "__f5"))
    text = made.query.sql("duckdb").replace('"', "")
    assert text.startswith("SELECT r AS __f0, __g0 AS __f1, ")
    assert "c1" in text
    assert "d2" in text
    assert text.endswith(" FROM merged_0")


def test_the_number_of_the_only_row_is_aggregated_too(tables: Duck) -> None:
    finish = finish_of("SELECT avg(x) AS a FROM chunk_0 s", tables)
    assert finish is not None
    made = shared_finish([(finish, OwnColumns("r", {"__s0": "c1", "__s1": "c2"}))])
    assert made.query.sql("duckdb").lower().startswith('select max("r") as "__f0"')
