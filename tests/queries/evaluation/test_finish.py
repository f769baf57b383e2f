"""The finish turns merged relations into the query's result, with exactly its types."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import cast

import pyarrow as pa
import pytest
from sqlglot import exp

from tests.queries.parsed import query_of
from tests.queries.setting import append, content, given
from upstream import Engine
from upstream.database.duck import Duck
from upstream.database.failure import DatabaseError
from upstream.database.prepared import Prepared
from upstream.queries.evaluation.finish import Finish
from upstream.queries.evaluation.increments import Leaf
from upstream.queries.rewriting.relations import merge_query
from upstream.queries.rewriting.split import split
from upstream.queries.rewriting.split_query import SplitQuery
from upstream.queries.sql.lending import prepare
from upstream.queries.sql.window_clause import Axis, WindowClause, WindowKind

SCHEMA = pa.schema([("k", pa.string()), ("x", pa.int64())])
BOUNDS = pa.schema([("window_start", pa.int64()), ("window_end", pa.int64())])
WINDOW = WindowClause(WindowKind.TUMBLE, "s", Axis.SOURCE, 10, 10)


@dataclass
class MergedLeaf:
    """What a finish has to know of a leaf."""

    schema: pa.Schema
    merge_query: exp.Query | None = None


def split_of(text: str, duck: Duck) -> tuple[SplitQuery, Prepared]:
    """Return the parts of a query, and the statement of its only partial."""
    schemas = {"chunk_0": SCHEMA, "bounds_0": BOUNDS}
    parts = split(query_of(text), (WINDOW,), schemas, duck)
    return parts, prepare(duck, parts.leaves[0].partial, {"chunk_0": SCHEMA})


def finish_of(
    text: str,
    schema: pa.Schema,
    duck: Duck,
    *,
    merges: bool = False,
    version: Callable[[], object] | None = None,
) -> Finish:
    """Return the finish of a query, which merges by itself if that is left to it."""
    parts, partial = split_of(text, duck)
    [leaf] = parts.leaves
    merge = merge_query(leaf.groups or (), leaf.states) if merges else None
    leaves = cast("list[Leaf]", [MergedLeaf(partial.schema, merge)])
    return Finish(
        parts,
        leaves,
        schema,
        duck,
        chunks={"chunk_0": SCHEMA},
        bounds={"bounds_0": BOUNDS},
        version=version,
    )


def test_where_there_is_nothing_to_finish_columns_only_get_their_names(duck: Duck) -> None:
    schema = pa.schema([("x", pa.int64()), ("key", pa.string())])
    text = "SELECT max(x) AS x, k AS key FROM chunk_0 GROUP BY k"
    _, partial = split_of(text, duck)
    assert partial.schema.names != schema.names
    finish = finish_of(text, schema, duck)
    duck.close()  # no statement can run
    result = finish.run([pa.table([["a", "b"], [3, 4]], schema=partial.schema)], {})
    assert result.schema == schema
    assert result.to_pylist() == [{"x": 3, "key": "a"}, {"x": 4, "key": "b"}]


ONE_ROW = "SELECT count(*) AS n, max(x) AS m, sum(x) AS s FROM chunk_0"
ONE_ROW_SCHEMA = pa.schema([("n", pa.int64()), ("m", pa.int64()), ("s", pa.decimal128(38, 0))])


def test_aggregates_of_a_single_row_are_its_values(duck: Duck) -> None:
    finish = finish_of(ONE_ROW, ONE_ROW_SCHEMA, duck)
    row = merged(ONE_ROW, [4, 3], duck)
    duck.close()  # no statement can run
    result = finish.run([row], {})
    assert result.schema == ONE_ROW_SCHEMA
    assert result.to_pylist() == [{"n": 2, "m": 4, "s": Decimal(7)}]


def test_aggregates_of_no_row_or_of_nulls_are_finished(duck: Duck) -> None:
    finish = finish_of(ONE_ROW, ONE_ROW_SCHEMA, duck)
    nothing = [{"n": 0, "m": None, "s": None}]
    row = merged(ONE_ROW, [], duck)
    assert row.num_rows == 1
    assert finish.run([row], {}).to_pylist() == nothing
    assert finish.run([row.slice(0, 0)], {}).to_pylist() == nothing


@pytest.mark.parametrize(
    "text",
    [
        "SELECT sum(CAST(x AS DOUBLE)) AS x FROM chunk_0",
        "SELECT max(x) + 1 AS x FROM chunk_0",
        "SELECT max(x) AS x FROM chunk_0 HAVING count(*) > 1",
        "SELECT count(DISTINCT x) AS x FROM chunk_0",
        "SELECT max(x) AS x FROM chunk_0 LIMIT 0",
        "SELECT max(x) AS x FROM chunk_0 GROUP BY ROLLUP (k)",
    ],
)
def test_more_than_a_single_value_is_finished(text: str, duck: Duck) -> None:
    """The sum of the double -0.0 alone is 0.0."""
    assert split_of(text, duck)[0].direct_of_row is None


COUNTS = "SELECT k, count(*) + 1 AS n FROM chunk_0 GROUP BY k"
COUNTS_SCHEMA = pa.schema([("k", pa.string()), ("n", pa.int64())])


def test_what_was_made_from_the_same_rows_is_returned_again(duck: Duck) -> None:
    versions = [1]
    finish = finish_of(COUNTS, COUNTS_SCHEMA, duck, version=lambda: versions[-1])
    result = finish.run([merged(COUNTS, [4, 3], duck)], {})
    assert finish.run([merged(COUNTS, [5, 6], duck)], {}) is result
    assert finish.run([merged(COUNTS, [5], duck)], {}).to_pylist() == [{"k": "a", "n": 2}]
    result = finish.run([merged(COUNTS, [4, 3], duck)], {})
    versions.append(2)
    again = finish.run([merged(COUNTS, [4, 3], duck)], {})
    assert again is not result
    assert again.equals(result)


def test_rows_are_not_compared_that_are_many_or_have_doubles(
    duck: Duck, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "SELECT k, 1 / sum(CAST(x AS DOUBLE)) AS x FROM chunk_0 GROUP BY k"
    finish = finish_of(
        text, pa.schema([("k", pa.string()), ("x", pa.float64())]), duck, version=lambda: 1
    )
    zero, negative = (
        pa.table({"__g0": ["a"], "__s0": [each]}, merged(text, [1], duck).schema)
        for each in (0.0, -0.0)
    )
    assert zero.equals(negative)
    assert finish.run([zero], {}).to_pylist() != finish.run([negative], {}).to_pylist()
    monkeypatch.setattr("upstream.queries.evaluation.finish._FEW", 0)
    finish = finish_of(COUNTS, COUNTS_SCHEMA, duck, version=lambda: 1)
    result = finish.run([merged(COUNTS, [4], duck)], {})
    assert finish.run([merged(COUNTS, [4], duck)], {}) is not result


def test_without_a_version_the_finish_always_runs(duck: Duck) -> None:
    finish = finish_of(COUNTS, COUNTS_SCHEMA, duck)
    result = finish.run([merged(COUNTS, [4], duck)], {})
    assert finish.run([merged(COUNTS, [4], duck)], {}) is not result


AVERAGE = "SELECT avg(x) + 1 AS x FROM chunk_0"


def test_an_average_is_finished_of_its_states(duck: Duck) -> None:
    finish = finish_of(AVERAGE, pa.schema([("x", pa.float64())]), duck)
    assert finish.run([merged(AVERAGE, [2, 4], duck)], {}).to_pylist() == [{"x": 4.0}]


def test_the_finish_merges_what_is_left_to_it(duck: Duck) -> None:
    finish = finish_of(AVERAGE, pa.schema([("x", pa.float64())]), duck, merges=True)
    partials = pa.concat_tables([merged(AVERAGE, [2, 4], duck), merged(AVERAGE, [9], duck)])
    assert finish.run([partials], {}).to_pylist() == [{"x": 6.0}]


def test_what_only_has_to_be_named_is_merged_by_a_statement_where_that_is_left_to_it(
    duck: Duck,
) -> None:
    text = "SELECT k, max(x) AS x FROM chunk_0 GROUP BY k"
    schema = pa.schema([("k", pa.string()), ("x", pa.int64())])
    finish = finish_of(text, schema, duck, merges=True)
    partials = pa.concat_tables([merged(text, [2, 4], duck), merged(text, [9], duck)])
    assert finish.run([partials], {}).to_pylist() == [{"k": "a", "x": 9}]


def test_the_finish_reads_the_bounds_of_its_window(duck: Duck) -> None:
    text = "SELECT max(x) AS x, (SELECT window_end FROM bounds_0) AS until FROM chunk_0"
    schema = pa.schema([("x", pa.int64()), ("until", pa.int64())])
    finish = finish_of(text, schema, duck)
    for end in (10, 20):
        bounds = pa.table({"window_start": [0], "window_end": [end]}, BOUNDS)
        result = finish.run([merged(text, [1, 2], duck)], {"bounds_0": bounds})
        assert result.to_pylist() == [{"x": 2, "until": end}]


def test_errors_use_the_words_of_the_query(duck: Duck) -> None:
    text = "SELECT CAST(max(k) AS INT) AS x FROM chunk_0"
    finish = finish_of(text, pa.schema([("x", pa.int32())]), duck)
    with pytest.raises(DatabaseError) as caught:
        finish.run([merged(text, [1], duck)], {})
    assert finish.failed(caught.value)[1] == (
        "Conversion Error: Could not convert string 'a' to INT32"
        " when casting from source column max(k)"
    )


def merged(text: str, numbers: list[int], duck: Duck) -> pa.Table:
    """Return the partial over one chunk, which is what would be merged of it alone."""
    _, partial = split_of(text, duck)
    return partial.run(chunk_0=pa.table({"k": ["a"] * len(numbers), "x": numbers}, SCHEMA))


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


@pytest.mark.parametrize("merges", [False, True])
def test_sums_of_integers_are_lent_to_duckdb_as_wide_integers(duck: Duck, *, merges: bool) -> None:
    text = "SELECT k, sum(x) + 1 AS x, avg(x) AS mean FROM chunk_0 GROUP BY k"
    schema = pa.schema([("k", pa.string()), ("x", pa.decimal128(38)), ("mean", pa.float64())])
    finish = finish_of(text, schema, duck, merges=merges)
    _, partial = split_of(text, duck)
    [lent] = finish._lent.values()
    assert (pa.binary(16) in lent.types) is not merges
    rows = pa.table({"k": ["a", "b", "a", "c"], "x": [2**62, 5, 2**62, None]}, SCHEMA)
    for _ in range(3):
        found = finish.run([partial.run(chunk_0=rows)], {})
        assert sorted(found.to_pylist(), key=lambda row: str(row["k"])) == [
            {"k": "a", "x": 2**63 + 1, "mean": float(2**62)},
            {"k": "b", "x": 6, "mean": 5.0},
            {"k": "c", "x": None, "mean": None},
        ]
