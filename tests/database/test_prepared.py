"""Statements run on tables that they are lent, again and again, and leave nothing behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
import sqlglot
from sqlglot import exp

from upstream.database.duck import Duck
from upstream.database.failure import DatabaseError
from upstream.queries.sql.lending import prepare

if TYPE_CHECKING:
    from upstream.database.prepared import NameOf, Write

from .setting import SCHEMA, table, views


def tree(text: str) -> exp.Expr:
    return sqlglot.parse_one(text, dialect="duckdb")


def test_a_statement_reads_what_it_is_lent_each_time(duck: Duck) -> None:
    total = prepare(duck, tree("SELECT sum(v)::BIGINT AS s FROM chunk"), {"chunk": SCHEMA})
    for values in ((1, 2), (10,), (3, 4, 5), ()):
        expected = sum(values) if values else None
        assert total.run(chunk=table(*values)).to_pylist() == [{"s": expected}]


def test_a_table_that_is_not_given_is_empty(duck: Duck) -> None:
    both = prepare(
        duck,
        tree("SELECT (SELECT count(*) FROM a) AS a, (SELECT count(*) FROM b) AS b"),
        {"a": SCHEMA, "b": SCHEMA},
    )
    assert both.run(a=table(1), b=table(1, 2)).to_pylist() == [{"a": 1, "b": 2}]
    assert both.run(b=table(3)).to_pylist() == [{"a": 0, "b": 1}]
    assert both.run().to_pylist() == [{"a": 0, "b": 0}]


def test_nothing_that_was_lent_is_held(duck: Duck) -> None:
    import gc
    import weakref

    first = prepare(duck, tree("SELECT v FROM chunk"), {"chunk": SCHEMA})
    for _ in range(3):
        rows = table(1, 2, 3)
        watch = weakref.ref(rows)
        first.run(chunk=rows)
        del rows
        gc.collect()
        assert watch() is None


def test_statements_do_not_get_into_one_anothers_way(duck: Duck) -> None:
    texts = ("SELECT v FROM chunk", "SELECT v + 1 AS v FROM chunk")
    prepared = [prepare(duck, tree(text), {"chunk": SCHEMA}) for text in texts]
    for i in range(3):
        for plus, each in enumerate(prepared):
            assert each.run(chunk=table(i)).to_pylist() == [{"v": i + plus}]


def test_results_stay_when_other_statements_run(duck: Duck) -> None:
    same = prepare(duck, tree("SELECT v FROM chunk"), {"chunk": SCHEMA})
    results = [same.run(chunk=table(i)) for i in range(4)]
    assert [each["v"].to_pylist() for each in results] == [[0], [1], [2], [3]]


def test_a_row_that_fails_does_not_keep_others_from_running(duck: Duck) -> None:
    strict = prepare(duck, tree("SELECT CAST(k AS INT) AS i FROM chunk"), {"chunk": SCHEMA})
    good = pa.table({"k": ["7"], "v": [0]}, schema=SCHEMA)
    for _ in range(2):
        with pytest.raises(Exception, match=r"(?i)conver"):
            strict.run(chunk=table(1))
        assert strict.run(chunk=good).to_pylist() == [{"i": 7}]


def test_a_closed_statement_takes_its_names_back(duck: Duck) -> None:
    prepared = prepare(duck, tree("SELECT v FROM chunk"), {"chunk": SCHEMA})
    prepared.run()
    prepared.run()
    assert len(views(duck)) == 1
    prepared.close()
    assert views(duck) == []


def test_nothing_is_lent_before_a_statement_is_needed(duck: Duck) -> None:
    prepared = prepare(duck, tree("SELECT v FROM chunk"), {"chunk": SCHEMA})
    assert views(duck) == []
    prepared.close()
    assert prepared.run(chunk=table(1)).num_rows == 1
    assert len(views(duck)) == 1


def test_statements_share_what_they_read(duck: Duck) -> None:
    texts = ("SELECT v FROM chunk", "SELECT max(v) FROM chunk", "SELECT 1 FROM chunk a, chunk b")
    statements = [prepare(duck, tree(text), {"chunk": SCHEMA}) for text in texts]
    for each in statements:
        each.run()
    assert len(views(duck)) == 1
    for each in statements[1:]:
        each.close()
    assert statements[0].run(chunk=table(1)).num_rows == 1


def test_a_table_that_another_statement_was_given_is_not_read(duck: Duck) -> None:
    first, second = (prepare(duck, tree("SELECT v FROM c"), {"c": SCHEMA}) for _ in range(2))
    for _ in range(3):
        assert first.run(c=table(1, 2)).num_rows == 2
        assert second.run().num_rows == 0


def test_the_schema_is_known_before_there_are_rows(duck: Duck) -> None:
    prepared = prepare(duck, tree("SELECT k, sum(v) AS s FROM c GROUP BY k"), {"c": SCHEMA})
    expected = pa.schema({"k": pa.string(), "s": pa.decimal128(38, 0)})
    assert prepared.schema == expected
    assert [str(each) for each in prepared.types] == ["VARCHAR", "HUGEINT"]
    assert prepared.run(c=table(1, 2)).schema == expected


def test_a_table_that_is_not_lent_is_refused(duck: Duck) -> None:
    prepared = prepare(duck, tree("SELECT 1 AS one"), {"chunk": SCHEMA})
    with pytest.raises(AssertionError):
        prepared.run(other=table(1))


def test_a_result_of_another_schema_is_an_error(duck: Duck) -> None:
    duck.rows("CREATE TABLE t AS SELECT 1 AS a")
    prepared = prepare(duck, tree("SELECT * FROM t"), {})
    for _ in range(2):
        assert prepared.run().to_pylist() == [{"a": 1}]
    duck.rows("CREATE OR REPLACE TABLE t AS SELECT 'x' AS a")
    with pytest.raises(DatabaseError, match="the result was"):
        prepared.run()


# What was written out, before it runs


def writing(text: str, **schemas: pa.Schema) -> Write:
    """Return what writes a text, with the names of what is lent in braces."""

    def write(name_of: NameOf) -> str:
        return text.format(**{name: name_of(name, schema) for name, schema in schemas.items()})

    return write


def test_the_columns_of_a_query_are_known_without_running_it(duck: Duck) -> None:
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


def test_relations_of_one_schema_are_distinguished_in_a_statement(duck: Duck) -> None:
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
    assert views(duck) == []
    assert caught.value.__traceback__ is not None  # which refers to what was lent, too


@pytest.mark.parametrize("text", ["SELECT w FROM {t}", "SELECT FROM"])
def test_duckdbs_errors_are_those_of_the_database(text: str, duck: Duck) -> None:
    statement = duck.written(writing(text, t=SCHEMA))
    for ask in (statement.columns, statement.result):
        with pytest.raises(DatabaseError):
            ask()
    statement.close()
