"""The first rows of groups stay right while rows come and go, and say when they cannot."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from upstream.queries.partials import ranked_rows
from upstream.queries.partials.ranked_rows import NumberedRows, RankedRows

if TYPE_CHECKING:
    from upstream.rows.arrow_words import Integers

SCHEMA = pa.schema([("v", pa.int64()), ("n", pa.int64())])
Row = tuple[int, int, int]
"""A group, a value and a number. Rows are in the order of values, and then of numbers."""


def numbered(rows: Iterable[Row]) -> NumberedRows:
    columns = np.array([*rows], np.int64).reshape(-1, 3).T
    table = pa.table([pa.array(columns[1]), pa.array(columns[2])], schema=SCHEMA)
    return NumberedRows(table, columns[0], columns[2])


def in_order(rows: pa.Table, numbers: Integers) -> Integers:
    assert rows["n"].to_pylist() == numbers.tolist()
    return np.lexsort((numbers, rows["v"].to_numpy()))


def change(held: RankedRows, added: Iterable[Row] = (), removed: Iterable[Row] = ()) -> None:
    held.change(numbered(added), numbered(removed), in_order)()


def read(held: RankedRows, rows: Iterable[Row], groups: Iterable[int]) -> None:
    """Let groups be read again, of these rows."""
    wanted = np.array(sorted(groups), np.int64)
    first = []
    for group in wanted.tolist():
        first += sorted((each for each in rows if each[0] == group), key=order)[: held.most_read]
    held.read_again(wanted, numbered(first), in_order)()


def order(row: Row) -> tuple[int, int]:
    return row[1:]


def values(held: RankedRows) -> list[int]:
    found: list[int] = held.first()["v"].to_pylist()
    return found


def test_the_next_row_takes_the_place_of_one_that_goes() -> None:
    held = RankedRows(SCHEMA, 1, 2)
    rows = [(0, 5, 0), (0, 3, 1), (0, 4, 2)]
    change(held, rows)
    assert values(held) == [3]
    change(held, removed=rows[1:2])
    assert values(held) == [4]
    change(held, added=[(0, 1, 3)], removed=rows[:1])
    assert values(held) == [1]
    change(held, removed=[(0, 1, 3), rows[2]])
    assert values(held) == []
    assert not held.short().size


def test_a_group_of_which_rows_are_not_kept_is_short_when_the_kept_ones_are_gone() -> None:
    held = RankedRows(SCHEMA, 1, 1)
    rows = [(0, n, n) for n in range(9)]
    change(held, rows)
    assert held.rows == 2
    change(held, removed=rows[:1])
    assert (values(held), held.short().size) == ([1], 0)
    change(held, removed=rows[1:2])
    assert held.short().tolist() == [0]
    read(held, rows[2:], [0])
    assert (values(held), held.short().size) == ([2], 0)
    change(held, removed=rows[2:4])
    assert held.short().tolist() == [0]
    read(held, rows[8:], [0])
    change(held, removed=rows[8:])
    assert held.short().size == 0


def test_a_new_row_after_the_last_kept_one_of_a_group_is_not_kept() -> None:
    held = RankedRows(SCHEMA, 1, 1)
    rows = [(0, 10 * n, n) for n in range(9)]
    change(held, rows)
    change(held, removed=rows[1:2])  # 20 comes next, and is not kept
    change(held, added=[(0, 15, 10)])
    change(held, removed=[(0, 0, 0)])
    assert held.short().tolist() == [0]
    read(held, [(0, 15, 10), *rows[2:]], [0])
    assert values(held) == [15]


def test_a_row_that_goes_and_is_not_kept_changes_nothing() -> None:
    held = RankedRows(SCHEMA, 2, 0)
    change(held, [(0, n, n) for n in range(9)])
    change(held, removed=[(0, 8, 8), (0, 7, 7)])
    assert values(held) == [0, 1]


def test_the_first_of_each_group_is_null_where_there_is_none() -> None:
    held = RankedRows(SCHEMA, 1, 1)
    assert held.first_of(np.array([2, 0]))["v"].to_pylist() == [None, None]
    change(held, [(0, 7, 0), (2, 8, 1), (2, 6, 2)])
    assert held.first_of(np.array([2, 1, 0, 9]))["v"].to_pylist() == [6, None, 7, None]
    assert held.groups == 2


def test_the_first_rows_are_in_the_order_of_arrival() -> None:
    held = RankedRows(SCHEMA, 2, 1)
    change(held, [(0, 9, 0), (1, 8, 1), (0, 7, 2)])
    assert values(held) == [9, 8, 7]
    read(held, [(0, 9, 0), (0, 7, 2)], [0])
    assert values(held) == [9, 8, 7]


def test_nothing_changes_before_a_change_is_made() -> None:
    held = RankedRows(SCHEMA, 1, 1)
    change(held, [(0, 3, 0), (0, 4, 1)])
    held.change(numbered([(0, 1, 2), (5, 1, 3)]), numbered([(0, 3, 0)]), in_order)
    held.read_again(np.array([0]), numbered([]), in_order)
    assert values(held) == [3]
    held._check()


class ChangingRows(RuleBasedStateMachine):
    """The first rows of a few groups, and a list of all rows."""

    @initialize(count=st.integers(0, 3), spare=st.integers(0, 3), slack=st.sampled_from([0, 1024]))
    def begin(self, count: int, spare: int, slack: int) -> None:
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(ranked_rows, "_SLACK", slack)
        self.count = count
        self.held = RankedRows(SCHEMA, count, spare)
        self.present: list[Row] = []
        self.arrived = 0

    def teardown(self) -> None:
        self.patch.undo()

    @rule(
        come=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), max_size=6),
        go=st.lists(st.integers(0, 99), max_size=6),
    )
    def come_and_go(self, come: list[tuple[int, int]], go: list[int]) -> None:
        gone = sorted({self.present[place % len(self.present)] for place in go if self.present})
        new = [(group, value, self.arrived + i) for i, (group, value) in enumerate(come)]
        change(self.held, new, gone)
        self.arrived += len(new)
        self.present = [row for row in self.present if row not in gone] + new

    @rule()
    def read_what_is_short(self) -> None:
        read(self.held, self.present, self.held.short().tolist())
        assert not self.held.short().size

    @invariant()
    def the_first_rows_are_right(self) -> None:
        self.held._check()
        short = {*self.held.short().tolist()}
        groups = {row[0] for row in self.present} - short
        first = [
            row
            for group in groups
            for row in sorted((each for each in self.present if each[0] == group), key=order)[
                : self.count
            ]
        ]
        numbers = {row[2] for row in self.present if row[0] in short}
        found = [n for n in self.held.first()["n"].to_pylist() if n not in numbers]
        assert found == sorted(row[2] for row in first)


TestChangingRows = ChangingRows.TestCase
