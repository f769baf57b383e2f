"""A window's table slides, and has the rows that it would have if it were made anew."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from upstream.queries.chunks.sliding_table import SlidingTable

SCHEMA = pa.schema([("n", pa.int64())])


class Steps:
    """Rows by step, which a table slides over."""

    def __init__(self) -> None:
        self.pieces: dict[int, list[pa.Table]] = {}
        self.table = SlidingTable(SCHEMA)
        self.collected = 0

    def add(self, step: int, *numbers: int) -> None:
        self.pieces.setdefault(step, []).append(pa.table({"n": numbers}, schema=SCHEMA))
        self.table.add(step, self.pieces[step][-1])

    def collect(self, first: int, end: int) -> list[tuple[int, pa.Table]]:
        found = [
            (step, rows)
            for step in sorted(self.pieces)
            if first <= step < end
            for rows in self.pieces[step]
        ]
        self.collected += len(found)
        return found

    def window(self, first: int, end: int) -> list[int]:
        rows = self.table.window(first, end, self.collect)
        self.table._check()
        numbers: list[int] = rows["n"].to_pylist()
        return numbers

    def anew(self, first: int, end: int) -> list[int]:
        return [n for _, rows in self.collect(first, end) for n in rows["n"].to_pylist()]


MOVES = st.lists(
    st.tuples(
        st.lists(st.tuples(st.integers(-6, 6), st.integers(0, 99)), max_size=3),
        st.integers(-2, 3),
        st.integers(0, 8),
    ),
    max_size=25,
)


@given(moves=MOVES)
@settings(deadline=None)
def test_it_has_the_rows_of_the_window_wherever_that_goes(
    moves: list[tuple[list[tuple[int, int]], int, int]],
) -> None:
    steps, first = Steps(), 0
    for rows, forward, size in moves:
        first += forward
        for offset, number in rows:
            steps.add(first + offset, number)
        assert steps.window(first, first + size) == steps.anew(first, first + size)


def test_only_what_is_new_is_collected() -> None:
    steps = Steps()
    for step in range(100):
        steps.add(step, step)
    for first in range(90):
        steps.window(first, first + 10)
    assert steps.collected == 99


def test_it_is_in_few_pieces() -> None:
    steps = Steps()
    for step in range(60):
        steps.add(step, step)
        steps.window(0, step + 1)
        assert steps.table._rows["n"].num_chunks <= 16


def test_a_row_that_comes_late_is_in_its_place() -> None:
    steps = Steps()
    steps.add(0, 1)
    steps.add(1, 2)
    assert steps.window(0, 2) == [1, 2]
    steps.add(0, 3)
    assert steps.window(0, 2) == [1, 3, 2]


def test_what_is_cleared_is_made_anew() -> None:
    steps = Steps()
    steps.add(0, 1)
    assert steps.window(0, 1) == [1]
    steps.table.clear()
    assert steps.window(0, 1) == [1]
