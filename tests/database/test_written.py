"""A statement that was written out, and what DuckDB says of it before it is run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from upstream.database.duck import Duck
from upstream.database.failure import DatabaseError

if TYPE_CHECKING:
    from upstream.database.written import NameOf, Write

SCHEMA = pa.schema({"k": pa.string(), "v": pa.int64()})


@pytest.fixture
def duck() -> Iterator[Duck]:
    duck = Duck()
    yield duck
    duck.close()


def writing(text: str, **schemas: pa.Schema) -> Write:
    """Return what writes a text, with the names of what is lent in braces."""

    def write(name_of: NameOf) -> str:
        return text.format(**{name: name_of(name, schema) for name, schema in schemas.items()})

    return write


def test_the_columns_of_a_query_are_told_without_running_it(duck: Duck) -> None:
    text = "SELECT k, sum(v) AS total, k, CAST('none' AS INT) FROM {t} GROUP BY ALL"
    statement = duck.written(writing(text, t=SCHEMA))
    names = "k", "total", "k", "CAST('none' AS INTEGER)"
    assert statement.columns() == (names, ("VARCHAR", "HUGEINT", "VARCHAR", "INTEGER"))
    statement.close()


def test_the_result_of_a_query_has_a_schema_and_duckdbs_types(duck: Duck) -> None:
    statement = duck.written(writing("SELECT sum(v) AS total FROM {t}", t=SCHEMA))
    schema, types = statement.result()
    assert schema == pa.schema({"total": pa.decimal128(38, 0)})
    assert [str(each) for each in types] == ["HUGEINT"]
    assert statement.columns() == (("total",), ("HUGEINT",))
    statement.close()


@pytest.mark.parametrize(
    "value",
    [
        *("NULL", "[NULL]", "{'a b': 1, 'select': [{'d': NULL}]}", "map([1], ['x'])", "row(1, 2)"),
        *("'a b'::mood", "['a b'::mood]", "[1, 2]::INT[2]", "1.5::DECIMAL(38, 3)", "sum(1)"),
        *("now()", "current_localtime()", "'10:00'::TIMETZ", "INTERVAL 1 DAY", "uuid()"),
        *("union_value(n := 1)", "'{}'::JSON", "'x' COLLATE nocase", "1::UHUGEINT", "1::FLOAT"),
        "'1'::BIT",
    ],
)
def test_types_have_the_same_names_whether_a_query_runs_or_not(value: str, duck: Duck) -> None:
    if not duck.rows("SELECT 1 FROM duckdb_types() WHERE type_name = 'mood'"):
        duck.rows("CREATE TYPE mood AS ENUM ('a b', 'c''d')")
    text = f"SELECT {value} AS c".replace("{", "{{").replace("}", "}}")
    described, run = (duck.written(writing(text)) for _ in range(2))
    with duck.keeping():
        run.result()
        of_result = run.columns()
    assert of_result == described.columns()


def test_a_query_is_asked_about_once_while_relations_are_kept(duck: Duck) -> None:
    duck.rows("CREATE TABLE changing (a INT)")
    with duck.keeping():
        for _ in range(2):
            assert duck.written(writing("SELECT * FROM changing")).columns()[0] == ("a",)
        duck.rows("ALTER TABLE changing ADD COLUMN b INT")  # which is not to be, so it shows
        assert duck.written(writing("SELECT * FROM changing")).columns()[0] == ("a",)
    assert duck.written(writing("SELECT * FROM changing")).columns()[0] == ("a", "b")


def test_relations_of_one_schema_are_told_apart_in_a_statement(duck: Duck) -> None:
    text = "SELECT (SELECT count(*) FROM {a}) AS a, (SELECT count(*) FROM {b}) AS b"
    statement = duck.written(writing(text, a=SCHEMA, b=SCHEMA))
    statement.hold({"b": pa.table({"k": ["x"], "v": [1]}, SCHEMA)})
    assert statement.run_once()[0].to_pylist() == [{"a": 0, "b": 1}]
    statement.clear()
    assert statement.run_once()[0].to_pylist() == [{"a": 0, "b": 0}]
    statement.close()


def test_a_statement_does_not_read_what_another_was_given(duck: Duck) -> None:
    one, other = (duck.written(writing("SELECT v FROM {t}", t=SCHEMA)) for _ in range(2))
    one.hold({"t": pa.table({"k": ["x"], "v": [1]}, SCHEMA)})  # and was not cleared
    other.hold({})
    assert other.run_once()[0].num_rows == 0


def test_nothing_stays_lent_for_a_statement_that_cannot_be_written(duck: Duck) -> None:
    def write(name_of: NameOf) -> str:
        name_of("t", SCHEMA)
        raise ValueError("no words")

    with pytest.raises(ValueError, match="no words") as caught:
        duck.written(write)
    assert duck.rows("SELECT view_name FROM duckdb_views() WHERE NOT internal") == []
    assert caught.value.__traceback__ is not None  # which refers to what was lent, too


@pytest.mark.parametrize("text", ["SELECT w FROM {t}", "SELECT FROM"])
def test_duckdbs_errors_are_those_of_the_database(text: str, duck: Duck) -> None:
    statement = duck.written(writing(text, t=SCHEMA))
    for ask in (statement.columns, statement.result):
        with pytest.raises(DatabaseError):
            ask()
    statement.close()
