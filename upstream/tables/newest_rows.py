"""The newest rows of each group of a stream, which `latest(trades, rows => 3)` reads.

This is an update queue for whole tables. A row older than the newest n rows of its group is late
and dropped; a row that becomes so later is superseded; both are counted. Newest is by the stream's
time column, for equal times by arrival, and without a time column by arrival alone.

A deletion takes the rows of its keys away, wherever they are. A group without rows is forgotten, so
a later row of any time begins it anew. Rows that were superseded before do not come back. With
`expire_after`, a group leaves when no row has arrived for it for so long, late rows included.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from ..held_interrupt import HeldInterrupt
from ..rows.arrow_words import grown, one_array
from ..rows.group_codes import GroupCodes
from .expiry_order import ExpiryOrder
from .live_rows import LiveRows
from .newest_numbers import NewestOfGroup, NewestRuns

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from ..rows.arrow_words import Integers
    from ..rows.stream_definition import StreamDefinition
    from .expiry_order import Moments
    from .live_rows import RowChanges

_ARRIVAL: Final = "__arrival"
_SLACK: Final = 1024
"""The number of groups without rows that may be known, in addition to twice as many as there are
newest rows."""


@dataclass(frozen=True, slots=True)
class NewestRowsStatistics:
    """What became of the rows: came = superseded + late + deleted + expired + kept."""

    came: int
    superseded: int
    late: int
    deleted: int
    expired: int
    kept: int


class NewestRows:
    """The newest `rows` rows of each group; groups are by the columns `per`, or by the key.

    The cost of adding a batch depends on its length, and on the number of rows in its groups. An
    exception in the middle leaves everything unchanged. One thread at a time may use it.
    """

    __slots__ = (
        "_codes",
        "_columns",
        "_definition",
        "_deleted",
        "_expired",
        "_expiry",
        "_is_changed",
        "_is_told",
        "_late",
        "_live",
        "_newest",
        "_superseded",
        "came",
        "deletions",
    )

    def __init__(
        self,
        definition: StreamDefinition,
        rows: int = 1,
        per: Sequence[str] | None = None,
        *,
        expire_after: float | None = None,
        follows_changes: bool = False,
    ) -> None:
        self._definition = definition
        self._columns = tuple(definition.key if per is None else per)
        self._codes = self._no_codes(self._columns)
        self._newest = NewestOfGroup() if rows == 1 else NewestRuns(rows)
        self._expiry = None if expire_after is None else ExpiryOrder(expire_after)
        self._live = LiveRows(definition.schema, follows_changes=follows_changes)
        self._is_changed = np.empty(0, dtype=np.bool_)  # indexed by group
        self._is_told = np.empty(0, dtype=np.bool_)  # indexed by group, without spare room
        self.came = 0
        """How many rows were added."""
        self.deletions = 0
        """How often keys were deleted."""
        self._late = self._superseded = self._deleted = self._expired = 0

    @property
    def expire_after(self) -> float | None:
        """After how many seconds without a row a group leaves, or None."""
        return None if self._expiry is None else self._expiry.seconds

    # What arrives

    def add(self, rows: pa.Table, arrivals: Moments | None = None) -> None:
        """Add rows that conform to the definition, in the order in which they arrived.

        With `expire_after`, `arrivals` has the moment at which each row arrived. Groups that were
        due until then must have expired.
        """
        if not rows.num_rows:
            return
        self._forget_groups()
        times = None if self._definition.time is None else self._definition.times(rows)
        groups = self._groups_of(rows)
        change = self._newest.change(groups, times)
        changed = groups[change.chosen]
        store = self._live.change(rows, change.chosen, change.superseded)
        renew = None
        if self._expiry is not None:
            assert arrivals is not None
            renew = self._expiry.renewal(groups, arrivals)
        dropped = rows.num_rows - change.chosen.size - change.late
        with HeldInterrupt():  # nothing here can fail
            change.swap_in(self._live.added)
            store()
            if renew is not None:
                renew()
            self._is_changed[changed] = True
            self.came += rows.num_rows
            self._late += change.late
            self._superseded += dropped + change.superseded.size

    def delete(self, keys: pa.Table) -> None:
        """Take away all rows of these keys; a key may be unknown."""
        self._forget_groups()
        groups, numbers = self._rows_of_keys(keys)
        take_away = self._removal(groups, numbers)
        with HeldInterrupt():  # nothing here can fail
            take_away()
            self.deletions += 1
            self._deleted += numbers.size

    def first_due(self) -> float | None:
        """Return when the first group leaves unless a row of it arrives, or None."""
        return None if self._expiry is None else self._expiry.first_due()

    def expire(self, now: float) -> None:
        """Take away the groups that are due. The cost depends on their number."""
        assert self._expiry is not None
        self._forget_groups()
        groups = self._expiry.due(now)
        numbers = self._newest.numbers_of(groups)
        take_away = self._removal(groups, numbers)
        with HeldInterrupt():  # nothing here can fail
            take_away()
            self._expired += numbers.size

    def _removal(self, groups: Integers, numbers: Integers) -> Callable[[], None]:
        """Prepare to take away these rows of these groups; no group is given twice."""
        removal = self._newest.removal(groups, numbers)
        take_away = self._live.removal(numbers)
        leave = None if self._expiry is None else self._expiry.removal(removal.emptied)

        def swap_in() -> None:
            removal.swap_in()
            take_away()
            if leave is not None:
                leave()
            self._is_changed[groups] = True

        return swap_in

    def _rows_of_keys(self, keys: pa.Table) -> tuple[Integers, Integers]:
        """Return the groups that have rows of these keys, and the numbers of these rows."""
        if {*self._columns} == {*self._definition.key}:
            groups = np.unique(self._groups_of(keys)) if self._columns else self._only_group()
            return groups, self._newest.numbers_of(groups)
        rows, numbers = self._live.table(), self._live.numbers()
        if names := self._definition.key:
            codes = self._no_codes(names)
            deleted = codes.codes_of([one_array(keys.column(n)) for n in names], keys.num_rows)
            stored = codes.codes_of([one_array(rows.column(n)) for n in names], rows.num_rows)
            places = np.flatnonzero(np.isin(stored, deleted))
            rows, numbers = rows.take(places), numbers[places]
        return np.unique(self._groups_of(rows)), numbers

    # Saving

    def saved(self) -> pa.Table:
        """Return the rows and, with `expire_after`, the last arrival of the group of each row."""
        rows = self._live.table()
        if self._expiry is None:
            return rows
        arrivals = self._expiry.arrivals_of(self._groups_of(rows))
        return rows.append_column(_ARRIVAL, [arrivals])

    def restore(self, table: pa.Table) -> None:
        """Begin with what was saved. Nothing may have come before."""
        assert not self.came
        assert not self.deletions
        if self._expiry is None or not table.num_rows:
            self.add(table)
            return
        last = table.num_columns - 1
        arrivals = one_array(table.column(last)).to_numpy()
        rows = table.remove_column(last)
        self.add(rows, np.full(rows.num_rows, arrivals.min()))
        order = np.argsort(arrivals, kind="stable")
        self._expiry.renewal(self._groups_of(rows)[order], arrivals[order])()

    # Groups

    def _no_codes(self, names: Sequence[str]) -> GroupCodes:
        return GroupCodes([self._definition.schema.field(name).type for name in names])

    def _groups_of(self, rows: pa.Table) -> Integers:
        """Return the group of each row, and make room for the groups."""
        columns = [one_array(rows.column(name)) for name in self._columns]
        groups = self._codes.codes_of(columns, rows.num_rows)
        self._make_room()
        return groups

    def _only_group(self) -> Integers:
        """Return the group of all rows, if there is no column to distinguish groups."""
        self._make_room()
        return np.zeros(1, dtype=np.int64)

    def _make_room(self) -> None:
        count = len(self._codes)
        self._newest.make_room(count)
        self._is_changed = grown(self._is_changed, count)
        if self._expiry is not None:
            self._expiry.make_room(count)

    def _forget_groups(self) -> None:
        """Give groups new numbers if most of the known ones have no rows any more."""
        if len(self._codes) <= 2 * self._newest.kept + _SLACK:
            return
        rows, numbers = self._live.table(), self._live.numbers()
        codes = self._no_codes(self._columns)
        columns = [one_array(rows.column(name)) for name in self._columns]
        of_rows = codes.codes_of(columns, rows.num_rows)
        groups, number_of_one = self._newest.occupied()
        renumbered = of_rows[np.searchsorted(numbers, number_of_one)]
        count = len(codes)
        newest = self._newest.renumbered(groups, renumbered, count)
        expiry = self._expiry and self._expiry.renumbered(groups, renumbered, count)
        is_changed = np.zeros(count, dtype=np.bool_)
        is_changed[renumbered] = self._is_changed[groups]
        is_told = np.zeros(count, dtype=np.bool_)
        is_told[renumbered] = grown(self._is_told, self._is_changed.size)[groups]
        with HeldInterrupt():  # nothing here can fail
            self._codes, self._newest, self._expiry = codes, newest, expiry
            self._is_changed, self._is_told = is_changed, is_told

    # What there is

    def table(self) -> pa.Table:
        """Return the newest rows of all groups, in the order in which they arrived.

        Only blocks from which rows were taken away since the last call are copied.
        """
        return self._live.table()

    def numbers(self) -> Integers:
        """Return the numbers of the rows in `table()`, right after that was called.

        They ascend with the order of arrival, and a row keeps its number.
        """
        return self._live.numbers()

    def rows_of(self, groups: Integers) -> pa.Table:
        """Return the newest rows of these groups, in the order in which they arrived."""
        return self._live.take(self._newest.numbers_of(groups))

    @property
    def stream(self) -> str:
        """The name of the stream."""
        return self._definition.name

    def statistics(self) -> NewestRowsStatistics:
        """Return what became of the rows so far.

        With several rows per group, late rows are older than all those known before their batch.
        With one row per group, they are older than any row before them.
        """
        return NewestRowsStatistics(
            came=self.came,
            superseded=self._superseded,
            late=self._late,
            deleted=self._deleted,
            expired=self._expired,
            kept=self._newest.kept,
        )

    # Changes

    def changes(self) -> RowChanges:
        """Return which rows were added and removed since changes were forgotten. O(changes).

        The rows must be made with `follows_changes`.
        """
        return self._live.changes()

    def changed_groups(self) -> Integers:
        """Return the groups that changed since changes were told or forgotten. O(groups).

        A group without rows may be left out. Groups may have other numbers after the next change.
        """
        return np.flatnonzero(self._is_changed)

    def told_groups(self) -> Integers:
        """Return the groups whose changes were told, and not forgotten yet. O(groups)."""
        return np.flatnonzero(self._is_told)

    def telling(self) -> Callable[[], None]:
        """Prepare to mark the changes so far as told. The returned function cannot fail."""
        is_told = self._is_changed.copy()
        is_told[: self._is_told.size] |= self._is_told

        def swap_in() -> None:
            self._is_told = is_told
            self._is_changed[:] = False

        return swap_in

    def forget_told(self) -> None:
        """Mark the changes that were told as known."""
        self._is_told[:] = False

    def forget_changes(self) -> None:
        """Mark the changes so far as known. This cannot fail."""
        self._live.forget_changes()
        self._is_changed[:] = False
        self._is_told[:] = False

    def _check(self) -> None:
        """Assert every invariant."""
        self._live._check()
        assert self._live.count == self._newest.kept
        self._make_room()
        groups = np.arange(len(self._codes))
        assert self._newest.numbers_of(groups).size == self._newest.kept
        counts = self.statistics()
        gone = counts.superseded + counts.late + counts.deleted + counts.expired
        assert counts.came == gone + counts.kept
        assert min(counts.superseded, counts.late, counts.deleted, counts.expired) >= 0
        if self._expiry is not None:
            self._expiry._check()
            assert self._expiry._count == self._newest.occupied()[0].size
