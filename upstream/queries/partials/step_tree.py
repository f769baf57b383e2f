"""The running merge of anything: a tree of merges over the steps.

A node of level k stands for the 8**k steps from a multiple of that on. It is merged once, when a
window first covers all of it; the window is then the merge of the largest nodes that it covers
whole, at most 14 of a level, in one statement. So a slide costs one statement over O(log n) tables
and an eighth of another, without the spikes of two stacks, whose halves swap in one slide; and a
step that is amended costs one path of nodes, where two stacks would have to begin again. Where a
node would be asked for before its children were merged (after a jump), it is merged from what is
there below it, at once.

Steps that hold nothing have no node, so the cost goes by steps that are held.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import pyarrow as pa

    from .table_merge import TableMerge

_BITS: Final = 3
_FANOUT: Final = 1 << _BITS
_PARTS: Final = 8
"""A step in more parts than this is merged to one."""
_BEFORE_ALL: Final = -(1 << 63)


class _Node:
    """The merge of some steps, as soon as it was needed."""

    __slots__ = ("children", "merged")

    def __init__(self) -> None:
        self.merged: pa.Table | None = None
        self.children = 0


class StepTree:
    """Merge the largest blocks of steps that make up the window."""

    __slots__ = ("_end", "_first", "_forgotten", "_levels", "_merge", "_merged", "_order", "_steps")

    def __init__(self, merge: TableMerge) -> None:
        self._merge = merge
        self._steps: dict[int, list[pa.Table]] = {}
        self._order: list[int] = []
        """The steps that are held, as a heap."""
        self._levels: list[dict[int, _Node]] = []
        """Nodes of blocks of 8, 64, ... steps by their numbers."""
        self._first = self._end = self._forgotten = _BEFORE_ALL
        self._merged: pa.Table | None = None

    def stage(self, step: int, partial: pa.Table) -> None:
        """Take a part of a step's partial. O(levels)."""
        if partial.num_rows == 0 or step < min(self._forgotten, self._first):
            return
        parts = self._steps.get(step)
        if parts is None:
            self._steps[step] = [partial]
            heappush(self._order, step)
            self._enter(step)
        else:
            parts.append(partial)
            for level, nodes in enumerate(self._levels, start=1):
                nodes[step >> _BITS * level].merged = None
        if self._first <= step < self._end:
            self._merged = None

    def advance(self, first: int, end: int) -> None:
        """Move the window to the steps `[first, end)`."""
        if (first, end) == (self._first, self._end):
            return
        self._first, self._end = first, end
        self._merged = None
        self._drop()

    def merged(self) -> pa.Table:
        """Return the merge of the window."""
        if self._merged is None:
            self._merged = self.merged_of(self._first, self._end)
        return self._merged

    def merged_of(self, first: int, end: int) -> pa.Table:
        """Return the merge of any steps that are held. O(log(end - first)) tables are merged."""
        tables: list[pa.Table] = []
        if first < end:
            level = self._level_of(first, end)
            self._cover(level, first, end, tables)
        return self._merge(tables)

    def forget(self, before: int) -> None:
        """Say that steps below are not asked for again once they have left the window."""
        self._forgotten = max(before, self._forgotten)
        self._drop()

    def memory_rows(self) -> int:
        """Return how many rows are held. O(steps)."""
        parts = [part for parts in self._steps.values() for part in parts]
        merges = [node.merged for nodes in self._levels for node in nodes.values()]
        return sum(table.num_rows for table in (*parts, *merges) if table is not None)

    def describe(self) -> str:
        """Say in a phrase how it merges."""
        return f"a tree over the steps, whose nodes are merged by {self._merge.describe()}"

    def close(self) -> None:
        """Give back what it has of DuckDB."""
        self._merge.close()

    # Blocks of steps

    def _enter(self, step: int) -> None:
        """Give a new step its nodes."""
        is_new = True
        for level, nodes in enumerate(self._levels, start=1):
            node = nodes.get(step >> _BITS * level)
            if node is None:
                node = nodes[step >> _BITS * level] = _Node()
                node.children = 1
            else:
                node.children += is_new
                node.merged = None
                is_new = False

    def _level_of(self, first: int, end: int) -> int:
        """Return the level at which these steps are few blocks; there are nodes up to it."""
        level = 0
        while (end - 1 >> _BITS * level) - (first >> _BITS * level) >= _FANOUT:
            level += 1
            if level > len(self._levels):
                self._add_level()
        return level

    def _add_level(self) -> None:
        nodes: dict[int, _Node] = {}
        for child in self._levels[-1] if self._levels else self._steps:
            nodes.setdefault(child >> _BITS, _Node()).children += 1
        self._levels.append(nodes)

    def _cover(self, level: int, first: int, end: int, tables: list[pa.Table]) -> None:
        """Collect the merges of the largest blocks that make up these steps."""
        shift = _BITS * level
        for index in range(first >> shift, (end - 1 >> shift) + 1):
            start, stop = index << shift, index + 1 << shift
            if level == 0:
                if index in self._steps:
                    tables.extend(self._parts_of(index))
            elif index not in self._levels[level - 1]:
                continue
            elif first <= start and stop <= end:
                tables.append(self._merged_block(level, index))
            else:
                self._cover(level - 1, max(first, start), min(end, stop), tables)

    def _merged_block(self, level: int, index: int) -> pa.Table:
        node = self._levels[level - 1][index]
        if node.merged is None:
            tables: list[pa.Table] = []
            self._gather(level, index, tables)
            node.merged = self._merge(tables)
        return node.merged

    def _gather(self, level: int, index: int, tables: list[pa.Table]) -> None:
        """Collect what there is of a block, merged as far as it happens to be."""
        if level == 0:
            tables.extend(self._parts_of(index))
            return
        node = self._levels[level - 1][index]
        if node.merged is not None:
            tables.append(node.merged)
            return
        below = self._levels[level - 2] if level > 1 else self._steps
        for child in range(index << _BITS, index + 1 << _BITS):
            if child in below:
                self._gather(level - 1, child, tables)

    def _parts_of(self, step: int) -> list[pa.Table]:
        parts = self._steps[step]
        if len(parts) > _PARTS:
            parts[:] = [self._merge(parts)]
        return parts

    def _drop(self) -> None:
        """Drop the steps that are forgotten and have left, with their nodes."""
        bound = min(self._forgotten, self._first)
        while self._order and self._order[0] < bound:
            step = heappop(self._order)
            del self._steps[step]
            is_gone = True
            for level, nodes in enumerate(self._levels, start=1):
                index = step >> _BITS * level
                node = nodes[index]
                node.merged = None  # no window that is asked for covers it
                node.children -= is_gone
                is_gone = node.children == 0
                if is_gone:
                    del nodes[index]

    def _check(self) -> None:
        """Assert what always holds."""
        assert sorted(self._order) == sorted(self._steps)
        assert all(step >= min(self._forgotten, self._first) for step in self._steps)
        assert all(part.num_rows for parts in self._steps.values() for part in parts)
        below: list[int] = list(self._steps)
        for nodes in self._levels:
            parents = [index >> _BITS for index in below]
            assert {index: node.children for index, node in nodes.items()} == {
                index: parents.count(index) for index in parents
            }
            below = list(nodes)
