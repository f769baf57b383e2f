"""Messages of DuckDB become errors of the library, with the place of the name in them."""

from __future__ import annotations

import pytest

from upstream.database.duck import Duck
from upstream.database.failure import DatabaseError
from upstream.errors import (
    QueryError,
    QuerySyntaxError,
    QueryTypeError,
    UnknownColumnError,
    UnknownFunctionError,
    UnknownTableError,
)
from upstream.queries.sql import error_of

from .example_streams import shown

LONG = ", ".join(f"column_{i}" for i in range(30))


@pytest.mark.parametrize(
    ("text", "kind", "place"),
    [
        ("DROP TABLE nothing", UnknownTableError, "nothing"),
        ("INSERT INTO Nothing VALUES (1)", UnknownTableError, "Nothing"),
        ("UPDATE companies SET compny = 1", UnknownColumnError, "compny"),
        ("CREATE TABLE t AS SELECT foo(1)", UnknownFunctionError, "foo(1)"),
        ("CREATE TABLE t AS SELECT CAST('x' AS INT) AS i", QueryTypeError, "CAST"),
        ("CREATE TABLE t (a INT, a INT)", QueryError, None),
        ("CREATE TABEL t (a INT)", QuerySyntaxError, "TABEL"),
        ("SELECT 'ü'\nFROM t\nWHERE a DIV b", QuerySyntaxError, "DIV"),
        (f"SELECT {LONG}, a DIV b, {LONG}", QuerySyntaxError, "b, "),
    ],
)
def test_a_message_is_of_a_kind(
    text: str, kind: type[QueryError], place: str | None, duck: Duck
) -> None:
    with pytest.raises(DatabaseError) as refused:
        duck.rows(text)
    with pytest.raises(QueryError) as caught:
        raise error_of(str(refused.value), text)
    assert type(caught.value) is kind
    assert "Error:" not in caught.value.reason
    if place is None:
        assert caught.value.line is None
    else:
        assert shown(caught).startswith(place)


def test_an_error_about_another_text_has_no_place() -> None:
    message = (
        'Parser Error: syntax error at or near "b"\n\nLINE 1: SELECT a DIV b\n' + " " * 21 + "^"
    )
    assert error_of(message, "SELECT a DIV b").column == len("SELECT a DIV ") + 1
    assert error_of(message, "SELECT a DIV 2").column is None
    assert error_of(message.replace("LINE 1", "LINE 2"), "SELECT a DIV b").column is None
    wide = message.replace("SELECT a", "SELECT \u65e5")
    assert error_of(wide, "SELECT \u65e5 DIV b").column is None


def test_the_hint_lists_the_few_ways_to_call_a_function(duck: Duck) -> None:
    hints = []
    for call in ("instr('abcb', 'b', 1, 2)", "'a' + [1]"):
        with pytest.raises(DatabaseError) as refused:
            duck.rows(f"SELECT {call}")
        hints.append(error_of(str(refused.value), f"SELECT {call}").hint)
    assert hints == ["there is instr(string VARCHAR, search_string VARCHAR)", ""]


def test_suggestions_of_duckdb_become_hints() -> None:
    message = "Catalog Error: Scalar Function with name flor does not exist!"
    error = error_of(f'{message}\nDid you mean "floor"?', "")
    assert error.hint == 'did you mean "floor"?'


def test_the_nearest_table_or_stream_is_suggested() -> None:
    message = 'Catalog Error: Table with name trade does not exist!\nDid you mean "pg_index"?'
    error = error_of(message, "DELETE FROM trade", ["names", "trades"])
    assert (error.reason, error.hint) == (
        "there is no stream or table named trade",
        "did you mean trades?",
    )
    assert error_of(message, "DELETE FROM trade").hint == ""
