"""Statements run on tables that they are lent, again and again, and leave nothing behind."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest
import sqlglot
from sqlglot import exp

from upstream.database.duck import Duck
from upstream.database.failure import DatabaseError
from upstream.queries.sql.lending import prepare

SCHEMA = pa.schema({"k": pa.string(), "v": pa.int64()})


@pytest.fixture
def duck() -> Iterator[Duck]:
    duck = Duck()
    yield duck
    duck.close()


def tree(text: str) -> exp.Expr:
    return sqlglot.parse_one(text, dialect="duckdb")


def table(*values: int) -> pa.Table:
    return pa.table({"k": ["a"] * len(values), "v": values}, schema=SCHEMA)


def views(duck: Duck) -> list[tuple[str, ...]]:
    return duck.rows("SELECT view_name FROM duckdb_views() WHERE NOT internal")


def test_a_statement_reads_what_it_is_lent_each_time(duck: Duck) -> None:
    total = prepare(duck, tree("SELECT sum(v)::BIGINT AS s FROM chunk"), {"chunk": SCHEMA})
    for values in ((1, 2), (10,), (3, 4, 5), ()):
        expected = sum(values) if values else None
        assert total.run(chunk=table(*values)).to_pylist() == [{"s": expected}]


def test_what_is_not_lent_is_empty(duck: Duck) -> None:
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


def test_what_is_closed_takes_its_names_back(duck: Duck) -> None:
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
