"""The key table finds cells by key and numbers them without gaps."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from upstream.keys import KeyCell, KeyTable

from .owner import SHORT_RUNS


def test_a_new_cell_has_what_its_first_update_brings() -> None:
    table = KeyTable()
    cell = table.add(("IBM", 1), time=3.0, arrival=4.0)
    assert (cell.key, cell.time, cell.arrival) == (("IBM", 1), 3.0, 4.0)
    assert table.cells == {("IBM", 1): cell}


def test_keys_that_are_equal_are_one_key() -> None:
    table = KeyTable()
    cell = table.add(1, time=0.0, arrival=0.0)
    assert table.cells[1.0] is cell
    with pytest.raises(AssertionError, match="already has a cell"):
        table.add(True, time=0.0, arrival=0.0)
    table._check()


def test_numbers_are_used_again_before_new_ones() -> None:
    table = KeyTable()
    cells = [table.add(key, time=0.0, arrival=0.0) for key in "ABCD"]
    assert [cell.index for cell in cells] == [0, 1, 2, 3]
    table.remove(cells[1])
    table.remove(cells[3])
    again = [table.add(key, time=0.0, arrival=0.0).index for key in "EFG"]
    assert sorted(again[:2]) == [1, 3]
    assert again[2] == 4
    assert table.size == 5
    table.remove(cells[0])
    assert table.size == 5


def test_a_cell_is_removed_once() -> None:
    table = KeyTable()
    cell = table.add("A", time=0.0, arrival=0.0)
    table.remove(cell)
    with pytest.raises(AssertionError, match="already closed"):
        table.remove(cell)
    table._check()


class Fragile:
    """A key of which nothing can be asked once it is broken."""

    def __init__(self) -> None:
        self.is_broken = False

    def __hash__(self) -> int:
        if self.is_broken:
            raise ArithmeticError
        return 620

    def __eq__(self, other: object) -> bool:
        if self.is_broken:
            raise ArithmeticError
        return self is other


def test_cells_are_reserved_all_or_none_whatever_their_keys_do() -> None:
    table = KeyTable()
    known, fragile, other = Fragile(), Fragile(), Fragile()
    cell = table.add(known, time=0.0, arrival=0.0)
    known.is_broken = True  # and stands where the new ones, whose hash is the same, are to go
    with pytest.raises(ArithmeticError):
        table.reserve([fragile, other])
    known.is_broken = False
    assert [table.find(key) for key in (known, fragile, other)] == [cell, None, None]
    assert len(table) == len(list(table)) == 1
    assert len(table.reserve([fragile, other])) == 2
    table.sweep()
    table._check()
    assert set(table.cells) == {known}


def test_a_cell_whose_key_cannot_be_taken_out_is_closed_all_the_same() -> None:
    table = KeyTable()
    fragile = Fragile()
    cell = table.add(fragile, time=0.0, arrival=0.0)
    fragile.is_broken = True
    with pytest.raises(ArithmeticError):
        table.remove(cell)
    fragile.is_broken = False
    assert table.find(fragile) is None
    assert len(table) == 0
    again = table.add(fragile, time=1.0, arrival=1.0)
    assert table.find(fragile) is again
    table._check()


class KeyTableMachine(RuleBasedStateMachine):
    """The table against a plain dict from keys to numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.table = KeyTable()
        self.expected: dict[int, KeyCell] = {}
        self.most_at_once = 0

    @rule(key=st.integers(0, 12))
    def a_key_arrives(self, key: int) -> None:
        if key not in self.expected:
            self.expected[key] = self.table.add(key, time=1.0, arrival=2.0)
            self.most_at_once = max(self.most_at_once, len(self.expected))

    @precondition(lambda self: self.expected)
    @rule(data=st.data())
    def a_key_is_forgotten(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.expected)))
        self.table.remove(self.expected.pop(key))

    @invariant()
    def cells_are_found_and_numbers_stay_small(self) -> None:
        self.table._check()
        assert len(self.table) == len(self.expected)
        assert list(self.table) == list(self.expected.values())
        assert self.table.cells == self.expected
        numbers = {cell.index for cell in self.table}
        assert len(numbers) == len(self.expected)
        assert all(0 <= number < self.most_at_once for number in numbers)


TestKeyTable = KeyTableMachine.TestCase
TestKeyTable.settings = SHORT_RUNS
