"""The window buffer of one key: which window waits, and what is still to leave of another.

What a window holds is a stretch of numbered tuples, so which tuples nobody needs any more is a
comparison. LAZY and EAGER differ in which window is the most recent one (the report's MRU rule,
section 6.2): see `LazyWindowBuffer` and `EagerWindowBuffer`.
"""

from __future__ import annotations

from abc import abstractmethod

from ..updates import Key, Update
from .accounting import WindowCounts
from .buffered_tuples import BufferedTuples, PlainTuples
from .open_windows import NEVER, OpenWindows
from .specification import WindowSpecification
from .window_tuples import WindowEnding, WindowMark, WindowTuple


class WindowBuffer(OpenWindows):
    """What the semantics have in common."""

    __slots__ = (
        "_committed_end",
        "_committed_last",
        "_first",
        "_is_complete",
        "_taken",
        "_tuples",
        "_used_until",
        "_waiting_index",
        "committed_index",
        "is_aborted",
        "is_finished",
    )

    def __init__(
        self,
        specification: WindowSpecification,
        tuples: BufferedTuples | None = None,
        counts: WindowCounts | None = None,
        key: Key = None,
    ) -> None:
        super().__init__(specification, counts, key)
        self._tuples: BufferedTuples = PlainTuples() if tuples is None else tuples
        # Numbers of tuples: of the first in the enqueue buffer; of the next that leaves; of the
        # first after the dequeue buffer; of the first that never left.
        self._first = self._taken = self._committed_end = self._used_until = 0
        self._waiting_index: int | None = None
        self.committed_index: int | None = None
        """The window that is under processing, or was."""
        self._committed_last = NEVER
        self._is_complete = False
        self.is_aborted = False
        """Whether the committed window was given up, since a tuple of it is missing."""
        self.is_finished = True
        """Whether all of the committed window has left."""

    # What each semantics defines.

    @abstractmethod
    def is_update(self, time: float) -> bool:
        """Tell whether a tuple at `time` makes another window the most recent one (MRU)."""

    @abstractmethod
    def should_promote(self, time: float) -> bool:
        """Tell whether a tuple at `time` makes a key that is IDLE READY again."""

    @property
    def is_available(self) -> bool:
        """Whether the committed window has more to give, if only its end."""
        return self._tuples.committed_count > 0 or self._is_complete or self.is_aborted

    @property
    def is_waiting(self) -> bool:
        """Whether a window waits to be committed."""
        return self._waiting_index is not None

    @abstractmethod
    def commit(self) -> None:
        """Commit to the window that waits."""

    @abstractmethod
    def waiting(self) -> list[Update]:
        """Return the tuples of the window that waits, as far as they have come. O(their number)."""

    # Tuples that leave.

    def take(self) -> WindowTuple | None:
        """Take the next tuple of the committed window, or its end; None if it has to come yet."""
        window_tuple = self._tuples.take()
        if window_tuple is None:
            return self._take_ending()
        number = self._taken = self._taken + 1
        if number > self._used_until:
            self._used_until = number
            self._counts.used += 1
        if self._is_complete and number == self._committed_end:
            update = window_tuple.update
            assert update is not None
            # A tuple in the last tick completes its window itself.
            self.is_finished = update.time >= self._committed_last
        return window_tuple

    def _take_ending(self) -> WindowTuple | None:
        if not (self._is_complete or self.is_aborted):
            return None
        assert not self.is_finished, "a window that ends twice"
        self.is_finished = True
        mark = WindowMark.ABORT if self.is_aborted else WindowMark.CLOSE
        return WindowEnding.of(self.key, mark)

    def _begin_processing(self, index: int, *, is_complete: bool) -> None:
        assert self.is_finished, "a window committed to before the last one has left"
        self._counts.committed += 1
        self.committed_index = index
        self._committed_last = self._specification.closing_time(index)
        self._is_complete = is_complete
        self.is_aborted = self.is_finished = False

    def abort(self) -> None:
        """Give up what has not left of the committed window, of which a tuple is missing."""
        if self._is_complete or self.is_finished:
            return
        self.is_aborted = True
        until = min(self._committed_end, self._first)
        self._counts.dropped += max(0, until - max(self._taken, self._used_until))
        self._tuples.discard()
        self._taken = self._committed_end

    # Counting.

    @property
    def held_tuples(self) -> int:
        """How many tuples have not left yet, and are needed."""
        used = self._used_until
        committed = max(0, self._committed_end - max(self._taken, used))
        return committed + max(0, self._end - max(self._first, used, self._committed_end))

    def _drop_until(self, number: int) -> None:
        """Drop the tuples before `number` from the enqueue buffer."""
        kept = max(self._first, self._used_until, self._committed_end)
        self._counts.dropped += max(0, number - kept)
        self._tuples.drop(number - self._first)
        self._first = number

    def clear(self) -> None:
        """Give back all memory, since nothing of the key is needed any more."""
        self._tuples.clear()

    def _check(self) -> None:
        super()._check()
        assert self._first <= self._end and self._taken <= self._committed_end <= self._end
        assert self._used_until <= self._end
        assert self._tuples.committed_count == self._committed_end - self._taken
