"""The key hash table (the report's KHT): a dict from update keys to their cells.

Beside it each cell has a small number, so that what is kept per key elsewhere can stand in plain
columns. The numbers of removed cells are used again.

To find a key in a dict, or to put it in or take it out, calls the key's own `__hash__` and
`__eq__`, which may fail. So cells are put in *before* anything is done with them, and taken out
after all else: a cell in the dict that is not open is as good as none. Opening and closing cannot
fail.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Final

from ..updates import Key
from .key_cell import KeyCell

CLOSED: Final = 1 << 62
"""The number of a cell that is not open: no column is that long."""


class KeyNumbers:
    """The numbers of open cells: small, and without many gaps. O(1) per operation."""

    __slots__ = ("_free", "size")

    def __init__(self) -> None:
        self._free: list[int] = []
        self.size = 0
        """How many numbers there are, free ones among them: the rows of a column for all cells."""

    def open(self, cell: KeyCell) -> None:
        """Give a cell a number."""
        assert cell.index == CLOSED, "a cell with two numbers"
        if self._free:
            cell.index = self._free.pop()
        else:
            cell.index = self.size
            self.size += 1

    def close(self, cell: KeyCell) -> None:
        """Let a cell have no number; others may have it now."""
        assert cell.index != CLOSED, "a cell that is closed twice"
        self._free.append(cell.index)
        cell.index = CLOSED

    def __len__(self) -> int:
        return self.size - len(self._free)

    def _check_numbers(self, cells: Iterable[KeyCell]) -> None:
        numbers = sorted([cell.index for cell in cells] + self._free)
        assert numbers == list(range(self.size)), "a number that is lost or used twice"


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
        """The cells by key, for looking up only; one of them may be closed (`find`)."""
        self._closed: list[KeyCell] = []
        """The cells in it that may be closed."""
        self.is_kept = False
        """Whether closed cells stay, since they may be opened again."""

    def add(self, key: Key, *, time: float, arrival: float) -> KeyCell:
        """Make an open cell for a key that has none."""
        assert self.find(key) is None, "a key with two cells"
        cell = self.reserve_one(key)
        self.open(cell)
        cell.time = time
        cell.arrival = arrival
        return cell

    def remove(self, cell: KeyCell) -> None:
        """Close a cell and take it out."""
        self.close(cell)
        self.sweep()

    def reserve_one(self, key: Key) -> KeyCell:
        """Put in a cell for `key`, which is not known; as `reserve`, in a third of the time."""
        if self._closed:
            self.sweep()
        cell = self.cells[key] = KeyCell(key, CLOSED, time=math.inf, arrival=0.0)
        self._closed.append(cell)
        return cell

    def reserve(self, keys: Iterable[Key]) -> dict[Key, KeyCell]:
        """Put in a cell for each of `keys`, which are distinct and not known; none of it is open.

        If that fails, no key is known that was not. Whoever does not open them all must `sweep`.
        """
        self.sweep()
        reserved = {key: KeyCell(key, CLOSED, time=math.inf, arrival=0.0) for key in keys}
        self._closed.extend(reserved.values())
        known = len(self.cells)
        self.cells.update(reserved)  # which calls no `__hash__` again
        assert len(self.cells) == known + len(reserved), "a key with two cells"
        return reserved

    def close(self, cell: KeyCell) -> None:
        """Let a key be not known any more; its number is free again."""
        super().close(cell)
        cell.time = math.inf  # so that whoever finds it takes no update for newer
        self._closed.append(cell)

    def sweep(self) -> None:
        """Take out the cells that are not open. If that fails, it is done the next time."""
        if self.is_kept:
            return
        closed = self._closed
        while closed:
            cell = closed[-1]
            if cell.index == CLOSED and self.cells.get(cell.key) is cell:
                del self.cells[cell.key]
            closed.pop()

    def try_sweep(self) -> None:
        """Take out the cells that are not open, as far as their keys allow it at present."""
        with suppress(Exception):  # of a key; it is done the next time
            self.sweep()

    def clear(self) -> None:
        """Take out all cells, without closing them."""
        self.cells.clear()
        self._closed.clear()
        self._free.clear()
        self.size = 0

    def find(self, key: Key) -> KeyCell | None:
        """Return the open cell of a key, if it has one."""
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
