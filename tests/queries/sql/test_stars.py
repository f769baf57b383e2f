"""Columns of our own stay out of the stars of a query."""

from __future__ import annotations

import pytest

from tests.queries.parsed import select_of
from upstream.queries.sql.dialect import DIALECT
from upstream.queries.sql.stars import hide_columns

HIDDEN = {"x": ["__a", "__b"], "Y": ["__a"]}


@pytest.mark.parametrize(
    ("sql", "hidden"),
    [
        ("SELECT * FROM x, y", 'SELECT * EXCLUDE ("__a", "__b") FROM x, y'),
        ("SELECT x.* FROM x, y", 'SELECT x.* EXCLUDE ("__a", "__b") FROM x, y'),
        ("SELECT y.*, v FROM x, y", 'SELECT y.* EXCLUDE ("__a"), v FROM x, y'),
        ("SELECT t.* FROM x, t", "SELECT t.* FROM x, t"),
        ("SELECT * EXCLUDE (k) FROM x", 'SELECT * EXCLUDE (k, "__a", "__b") FROM x'),
        ("SELECT max(COLUMNS(*)) FROM x", 'SELECT MAX(COLUMNS(* EXCLUDE ("__a", "__b"))) FROM x'),
        ("SELECT COLUMNS(y.*) FROM y", 'SELECT COLUMNS(y.* EXCLUDE ("__a")) FROM y'),
        ("SELECT count(*) FROM x", "SELECT COUNT(*) FROM x"),
        ("SELECT a FROM (SELECT * FROM t) AS x", "SELECT a FROM (SELECT * FROM t) AS x"),
        ("SELECT x.k, y.k FROM x, y", "SELECT x.k, y.k FROM x, y"),
        ("SELECT v AS x FROM y WHERE v IN (SELECT * FROM t)",) * 2,
    ],
)
def test_a_star_excludes_what_is_hidden(sql: str, hidden: str) -> None:
    select = select_of(sql, DIALECT)
    assert hide_columns(select, HIDDEN, frozenset()) == ""
    assert select.sql(DIALECT) == hidden


ROW = "{} is used as a row: name its columns instead"
PATTERN = "COLUMNS(…) with a pattern or a function can stand for any columns"
STAR = "a star inside an expression stands for all columns"


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT x FROM x", ROW.format("x")),
        ("SELECT to_json(Y) FROM Y", ROW.format("Y")),
        ("SELECT 1 FROM x GROUP BY x", ROW.format("x")),
        ("SELECT (SELECT max(x) FROM t) FROM x", ROW.format("x")),
        ("SELECT (SELECT count(x.*) FROM t) FROM x", ROW.format("x")),
        ("SELECT COLUMNS('k.*') FROM x", f"{PATTERN}: name the columns instead"),
        ("SELECT COLUMNS(lambda c: c > 'k') FROM x", f"{PATTERN}: name the columns instead"),
        ("SELECT * LIKE 'k%' FROM x", f"{STAR}: name the columns instead"),
        ("SELECT count(x.*) FROM x", f"{STAR}: name the columns instead"),
    ],
)
def test_what_can_mean_all_columns_otherwise_is_refused(sql: str, reason: str) -> None:
    assert hide_columns(select_of(sql, DIALECT), HIDDEN, frozenset()) == reason


def test_a_column_with_the_name_of_a_relation_is_not_a_row() -> None:
    select = select_of("SELECT x FROM x", DIALECT)
    assert hide_columns(select, HIDDEN, frozenset({"x"})) == ""
