"""A value of an INSERT is found in the text by its row and column."""

from __future__ import annotations

import pytest

from upstream.database.duck import Duck
from upstream.queries.sql import InsertInto, parse
from upstream.queries.sql.value_places import place_of_value


def shown_at(text: str, row: int, column: int | None, duck: Duck) -> str:
    statement = parse(text, duck)
    assert isinstance(statement, InsertInto)
    return text[place_of_value(statement, row, column) :]


TEXT = "INSERT INTO s (a, b) VALUES (1, -2),\n ((3), f(4, [5, 6])), ({'a': 7, 'b': 8}, NULL)"


@pytest.mark.parametrize(
    ("row", "column", "value"),
    [
        (0, 0, "1,"),
        (0, 1, "-2)"),
        (1, 0, "(3),"),
        (1, 1, "f(4"),
        (2, 0, "{'a'"),
        (2, 1, "NULL"),
        (2, None, "s ("),
        (2, 2, "s ("),
        (3, 0, "s ("),
    ],
)
def test_a_value_is_where_its_text_begins(
    row: int, column: int | None, value: str, duck: Duck
) -> None:
    assert shown_at(TEXT, row, column, duck).startswith(value)


def test_a_query_has_no_places_of_values(duck: Duck) -> None:
    assert shown_at("INSERT INTO s SELECT 1", 0, 0, duck) == "s SELECT 1"
