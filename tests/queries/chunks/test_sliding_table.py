"""A window's table slides, and has the rows that it would have if it were made anew."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from upstream.queries.chunks.ring import Ring
from upstream.queries.chunks.sliding_table import SlidingTable, lengths

SCHEMA = pa.schema([("n", pa.int64())])


class CountingRing(Ring[pa.Table]):
    """A ring that counts what is taken from it."""

    def __init__(self) -> None:
        super().__init__()
        self.taken = 0

    def between(self, first: int, end: int) -> Iterator[tuple[int, pa.Table]]:
        """Yield items, and count them."""
        for each in super().between(first, end):
            self.taken += 1
            yield each


class Chunks:
    """Rows by chunk, which a table slides over."""

    def __init__(self) -> None:
        self.ring = CountingRing()
        self.table = SlidingTable(SCHEMA)

    def add(self, chunk: int, *numbers: int) -> None:
        rows = pa.table({"n": numbers}, schema=SCHEMA)
        self.ring.add(chunk, rows)
        self.table.add(chunk, rows)

    def forget(self, before: int) -> None:
        self.ring.forget(before)
        self.table.forget(before)

    def window(self, first: int, end: int) -> list[int]:
        rows = self.table.window(first, end, self.ring)
        self.table._check()
        numbers: list[int] = rows["n"].to_pylist()
        return numbers

    def anew(self, first: int, end: int) -> list[int]:
        return [n for _, rows in self.ring.between(first, end) for n in rows["n"].to_pylist()]


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
    chunks, first = Chunks(), 0
    for rows, forward, size, forgets in moves:
        first += forward
        for offset, number in rows:
            chunks.add(first + offset, number)
        if forgets:
            chunks.forget(first)
        assert chunks.window(first, first + size) == chunks.anew(first, first + size)


def test_only_what_is_new_is_taken_from_the_ring() -> None:
    chunks = Chunks()
    for chunk in range(100):
        chunks.add(chunk, chunk)
    for first in range(90):
        chunks.window(first, first + 10)
    assert chunks.ring.taken == 99


def test_it_is_in_few_pieces() -> None:
    chunks = Chunks()
    for chunk in range(60):
        chunks.add(chunk, chunk)
        chunks.window(0, chunk + 1)
        assert chunks.table._state.rows["n"].num_chunks <= 16


def test_a_row_that_comes_late_is_in_its_place() -> None:
    chunks = Chunks()
    chunks.add(0, 1)
    chunks.add(1, 2)
    assert chunks.window(0, 2) == [1, 2]
    chunks.add(0, 3)
    assert chunks.window(0, 2) == [1, 3, 2]


def test_what_is_cleared_is_made_anew() -> None:
    chunks = Chunks()
    chunks.add(0, 1)
    assert chunks.window(0, 1) == [1]
    chunks.table.clear()
    assert chunks.window(0, 1) == [1]


def test_rows_of_chunks_that_are_forgotten_are_let_go() -> None:
    chunks = Chunks()
    for chunk in range(4):
        chunks.add(chunk, chunk)
    chunks.window(0, 4)
    chunks.forget(3)
    assert chunks.table._state.rows.num_rows == 1
    assert chunks.window(3, 4) == [3]
    chunks.forget(9)
    assert chunks.table._state.rows.num_rows == 0


def test_the_same_window_is_the_same_table() -> None:
    chunks = Chunks()
    chunks.add(0, 1)
    chunks.add(1, 2)
    table = chunks.table.window(0, 2, chunks.ring)
    assert chunks.table.window(0, 2, chunks.ring) is table
    assert chunks.ring.taken == 2


def test_lengths_of_pieces_are_told_with_their_chunks() -> None:
    assert lengths([(3, pa.table({"n": [1, 2]})), (4, pa.table({"n": [1]}))]) == [(3, 2), (4, 1)]
