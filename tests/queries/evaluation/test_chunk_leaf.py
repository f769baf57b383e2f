"""A leaf over one input: rows by chunk become partials, together where they are few."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pytest
import sqlglot

from upstream.database.duck import Duck
from upstream.database.prepared import Prepared
from upstream.queries.chunks.cutter import Piece
from upstream.queries.chunks.pieces import with_chunks
from upstream.queries.chunks.windows import Span
from upstream.queries.evaluation import chunk_leaf
from upstream.queries.evaluation.chunk_leaf import ChunkLeaf
from upstream.queries.results.failing_rows import FailedRows
from upstream.queries.rewriting.split import split
from upstream.queries.sql.window_clause import Axis, WindowClause, WindowKind

SCHEMA = pa.schema([("k", pa.string()), ("note", pa.string())])
WINDOW = WindowClause(WindowKind.TUMBLE, "s", Axis.SOURCE, 10, 10)
FIRST = -(1 << 63)


@pytest.fixture
def duck() -> Iterator[Duck]:
    duck = Duck()
    yield duck
    duck.close()


class Feed:
    """A leaf that sums texts as numbers, and the rows on which it fails."""

    def __init__(self, duck: Duck, *, cumulative: bool = False) -> None:
        text = "SELECT k, sum(CAST(note AS INT)) AS x FROM chunk_0 GROUP BY k"
        query = sqlglot.parse_one(text, dialect="duckdb")
        # parse_one is typed wider than the query that it gives
        [leaf] = split(query, (WINDOW,), {"chunk_0": SCHEMA}, duck).leaves  # type: ignore[arg-type]
        self.failed = FailedRows(0)
        self.leaf = ChunkLeaf(leaf, SCHEMA, duck, cumulative=cumulative)

    def add(self, *pieces: tuple[int, list[str]]) -> None:
        """Feed texts of key a, by chunk."""
        self.leaf.feed(0, [(chunk, rows(notes)) for chunk, notes in pieces], self.failed)()

    def advance(self, first: int, end: int) -> None:
        self.leaf.advance([Span(first, end)])

    def sums(self, first: int, end: int) -> dict[str, int]:
        """Return the merged sum of each group in a window."""
        table = self.leaf.merged([Span(first, end)])
        groups, states = table.column(0).to_pylist(), table.column(1).to_pylist()
        return {group: int(state) for group, state in zip(groups, states, strict=True)}


def rows(notes: list[str]) -> pa.Table:
    return pa.table({"k": ["a"] * len(notes), "note": notes}, SCHEMA)


def test_the_partials_of_a_window_are_merged(duck: Duck) -> None:
    feed = Feed(duck)
    feed.add((0, ["1", "2"]), (1, ["4"]), (2, ["8"]))
    assert feed.sums(0, 2) == {"a": 7}
    assert feed.sums(1, 3) == {"a": 12}
    assert feed.sums(0, 2) == {"a": 7}  # which is not forgotten
    feed.leaf.forget([3])
    assert feed.sums(3, 5) == {}
    assert feed.leaf.rows == 0


def test_what_was_evaluated_is_in_no_window_until_it_is_taken(duck: Duck) -> None:
    feed = Feed(duck)
    take = feed.leaf.feed(0, [(0, rows(["1"]))], feed.failed)
    assert (feed.sums(0, 2), feed.leaf.rows) == ({}, 0)
    take()
    assert feed.sums(0, 2) == {"a": 1}


def test_a_chunk_may_be_fed_in_portions(duck: Duck) -> None:
    feed = Feed(duck)
    feed.advance(0, 2)
    feed.add((0, ["1"]))
    feed.add((0, ["2"]), (1, ["4"]))
    feed.add((0, ["8"]))
    assert feed.sums(0, 2) == {"a": 15}


def test_short_chunks_are_evaluated_together_and_long_ones_alone(
    duck: Duck, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = Feed(duck)
    together: list[list[int]] = []

    def noted(pieces: Sequence[Piece]) -> pa.Table:
        together.append([chunk for chunk, _ in pieces])
        return with_chunks(pieces)

    monkeypatch.setattr(chunk_leaf, "with_chunks", noted)
    feed.add((0, ["1"]), (1, ["2"] * 4_096), (2, ["3"]), (3, ["4"]))
    assert together == [[0, 2, 3]]
    assert feed.sums(0, 4) == {"a": 1 + 2 * 4_096 + 3 + 4}


@pytest.mark.parametrize("count", [1, 3])
def test_a_bad_row_is_left_out_of_its_chunk_and_no_other(duck: Duck, count: int) -> None:
    feed = Feed(duck)
    feed.add(*[(chunk, ["1", "bad", "2"] if chunk == 0 else ["4"]) for chunk in range(count)])
    assert feed.failed.rows == {(0, 1)}
    assert feed.failed.error is not None
    assert "bad" in feed.failed.error
    assert feed.sums(0, count) == {"a": 3 + 4 * (count - 1)}


def test_a_landmark_is_one_partial_until_it_is_reset(duck: Duck) -> None:
    feed = Feed(duck, cumulative=True)
    feed.advance(FIRST, 5)
    for chunk in range(5):
        feed.add((chunk, ["1"]))
        feed.sums(FIRST, 5)
    assert feed.sums(FIRST, 5) == {"a": 5}
    assert feed.leaf.rows <= 2
    feed.leaf.reset()
    assert feed.sums(FIRST, 9) == {}
    feed.add((7, ["3"]))
    assert feed.sums(FIRST, 9) == {"a": 3}


def test_nothing_runs_for_rows_that_were_merged_already(
    duck: Duck, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = Feed(duck)
    feed.add((0, ["1"]), (1, ["2"]))
    feed.advance(0, 2)
    monkeypatch.setattr(Prepared, "run", lambda *_, **__: pytest.fail("a statement ran"))
    assert feed.sums(0, 2) == {"a": 3}


def test_it_says_what_it_reads_and_how_it_merges(duck: Duck) -> None:
    leaf = Feed(duck).leaf
    assert (leaf.reads(0), leaf.reads(1), leaf.keeps_rows) == (True, False, False)
    assert leaf.merge_query is None
    assert "chunks are merged" in leaf.describe()
