"""The key hash table (the report's KHT): a dict from update keys to their cells.

Each cell also has a small number, so that other data per key can be kept in columns. The numbers of
removed cells are used again.

Finding, adding and removing a key in a dict calls the key's own `__hash__` and `__eq__`, which may
fail. So a cell is added *before* anything is done with it, and removed after everything else. A
cell that is not open counts as missing. Opening and closing a cell cannot fail.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Final

from ..updates import Key
from .key_cell import KeyCell

CLOSED: Final = 1 << 62
"""The number of a cell that is not open. No column is this long."""


class KeyNumbers:
    """The numbers of open cells: small, and with few gaps. O(1) per operation."""

    __slots__ = ("_free", "size")

    def __init__(self) -> None:
        self._free: list[int] = []
        self.size = 0
        """The count of numbers, including free ones: the rows of a column for all cells."""

    def open(self, cell: KeyCell) -> None:
        """Give a cell a number."""
        assert cell.index == CLOSED, "the cell already has a number"
        if self._free:
            cell.index = self._free.pop()
        else:
            cell.index = self.size
            self.size += 1

    def close(self, cell: KeyCell) -> None:
        """Release the number of a cell, so that other cells can have it."""
        assert cell.index != CLOSED, "the cell is already closed"
        self._free.append(cell.index)
        cell.index = CLOSED

    def __len__(self) -> int:
        return self.size - len(self._free)

    def _check_numbers(self, cells: Iterable[KeyCell]) -> None:
        numbers = sorted([cell.index for cell in cells] + self._free)
        assert numbers == list(range(self.size)), "a number is lost or used twice"


class KeyTable(KeyNumbers):
    """All key cells of a stream. O(1) per operation.

    >>> table = KeyTable()
    >>> table.add("IBM", time=0.0, arrival=0.0).index
    0
    """

    __slots__ = ("_closed", "cells", "is_kept")

    def __init__(self) -> None:
        super().__init__()
        self.cells: dict[Key, KeyCell] = {}
        """The cells by key, for looking up only. Some of them may be closed (see `find`)."""
        self._closed: list[KeyCell] = []
        """The cells in the table that may be closed."""
        self.is_kept = False
        """Whether closed cells stay in the table, because they may be opened again."""

    def add(self, key: Key, *, time: float, arrival: float) -> KeyCell:
        """Add an open cell for a key that has none, and return it."""
        assert self.find(key) is None, "the key already has a cell"
        cell = self.reserve_one(key)
        self.open(cell)
        cell.time = time
        cell.arrival = arrival
        return cell

    def remove(self, cell: KeyCell) -> None:
        """Close a cell and remove it."""
        self.close(cell)
        self.sweep()

    def reserve_one(self, key: Key) -> KeyCell:
        """Add a closed cell for the unknown `key`; like `reserve`, in a third of the time."""
        if self._closed:
            self.sweep()
        cell = self.cells[key] = KeyCell(key, CLOSED, time=math.inf, arrival=0.0)
        self._closed.append(cell)
        return cell

    def reserve(self, keys: Iterable[Key]) -> dict[Key, KeyCell]:
        """Add a closed cell for each of `keys`, which must be distinct and unknown.

        If this fails, no new key is known. A caller that does not open all cells must call `sweep`.
        """
        self.sweep()
        reserved = {key: KeyCell(key, CLOSED, time=math.inf, arrival=0.0) for key in keys}
        self._closed.extend(reserved.values())
        known = len(self.cells)
        self.cells.update(reserved)  # this calls no `__hash__` again
        assert len(self.cells) == known + len(reserved), "a key already has a cell"
        return reserved

    def close(self, cell: KeyCell) -> None:
        """Close the cell of a key that is no longer known, and release its number."""
        super().close(cell)
        cell.time = math.inf  # so that code that finds the cell treats no update as newer
        self._closed.append(cell)

    def sweep(self) -> None:
        """Remove the cells that are not open. If this fails, the next call does it."""
        if self.is_kept:
            return
        closed = self._closed
        while closed:
            cell = closed[-1]
            if cell.index == CLOSED and self.cells.get(cell.key) is cell:
                del self.cells[cell.key]
            closed.pop()

    def try_sweep(self) -> None:
        """Remove the cells that are not open. If a key raises, the next call continues."""
        with suppress(Exception):  # of a key; the next call removes its cell
            self.sweep()

    def clear(self) -> None:
        """Remove all cells without closing them."""
        self.cells.clear()
        self._closed.clear()
        self._free.clear()
        self.size = 0

    def find(self, key: Key) -> KeyCell | None:
        """Return the open cell of a key, or None."""
        cell = self.cells.get(key)
        return None if cell is None or cell.index == CLOSED else cell

    def __iter__(self) -> Iterator[KeyCell]:
        return (cell for cell in self.cells.values() if cell.index != CLOSED)

    def _check(self) -> None:
        self._check_numbers(self)
        for key, cell in self.cells.items():
            assert cell.key is key
            cell._check()
            assert cell.index != CLOSED or cell in self._closed
