"""The running merge for all kinds of states: a tree of merges over the chunks.

A block of level k consists of 8**k chunks, from a multiple of that number on. It is merged once,
when a window first covers it completely. The window is then the merge of the largest blocks that it
covers, at most 14 per level, in one statement. So a slide costs one statement over O(log n) tables
and an eighth of another. It has no expensive slides, unlike two stacks. An amended chunk costs one
path of blocks, where two stacks would have to begin again. If a block is needed before its parts
were merged (after a jump), it is merged at once from what is below it.

Partials are in a ring, and the merges of blocks are only a cache: a block is removed from the cache
before a chunk in it changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..chunks.ring import Ring

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from ..chunks.cutter import Piece
    from .running_merge import TableMerge

_BITS: Final = 3
_FANOUT: Final = 1 << _BITS
_PARTS: Final = 8
"""A chunk in more parts than this is merged to one."""
_BEFORE_ALL: Final = -(1 << 63)


class ChunkTree:
    """Merges the largest blocks of chunks that make up the window."""

    __slots__ = ("_blocks", "_forgotten", "_levels", "_merge", "_merged", "_position", "_ring")

    def __init__(self, merge: TableMerge) -> None:
        self._merge = merge
        self._ring = Ring["pa.Table"]()
        self._blocks: dict[tuple[int, int], pa.Table] = {}
        """The merges of blocks, by level and number."""
        self._levels = 0
        """The highest level that has blocks."""
        self._position = (_BEFORE_ALL, _BEFORE_ALL)
        self._forgotten = _BEFORE_ALL
        self._merged: pa.Table | None = None
        """The merge at the position, once it was requested."""

    def stage(self, partials: Sequence[Piece]) -> None:
        """Take parts of partials, with their chunks. O(levels) each."""
        for chunk, partial in partials:
            if partial.num_rows and chunk >= min(self._forgotten, self._position[0]):
                self._drop_blocks_of(chunk)
                self._merged = None
                self._ring.add(chunk, partial)

    def settle(self) -> None:
        """Do nothing: blocks are merged when a window first covers them."""

    def advance(self, first: int, end: int) -> None:
        """Move the position to the chunks `[first, end)`."""
        if (first, end) != self._position:
            self._merged = None
            self._position = first, end
            self._drop()

    def merged(self, first: int, end: int) -> pa.Table:
        """Return the merge of some chunks. O(log(end - first)) tables are merged."""
        if first < self._position[0] or end < self._position[1]:
            return self._merge(self._cover(first, end))
        self.advance(first, end)
        if self._merged is None:
            self._merged = self._merge(self._cover(first, end))
        return self._merged

    def forget(self, before: int) -> None:
        """Forget earlier chunks, once the position has passed them."""
        self._forgotten = max(before, self._forgotten)
        self._drop()

    @property
    def rows(self) -> int:
        """How many rows are held. O(chunks)."""
        parts = [part for chunk in self._ring for part in self._ring.of(chunk)]
        return sum(table.num_rows for table in (*parts, *self._blocks.values()))

    def describe(self) -> str:
        """Describe in a phrase how it merges."""
        return f"a tree over the chunks, whose nodes are merged by {self._merge.describe()}"

    def close(self) -> None:
        """Release its statements and relations in DuckDB."""
        self._merge.close()

    def _cover(self, first: int, end: int) -> list[pa.Table]:
        """Return the merges of the largest blocks that make up these chunks."""
        level = 0
        while (end - 1 >> _BITS * level) - (first >> _BITS * level) >= _FANOUT:
            level += 1
        self._levels = max(level, self._levels)
        return self._covered(level, first, end)

    def _covered(self, level: int, first: int, end: int) -> list[pa.Table]:
        if level == 0:
            return [part for chunk in self._ring.chunks(first, end) for part in self._parts(chunk)]
        tables: list[pa.Table] = []
        shift = _BITS * level
        for number in range(first >> shift, (end - 1 >> shift) + 1):
            start, stop = number << shift, number + 1 << shift
            if first <= start and stop <= end:
                if self._ring.has_any(start, stop):
                    tables.append(self._block(level, number))
            else:
                tables += self._covered(level - 1, max(first, start), min(end, stop))
        return tables

    def _block(self, level: int, number: int) -> pa.Table:
        if (level, number) not in self._blocks:
            self._blocks[level, number] = self._merge(self._gathered(level, number))
        return self._blocks[level, number]

    def _gathered(self, level: int, number: int) -> list[pa.Table]:
        """Return the tables of a block, merged as far as they are at present."""
        if level == 0:
            return self._parts(number)
        if (level, number) in self._blocks:
            return [self._blocks[level, number]]
        if not self._ring.has_any(number << _BITS * level, number + 1 << _BITS * level):
            return []
        children = range(number << _BITS, number + 1 << _BITS)
        return [table for child in children for table in self._gathered(level - 1, child)]

    def _parts(self, chunk: int) -> list[pa.Table]:
        parts = list(self._ring.of(chunk))
        if len(parts) > _PARTS:
            parts = [self._merge(parts)]
            self._ring.replace(chunk, parts)
        return parts

    def _drop(self) -> None:
        """Remove the chunks that are forgotten and passed, with all blocks that contain them."""
        bound = min(self._forgotten, self._position[0])
        for chunk in self._ring.chunks(_BEFORE_ALL, bound):
            self._drop_blocks_of(chunk)
        self._ring.forget(bound)

    def _drop_blocks_of(self, chunk: int) -> None:
        for level in range(1, self._levels + 1):
            self._blocks.pop((level, chunk >> _BITS * level), None)

    def _check(self) -> None:
        """Assert every invariant."""
        self._ring._check()
        assert all(chunk >= min(self._forgotten, self._position[0]) for chunk in self._ring)
        assert all(part.num_rows for chunk in self._ring for part in self._ring.of(chunk))
        for level, number in self._blocks:
            assert 1 <= level <= self._levels
            assert self._ring.has_any(number << _BITS * level, number + 1 << _BITS * level)
