"""Newest rows that are kept up to date with a log: its batches, its deletions, and the clock.

Rows expire by the moments at which rows arrived, and not by the moments at which they are read. So
the newest rows at a moment do not depend on how often they were brought up to date before.
"""

from __future__ import annotations

from collections import deque
from math import inf
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from .log import Batch, Deletion

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .log import LogReader
    from .newest_rows import NewestRows


class NewestReader:
    """Reads a log into newest rows; `reader` follows deletions, and reads for nothing else.

    The newest rows count what they contain, and the position of the reader follows from that. So an
    exception at any point loses nothing and reads nothing twice.
    """

    __slots__ = ("_first", "newest", "reader", "since")

    def __init__(self, reader: LogReader, newest: NewestRows) -> None:
        assert reader.deletions is not None
        self.reader = reader
        self.newest = newest
        self.since: float | None = None
        """When the first change came that the caller has not marked as known; None if none has."""
        self._first = reader.position - newest.came, reader.deletions - newest.deletions
        """How many rows and deletions came before those that the newest rows count."""

    def begin_with(self, rows: pa.Table, now: float) -> None:
        """Add rows that are not in the log any more; for their expiry, they arrive now."""
        self.newest.add(rows, np.full(rows.num_rows, now))
        first_row, first_deletion = self._first
        self._first = first_row - rows.num_rows, first_deletion

    def read(self, now: float) -> None:
        """Read what waits, and let groups expire that are due by now."""
        self._pass_what_was_read()
        waiting = deque(self.reader.peek_all())
        while waiting:
            first = waiting.popleft()
            self._expire(first.arrival)
            self._note(first.arrival)
            if isinstance(first, Deletion):
                self.newest.delete(first.keys)
            else:
                self._add([first, *self._batches_with(first, waiting)])
            self._pass_what_was_read()
        self._expire(now)

    def known(self) -> None:
        """Mark all changes so far as known. This cannot fail."""
        self.since = None

    def _batches_with(self, first: Batch, waiting: deque[Batch | Deletion]) -> Iterator[Batch]:
        """Take the next batches for as long as no group expires and no key is deleted."""
        until = inf
        if (seconds := self.newest.expire_after) is not None:
            due = self.newest.first_due()
            until = first.arrival + seconds
            until = until if due is None else min(due, until)
        while waiting and isinstance(waiting[0], Batch) and waiting[0].arrival < until:
            yield waiting[0]
            waiting.popleft()

    def _add(self, batches: Sequence[Batch]) -> None:
        rows = pa.concat_tables([each.rows for each in batches])
        arrivals = None
        if self.newest.expire_after is not None:
            lengths = [each.rows.num_rows for each in batches]
            arrivals = np.repeat([each.arrival for each in batches], lengths)
        self.newest.add(rows, arrivals)

    def _expire(self, now: float) -> None:
        due = self.newest.first_due()
        if due is not None and due <= now:
            self._note(due)
            self.newest.expire(now)

    def _note(self, moment: float) -> None:
        self.since = moment if self.since is None else min(moment, self.since)

    def _pass_what_was_read(self) -> None:
        reader, newest = self.reader, self.newest
        assert reader.deletions is not None
        first_row, first_deletion = self._first
        rows = first_row + newest.came - reader.position
        deletions = first_deletion + newest.deletions - reader.deletions
        if rows or deletions:
            reader.take(rows, deletions)
