"""Queries as trees run on lent tables, under the names that they use for them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import sqlglot
from sqlglot import exp

from tests.database.setting import SCHEMA, table, views
from tests.queries.parsed import query_of
from upstream.database.duck import Duck
from upstream.errors import QueryError
from upstream.queries.sql.lending import answer_once, prepare, written


@pytest.fixture
def duck() -> Iterator[Duck]:
    duck = Duck()
    yield duck
    duck.close()


def tree(text: str) -> exp.Expr:
    return sqlglot.parse_one(text, dialect="duckdb")


def test_a_lent_table_has_its_name_in_the_query(duck: Duck) -> None:
    named = prepare(
        duck,
        tree("SELECT chunk.v, c.k FROM chunk, chunk AS c WHERE chunk.v < c.v"),
        {"chunk": SCHEMA},
    )
    assert named.run(chunk=table(1, 2)).to_pylist() == [{"v": 1, "k": "a"}]


def test_the_query_itself_is_left_as_it_is(duck: Duck) -> None:
    query = tree("SELECT v FROM chunk")
    before = query.copy()
    prepare(duck, query, {"chunk": SCHEMA}).run()
    assert query == before


def test_a_table_of_another_schema_is_not_a_lent_one(duck: Duck) -> None:
    duck.rows("CREATE TABLE chunk AS SELECT 7 AS v")
    query = tree("SELECT a.v AS a, b.v AS b FROM main.chunk AS a, chunk AS b")
    assert prepare(duck, query, {"chunk": SCHEMA}).run(chunk=table(1)).to_pylist() == [
        {"a": 7, "b": 1}
    ]


def test_a_table_may_be_lent_that_is_not_read(duck: Duck) -> None:
    one = prepare(duck, tree("SELECT 1 AS one"), {"chunk": SCHEMA})
    assert one.run(chunk=table(1)).to_pylist() == [{"one": 1}]
    one.close()


def test_a_statement_may_be_run_just_once(duck: Duck) -> None:
    answer = answer_once(duck, tree("SELECT max(v) AS m FROM t"), "", {"t": table(1, 5)})
    assert answer.to_pylist() == [{"m": 5}]
    assert views(duck) == []


def test_a_statement_that_answers_nothing_gives_no_rows(duck: Duck) -> None:
    assert answer_once(duck, tree("CREATE TABLE x (a INT)"), "", {}).num_rows == 0
    assert duck.has_table("x")


def test_a_statement_that_fails_once_is_an_error_with_its_text(duck: Duck) -> None:
    with pytest.raises(QueryError) as caught:
        answer_once(duck, tree("SELECT w FROM t"), "SELECT w\nFROM t", {"t": table(1)})
    assert caught.value.text == "SELECT w\nFROM t"
    assert views(duck) == []


def test_words_for_the_time_are_the_clock_of_the_engine(duck: Duck) -> None:
    words = query_of("SELECT current_date AS d, current_timestamp AS t, localtime AS l")
    statement = written(duck, words, {})
    assert statement.text.lower().count("()") == 3
    assert statement.columns()[0] == ("d", "t", "l")
    statement.close()
