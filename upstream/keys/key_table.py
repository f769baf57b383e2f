"""The key hash table (the report's KHT): a dict from update keys to their cells.

Beside it each cell has a small number, so that what is kept per key elsewhere can stand in plain
columns. The numbers of removed cells are used again.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..updates import Key
from .key_cell import KeyCell


class KeyTable:
    """All key cells of a stream. O(1) per operation.

    >>> table = KeyTable()
    >>> table.add("IBM", time=0.0, arrival=0.0).index
    0
    """

    __slots__ = ("_free", "_size", "cells")

    def __init__(self) -> None:
        self.cells: dict[Key, KeyCell] = {}
        """The cells by key, for looking up only."""
        self._free: list[int] = []
        self._size = 0

    def add(self, key: Key, *, time: float, arrival: float) -> KeyCell:
        """Make a cell for a key that has none."""
        assert key not in self.cells, "a key with two cells"
        if self._free:
            index = self._free.pop()
        else:
            index = self._size
            self._size += 1
        cell = self.cells[key] = KeyCell(key, index, time=time, arrival=arrival)
        return cell

    def remove(self, cell: KeyCell) -> None:
        """Take a cell out; its number is free again."""
        del self.cells[cell.key]
        self._free.append(cell.index)

    @property
    def numbers(self) -> int:
        """How many numbers there are, free ones among them: the rows of a column for all cells."""
        return self._size

    def __len__(self) -> int:
        return len(self.cells)

    def __iter__(self) -> Iterator[KeyCell]:
        return iter(self.cells.values())

    def _check(self) -> None:
        numbers = sorted([cell.index for cell in self] + self._free)
        assert numbers == list(range(self._size)), "a number that is lost or used twice"
        for key, cell in self.cells.items():
            assert cell.key == key
            cell._check()
