"""LAZY window buffers: the most recent window is the one closed last (report, section 6.2.1).

The operator commits to windows that have arrived completely, so a key under processing never lacks
tuples. The enqueue buffer contains the closed window that waits, and one structure for each starter
of open windows. A window that closes replaces the one that waited.
"""

from __future__ import annotations

from ..updates import Key, Update
from .accounting import WindowCounts
from .buffered_tuples import BufferedTuples
from .key_transitions import IS_UPDATE, WITHDRAWS
from .specification import WindowSpecification
from .window_buffer import UNSPECIFIED, WindowBuffer


class LazyWindowBuffer(WindowBuffer):
    """The windows of one key, where the most recent window is the one closed last.

    Pass the class, or an instance without arguments, to a `WindowQueue`. The queue makes one
    buffer per key: of the windows in `specification`, with the tuples in `tuples`, counting in
    `counts`.

    >>> buffer = LazyWindowBuffer(WindowSpecification(size=2, slide=2))
    >>> for time in (0.0, 1.0, 2.0):
    ...     _ = buffer.arrive(("IBM", 24.0 + time, time))
    >>> buffer.commit()
    >>> [buffer.take().mark for _ in range(3)]
    [2.0, <WindowMark.INSIDE: -1>, <WindowMark.CLOSE: -2>]
    """

    __slots__ = ("_hole", "_waiting_end")

    def __init__(
        self,
        specification: WindowSpecification = UNSPECIFIED,
        tuples: BufferedTuples | None = None,
        counts: WindowCounts | None = None,
        key: Key = None,
    ) -> None:
        super().__init__(specification, tuples, counts, key)
        self._waiting_end = 0
        """The number of the first tuple after the waiting window."""
        self._hole = 0
        """How many numbers after it have no tuple, because memory rejected a window there."""

    def is_update(self, time: float) -> bool:
        """Tell whether a tuple at `time` closes a window."""
        return self.windows.closes_with(time)

    def should_promote(self, time: float) -> bool:
        """Return False, because a committed window is complete and its key is never IDLE."""
        return False

    @property
    def held_windows(self) -> int:
        """How many windows are open, or closed and waiting."""
        return self.windows.open_count + self.is_waiting

    @property
    def structure_count(self) -> int:
        """How many structures the enqueue buffer has: one per starter of windows in scope."""
        return self.windows.structure_count + self.is_waiting

    def commit(self) -> None:
        """Commit to the window that was closed last; open windows keep the tuples they share."""
        index = self._waiting_index
        assert index is not None, "no window waits"
        first, end = self._first, self._waiting_end
        first_open = self.windows.first_number
        kept_from = self._end if first_open is None else first_open
        self._begin_processing(index)
        self._tuples.commit(end - first, dropping=self._count_between(first, kept_from))
        self._taken = first
        self._first = kept_from
        self._hole = 0
        self._complete()

    def waiting(self) -> list[Update]:
        """Return the tuples of the waiting window."""
        if self._waiting_index is None:
            return []
        return [Update(*row) for row in self._tuples.enqueued()[: self._waiting_end - self._first]]

    def drop_uncommitted(self) -> int:
        """Drop the open windows and the one that waits."""
        self._counts.superseded += self.held_windows
        was_waiting = self.is_waiting
        self.windows.drop_open()
        self._drop_until(self._end)
        self._waiting_index = None
        return WITHDRAWS if was_waiting else 0

    @property
    def _end(self) -> int:
        """The number of the next tuple."""
        return self._first + self._tuples.enqueued_count() + self._hole

    def note_start(self, newest: int, windows: int) -> tuple[int, int]:
        """Note that a tuple starts windows; nothing changes for the key."""
        return 0, self._first + self._tuples.enqueued_count() + self._hole

    def note_close(self, index: int, number: int, windows: int) -> int:
        """Note that windows closed; the newest of them waits now."""
        tuples = self._tuples
        first = self._first
        end = first + tuples.enqueued_count() + self._hole
        if self._hole:
            self._drop_until(number)
        elif number != first:  # this is `_drop_until`, written out
            kept = self._used_until
            if kept < self._last_number:
                kept = self._last_number
            if kept < first:
                kept = first
            if number > kept:
                self._counts.dropped += number - kept
            tuples.drop(number - first)
            self._first = number
        if self._waiting_index is not None:
            self._counts.superseded += windows
        elif windows > 1:
            self._counts.superseded += windows - 1
        self._waiting_index = index
        self._waiting_end = end
        return IS_UPDATE

    def reject_open(self) -> int:
        """Drop all open windows. The closed window that waits is complete and stays."""
        waiting = self.is_waiting
        self._counts.rejected += self.held_windows - waiting
        if not waiting:
            self._drop_until(self._end)
            return 0
        lost = self._count_between(self._waiting_end, self._end)
        self._counts.dropped += lost
        self._tuples.truncate(lost)
        self._hole += lost
        return 0

    def _drop_until(self, number: int) -> None:
        """Drop the tuples before `number` from the enqueue buffer."""
        first = self._first
        kept = max(first, self._used_until, self._last_number)
        if number > kept:
            self._counts.dropped += self._count_between(kept, number)
        self._tuples.drop(self._count_between(first, number))
        if number > self._waiting_end:
            self._hole = 0
        self._first = number

    def _count_between(self, first: int, end: int) -> int:
        """Return how many tuples are held with numbers from `first` until `end`."""
        hole = self._hole
        return end - first - hole if hole and first <= self._waiting_end < end else end - first

    def _check(self) -> None:
        super()._check()
        assert self._hole == 0 or self.is_waiting
        # One more waits. And because of rounding, a time on a border may be in one more window.
        assert self.structure_count <= self._specification.overlap + 2
        if self._waiting_index is not None:
            assert self._first < self._waiting_end <= self._end - self._hole
            times = [update.time for update in self.waiting()]
            specification = self._specification
            assert specification.start(self._waiting_index) <= times[0]
            assert times[-1] < specification.end(self._waiting_index)
