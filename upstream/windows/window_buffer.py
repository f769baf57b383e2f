"""The window buffer of one key: the window that waits, and the rest of the committed window.

Tuples are numbered in the order in which they are stored. So a window is a range of numbers, and a
comparison tells which tuples are no longer needed. LAZY and EAGER differ in which window is the
most recent one (the report's MRU rule, section 6.2): see `LazyWindowBuffer` and
`EagerWindowBuffer`.

The report marks starters when they are enqueued. Here tuples are marked when they leave. By then it
is also known which tuple of the window was the first at or after the start of another window,
because no earlier tuple can be missing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final

from ..updates import Key, Update
from .accounting import WindowCounts
from .buffered_tuples import BufferedTuples, ObjectTuples, Row
from .key_transitions import SHOULD_PROMOTE
from .open_windows import ALWAYS, NEVER, OpenWindows
from .specification import WindowSpecification
from .window_tuples import WindowEnd, WindowEnding, WindowMark, WindowTuple

_INSIDE = WindowMark.INSIDE
_new_tuple = tuple.__new__


UNSPECIFIED: Final = WindowSpecification(1.0, 1.0)
"""The windows of a buffer without arguments, which only names its semantics."""


class WindowBuffer(ABC):
    """The windows of one key that are committed or may be. It is the keeper of its open windows.

    A window queue makes one buffer per key. A buffer made without arguments stands for its
    semantics. Users pass it, or its class, to a `WindowQueue`, and do not call its methods.

    `specification` says which windows there are.
    `tuples` stores the tuples; by default they are stored as Python objects.
    `counts` are the counters of the queue; by default the buffer has its own.
    `key` is the key of the windows.
    """

    __slots__ = (
        "_committed_last",
        "_counts",
        "_first",
        "_is_complete",
        "_last_number",
        "_next_marked",
        "_specification",
        "_take",
        "_taken",
        "_tuples",
        "_used_until",
        "_waiting_index",
        "committed_index",
        "is_aborted",
        "is_finished",
        "key",
        "windows",
    )

    def __init__(
        self,
        specification: WindowSpecification = UNSPECIFIED,
        tuples: BufferedTuples | None = None,
        counts: WindowCounts | None = None,
        key: Key = None,
    ) -> None:
        self._specification = specification
        self._counts = WindowCounts() if counts is None else counts
        self.key = key
        self._tuples: BufferedTuples = ObjectTuples() if tuples is None else tuples
        self.windows = OpenWindows(specification, self._counts, key, self)
        """The windows that are open."""
        self.windows.keep = self._tuples.append
        self._take = self._tuples.take
        # Numbers of tuples: of the first in the enqueue buffer, of the next one that leaves, of the
        # first that never left, and of the last one of a complete window, or else -1.
        self._first = self._taken = self._used_until = 0
        self._last_number = -1
        self._waiting_index: int | None = None
        self.committed_index = 0
        """The window that is under processing, or was last."""
        self._committed_last = NEVER
        self._next_marked = ALWAYS
        """Tuples from this time on start another window."""
        self._is_complete = False
        self.is_aborted = False
        """Whether the committed window was aborted because one of its tuples is missing."""
        self.is_finished = True
        """Whether the committed window has left completely."""

    def __repr__(self) -> str:
        name = type(self).__name__
        if self.is_unspecified:
            return f"{name}()"
        return (
            f"<{name} of {self.key!r}: windows held: {self.held_windows}, "
            f"tuples held: {self.held_tuples}>"
        )

    # What each semantics defines.

    @abstractmethod
    def is_update(self, time: float) -> bool:
        """Tell whether a tuple at `time` makes another window the most recent one (MRU)."""

    @abstractmethod
    def should_promote(self, time: float) -> bool:
        """Tell whether a tuple at `time` makes an IDLE key READY again."""

    @property
    def is_unspecified(self) -> bool:
        """Whether the buffer was made without windows and stands for its semantics."""
        return self._specification is UNSPECIFIED

    def arrive(self, row: Row) -> int:
        """Add a tuple that is not late, and return its triggers."""
        return self.windows.arrive(row)

    @property
    def is_available(self) -> bool:
        """Whether the committed window has more to give, a tuple or its end."""
        if self.is_finished:
            return False
        return self._tuples.committed_count() > 0 or self._is_complete or self.is_aborted

    @property
    def is_waiting(self) -> bool:
        """Whether a window waits to be committed."""
        return self._waiting_index is not None

    @abstractmethod
    def commit(self) -> None:
        """Commit to the waiting window."""

    @abstractmethod
    def note_start(self, newest: int, windows: int) -> tuple[int, int]:
        """Note that a tuple starts `windows` windows; return its triggers and its number."""

    @abstractmethod
    def note_close(self, index: int, number: int, windows: int) -> int:
        """Note that windows closed; the newest is `index`, and its first tuple is `number`."""

    @abstractmethod
    def reject_open(self) -> int:
        """Drop all windows with a tuple for which there was no room; return triggers."""

    @abstractmethod
    def drop_uncommitted(self) -> int:
        """Drop all windows that are not committed, for a forgotten key; return triggers."""

    @property
    @abstractmethod
    def held_windows(self) -> int:
        """How many windows are held and may still be committed."""

    @abstractmethod
    def waiting(self) -> list[Update]:
        """Return the tuples of the waiting window that have arrived. O(their number)."""

    # Leaving tuples.

    def take(self) -> WindowTuple | None:
        """Return the next tuple of the committed window, or its end; None if it is not here yet."""
        try:
            row = self._take()
        except IndexError:
            if self._tuples.committed_count():
                raise  # the codec failed to decode the tuple, which is still here
            return self._take_ending()
        number = self._taken = self._taken + 1
        if number > self._used_until:
            self._used_until = number
            self._counts.used += 1
        time = row[2]
        mark = _INSIDE if time < self._next_marked else self._mark_starter(time)
        if number == self._last_number:
            # A tuple in the last tick completes its window.
            self.is_finished = time >= self._committed_last
        return _new_tuple(WindowTuple, (_new_tuple(Update, row), mark))

    def _mark_starter(self, time: float) -> WindowMark | WindowEnd:
        """Return the mark of a tuple that starts the committed window or another one."""
        specification = self._specification
        is_first = self._next_marked == ALWAYS
        self._next_marked = specification.start(specification.newest(time) + 1)
        if not is_first:
            return WindowMark.DISALLOW
        index = self.committed_index
        return WindowEnd(
            specification.end(index), start=specification.start(index), last=self._committed_last
        )

    def _take_ending(self) -> WindowTuple | None:
        if self.is_finished or not (self._is_complete or self.is_aborted):
            return None
        self.is_finished = True
        mark = WindowMark.ABORT if self.is_aborted else WindowMark.CLOSE
        return WindowEnding.of(self.key, mark)

    def abort(self) -> int:
        """Drop the tuples of the committed window that have not left; return triggers."""
        if self.is_finished or self.is_aborted:
            return 0
        end = self._committed_end
        shared = min(self._first, end) if self._tuples.enqueued_count() else end
        self._counts.dropped += max(0, shared - max(self._taken, self._used_until))
        self._tuples.drop_committed()
        self._taken = shared
        self._last_number = -1
        self._is_complete = False
        self.is_aborted = True
        return SHOULD_PROMOTE

    def _begin_processing(self, index: int) -> None:
        assert self.is_finished, "the previous committed window has not left yet"
        self._counts.committed += 1
        self.committed_index = index
        self._committed_last = self._specification.closing_time(index)
        self._next_marked = ALWAYS
        self._last_number = -1
        self._waiting_index = None
        self._is_complete = self.is_aborted = self.is_finished = False

    def _complete(self) -> None:
        """Note that no further tuple of the committed window will arrive."""
        self._is_complete = True
        self._last_number = self._committed_end

    @property
    def _committed_end(self) -> int:
        """The number of the first tuple after the dequeue buffer."""
        return self._taken + self._tuples.committed_count()

    # Counting.

    @property
    def held_tuples(self) -> int:
        """How many tuples have not left yet and are needed."""
        used, end = self._used_until, self._committed_end
        first = max(self._first, used, end)
        enqueued = self._first + self._tuples.enqueued_count() - first
        return max(0, end - max(self._taken, used)) + max(0, enqueued)

    def clear(self) -> None:
        """Release all memory, because nothing of the key is needed any more."""
        self._tuples.clear()

    def _check(self) -> None:
        self.windows._check()
        enqueued_end = self._first + self._tuples.enqueued_count()
        assert self._used_until <= max(self._committed_end, enqueued_end)
        assert not self._is_complete or self._last_number == self._committed_end
