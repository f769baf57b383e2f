"""The finish makes of merged relations what the query asked for, in exactly its types."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest

from tests.queries.setting import append, content, given
from upstream import Engine
from upstream.database.duck import Duck
from upstream.queries.evaluation.finish import Finish, MergedSchema
from upstream.queries.rewriting import split
from upstream.queries.sql.lending import prepare
from upstream.queries.sql.window_clause import Axis, WindowClause, WindowKind

SCHEMA = pa.schema([("k", pa.string()), ("x", pa.int64())])
WINDOW = WindowClause(WindowKind.TUMBLE, "s", Axis.SOURCE, 10, 10)


@pytest.fixture
def duck() -> Iterator[Duck]:
    duck = Duck()
    yield duck
    duck.close()


def finish_of(text: str, schema: pa.Schema, duck: Duck) -> tuple[Finish, pa.Schema]:
    """Return the finish of a query, and the schema of what it finishes."""
    import sqlglot

    query = sqlglot.parse_one(text, dialect="duckdb")
    parts = split(query, (WINDOW,), {"chunk_0": SCHEMA}, duck)  # type: ignore[arg-type]  # a query
    partial = prepare(duck, parts.leaves[0].partial, {"chunk_0": SCHEMA}).run().schema
    return Finish(parts, [MergedSchema(partial)], schema, duck), partial


def test_where_there_is_nothing_to_finish_columns_only_get_their_names(duck: Duck) -> None:
    schema = pa.schema([("x", pa.int64()), ("key", pa.string())])
    text = "SELECT max(x) AS x, k AS key FROM chunk_0 GROUP BY k"
    finish, partial = finish_of(text, schema, duck)
    assert partial.names != schema.names
    duck.close()  # no statement can run
    result = finish.run([pa.table([["a", "b"], [3, 4]], schema=partial)])
    assert result.schema == schema
    assert result.to_pylist() == [{"x": 3, "key": "a"}, {"x": 4, "key": "b"}]


def test_an_average_is_finished_of_its_states(duck: Duck) -> None:
    schema = pa.schema([("x", pa.float64())])
    finish, partial = finish_of("SELECT avg(x) + 1 AS x FROM chunk_0", schema, duck)
    chunk = pa.table({"k": ["a", "b"], "x": [2, 4]}, SCHEMA)
    merged = finish_input("SELECT avg(x) + 1 AS x FROM chunk_0", chunk, duck)
    assert merged.schema == partial
    assert finish.run([merged]).to_pylist() == [{"x": 4.0}]


def finish_input(text: str, chunk: pa.Table, duck: Duck) -> pa.Table:
    """Return the partial over one chunk, which is what would be merged of it alone."""
    import sqlglot

    query = sqlglot.parse_one(text, dialect="duckdb")
    parts = split(query, (WINDOW,), {"chunk_0": SCHEMA}, duck)  # type: ignore[arg-type]  # a query
    return prepare(duck, parts.leaves[0].partial, {"chunk_0": SCHEMA}).run(chunk_0=chunk)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT sum(x) AS x FROM hop(bids, 20, 10)",
        "SELECT k, avg(x) AS x, min(time) AS t FROM hop(bids, 20, 10) GROUP BY k",
        "SELECT count(*) AS n, CAST(max(x) AS TINYINT) AS x FROM hop(bids, 20, 10)",
        "SELECT x, k FROM hop(bids, 20, 10)",
    ],
)
def test_results_have_the_schema_that_was_promised_even_without_rows(
    engine: Engine, text: str
) -> None:
    for way in ("increments", "whole"):
        query = engine.continuous_query(f"{text}", evaluation=way)
        append(engine, "bids", (5, 1), (15, 2), (30, 4))
        results = query.results()
        assert results
        assert {result.table.schema for result in results} == {query.schema}
        query.close()


@pytest.mark.parametrize("way", ["increments", "whole", "measured"])
def test_a_finish_that_fails_is_a_result_with_an_error_and_the_next_is_good(
    engine: Engine, way: str
) -> None:
    # time    0     10    20
    # notes    'bad'  '7'  |
    query = engine.continuous_query(
        "SELECT CAST(max(note) AS INT) AS x FROM tumble(bids, 10)",
        evaluation=way,  # type: ignore[arg-type]  # a parameter
    )
    append(engine, "bids", (1, 0, "a", "bad"), (11, 0, "a", "7"), (20,))
    bad, good = query.results()
    assert bad.error is not None
    assert "bad" in bad.error
    assert (bad.window_start, bad.window_end, bad.table.num_rows) == (0, 10, 0)
    assert bad.table.schema == query.schema
    assert (good.error, content(good)) == (None, 7)
    counts = query.statistics()
    assert (counts.rows_failed, counts.error) == (0, bad.error)


def test_a_sum_that_overflows_takes_no_later_window_with_it(engine: Engine) -> None:
    text = "SELECT CAST(sum(x) AS TINYINT) AS x FROM hop(bids, 20, 10)"
    query = engine.continuous_query(text, evaluation="increments")
    append(engine, "bids", (5, 100), (15, 100), (25, 1), (40, 0))
    results = query.results()
    assert [result.error is None for result in results] == [True, False, True, True]
    assert [x for _, _, x in given(results)] == [100, [], 101, 1]
