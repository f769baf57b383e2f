"""Rows are fed to all leaves of a query together, or to none; a leaf makes partials of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

import pyarrow as pa
import pytest

from tests.queries.parsed import query_of
from upstream.database.duck import Duck
from upstream.database.failure import DatabaseError
from upstream.database.prepared import Prepared
from upstream.queries.chunks.chunk_rows import ChunkRows
from upstream.queries.chunks.cutter import Piece
from upstream.queries.chunks.windows import Span
from upstream.queries.evaluation.finish import Finish
from upstream.queries.evaluation.increments import ChunkLeaf, Increments, Take
from upstream.queries.results.failing_rows import FailedRows, FailingRows
from upstream.queries.rewriting.split import split
from upstream.queries.sql.window_clause import Axis, WindowClause, WindowKind

if TYPE_CHECKING:
    from upstream.queries.sql.trees import Query

SCHEMA = pa.schema([("x", pa.int64())])
NOTES = pa.schema([("k", pa.string()), ("note", pa.string())])
WINDOW = WindowClause(WindowKind.TUMBLE, "s", Axis.SOURCE, 10, 10)
FIRST = -(1 << 63)


class SumLeaf:
    """Sums numbers; those below zero it fails on."""

    schema = SCHEMA
    merge_query: Query | None = None

    def __init__(self, number: int = 0, *, keeps_rows: bool = False) -> None:
        self.number = number
        self.keeps_rows = keeps_rows
        self.sums: dict[int, int] = {}
        self.is_broken = self.is_closed = False
        self.settled = 0

    def reads(self, number: int) -> bool:
        return number == self.number

    def feed(self, number: int, pieces: Sequence[Piece], failed: FailedRows) -> Take:
        if self.is_broken:
            raise KeyboardInterrupt
        found = []
        for chunk, table in pieces:
            numbers = table["x"].to_pylist()
            bad = [place for place, x in enumerate(numbers) if x < 0]
            failed.note(chunk, bad, f"bad: {self.number}" if bad else None)
            found.append((chunk, sum(x for x in numbers if x >= 0)))

        def take() -> None:
            for chunk, total in found:
                self.sums[chunk] = self.sums.get(chunk, 0) + total

        return take

    def settle(self) -> None:
        self.settled += 1

    def advance(self, spans: Sequence[Span]) -> None:
        self.spans = spans

    def merged(self, spans: Sequence[Span]) -> pa.Table:
        first, end = spans[self.number]
        total = sum(total for chunk, total in self.sums.items() if first <= chunk < end)
        return pa.table({"x": [total]}, SCHEMA)

    def forget(self, before: Sequence[int]) -> None:
        self.sums = {c: total for c, total in self.sums.items() if c >= before[self.number]}

    @property
    def rows(self) -> int:
        return len(self.sums)

    def close(self) -> None:
        self.is_closed = True

    def describe(self) -> str:
        return f"sums of {self.number}"


class ListFinish:
    """Puts what leaves give one after the other."""

    is_closed = False

    def run(self, merged: Sequence[pa.Table], bounds: Mapping[str, pa.Table]) -> pa.Table:
        if "bounds_0" in bounds:
            raise DatabaseError("bounds are read")
        return pa.concat_tables(merged)

    def close(self) -> None:
        self.is_closed = True


class Fed:
    """Leaves, and rows of one input."""

    def __init__(self, *leaves: SumLeaf) -> None:
        self.leaves = leaves or (SumLeaf(), SumLeaf())
        self.finish = ListFinish()
        self.failing = FailingRows()
        self.increments = Increments(self.leaves, cast("Finish", self.finish), self.failing)
        self.rows = ChunkRows(SCHEMA, keeps=False)

    def add(self, chunk: int, *numbers: int) -> None:
        self.rows.add(chunk, pa.table({"x": numbers}, SCHEMA))

    def table(self, first: int, end: int) -> list[int]:
        numbers: list[int] = self.increments.table([Span(first, end)] * 2, {})["x"].to_pylist()
        return numbers


def test_rows_before_a_chunk_are_fed_once_to_each_leaf_that_reads_them() -> None:
    fed = Fed(SumLeaf(), SumLeaf(), SumLeaf(1))
    fed.add(0, 1, 2)
    fed.add(1, 4)
    fed.increments.feed(0, fed.rows, 1)
    assert fed.table(0, 9) == [3, 3, 0]
    fed.increments.feed(0, fed.rows, 1)
    fed.increments.feed(0, fed.rows, 2)
    assert fed.table(0, 9) == [7, 7, 0]
    assert fed.table(1, 2) == [4, 4, 0]
    assert (fed.rows.rows, fed.increments.rows) == (0, 4)


@pytest.mark.parametrize("broken", [0, 1])
def test_an_interruption_leaves_all_leaves_as_they_were(broken: int) -> None:
    fed = Fed()
    fed.add(0, 1, -2)
    fed.leaves[broken].is_broken = True
    with pytest.raises(KeyboardInterrupt):
        fed.increments.feed(0, fed.rows, 1)
    assert (fed.table(0, 9), fed.rows.rows, fed.failing.count) == ([0, 0], 2, 0)
    fed.leaves[broken].is_broken = False
    fed.increments.feed(0, fed.rows, 1)
    assert (fed.table(0, 9), fed.rows.rows, fed.failing.count) == ([1, 1], 0, 1)


def test_a_row_that_several_leaves_fail_on_is_one_row() -> None:
    fed = Fed()
    fed.add(0, 1, -2)
    fed.add(3, -4, -5)
    fed.increments.feed(0, fed.rows, 9)
    assert (fed.failing.count, fed.failing.error) == (3, "bad: 0")
    assert fed.failing.within([Span(0, 3)]) == (1, "bad: 0")


def test_nothing_has_changed_until_what_is_prepared_is_taken() -> None:
    fed = Fed()
    take = fed.increments.prepared(0, [(0, pa.table({"x": [1, -1]}, SCHEMA))])
    assert (fed.table(0, 9), fed.failing.count) == ([0, 0], 0)
    take()
    assert (fed.table(0, 9), fed.failing.count) == ([1, 1], 1)


def test_all_leaves_forget_a_chunk_together() -> None:
    fed = Fed()
    fed.add(0, 1, -1)
    fed.add(1, 2, -2)
    fed.increments.feed(0, fed.rows, 9)
    fed.increments.forget([1, 1])
    assert fed.increments.rows == 2
    assert fed.failing.within([Span(0, 9)]) == (1, "bad: 0")


def test_leaves_are_moved_to_a_window_and_the_finish_reads_its_bounds() -> None:
    fed = Fed()
    spans = [Span(2, 4)]
    fed.increments.advance(spans)
    assert all(leaf.spans == spans for leaf in fed.leaves)
    with pytest.raises(DatabaseError):
        fed.increments.table(spans, {"bounds_0": pa.table({})})


def test_explain_says_how_it_is_evaluated_and_where_all_rows_are_kept() -> None:
    kept = SumLeaf(keeps_rows=True)
    assert Fed(SumLeaf(), kept).increments.way == "incrementally"
    assert Fed(kept).increments.way == "over kept rows"
    assert Fed(SumLeaf(), SumLeaf(1)).increments.describe() == ("sums of 0", "sums of 1")


def test_leaves_merge_new_partials_when_they_are_settled() -> None:
    fed = Fed()
    fed.increments.settle()
    assert [leaf.settled for leaf in fed.leaves] == [1, 1]


def test_it_is_closed_with_all_that_it_has() -> None:
    fed = Fed()
    fed.increments.close()
    assert fed.finish.is_closed
    assert all(leaf.is_closed for leaf in fed.leaves)


# A leaf over one input


class FedLeaf:
    """A leaf that sums texts as numbers, and the rows on which it fails."""

    def __init__(self, duck: Duck, *, cumulative: bool = False) -> None:
        text = "SELECT k, sum(CAST(note AS INT)) AS x FROM chunk_0 GROUP BY k"
        [leaf] = split(query_of(text), (WINDOW,), {"chunk_0": NOTES}, duck).leaves
        self.failed = FailedRows(0)
        self.leaf = ChunkLeaf(leaf, NOTES, duck, cumulative=cumulative)

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
    return pa.table({"k": ["a"] * len(notes), "note": notes}, NOTES)


def test_the_partials_of_a_window_are_merged(duck: Duck) -> None:
    feed = FedLeaf(duck)
    feed.add((0, ["1", "2"]), (1, ["4"]), (2, ["8"]))
    assert feed.sums(0, 2) == {"a": 7}
    assert feed.sums(1, 3) == {"a": 12}
    assert feed.sums(0, 2) == {"a": 7}  # which is not forgotten
    feed.leaf.forget([3])
    assert feed.sums(3, 5) == {}
    assert feed.leaf.rows == 0


def test_evaluated_rows_are_in_no_window_until_they_are_taken(duck: Duck) -> None:
    feed = FedLeaf(duck)
    take = feed.leaf.feed(0, [(0, rows(["1"]))], feed.failed)
    assert (feed.sums(0, 2), feed.leaf.rows) == ({}, 0)
    take()
    assert feed.sums(0, 2) == {"a": 1}


def test_a_chunk_may_be_fed_in_portions(duck: Duck) -> None:
    feed = FedLeaf(duck)
    feed.advance(0, 2)
    feed.add((0, ["1"]))
    feed.add((0, ["2"]), (1, ["4"]))
    feed.add((0, ["8"]))
    assert feed.sums(0, 2) == {"a": 15}


def test_a_landmark_is_one_partial_until_it_is_reset(duck: Duck) -> None:
    feed = FedLeaf(duck, cumulative=True)
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
    feed = FedLeaf(duck)
    feed.add((0, ["1"]), (1, ["2"]))
    feed.advance(0, 2)
    monkeypatch.setattr(Prepared, "run", lambda *_, **__: pytest.fail("a statement ran"))
    assert feed.sums(0, 2) == {"a": 3}


def test_it_says_what_it_reads_and_how_it_merges(duck: Duck) -> None:
    leaf = FedLeaf(duck).leaf
    assert (leaf.reads(0), leaf.reads(1), leaf.keeps_rows) == (True, False, False)
    assert leaf.merge_query is None
    assert "chunks are merged" in leaf.describe()
