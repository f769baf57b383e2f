"""Aggregating before a join of streams: both ways give the same partials on random rows."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest
from sqlglot import exp

from upstream.database.duck import Duck
from upstream.queries.rewriting.split import split
from upstream.queries.rewriting.split_query import Leaf
from upstream.queries.sql.lending import prepare
from upstream.queries.sql.names import STEP
from upstream.queries.sql.window_clause import WindowClause, WindowKind

from ..parsed import query_of
from .both_ways import assert_same

SCHEMA = pa.schema([("k", pa.int64()), ("x", pa.int64()), ("d", pa.float64()), ("s", pa.string())])
WINDOWS = tuple(WindowClause(WindowKind.ROWS, name, size=40, slide=10) for name in "ab")

EARLY = [
    "SELECT max(a.x), avg(b.x) FROM chunk_0 a, chunk_1 b WHERE a.k = b.k",
    "SELECT count(*) FROM chunk_0 a JOIN chunk_1 b ON a.k = b.k AND a.x > 2 WHERE b.x < 5",
    (
        "SELECT a.k, count(*), count(b.x), sum(a.x), min(b.s) FROM chunk_0 a, chunk_1 b"
        " WHERE a.k = b.k GROUP BY a.k"
    ),
    "SELECT a.x + 1 AS g, b.s, sum(b.d) FROM chunk_0 a JOIN chunk_1 b ON a.k < b.k GROUP BY ALL",
    "SELECT a.k + b.k AS g, sum(a.x) FROM chunk_0 a CROSS JOIN chunk_1 b GROUP BY a.k + b.k",
    "SELECT a.s, sum(b.x * b.k) FROM chunk_0 a JOIN chunk_1 b ON abs(a.x - b.x) <= 1 GROUP BY 1",
    "SELECT DISTINCT a.s, b.s AS t FROM chunk_0 a JOIN chunk_1 b ON a.k = b.k",
    "SELECT count(*) FROM chunk_0 a, chunk_1 b",
]
AS_IT_IS = [
    "SELECT sum(a.x * b.x) FROM chunk_0 a, chunk_1 b WHERE a.k = b.k",
    "SELECT stddev(a.d) FROM chunk_0 a, chunk_1 b WHERE a.k = b.k",
    "SELECT a.x, b.x FROM chunk_0 a, chunk_1 b WHERE a.k = b.k",
]


def leaf_of(text: str, duck: Duck) -> Leaf:
    [leaf] = split(query_of(text), WINDOWS, {"chunk_0": SCHEMA, "chunk_1": SCHEMA}, duck).leaves
    return leaf


def rows(generator: random.Random, count: int) -> pa.Table:
    """Return rows with few values, so that they match, and NULLs among them."""

    def value(of: list[object]) -> object:
        return None if generator.random() < 0.15 else generator.choice(of)

    columns = {
        "k": [value([1, 2, 3, 4]) for _ in range(count)],
        "x": [value([1, 2, 3, 4, 5, 6]) for _ in range(count)],
        "d": [value([0.5, -2.25, 1e6]) for _ in range(count)],
        "s": [value(["u", "v", ""]) for _ in range(count)],
        STEP: sorted(generator.randrange(4) for _ in range(count)),
    }
    return pa.table(columns, schema=SCHEMA.append(pa.field(STEP, pa.int64())))


def run(duck: Duck, query: exp.Query, chunks: dict[str, pa.Table]) -> pa.Table:
    prepared = prepare(duck, query, {name: rows.schema for name, rows in chunks.items()})
    try:
        return prepared.run(**chunks)
    finally:
        prepared.close()


@pytest.mark.parametrize("text", EARLY)
def test_pairs_of_aggregates_give_the_partials_of_pairs_of_rows(
    text: str, shared_duck: Duck
) -> None:
    leaf = leaf_of(text, shared_duck)
    early = leaf.early
    assert early is not None
    assert early.rule.endswith("aggregated before the join")
    generator = random.Random(text)
    for counts in ((0, 5), (1, 1), (40, 30), (25, 0), (60, 60)):
        chunks = {f"chunk_{i}": rows(generator, count) for i, count in enumerate(counts)}
        bare = {name: table.remove_column(4) for name, table in chunks.items()}
        stepped = {
            f"chunk_{i}": run(shared_duck, early.picks[i], {f"chunk_{i}": chunks[f"chunk_{i}"]})
            for i in (0, 1)
        }
        picked = {name: table.remove_column(0) for name, table in stepped.items()}
        for of_early, lent, of_rows, whole in (
            (early.partial, picked, leaf.partial, bare),
            (early.partial_by_step, stepped, leaf.partial_by_step, chunks),
        ):
            found, expected = run(shared_duck, of_early, lent), run(shared_duck, of_rows, whole)
            assert_same(expected, found, text, is_ordered=False)


def test_there_are_fewer_rows_to_pair(shared_duck: Duck) -> None:
    early = leaf_of(EARLY[0], shared_duck).early
    assert early is not None
    chunk = rows(random.Random(1), 200)
    picked = run(shared_duck, early.picks[0], {"chunk_0": chunk})
    assert picked.num_rows == 4 * 5  # in each of the steps four values of k, and NULL


@pytest.mark.parametrize("text", AS_IT_IS)
def test_what_needs_every_pair_of_rows_stays_as_it_is(text: str, shared_duck: Duck) -> None:
    leaf = leaf_of(text, shared_duck)
    assert leaf.early is None
