"""Columns of our own are kept out of everything that means all columns."""

from __future__ import annotations

import pytest

from upstream.queries.sql.stars import hide_columns

from .example_streams import select_of

HIDDEN = {"x": ["__a", "__b"], "Y": ["__a"], "z": []}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT * FROM x", 'SELECT * EXCLUDE ("__a", "__b") FROM x'),
        ("SELECT X.*, y.*, z.*, o.* FROM x, y, z, o", None),
        ("SELECT * EXCLUDE (c) FROM x", 'SELECT * EXCLUDE (c, "__a", "__b") FROM x'),
        ("SELECT COLUMNS(*) + 1 FROM x", 'SELECT COLUMNS(* EXCLUDE ("__a", "__b")) + 1 FROM x'),
        ("SELECT count(*), count(*) OVER () FROM x", "SELECT COUNT(*), COUNT(*) OVER () FROM x"),
        ("SELECT c FROM x WHERE (SELECT * FROM o)", "SELECT c FROM x WHERE (SELECT * FROM o)"),
    ],
)
def test_a_star_excludes_the_hidden_columns(text: str, expected: str | None) -> None:
    select = select_of(text)
    assert hide_columns(select, HIDDEN, {"c"}) == ""
    of_each = 'SELECT X.* EXCLUDE ("__a", "__b"), y.* EXCLUDE ("__a"), z.*, o.* FROM x, y, z, o'
    assert select.sql("duckdb") == (expected or of_each)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT COLUMNS('a') FROM x", "a pattern or a function"),
        ("SELECT COLUMNS(lambda c: true) FROM x", "a pattern or a function"),
        ("SELECT * LIKE 'a%' FROM x", "a star inside an expression"),
        ("SELECT count(x.*) FROM x", "a star inside an expression"),
        ("SELECT #2 FROM x", "a column by its number"),
        ("SELECT c FROM x WHERE x IS NULL", "x is used as a row"),
        ("SELECT (SELECT max(x) FROM o) FROM x", "x is used as a row"),
        ("SELECT (SELECT x.*) FROM x", "x is used as a row"),
        ("SELECT c FROM z ORDER BY z", "z is used as a row"),
    ],
)
def test_a_form_that_cannot_be_rewritten_is_named(text: str, reason: str) -> None:
    assert reason in hide_columns(select_of(text), HIDDEN, {"c"})


def test_a_name_that_is_a_column_too_is_no_row() -> None:
    assert hide_columns(select_of("SELECT x FROM x"), HIDDEN, {"x"}) == ""
