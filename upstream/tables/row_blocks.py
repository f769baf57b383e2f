"""Rows with numbers that ascend in the order of arrival, in blocks that share no memory.

Blocks never change. A change returns new `RowBlocks`, which share every block that it did not
touch. So the old ones can still be read, an exception midway leaves nothing half done, and all rows
can be combined without a copy.

Rows are added at the end, where blocks of similar size are merged, so that each row is copied at
most a logarithmic number of times. A block from which rows are removed is copied, and merged with
its neighbours by the same rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from ..rows.arrow_data import empty_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

BLOCK_ROWS: Final = 32_768
"""The length of a full block. Copying one takes 0.1 to 0.2 ms; in a scan, DuckDB needs 5 µs for
each."""
_FEW: Final = 8
"""For up to this many rows, it is faster to cut them out of a block than to filter it."""


@dataclass(frozen=True, slots=True)
class _Block:
    """Rows and their numbers, in ascending order."""

    rows: pa.Table
    numbers: Integers

    def without(self, numbers: Integers) -> _Block:
        """Return the block without the rows of these ascending numbers."""
        places = np.searchsorted(self.numbers, numbers)
        left = np.delete(self.numbers, places)
        if places.size > _FEW:
            is_left = np.ones(self.numbers.size, np.bool_)
            is_left[places] = False
            return _Block(self.rows.filter(pa.array(is_left)), left)
        ends = [*places.tolist(), self.numbers.size]
        starts = [0, *(place + 1 for place in ends[:-1])]
        parts = [self.rows.slice(a, b - a) for a, b in zip(starts, ends, strict=True)]
        return _Block(_together(parts), left)


class RowBlocks:
    """Rows of one schema; `rows` is their number."""

    __slots__ = ("_blocks", "_schema", "_table", "rows")

    def __init__(self, schema: pa.Schema, blocks: tuple[_Block, ...] = (), rows: int = 0) -> None:
        self._schema = schema
        self._blocks = blocks
        self._table: pa.Table | None = None
        self.rows = rows

    def table(self) -> pa.Table:
        """Return all rows in their order, without a copy. O(blocks), the first time."""
        if self._table is None:
            self._table = _concatenated([block.rows for block in self._blocks], self._schema)
        return self._table

    def take(self, numbers: Integers) -> pa.Table:
        """Return the rows of these ascending numbers, all of which exist."""
        parts = []
        for at, of_block in self._by_block(numbers):
            block = self._blocks[at]
            places = np.searchsorted(block.numbers, of_block)
            parts.append(block.rows.take(pa.array(places)))
        return _concatenated(parts, self._schema)

    def numbers_from(self, first: int) -> Integers:
        """Return the numbers of the rows from this number on. O(rows found + blocks)."""
        found = []
        for block in reversed(self._blocks):
            start = int(np.searchsorted(block.numbers, first))
            found.append(block.numbers[start:])
            if start:
                break
        return np.concatenate(found[::-1]) if found else np.empty(0, np.int64)

    def with_rows(self, rows: pa.Table, chosen: Integers, first: int) -> RowBlocks:
        """Add the chosen rows, with numbers from `first` on.

        Amortized, each row costs the logarithm of the length of a block.
        """
        if not chosen.size:
            return self
        if chosen.size > BLOCK_ROWS:
            rows = rows.combine_chunks()
        blocks = [*self._blocks]
        for start in range(0, chosen.size, BLOCK_ROWS):
            part = chosen[start : start + BLOCK_ROWS]
            table = rows if part.size == rows.num_rows else _taken(rows, part)
            numbers = np.arange(first + start, first + start + part.size)
            _append(blocks, _Block(table.combine_chunks(), numbers))
        return RowBlocks(self._schema, tuple(blocks), self.rows + chosen.size)

    def without(self, numbers: Integers) -> RowBlocks:
        """Remove the rows of these ascending numbers, all of which exist.

        O(blocks that contain them × length of a block + blocks).
        """
        lost = dict(self._by_block(numbers))
        blocks: list[_Block] = []
        for at, block in enumerate(self._blocks):
            if at in lost:
                _append(blocks, block.without(lost[at]))
            elif at - 1 in lost:
                _append(blocks, block)
            else:
                blocks.append(block)
        return RowBlocks(self._schema, tuple(blocks), self.rows - numbers.size)

    def _by_block(self, numbers: Integers) -> Iterator[tuple[int, Integers]]:
        """Return the blocks that contain these numbers, and the numbers in each."""
        if not numbers.size:
            return
        firsts = [block.numbers[0] for block in self._blocks[1:]]
        places = np.searchsorted(np.array(firsts, np.int64), numbers, side="right")
        starts = np.flatnonzero(np.diff(places, prepend=-1))
        for start, part in zip(starts.tolist(), np.split(numbers, starts[1:]), strict=True):
            yield int(places[start]), part

    def _check(self) -> None:
        """Assert every invariant."""
        assert self.rows == sum(block.numbers.size for block in self._blocks)
        for block in self._blocks:
            assert 0 < block.numbers.size == block.rows.num_rows <= BLOCK_ROWS
            assert all(column.num_chunks == 1 for column in block.rows.columns)
        numbers = [block.numbers for block in self._blocks]
        assert not numbers or bool((np.diff(np.concatenate(numbers)) > 0).all())


def _append(blocks: list[_Block], block: _Block) -> None:
    """Add a block at the end, merged with those before it that are not much longer."""
    size = block.numbers.size
    if not size:
        return
    merged = [block]
    while blocks and blocks[-1].numbers.size <= min(2 * size, BLOCK_ROWS - size):
        merged.append(blocks.pop())
        size += merged[-1].numbers.size
    if len(merged) > 1:
        merged.reverse()
        rows = _together([each.rows for each in merged])
        block = _Block(rows, np.concatenate([each.numbers for each in merged]))
    blocks.append(block)


def _taken(rows: pa.Table, places: Integers) -> pa.Table:
    """Return the rows at these ascending places; `take` is slow for tables in several pieces."""
    first, last = int(places[0]), int(places[-1])
    return rows.slice(first, last - first + 1).take(pa.array(places - first))


def _together(tables: list[pa.Table]) -> pa.Table:
    """Return tables as one table whose columns are in one piece."""
    return pa.concat_tables(tables).combine_chunks()


def _concatenated(tables: list[pa.Table], schema: pa.Schema) -> pa.Table:
    return pa.concat_tables(tables) if tables else empty_table(schema)
