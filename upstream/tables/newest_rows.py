"""The newest rows of each group of a stream, which `latest(trades, rows => 3)` reads.

This is an update queue for whole tables: what is older than the newest n rows of its group is late
and dropped, what becomes so later is superseded, and both are counted. Newest is by the stream's
time column, for equal times by arrival, and without a time column by arrival alone.

Each row that is kept has a number, which ascends with the order of arrival and never changes. Rows
that were superseded are only noted, and left out when the rows are asked for, or become too many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from ..queues.held_interrupt import HeldInterrupt
from ..rows.arrow_words import grown, one_array
from ..rows.group_codes import GroupCodes
from .newest_chains import NewestChains
from .newest_of_group import NewestOfGroup
from .row_blocks import RowBlocks

if TYPE_CHECKING:
    import pyarrow as pa

    from ..rows.stream_definition import StreamDefinition
    from .row_change import NewestNumbers, RowChange

Integers = NDArray[np.int64]

_SLACK: Final = 1024
"""How many superseded rows may be stored beside as many as there are newest rows."""


@dataclass(frozen=True, slots=True)
class NewestRowsStatistics:
    """What became of the rows: came = superseded + late + kept."""

    came: int
    superseded: int
    late: int
    kept: int
    groups: int


class NewestRows:
    """The newest `rows` rows of each group; groups are by the columns `per`, or by the key.

    To add a batch costs as much as it is long, and as there are rows in the groups that it is of.
    An exception in the middle of it leaves everything as it was. One thread at a time may use it.
    """

    __slots__ = (
        "_added",
        "_came",
        "_changed",
        "_codes",
        "_columns",
        "_definition",
        "_is_changed",
        "_late",
        "_newest",
        "_stored",
        "_superseded",
        "version",
    )

    def __init__(
        self, definition: StreamDefinition, rows: int = 1, per: Sequence[str] | None = None
    ) -> None:
        self._definition = definition
        self._columns = tuple(definition.key if per is None else per)
        self._codes = GroupCodes([definition.schema.field(name).type for name in self._columns])
        self._newest: NewestNumbers = NewestOfGroup() if rows == 1 else NewestChains(rows)
        self._stored = RowBlocks(definition.schema)
        self._superseded = _Noted()
        """The numbers of rows that are stored and do not count."""
        self._changed = _Noted()
        self._is_changed = np.empty(0, dtype=np.bool_)  # by group
        self._added = 0
        """How many rows were ever stored, which is the number of the next one."""
        self._came = self._late = 0
        self.version = 0
        """Grows whenever the rows change, so that what was made of them can be kept until then."""

    def add(self, rows: pa.Table) -> None:
        """Add rows that conform to the definition, in the order in which they came."""
        if not rows.num_rows:
            return
        came = rows.num_rows
        if self._is_superseded_by_its_last(rows):
            rows = rows.slice(came - 1)
        times = None if self._definition.time is None else self._definition.times(rows)
        groups = self._groups_of(rows)
        change = self._newest.change(groups, times)
        stored = self._stored.with_rows(rows, change.chosen, self._added)
        superseded = self._superseded.with_more(change.superseded)
        if superseded.count > stored.rows // 2 + _SLACK:
            stored, superseded = stored.without(superseded.ascending()), _Noted()
        changed = change.groups[~self._is_changed[change.groups]]
        self._swap_in(change, stored, superseded, self._changed.with_more(changed), came)

    def _is_superseded_by_its_last(self, rows: pa.Table) -> bool:
        """Tell whether only the last row of a batch matters: all are of one group, in order."""
        if self._columns or not isinstance(self._newest, NewestOfGroup):
            return False
        if self._definition.time is None:
            return True
        times = self._definition.times(rows)
        return bool(times[0] >= self._newest.latest) and bool((times[1:] >= times[:-1]).all())

    def _groups_of(self, rows: pa.Table) -> Integers:
        """Return the group of each row, for which there is room then."""
        columns = [one_array(rows.column(name)) for name in self._columns]
        groups = self._codes.codes_of(columns, rows.num_rows)
        self._newest.make_room(len(self._codes))
        self._is_changed = grown(self._is_changed, len(self._codes))
        return groups

    def _swap_in(
        self, change: RowChange, stored: RowBlocks, superseded: _Noted, changed: _Noted, came: int
    ) -> None:
        """Make a change that was computed; nothing here can fail."""
        with HeldInterrupt():
            change.swap_in(self._added)
            self._is_changed[change.groups] = True
            self._stored, self._superseded, self._changed = stored, superseded, changed
            self._added += change.chosen.size
            self._came += came
            self._late += change.late
            self.version += change.chosen.size > 0

    def table(self) -> pa.Table:
        """Return the newest rows of all groups, in the order in which they came.

        Without a copy, but for the blocks in which rows were superseded since this was last asked.
        """
        if self._superseded.count:
            stored = self._stored.without(self._superseded.ascending())
            self._stored, self._superseded = stored, _Noted()
        return self._stored.table()

    def changed_groups(self) -> Integers:
        """Return the numbers of the groups that changed since changes were forgotten."""
        return self._changed.values()

    def forget_changes(self) -> None:
        """Say that the changes so far are known."""
        with HeldInterrupt():
            self._is_changed[self._changed.values()] = False
            self._changed = _Noted()

    def rows_of(self, groups: Integers) -> pa.Table:
        """Return the newest rows of these groups, in the order in which they came."""
        return self._stored.take(self._newest.numbers_of(groups))

    def statistics(self) -> NewestRowsStatistics:
        """Return what became of the rows so far.

        With several rows per group, late are those that are older than all that were known before
        their batch; with one, those that are older than any row before them.
        """
        kept = self._newest.kept
        return NewestRowsStatistics(
            came=self._came,
            superseded=self._came - self._late - kept,
            late=self._late,
            kept=kept,
            groups=self._newest.groups,
        )

    def _check(self) -> None:
        """Assert what always holds."""
        self._stored._check()
        assert self._stored.rows == self._newest.kept + self._superseded.count
        assert np.flatnonzero(self._is_changed).size == self._changed.count
        groups = np.arange(len(self._codes))
        self._newest.make_room(groups.size)
        assert self._newest.numbers_of(groups).size == self._newest.kept


class _Noted:
    """Integers that are noted one after the other; what is added is seen in what is returned."""

    __slots__ = ("_values", "count")

    def __init__(self, values: Integers | None = None, count: int = 0) -> None:
        self._values = np.empty(0, dtype=np.int64) if values is None else values
        self.count = count

    def with_more(self, more: Integers) -> _Noted:
        """Return these and more; the memory is the same where there is room. Amortised O(more)."""
        end = self.count + more.size
        values = grown(self._values, end)
        values[self.count : end] = more
        return _Noted(values, end)

    def values(self) -> Integers:
        """Return them."""
        return self._values[: self.count]

    def ascending(self) -> Integers:
        """Return them in ascending order."""
        return np.sort(self.values())
