"""The running merge of a landmark or a view in NumPy columns, which grow in place.

Taking in a partial costs O(its groups), and a reading one copy of the columns. A GROUP BY over all
groups, as in `CumulativeMerge`, would be O(all groups) per reading. Where values become too large
for an exact result here, a cumulative merge takes everything over, for good: it raises the error
that DuckDB raises.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial as bind
from operator import itemgetter
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from ...database.failure import DatabaseError
from ...held_interrupt import HeldInterrupt
from .cumulative_merge import (
    CumulativeMerge,
    is_of_cumulative_merge,
    rows_by_chunk,
    with_chunk_merged,
)
from .grouped_state import GroupedState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..chunks.cutter import Piece
    from ..rewriting.split_query import State
    from .grouped_state import Read
    from .running_merge import TableMerge

_ROWS: Final = 8_192
"""Partials wait for the next reader until they have this many rows."""
_PIECES: Final = 3
"""If more partials than this wait, they are merged in one statement first."""
_BEFORE_ALL: Final = -(1 << 63)


class GrowingMerge:
    """Adds everything up to the position's end to one grouped state."""

    __slots__ = (
        "_end",
        "_hold",
        "_merge",
        "_merge_at",
        "_new_state",
        "_overflowed",
        "_state",
        "_unsettled",
        "_waiting",
    )

    def __init__(
        self,
        groups: tuple[str, ...],
        states: Sequence[State],
        merge: TableMerge,
        *,
        is_signed: bool = False,
    ) -> None:
        self._new_state = bind(GroupedState, groups, states, merge.schema, is_signed=is_signed)
        self._state = self._new_state()
        self._merge = merge
        self._waiting: list[Piece] = []
        """What was staged and is not in the state yet."""
        self._merge_at = _ROWS
        """When this many rows wait for the position to move on, they are merged by chunk."""
        self._unsettled = 0
        """How many rows were staged since the state last took in what was due."""
        self._overflowed: CumulativeMerge | None = None
        """What merges everything since values have become too large."""
        self._end = _BEFORE_ALL
        self._hold = HeldInterrupt()

    def stage(self, partials: Sequence[Piece]) -> None:
        """Take parts of partials, with their chunks. O(1) each."""
        if self._overflowed is not None:
            self._overflowed.stage(partials)
            return
        for piece in partials:
            if piece[1].num_rows:
                self._waiting.append(piece)
                self._unsettled += piece[1].num_rows

    def settle(self) -> None:
        """Take in what is due, if that is enough to be worth a call without a reader."""
        if self._overflowed is None and self._unsettled >= _ROWS:
            self._take_in()
            with suppress(DatabaseError, pa.ArrowException):  # the next reader gets the error
                self._merge_waiting()
        if self._overflowed is not None:
            self._overflowed.settle()

    def advance(self, first: int, end: int) -> None:
        """Move to `end`; where the position begins does not matter."""
        self._end = end
        if self._overflowed is not None:
            self._overflowed.advance(first, end)

    def merged(self, first: int, end: int) -> pa.Table:
        """Return the merge of all chunks up to the position's end; no other merge is kept."""
        return self.read(first, end, GroupedState.table)

    def read(self, first: int, end: int, read: Read) -> pa.Table:
        """Return the merge, of which `read` may leave out groups that are not needed."""
        self._end = max(end, self._end)
        self._take_in()
        if self._overflowed is not None:
            return self._overflowed.merged(first, self._end)
        return read(self._state)

    def forget(self, before: int) -> None:
        """Do nothing, since no chunk is kept."""

    @property
    def rows(self) -> int:
        """How many rows are held. O(parts)."""
        if self._overflowed is not None:
            return self._overflowed.rows
        waiting: int = sum(partial.num_rows for _, partial in self._waiting)
        return self._state.rows + waiting

    def saved(self) -> pa.Table:
        """Return what has been merged, as `restore` takes it back."""
        self._take_in()
        assert self._overflowed is not None or not self._waiting, "a part is not due yet"
        return self._state.save() if self._overflowed is None else self._overflowed.saved()

    def restore(self, table: pa.Table) -> None:
        """Begin with what was saved; raise ValueError if it has another form."""
        if not is_of_cumulative_merge(table):
            self._state.restore(table)
            return
        merge = CumulativeMerge(self._merge)
        merge.advance(_BEFORE_ALL, self._end)
        merge.restore(table)
        self._overflowed = merge

    def describe(self) -> str:
        """Describe in a phrase how it merges."""
        if self._overflowed is not None:
            return self._overflowed.describe()
        return "adding each to its groups, in columns that grow in place"

    def close(self) -> None:
        """Release its statements and relations in DuckDB."""
        self._merge.close()

    def _take_in(self) -> None:
        """Take in what is due, the earliest chunk first."""
        if self._overflowed is not None:
            return
        waiting = sorted(self._waiting, key=itemgetter(0))
        due = [partial for chunk, partial in waiting if chunk < self._end]
        behind = len(due)
        if behind > _PIECES:
            try:
                due = [self._merge(due)]
            except (DatabaseError, pa.ArrowException):  # the reader of the merge gets the error
                self._hand_over()
                return
        for number, partial in enumerate(due, start=behind - len(due) + 1):
            change = self._state.update(partial)
            if change is None:
                self._hand_over()
                return
            with self._hold:
                change.apply()
                self._waiting = waiting[number:]
        self._unsettled = 0

    def _merge_waiting(self) -> None:
        """Merge the parts of each chunk that is not due yet, when twice as many rows wait."""
        rows = rows_by_chunk(self._waiting)
        if rows.total() < self._merge_at:
            return
        for chunk in rows:
            self._waiting = with_chunk_merged(self._waiting, chunk, self._merge)
        self._merge_at = max(_ROWS, 2 * sum(part.num_rows for _, part in self._waiting))

    def _hand_over(self) -> None:
        """Let a cumulative merge do everything from now on."""
        merge = CumulativeMerge(self._merge)
        merge.advance(_BEFORE_ALL, self._end)
        merge.stage([(_BEFORE_ALL, self._state.table()), *self._waiting])
        nothing = self._new_state()
        self._overflowed = merge  # from here on, only this is read
        self._state, self._waiting = nothing, []

    def _check(self) -> None:
        """Assert every invariant."""
        self._state._check()
        if self._overflowed is not None:
            self._overflowed._check()
