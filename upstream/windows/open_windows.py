"""The open windows of one key: which tuples start, fill and close them.

Windows that one tuple starts stand in one structure, the range of their numbers. So after a gap,
one tuple may start any number of windows. Which tuples are kept, and what that means for the key,
is the business of a `WindowKeeper`: a window buffer, or the windows of an append queue.

Most tuples neither start nor close a window. They come before `quiet_until`, and the caller may
simply `keep` them. A tuple that starts or closes a window usually starts or closes just the next
one, which is known without a division.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Protocol

from ..errors import PagePoolFullError
from ..keys import Place
from ..updates import Key
from .accounting import WindowCounts
from .buffered_tuples import Row
from .key_transitions import CLOSES, OUTSIDE, REFUSED
from .specification import WindowSpecification

NEVER: Final = math.inf
ALWAYS: Final = -math.inf

UNSTORABLE: Final = object()
"""The value of a tuple that cannot be stored."""

Opened = tuple[int, int, int, float]
"""Open windows that one tuple started: the oldest and the newest window, the number of the tuple,
and the end of the oldest window."""


class WindowKeeper(Protocol):
    """The object that keeps the windows of one key and their tuples, as windows open and close."""

    def note_start(self, newest: int, windows: int) -> tuple[int, int]:
        """Note that a tuple starts `windows` windows; return its triggers and its number."""
        ...

    def note_close(self, index: int, number: int, windows: int) -> int:
        """Note that windows closed; the newest is `index`, and its first tuple is `number`."""
        ...

    def reject_open(self) -> int:
        """Drop all windows with a tuple for which there was no room; return triggers."""
        ...


class OpenWindows:
    """Follow the tuples of one key through its windows.

    The caller checks for lateness: it passes no tuple older than `late_before`. The methods return
    what an arrival means for its key as triggers (`key_transitions`). O(1) amortised per tuple,
    however many windows overlap.
    """

    __slots__ = (
        "_counts",
        "_first_index",
        "_keeper",
        "_next_index",
        "_next_start",
        "_oldest_end",
        "_open",
        "_second_start",
        "_size",
        "_slide",
        "_specification",
        "_step_until",
        "_tick",
        "closed_version",
        "is_watched",
        "keep",
        "kept_trigger",
        "key",
        "late_before",
        "place",
        "quiet_until",
    )

    keep: Callable[[Row], None]
    """Where tuples of the open windows go now. The keeper sets it. Raises PagePoolFullError without
    room."""

    place: Place
    """The place of the key in its queue, if it is in one."""

    def __init__(
        self,
        specification: WindowSpecification,
        counts: WindowCounts,
        key: Key,
        keeper: WindowKeeper,
    ) -> None:
        self._keeper = keeper
        self._specification = specification
        self._size = specification.size
        self._slide = specification.slide
        self._tick = specification.tick or 0.0
        self._counts = counts
        self.key = key
        self.kept_trigger = 0
        """The trigger of a kept tuple at present. The keeper sets it."""
        self.late_before = ALWAYS
        """Tuples older than this are late."""
        self.quiet_until = ALWAYS
        """Tuples before this time are in all open windows, and neither start nor close one."""
        self.is_watched = False
        """Whether no tuple counts as quiet, because its trigger matters."""
        self._open: deque[Opened] = deque()
        self._first_index: int | None = None
        self._next_index = 0
        """The oldest window that was not opened yet and may be opened."""
        self._next_start = self._second_start = ALWAYS
        """The starts of this window and of the one after it."""
        self._step_until = ALWAYS
        """A tuple before this time closes at most the oldest window and starts at most the next."""
        self._oldest_end = NEVER
        """The end of the oldest open window."""
        self.closed_version = 0
        """The version of the window that was closed last. Newer windows have greater versions."""

    def starts(self, time: float) -> range:
        """Return the windows that a tuple at `time` would start."""
        specification = self._specification
        first = specification.first(time) if self._first_index is None else self._next_index
        holding = specification.holding(time)
        return range(max(first, holding.start), holding.stop)

    # Arriving tuples.

    def arrive(self, row: Row) -> int:
        """Add a tuple that is not late, and return its triggers."""
        time = row[2]
        if time < self.quiet_until:
            self.late_before = time
            return self._keep(row)
        if not time < self._step_until:
            return self._arrive_anywhere(row)
        # One step: the oldest window may close, and the next one may start. It is written out,
        # because a call for each part would double the cost.
        opened = self._open
        triggers = 0
        if time >= self._oldest_end:
            index, newest, number, _ = opened.popleft()
            if newest > index:
                opened.appendleft((index + 1, newest, number, self._specification.end(index + 1)))
            self.closed_version = index - self._first_index + 1  # type: ignore[operator]  # set
            triggers = CLOSES | self._keeper.note_close(index, number, 1)
        start = self._next_start
        if time >= start:
            index = self._next_index
            end = start + self._size
            self._next_index = index + 1
            self._next_start = self._second_start
            self._second_start = (index + 2) * self._slide
            counts = self._counts
            counts.opened += 1
            if not opened and counts.ends is not None:
                counts.ends.note(self.place, end)
            started, number = self._keeper.note_start(index, 1)
            triggers |= started
            opened.append((index, index, number, end))
        self.late_before = time
        if not opened:
            triggers |= self._note_homeless(time)
            self._plan()
            return triggers
        try:
            self.keep(row)
            triggers |= self.kept_trigger
        except PagePoolFullError as error:
            triggers |= self._refuse_for_want_of_room(error)
        if self._tick:
            triggers |= self._close_by_tick(time)
        self._plan()
        return triggers

    def refuse(self, time: float) -> int:
        """Process a tuple that cannot be stored and is missing in its windows; return triggers."""
        return self._arrive_anywhere((self.key, UNSTORABLE, time))

    def _arrive_anywhere(self, row: Row) -> int:
        """Add a tuple that may close and start any number of windows."""
        time = row[2]
        # Negated, so that a NaN is found before anything has changed.
        newest = self._next_index - 1 if time < self._next_start else self._find_newest(time)
        triggers = 0
        if time >= self._oldest_end:
            triggers = self._close(self._specification.newest_ended(time))
        if newest >= self._next_index:
            triggers |= self._start_until(newest, time)
        self.late_before = time
        triggers |= self._keep(row) if self._open else self._note_homeless(time)
        if self._tick:
            triggers |= self._close_by_tick(time)
        self._plan()
        return triggers

    def _close_by_tick(self, time: float) -> int:
        """Close the windows whose last tick has this tuple: one, or more because of rounding."""
        opened = self._open
        if not opened:
            return 0
        index, newest, number, end = opened[0]
        tick = self._tick
        if time < end - tick:
            return 0
        if newest > index or (len(opened) > 1 and time >= opened[1][3] - tick):
            return self._close(self._specification.newest_closed(time))
        opened.popleft()
        self.late_before = end
        self.closed_version = index - self._first_index + 1  # type: ignore[operator]  # set
        return CLOSES | self._keeper.note_close(index, number, 1)

    def _find_newest(self, time: float) -> int:
        """Return the newest window that starts at or before `time`; raise for an invalid time."""
        specification = self._specification
        newest = specification.newest(time)
        if self._first_index is None:
            self._first_index = specification.first(time)
            self._start_from(self._first_index)
        return newest

    def _start_until(self, newest: int, time: float) -> int:
        """Open the windows up to `newest` that a tuple at `time` starts; return triggers."""
        specification = self._specification
        oldest = max(self._next_index, specification.newest_ended(time) + 1)
        self._start_from(newest + 1)
        if oldest > newest:
            return 0
        counts = self._counts
        counts.opened += newest - oldest + 1
        end = specification.end(oldest)
        if not self._open and counts.ends is not None:
            counts.ends.note(self.place, end)
        triggers, number = self._keeper.note_start(newest, newest - oldest + 1)
        self._open.append((oldest, newest, number, end))
        return triggers

    def _keep(self, row: Row) -> int:
        """Keep a tuple of the open windows, or drop these windows if there is no room for it."""
        if row[1] is UNSTORABLE:
            return self._refuse_tuple()
        try:
            self.keep(row)
        except PagePoolFullError as error:
            return self._refuse_for_want_of_room(error)
        return self.kept_trigger

    def _refuse_for_want_of_room(self, error: PagePoolFullError) -> int:
        self._counts.pool_capacity = error.capacity
        return self._refuse_tuple()

    def _refuse_tuple(self) -> int:
        """Count a tuple that is not kept, and drop the windows that lack it."""
        self._counts.refused += 1
        triggers = self._keeper.reject_open()
        self.drop_open()
        return triggers | REFUSED

    def _note_homeless(self, time: float) -> int:
        """Count a tuple that is in no open window."""
        holding = self._specification.holding(time)
        if len(holding) and self._first_index is not None and holding[-1] >= self._first_index:
            self._counts.dropped += 1  # its windows were rejected before it arrived
        else:
            self._counts.outside += 1
        return OUTSIDE

    def watch(self) -> None:
        """Treat no tuple as quiet, because its trigger matters."""
        self.is_watched = True
        self.quiet_until = ALWAYS

    def stop_watching(self) -> None:
        """Treat tuples as quiet again."""
        self.is_watched = False
        self._plan()

    # Closing windows.

    def close_until(self, now: float) -> int:
        """Close the windows that end at or before `now` without a tuple; return triggers."""
        if now < self._oldest_end:
            return 0
        newest = self._next_index - 1
        if now < self._specification.end(newest):
            newest = self._specification.newest_ended(now)
        triggers = self._close(newest)
        self._plan()
        return triggers

    def _close(self, newest: int) -> int:
        """Close the open windows up to `newest`."""
        opened = self._open
        windows = 0
        index = number = 0
        while opened and opened[0][0] <= newest:
            oldest, index, number, _ = opened.popleft()
            if index > newest:
                end = self._specification.end(newest + 1)
                opened.appendleft((newest + 1, index, number, end))
                index = newest
            windows += index - oldest + 1
        if not windows:
            return 0
        self.late_before = max(self.late_before, self._specification.end(index))
        self.closed_version = self.version(index)
        return CLOSES | self._keeper.note_close(index, number, windows)

    def version(self, index: int) -> int:
        """Return the number of a window, counted from 1 for the first possible one of its key."""
        assert self._first_index is not None, "the key has no tuples"
        return index - self._first_index + 1

    def drop_open(self) -> None:
        """Drop all open windows. The keeper has counted them already."""
        if self._open:
            self._open.clear()
            self._plan()

    def _start_from(self, index: int) -> None:
        """Store which window may be opened next."""
        self._next_index = index
        self._next_start = index * self._slide
        self._second_start = (index + 1) * self._slide

    def _plan(self) -> None:
        """Store until when tuples are quiet, and until when they take one step."""
        opened = self._open
        start = self._next_start
        step = self._second_start
        if start + self._size < step:
            step = start + self._size  # not further, because a gap follows
        if opened:
            oldest, newest, _, end = opened[0]
            self._oldest_end = end
            closing = end - self._tick
            if closing > start:
                closing = start
            self.quiet_until = ALWAYS if self.is_watched else closing
            if newest > oldest:
                end = self._specification.end(oldest + 1)
            else:
                end = opened[1][3] if len(opened) > 1 else step
            self._step_until = step if step < end else end
        else:
            self._oldest_end = NEVER
            self.quiet_until = ALWAYS
            self._step_until = step

    @property
    def open_count(self) -> int:
        """How many windows are open."""
        return sum(newest - oldest + 1 for oldest, newest, *_ in self._open)

    @property
    def structure_count(self) -> int:
        """How many structures they are in: one for each tuple that started some of them."""
        return len(self._open)

    @property
    def first_number(self) -> int | None:
        """The number of the tuple that started the oldest open window, or None."""
        return self._open[0][2] if self._open else None

    def has_open(self, index: int) -> bool:
        """Tell whether a window with number `index` or more is open."""
        return bool(self._open) and self._open[-1][1] >= index

    def closes_with(self, time: float) -> bool:
        """Tell whether a tuple at `time` closes a window."""
        if time >= self._oldest_end - self._tick:
            return True
        starts = self.starts(time)  # the first tick of a window may also be its last
        return len(starts) > 0 and self._specification.newest_closed(time) >= starts[0]

    def release(self) -> None:
        """Release the references to these windows, which are no longer used."""
        for name in ("_keeper", "keep", "place"):
            with suppress(AttributeError):
                delattr(self, name)

    @property
    def next_end(self) -> float:
        """The earliest end of an open window; infinity if none is open."""
        return self._open[0][3] if self._open else NEVER

    def _check(self) -> None:
        """Assert every invariant."""
        before = -math.inf
        last_number = 0
        specification = self._specification
        for oldest, newest, number, end in self._open:
            assert before < oldest <= newest < self._next_index
            assert end == specification.end(oldest)
            assert number >= last_number, "the structures are out of order"
            before, last_number = newest, number
        assert self.quiet_until == ALWAYS or self._open
        assert self._oldest_end == self.next_end
        if self._first_index is not None:
            assert self._next_start == specification.start(self._next_index)
            assert self._second_start == specification.start(self._next_index + 1)
