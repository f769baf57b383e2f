"""The windows of one key that are open: which tuples start, fill and close them.

Windows that one tuple starts stand in one structure, the range of their numbers; so after a gap a
tuple may start any number of windows at once. What is kept, and what that means for the key, is up
to the semantics: see `WindowBuffer`.

Most tuples neither start nor close a window: they come before `quiet_until`, and whoever calls may
just `append` them. A tuple that starts or closes one mostly starts or closes the next one, which is
known without a division.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable

from ..errors import PagePoolFullError
from ..updates import Key
from .accounting import WindowCounts
from .buffered_tuples import Row
from .key_transitions import CLOSES, OUTSIDE, REFUSED
from .specification import WindowSpecification

NEVER = math.inf
ALWAYS = -math.inf

UNSTORABLE = object()
"""The value of a tuple that cannot be kept."""

Opened = tuple[int, int, int]
"""Open windows that one tuple started: the oldest, the newest, and the number of the tuple."""


class OpenWindows(ABC):
    """Follow the tuples of one key through its windows.

    The caller sees to lateness: it passes no tuple older than `late_before`. What an arrival means
    for its key is returned as triggers, see `key_transitions`. O(1) amortised per tuple, and
    independent of how many windows overlap.
    """

    __slots__ = (
        "_counts",
        "_first_index",
        "_next_closing",
        "_next_index",
        "_next_start",
        "_open",
        "_second_start",
        "_size",
        "_slide",
        "_specification",
        "_tick",
        "append",
        "closed_version",
        "kept_trigger",
        "key",
        "late_before",
        "quiet_until",
    )

    append: Callable[[Row], None]
    """Keeps a tuple of the open windows; PagePoolFullError without room."""

    def __init__(
        self, specification: WindowSpecification, counts: WindowCounts | None, key: Key
    ) -> None:
        self._specification = specification
        self._size = specification.size
        self._slide = specification.slide
        self._tick = specification.tick or 0.0
        self._counts = WindowCounts() if counts is None else counts
        self.key = key
        self.kept_trigger = 0
        """What it means for the key that a tuple was kept."""
        self.late_before = ALWAYS
        """Tuples older than this are late."""
        self.quiet_until = ALWAYS
        """Tuples before this are in all open windows, start none and close none."""
        self._open: deque[Opened] = deque()
        self._first_index: int | None = None
        self._next_index = 0
        """The oldest window that was not opened yet, and may be."""
        self._next_start = self._second_start = ALWAYS
        """Where it starts, and where the one after it."""
        self._next_closing = NEVER
        self.closed_version = 0
        """The version of the window that was closed last; a newer window has a greater one."""

    @abstractmethod
    def _note_start(self, newest: int, windows: int) -> tuple[int, int]:
        """Note that a tuple starts so many windows; return its triggers and its number."""

    @abstractmethod
    def _note_close(self, index: int, number: int, windows: int) -> int:
        """Note that windows are closed, the newest `index`, whose first tuple is `number`."""

    @abstractmethod
    def _refuse(self) -> int:
        """Let go of all windows that hold a tuple for which there was no room."""

    @abstractmethod
    def erase(self) -> int:
        """Let go of all windows that are not committed, since the key is forgotten."""

    @property
    @abstractmethod
    def held_windows(self) -> int:
        """How many windows are held that may still be committed."""

    @property
    @abstractmethod
    def held_tuples(self) -> int:
        """How many tuples have not left yet, and are needed."""

    def starts(self, time: float) -> range:
        """Return the windows that a tuple at `time` would start."""
        specification = self._specification
        first = specification.first(time) if self._first_index is None else self._next_index
        holding = specification.holding(time)
        return range(max(first, holding.start), holding.stop)

    # Tuples that come.

    def arrive(self, row: Row) -> int:
        """Take in a tuple that is not late, and return its triggers."""
        time = row[2]
        if time < self.quiet_until:
            self.late_before = time
            return self._keep(row)
        # Negated, so that a time that is no number is found out, before anything has changed.
        newest = self._next_index - 1
        if not time < self._next_start:
            newest = newest + 1 if time < self._second_start else self._find_newest(time)
        triggers = self._close_ended(time) if time >= self._next_closing else 0
        if newest >= self._next_index:
            triggers |= self._start_until(newest, time)
        self.late_before = time
        opened = self._open
        triggers |= self._keep(row) if opened else self._note_homeless(time)
        if opened:
            closing = opened[0][0] * self._slide + self._size - self._tick
            if time >= closing:  # by its last tick, which this tuple is in
                triggers |= self._close_oldest()
                closing = self._find_next_closing()
            self._plan(closing)
        else:
            self._plan(NEVER)
        return triggers

    def refuse(self, time: float) -> int:
        """Take in a tuple that cannot be kept, which so lacks in its windows; return triggers."""
        return self.arrive((self.key, UNSTORABLE, time))

    def _find_newest(self, time: float) -> int:
        """Return the newest window that starts at or before `time`; raise if it is no good time."""
        specification = self._specification
        newest = specification.newest(time)
        if self._first_index is None:
            self._first_index = index = self._next_index = specification.first(time)
            self._next_start = specification.start(index)
            self._second_start = specification.start(index + 1)
        return newest

    def _start_until(self, newest: int, time: float) -> int:
        """Open the windows up to `newest` that a tuple at `time` starts; return triggers."""
        oldest = self._next_index
        slide, size = self._slide, self._size
        self._next_index = newest + 1
        self._next_start = (newest + 1) * slide
        self._second_start = (newest + 2) * slide
        if oldest < newest or time >= newest * slide + size:
            oldest = max(oldest, self._specification.newest_ended(time) + 1)
            if oldest > newest:
                return 0
        counts = self._counts
        windows = newest - oldest + 1
        counts.opened += windows
        end = oldest * slide + size
        if end < counts.earliest_end:
            counts.earliest_end = end
        triggers, number = self._note_start(newest, windows)
        self._open.append((oldest, newest, number))
        return triggers

    def _keep(self, row: Row) -> int:
        """Keep a tuple of the windows that are open; if there is no room, let go of these."""
        try:
            if row[1] is not UNSTORABLE:
                self.append(row)
                return self.kept_trigger
        except PagePoolFullError as error:
            self._counts.pool_capacity = error.capacity
        self._counts.refused += 1
        triggers = self._refuse()
        self._forget_open()
        return triggers | REFUSED

    def _note_homeless(self, time: float) -> int:
        """Count a tuple that no open window holds."""
        holding = self._specification.holding(time)
        if len(holding) and self._first_index is not None and holding[-1] >= self._first_index:
            self._counts.dropped += 1  # its windows were rejected before it came
        else:
            self._counts.outside += 1
        return OUTSIDE

    # Windows that close.

    def close_until(self, now: float) -> int:
        """Close the windows that end at or before `now`, since no tuple will; return triggers."""
        if now < self._next_closing:
            return 0
        newest = self._next_index - 1
        if now < self._specification.end(newest):
            newest = self._specification.newest_ended(now)
        triggers = self._close(newest)
        self._plan(self._find_next_closing())
        return triggers

    def _close_ended(self, time: float) -> int:
        """Close the open windows that end at or before `time`."""
        oldest = self._open[0][0]
        if time < (oldest + 1) * self._slide + self._size:  # mostly
            return self._close_oldest() if time >= oldest * self._slide + self._size else 0
        return self._close(self._specification.newest_ended(time))

    def _close_oldest(self) -> int:
        """Close the oldest open window, as `_close` would."""
        oldest, newest, number = self._open.popleft()
        if newest > oldest:
            self._open.appendleft((oldest + 1, newest, number))
        return self._note_closed(oldest, number, 1)

    def _close(self, newest: int) -> int:
        """Close the open windows up to `newest`."""
        opened = self._open
        windows = 0
        index = number = 0
        while opened and opened[0][0] <= newest:
            oldest, index, number = opened.popleft()
            if index > newest:
                opened.appendleft((newest + 1, index, number))
                index = newest
            windows += index - oldest + 1
        return self._note_closed(index, number, windows) if windows else 0

    def _note_closed(self, index: int, number: int, windows: int) -> int:
        end = index * self._slide + self._size
        if end > self.late_before:
            self.late_before = end
        self.closed_version = index - self._first_index + 1  # type: ignore[operator]  # hot path
        return CLOSES | self._note_close(index, number, windows)

    def version(self, index: int) -> int:
        """Return the number of a window, counted from 1 for the first that its key could have."""
        assert self._first_index is not None, "a window of a key without tuples"
        return index - self._first_index + 1

    def _forget_open(self) -> None:
        """Let go of all open windows."""
        self._open.clear()
        self._plan(NEVER)

    def _find_next_closing(self) -> float:
        return self._specification.closing_time(self._open[0][0]) if self._open else NEVER

    def _plan(self, closing: float) -> None:
        """Note when the next window is closed, and until when tuples are quiet."""
        self._next_closing = closing
        if self._open:
            start = self._next_start
            self.quiet_until = closing if closing < start else start
        else:
            self.quiet_until = ALWAYS

    @property
    def next_end(self) -> float:
        """The earliest end of an open window, infinity if none is open."""
        return self._specification.end(self._open[0][0]) if self._open else NEVER

    def _check(self) -> None:
        """State every invariant."""
        before = -math.inf
        last_number = 0
        for oldest, newest, number in self._open:
            assert before < oldest <= newest < self._next_index
            assert number >= last_number, "structures out of order"
            before, last_number = newest, number
        assert self.quiet_until == ALWAYS or self._open
        assert self._next_closing == self._find_next_closing()
