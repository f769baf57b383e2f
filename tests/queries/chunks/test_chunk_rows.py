"""Rows of chunks are fed once, and held only as long as they can be needed."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from upstream.queries.chunks.chunk_rows import ChunkRows, SlidingTable, together
from upstream.queries.chunks.ring import Ring

SCHEMA = pa.schema([("x", pa.int64())])


def rows(*numbers: int) -> pa.Table:
    return pa.table({"x": numbers}, SCHEMA)


def unfed(held: ChunkRows, end: int) -> list[tuple[int, list[int]]]:
    return [(chunk, table["x"].to_pylist()) for chunk, table in held.unfed(end)]


def fed(held: ChunkRows, end: int) -> list[tuple[int, list[int]]]:
    """Feed what is not fed, and return it."""
    found = unfed(held, end)
    held.take_as_fed(held.unfed(end))
    return found


@pytest.mark.parametrize("keeps", [True, False])
def test_many_pieces_of_a_chunk_are_combined_and_fed_rows_stay_fed(keeps: bool) -> None:
    held = ChunkRows(SCHEMA, keeps=keeps)
    held.add(1, rows(-1))
    fed(held, 9)
    for number in range(1_200):
        held.add(1, rows(number))
    assert len(held._ring.of(1)) < 520
    assert held.rows == 1_200 + keeps
    assert fed(held, 9) == [(1, [*range(1_200)])]
    kept = [-1, *range(1_200)] if keeps else []
    assert held.between(0, 9)["x"].to_pylist() == kept


def test_tables_are_put_together_in_one_piece() -> None:
    table = together([rows(1), rows(2, 3)])
    assert (table["x"].to_pylist(), table["x"].num_chunks) == ([1, 2, 3], 1)


class ChunkRowsMachine(RuleBasedStateMachine):
    """Chunk rows beside a plain list of (chunk, row, whether it was fed)."""

    def __init__(self) -> None:
        super().__init__()
        self.model: list[tuple[int, int, bool]] = []
        self.count = 0

    @initialize(keeps=st.booleans())
    def begin(self, keeps: bool) -> None:
        self.held = ChunkRows(SCHEMA, keeps=keeps)
        self.keeps = keeps

    @rule(chunk=st.integers(-3, 6), count=st.integers(1, 3))
    def add(self, chunk: int, count: int) -> None:
        numbers = range(self.count, self.count + count)
        self.count += count
        self.held.add(chunk, rows(*numbers))
        self.model += [(chunk, number, False) for number in numbers]

    @rule(end=st.integers(-4, 8))
    def feed(self, end: int) -> None:
        due = [
            (chunk, number) for chunk, number, is_fed in self.model if chunk < end and not is_fed
        ]
        assert unfed(self.held, end) == unfed(self.held, end)  # looking at rows does not feed them
        found = [(chunk, number) for chunk, numbers in fed(self.held, end) for number in numbers]
        assert found == sorted(due)
        self.model = [
            (chunk, number, is_fed or chunk < end)
            for chunk, number, is_fed in self.model
            if self.keeps or not (chunk < end)
        ]

    @rule(before=st.integers(-4, 4))
    def forget(self, before: int) -> None:
        self.held.forget(before)
        self.model = [each for each in self.model if each[0] >= before]

    @rule()
    def release_fed(self) -> None:
        self.held.release_fed()
        self.keeps = False
        self.model = [each for each in self.model if not each[2]]

    @invariant()
    def what_is_held_is_what_can_be_asked_for(self) -> None:
        assert self.held.rows == len(self.model)
        expected = sorted((chunk, number) for chunk, number, _ in self.model if 0 <= chunk < 3)
        assert self.held.between(0, 3)["x"].to_pylist() == [number for _, number in expected]
        assert self.held.count_between(0, 3) == len(expected)
        count = sum(chunk == 1 and not is_fed for chunk, _, is_fed in self.model)
        assert self.held.unfed_rows(1) == count
        self.held._window._check()
        self.held._ring._check()


TestChunkRows = ChunkRowsMachine.TestCase


# The rows of a window slide, and are those that there would be if its table were made anew


class CountingRing(Ring[pa.Table]):
    """A ring that counts what is taken from it."""

    def __init__(self) -> None:
        super().__init__()
        self.taken = 0

    def between(self, first: int, end: int) -> list[tuple[int, pa.Table]]:
        """Return items, and count them."""
        found = super().between(first, end)
        self.taken += len(found)
        return found


class Slid:
    """Rows by chunk, which a table slides over."""

    def __init__(self) -> None:
        self.ring = CountingRing()
        self.table = SlidingTable(SCHEMA)

    def add(self, chunk: int, *numbers: int) -> None:
        rows = pa.table({"x": numbers}, schema=SCHEMA)
        self.ring.add(chunk, rows)
        self.table.add(chunk, rows)

    def forget(self, before: int) -> None:
        self.ring.forget(before)
        self.table.forget(before)

    def window(self, first: int, end: int) -> list[int]:
        rows = self.table.window(first, end, self.ring)
        self.table._check()
        numbers: list[int] = rows["x"].to_pylist()
        return numbers

    def anew(self, first: int, end: int) -> list[int]:
        return [n for _, rows in self.ring.between(first, end) for n in rows["x"].to_pylist()]


MOVES = st.lists(
    st.tuples(
        st.lists(st.tuples(st.integers(-6, 6), st.integers(0, 99)), max_size=3),
        st.integers(-2, 3),
        st.integers(0, 8),
        st.booleans(),
    ),
    max_size=25,
)


@given(moves=MOVES)
@settings(deadline=None)
def test_it_has_the_rows_of_the_window_wherever_that_goes(
    moves: list[tuple[list[tuple[int, int]], int, int, bool]],
) -> None:
    chunks, first = Slid(), 0
    for rows, forward, size, forgets in moves:
        first += forward
        for offset, number in rows:
            chunks.add(first + offset, number)
        if forgets:
            chunks.forget(first)
        assert chunks.window(first, first + size) == chunks.anew(first, first + size)


def test_only_what_is_new_is_taken_from_the_ring() -> None:
    chunks = Slid()
    for chunk in range(100):
        chunks.add(chunk, chunk)
    for first in range(90):
        chunks.window(first, first + 10)
    assert chunks.ring.taken == 99


def test_it_is_in_few_pieces() -> None:
    chunks = Slid()
    for chunk in range(60):
        chunks.add(chunk, chunk)
        chunks.window(0, chunk + 1)
        assert chunks.table._state.rows["x"].num_chunks <= 8


def test_a_row_that_comes_late_is_in_its_place() -> None:
    chunks = Slid()
    chunks.add(0, 1)
    chunks.add(1, 2)
    assert chunks.window(0, 2) == [1, 2]
    chunks.add(0, 3)
    assert chunks.window(0, 2) == [1, 3, 2]


def test_a_cleared_value_is_computed_again() -> None:
    chunks = Slid()
    chunks.add(0, 1)
    assert chunks.window(0, 1) == [1]
    chunks.table.clear()
    assert chunks.window(0, 1) == [1]


def test_rows_of_chunks_that_are_forgotten_are_released() -> None:
    chunks = Slid()
    for chunk in range(4):
        chunks.add(chunk, chunk)
    chunks.window(0, 4)
    chunks.forget(3)
    assert chunks.table._state.rows.num_rows == 1
    assert chunks.window(3, 4) == [3]
    chunks.forget(9)
    assert chunks.table._state.rows.num_rows == 0


def test_the_same_window_is_the_same_table() -> None:
    chunks = Slid()
    chunks.add(0, 1)
    chunks.add(1, 2)
    table = chunks.table.window(0, 2, chunks.ring)
    assert chunks.table.window(0, 2, chunks.ring) is table
    assert chunks.ring.taken == 2
