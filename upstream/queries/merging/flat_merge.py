"""The running merge of steps that all change with every slide, as those of a join of streams do.

No merge of several steps lasts until the next slide, so all steps of the window are merged, as
DataCell does; there are few of them where pairs of steps are joined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import pyarrow as pa

    from .table_merge import TableMerge

_PARTS: Final = 8
"""A step in more parts than this is merged to one."""
_BEFORE_ALL: Final = -(1 << 63)


class FlatMerge:
    """Merge all steps of the window whenever the merge is asked for."""

    __slots__ = ("_end", "_first", "_forgotten", "_merge", "_merged", "_steps")

    def __init__(self, merge: TableMerge) -> None:
        self._merge = merge
        self._steps: dict[int, list[pa.Table]] = {}
        self._first = self._end = self._forgotten = _BEFORE_ALL
        self._merged: pa.Table | None = None

    def stage(self, step: int, partial: pa.Table) -> None:
        """Take a part of a step's partial."""
        if partial.num_rows == 0 or step < min(self._forgotten, self._first):
            return
        self._steps.setdefault(step, []).append(partial)
        self._merged = None

    def advance(self, first: int, end: int) -> None:
        """Move the window to the steps `[first, end)`."""
        self._first, self._end = first, end
        self._merged = None
        self._drop()

    def merged(self) -> pa.Table:
        """Return the merge of the window."""
        if self._merged is None:
            self._merged = self.merged_of(self._first, self._end)
        return self._merged

    def merged_of(self, first: int, end: int) -> pa.Table:
        """Return the merge of any steps that are held."""
        tables: list[pa.Table] = []
        for step in sorted(self._steps):
            if first <= step < end:
                tables.extend(self._parts_of(step))
        return self._merge(tables)

    def forget(self, before: int) -> None:
        """Say that steps below are not asked for again once they have left the window."""
        self._forgotten = max(before, self._forgotten)
        self._drop()

    def memory_rows(self) -> int:
        """Return how many rows are held."""
        return sum(part.num_rows for parts in self._steps.values() for part in parts)

    def describe(self) -> str:
        """Say in a phrase how it merges."""
        return f"all steps anew each time, by {self._merge.describe()}"

    def close(self) -> None:
        """Give back what it has of DuckDB."""
        self._merge.close()

    def _parts_of(self, step: int) -> list[pa.Table]:
        parts = self._steps[step]
        if len(parts) > _PARTS:
            parts[:] = [self._merge(parts)]
        return parts

    def _drop(self) -> None:
        bound = min(self._forgotten, self._first)
        for step in [step for step in self._steps if step < bound]:
            del self._steps[step]

    def _check(self) -> None:
        """Assert what always holds."""
        bound = min(self._forgotten, self._first)
        assert all(step >= bound for step in self._steps)
        assert all(part.num_rows for parts in self._steps.values() for part in parts)
