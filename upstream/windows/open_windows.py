"""The windows of one key that are open: which tuples start, fill and close them.

Windows that one tuple starts stand in one structure, the range of their numbers; so after a gap a
tuple may start any number of windows at once. Tuples are numbered as they are kept, and a structure
knows the number of its first one.

Most tuples neither start nor close a window: they come before `quiet_until`, and are only kept.
What is kept, and what it means for the key, is up to the semantics: see `WindowBuffer`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import deque

from ..errors import PagePoolFullError
from ..updates import Key, Update
from .accounting import WindowCounts
from .key_transitions import CLOSES, OUTSIDE, REFUSED
from .specification import WindowSpecification
from .window_tuples import WindowMark, WindowTuple

NEVER = math.inf
ALWAYS = -math.inf


class Opened:
    """Open windows that one tuple started: those from `oldest` to `newest`."""

    __slots__ = ("newest", "number", "oldest")

    def __init__(self, oldest: int, newest: int, number: int) -> None:
        self.oldest = oldest
        self.newest = newest
        self.number = number
        """The number of their first tuple."""


class OpenWindows(ABC):
    """Follow the tuples of one key through its windows.

    The caller sees to lateness: it passes no tuple older than `late_before`. What an arrival means
    for its key is returned as triggers, see `key_transitions`. O(1) amortised per tuple, and
    independent of how many windows overlap.
    """

    __slots__ = (
        "_counts",
        "_end",
        "_first_index",
        "_next_closing",
        "_next_index",
        "_next_start",
        "_open",
        "_specification",
        "closed_version",
        "key",
        "late_before",
        "quiet_until",
    )

    def __init__(
        self, specification: WindowSpecification, counts: WindowCounts | None, key: Key
    ) -> None:
        self._specification = specification
        self._counts = WindowCounts() if counts is None else counts
        self.key = key
        self.late_before = ALWAYS
        """Tuples older than this are late."""
        self.quiet_until = ALWAYS
        """Tuples before this are in all open windows, start none and close none."""
        self._open: deque[Opened] = deque()
        self._first_index: int | None = None
        self._next_index = 0
        """The oldest window that was not opened yet, and may be."""
        self._next_start = ALWAYS
        self._next_closing = NEVER
        self._end = 0
        """The number of the next tuple."""
        self.closed_version = 0
        """The version of the window that was closed last; a newer window has a greater one."""

    @abstractmethod
    def _note_start(self, opened: Opened, windows: int) -> int:
        """Note that a tuple, which is still to come, starts so many windows."""

    @abstractmethod
    def _note_close(self, index: int, number: int, windows: int) -> int:
        """Note that windows are closed, the newest `index`, whose first tuple is `number`."""

    @abstractmethod
    def _keep(self, window_tuple: WindowTuple) -> int:
        """Keep a tuple of the windows that are open; PagePoolFullError without room."""

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

    # Tuples that come.

    def arrive(self, update: Update) -> int:
        """Take in a tuple that is not late, and return its triggers."""
        time = update.time
        if time < self.quiet_until:
            self.late_before = time
            return self._keep_if_room(update, is_starter=False)
        return self._arrive_at_border(update, time)

    def refuse(self, time: float) -> int:
        """Take in a tuple that cannot be kept, which so lacks in its windows; return triggers."""
        if time < self.quiet_until:
            self.late_before = time
            return self._refused()
        return self._arrive_at_border(None, time)

    def _arrive_at_border(self, update: Update | None, time: float) -> int:
        """Take in a tuple that may start windows, or close some; None if it cannot be kept."""
        specification = self._specification
        newest = specification.newest(time)  # which refuses times that are too large
        triggers = windows = 0
        if time >= self._next_closing:
            triggers = self._close(specification.newest_ended(time))
        if time >= self._next_start:
            opened = self._open_windows(newest, time)
            if opened is not None:
                windows = opened.newest - opened.oldest + 1
                triggers |= self._note_start(opened, windows)
                self._open.append(opened)
        self.late_before = time
        if self._open:
            triggers |= self._keep_if_room(update, is_starter=windows > 0)
        else:
            triggers |= self._note_homeless(time)
        self._next_closing = self._find_next_closing()
        if time >= self._next_closing:  # by its last tick, which this tuple is in
            triggers |= self._close(specification.newest_closed(time))
            self._next_closing = self._find_next_closing()
        self._plan()
        return triggers

    def _open_windows(self, newest: int, time: float) -> Opened | None:
        """Open the windows up to `newest` that a tuple at `time` starts, which is still to come."""
        specification = self._specification
        if self._first_index is None:
            self._first_index = self._next_index = specification.first(time)
        oldest = max(self._next_index, specification.newest_ended(time) + 1)
        if newest >= self._next_index:
            self._next_index = newest + 1
        self._next_start = specification.start(self._next_index)
        if oldest > newest:
            return None
        counts = self._counts
        counts.opened += newest - oldest + 1
        counts.earliest_end = min(counts.earliest_end, specification.end(oldest))
        return Opened(oldest, newest, self._end)

    def _keep_if_room(self, update: Update | None, *, is_starter: bool) -> int:
        if update is None:
            return self._refused()
        mark = WindowMark.DISALLOW if is_starter else WindowMark.INSIDE
        try:
            return self._keep(WindowTuple(update, mark))
        except PagePoolFullError as error:
            self._counts.pool_capacity = error.capacity
            return self._refused()

    def _refused(self) -> int:
        """Count a tuple for which there was no room, and let go of the windows that hold it."""
        self._counts.refused += 1
        triggers = self._refuse()
        self._open.clear()
        self._next_closing = NEVER
        self.quiet_until = ALWAYS
        return triggers | REFUSED

    def _note_homeless(self, time: float) -> int:
        """Count a tuple that no open window holds."""
        holding = self._specification.holding(time)
        if len(holding) and self._first_index is not None and holding[-1] >= self._first_index:
            self._counts.dropped += 1  # its windows were rejected before it came
            return 0
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
        self._next_closing = self._find_next_closing()
        self._plan()
        return triggers

    def _close(self, newest: int) -> int:
        """Close the open windows up to `newest`."""
        opened = self._open
        windows = 0
        index = number = 0
        while opened and opened[0].oldest <= newest:
            structure = opened[0]
            index = min(structure.newest, newest)
            number = structure.number
            windows += index - structure.oldest + 1
            if structure.newest > newest:
                structure.oldest = newest + 1
                break
            opened.popleft()
        if not windows:
            return 0
        self.late_before = max(self.late_before, self._specification.end(index))
        self.closed_version = self.version(index)
        return CLOSES | self._note_close(index, number, windows)

    def version(self, index: int) -> int:
        """Return the number of a window, counted from 1 for the first that its key could have."""
        assert self._first_index is not None, "a window of a key without tuples"
        return index - self._first_index + 1

    def _find_next_closing(self) -> float:
        return self._specification.closing_time(self._open[0].oldest) if self._open else NEVER

    def _plan(self) -> None:
        """Find out until when tuples neither start nor close a window."""
        self.quiet_until = min(self._next_start, self._next_closing) if self._open else ALWAYS

    @property
    def next_end(self) -> float:
        """The earliest end of an open window, infinity if none is open."""
        return self._specification.end(self._open[0].oldest) if self._open else NEVER

    def _check(self) -> None:
        """State every invariant."""
        oldest = -math.inf
        number = 0
        for opened in self._open:
            assert oldest < opened.oldest <= opened.newest < self._next_index
            assert opened.number >= number, "structures out of order"
            oldest, number = opened.newest, opened.number
        assert self.quiet_until == ALWAYS or self._open
        assert self._next_closing == self._find_next_closing()
