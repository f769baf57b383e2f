"""The newest rows of each group of a stream, which `latest(trades, rows => 3)` reads.

This is an update queue for whole tables. A row older than the newest n rows of its group is late
and dropped; a row that becomes so later is superseded; both are counted. Newest is by the stream's
time column, for equal times by arrival, and without a time column by arrival alone.

Each kept row has a number, which ascends with the order of arrival and never changes. Superseded
rows are only noted at first. They are removed when the rows are requested, or when there are too
many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from ..held_interrupt import HeldInterrupt
from ..rows.arrow_words import grown, one_array
from ..rows.group_codes import GroupCodes
from .newest_numbers import NewestOfGroup, NewestRuns
from .row_blocks import RowBlocks

if TYPE_CHECKING:
    import pyarrow as pa

    from ..rows.arrow_words import Integers
    from ..rows.stream_definition import StreamDefinition

_SLACK: Final = 1024
"""The number of superseded rows that may be stored in addition to as many as there are newest
rows."""


@dataclass(frozen=True, slots=True)
class NewestRowsStatistics:
    """What became of the rows: came = superseded + late + kept."""

    came: int
    superseded: int
    late: int
    kept: int


class NewestRows:
    """The newest `rows` rows of each group; groups are by the columns `per`, or by the key.

    The cost of adding a batch depends on its length, and on the number of rows in its groups. An
    exception in the middle leaves everything unchanged. One thread at a time may use it.
    """

    __slots__ = (
        "_added",
        "_came",
        "_codes",
        "_columns",
        "_definition",
        "_is_changed",
        "_late",
        "_newest",
        "_stored",
        "_superseded",
        "_superseded_count",
    )

    def __init__(
        self, definition: StreamDefinition, rows: int = 1, per: Sequence[str] | None = None
    ) -> None:
        self._definition = definition
        self._columns = tuple(definition.key if per is None else per)
        self._codes = GroupCodes([definition.schema.field(name).type for name in self._columns])
        self._newest = NewestOfGroup() if rows == 1 else NewestRuns(rows)
        self._stored = RowBlocks(definition.schema)
        self._superseded = np.empty(0, dtype=np.int64)
        """The numbers of stored rows that are superseded, with spare room."""
        self._superseded_count = 0
        self._is_changed = np.empty(0, dtype=np.bool_)  # indexed by group
        self._added = 0
        """How many rows were ever stored, which is the number of the next one."""
        self._came = self._late = 0

    def add(self, rows: pa.Table) -> None:
        """Add rows that conform to the definition, in the order in which they arrived."""
        if not rows.num_rows:
            return
        times = None if self._definition.time is None else self._definition.times(rows)
        groups = self._groups_of(rows)
        change = self._newest.change(groups, times)
        changed = groups[change.chosen]
        stored = self._stored.with_rows(rows, change.chosen, self._added)
        count = self._superseded_count + change.superseded.size
        self._superseded = grown(self._superseded, count)
        self._superseded[self._superseded_count : count] = change.superseded
        if count > stored.rows // 2 + _SLACK:
            stored, count = stored.without(np.sort(self._superseded[:count])), 0
        with HeldInterrupt():  # nothing here can fail
            change.swap_in(self._added)
            self._is_changed[changed] = True
            self._stored, self._superseded_count = stored, count
            self._added += change.chosen.size
            self._came += rows.num_rows
            self._late += change.late

    def _groups_of(self, rows: pa.Table) -> Integers:
        """Return the group of each row, and make room for the groups."""
        columns = [one_array(rows.column(name)) for name in self._columns]
        groups = self._codes.codes_of(columns, rows.num_rows)
        self._newest.make_room(len(self._codes))
        self._is_changed = grown(self._is_changed, len(self._codes))
        return groups

    def table(self) -> pa.Table:
        """Return the newest rows of all groups, in the order in which they arrived.

        Only blocks in which rows were superseded since the last call are copied.
        """
        if self._superseded_count:
            superseded = np.sort(self._superseded[: self._superseded_count])
            self._stored, self._superseded_count = self._stored.without(superseded), 0
        return self._stored.table()

    def changed_groups(self) -> Integers:
        """Return the numbers of the groups that changed since changes were forgotten. O(groups)."""
        return np.flatnonzero(self._is_changed)

    def forget_changes(self) -> None:
        """Mark the changes so far as known."""
        self._is_changed[:] = False

    def rows_of(self, groups: Integers) -> pa.Table:
        """Return the newest rows of these groups, in the order in which they arrived."""
        return self._stored.take(self._newest.numbers_of(groups))

    def statistics(self) -> NewestRowsStatistics:
        """Return what became of the rows so far.

        With several rows per group, late rows are older than all those known before their batch.
        With one row per group, they are older than any row before them.
        """
        kept = self._newest.kept
        return NewestRowsStatistics(
            came=self._came,
            superseded=self._came - self._late - kept,
            late=self._late,
            kept=kept,
        )

    def _check(self) -> None:
        """Assert every invariant."""
        self._stored._check()
        assert self._stored.rows == self._newest.kept + self._superseded_count
        groups = np.arange(len(self._codes))
        self._newest.make_room(groups.size)
        assert self._newest.numbers_of(groups).size == self._newest.kept
