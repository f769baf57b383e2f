"""A leaf over one window: rows by step become partials, together where they are few."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.database.duck import Duck
from upstream.queries.evaluation import step_leaf
from upstream.queries.evaluation.failing_rows import FailingRows
from upstream.queries.evaluation.step_leaf import Piece, StepLeaf, by_step, portions, with_steps
from upstream.queries.rewriting import split
from upstream.queries.sql.names import STEP
from upstream.queries.sql.window_clause import Axis, WindowClause, WindowKind

SCHEMA = pa.schema([("k", pa.string()), ("note", pa.string())])
WINDOW = WindowClause(WindowKind.TUMBLE, "s", Axis.SOURCE, 10, 10)


@pytest.fixture
def duck() -> Iterator[Duck]:
    duck = Duck()
    yield duck
    duck.close()


class Feed:
    """A leaf that sums texts as numbers, and what it could not."""

    def __init__(self, duck: Duck, *, cumulative: bool = False) -> None:
        import sqlglot

        text = "SELECT k, sum(CAST(note AS INT)) AS x FROM chunk_0 GROUP BY k"
        query = sqlglot.parse_one(text, dialect="duckdb")
        # parse_one is typed wider than the query that it gives
        [leaf] = split(query, (WINDOW,), {"chunk_0": SCHEMA}, duck).leaves  # type: ignore[arg-type]
        self.failing = FailingRows()
        self.leaf = StepLeaf(leaf, SCHEMA, duck, self.failing, cumulative=cumulative)

    def add(self, *pieces: tuple[int, list[str]]) -> None:
        """Feed texts of key a, by step."""
        self.leaf.feed(0, [(step, rows(notes)) for step, notes in pieces])


def rows(notes: list[str]) -> pa.Table:
    return pa.table({"k": ["a"] * len(notes), "note": notes}, SCHEMA)


def sums(table: pa.Table) -> dict[str, int]:
    """Return the merged sum of each group."""
    groups, states = table.column(0).to_pylist(), table.column(1).to_pylist()
    return {group: int(state) for group, state in zip(groups, states, strict=True)}


def test_the_partials_of_a_window_are_merged(duck: Duck) -> None:
    feed = Feed(duck)
    feed.add((0, ["1", "2"]), (1, ["4"]), (2, ["8"]))
    feed.leaf.advance(0, 2)
    assert sums(feed.leaf.merged()) == {"a": 7}
    feed.leaf.advance(1, 3)
    assert sums(feed.leaf.merged()) == {"a": 12}
    assert sums(feed.leaf.merged_of(0, 2)) == {"a": 7}
    feed.leaf.forget(3)
    feed.leaf.advance(3, 5)
    assert feed.leaf.merged().num_rows == 0
    assert feed.leaf.memory_rows() == 0


def test_a_step_may_be_fed_in_chunks(duck: Duck) -> None:
    feed = Feed(duck)
    feed.leaf.advance(0, 2)
    feed.add((0, ["1"]))
    feed.add((0, ["2"]), (1, ["4"]))
    feed.add((0, ["8"]))
    assert sums(feed.leaf.merged()) == {"a": 15}


def test_short_steps_are_evaluated_together_and_long_ones_alone(
    duck: Duck, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = Feed(duck)
    together: list[list[int]] = []

    def noted(pieces: list[Piece]) -> pa.Table:
        together.append([step for step, _ in pieces])
        return with_steps(pieces)

    monkeypatch.setattr(step_leaf, "with_steps", noted)
    feed.add((0, ["1"]), (1, ["2"] * 4_096), (2, ["3"]), (3, ["4"]))
    assert together == [[0, 2, 3]]
    feed.leaf.advance(0, 4)
    assert sums(feed.leaf.merged()) == {"a": 1 + 2 * 4_096 + 3 + 4}


@pytest.mark.parametrize("count", [1, 3])
def test_a_bad_row_is_left_out_of_its_step_and_no_other(duck: Duck, count: int) -> None:
    feed = Feed(duck)
    feed.leaf.advance(0, count)
    feed.add(*[(step, ["1", "bad", "2"] if step == 0 else ["4"]) for step in range(count)])
    assert feed.failing.count == 1
    assert sums(feed.leaf.merged()) == {"a": 3 + 4 * (count - 1)}


def test_a_landmark_is_one_partial_until_it_is_reset(duck: Duck) -> None:
    feed = Feed(duck, cumulative=True)
    feed.leaf.advance(-(1 << 63), 5)
    for step in range(5):
        feed.add((step, ["1"]))
        feed.leaf.merged()
    assert sums(feed.leaf.merged()) == {"a": 5}
    assert feed.leaf.memory_rows() <= 2
    feed.leaf.reset()
    feed.leaf.advance(-(1 << 63), 9)
    assert feed.leaf.merged().num_rows == 0
    feed.add((7, ["3"]))
    assert sums(feed.leaf.merged()) == {"a": 3}


@given(sizes=st.lists(st.integers(1, 9), max_size=20), most=st.integers(1, 12))
def test_portions_are_as_large_as_they_may_be(sizes: list[int], most: int) -> None:
    pieces = [(step, rows(["1"] * size)) for step, size in enumerate(sizes)]
    found = list(portions(pieces, most))
    assert [piece for portion in found for piece in portion] == pieces
    counts = [sum(table.num_rows for _, table in portion) for portion in found]
    assert all(count <= most or len(each) == 1 for count, each in zip(counts, found, strict=True))
    for count, following in zip(counts, found[1:], strict=False):
        assert count + following[0][1].num_rows > most


@given(st.lists(st.integers(-3, 3), max_size=30))
def test_rows_are_taken_apart_by_their_steps_in_the_order_they_have(steps: list[int]) -> None:
    table = pa.table({STEP: pa.array(steps, pa.int64()), "x": range(len(steps))})
    found = [(step, part["x"].to_pylist()) for step, part in by_step(table)]
    assert found == [
        (step, [i for i, each in enumerate(steps) if each == step]) for step in sorted({*steps})
    ]


def test_what_is_put_together_with_its_steps_comes_apart_again() -> None:
    pieces = [(2, rows(["1", "2"])), (5, rows(["3"]))]
    table = with_steps(pieces)
    assert table.column(STEP).to_pylist() == [2, 2, 5]
    again = by_step(table.select([STEP, "k", "note"]))
    assert [(step, part["note"].to_pylist()) for step, part in again] == [
        (2, ["1", "2"]),
        (5, ["3"]),
    ]
