"""All windows of the keys of an append window queue, and the line of tuples that will leave."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Protocol

from ...keys import KeyCell
from ...schedulers import Terms
from ...statistics import UpdateRates
from ...updates import Key, Outcome, Update
from ...windows import (
    OpenWindows,
    WindowCounts,
    WindowEnd,
    WindowEnding,
    WindowMark,
    WindowSpecification,
    WindowTuple,
)
from ...windows.buffered_tuples import Row
from ...windows.key_transitions import CLOSES, IS_UPDATE, OUTSIDE
from ..places import QueuePlaces
from ..stream.feed import Feed
from .in_process_windows import CommittedWindow
from .window_keys import WindowTerms
from .window_place import WindowPlace


class Shedding(Protocol):
    """Chooses the windows to drop."""

    def sheds(self) -> bool:
        """Tell whether to drop the next window."""
        ...


class Entry:
    """One element of the line: a tuple or the end of a window."""

    __slots__ = ("completes", "opens", "place", "window_tuple")

    def __init__(
        self, place: AppendPlace, window_tuple: WindowTuple, opens: tuple[int, ...] = ()
    ) -> None:
        self.place = place
        self.window_tuple = window_tuple
        self.opens = opens
        """The windows that the operator opens with it."""
        self.completes = False
        """Whether it completes a window."""

    def release(self) -> None:
        """Release the place, whose windows refer to the line. The queue may have forgotten it."""
        self.place.release()
        del self.place


Line = deque[Entry]


class Opened:
    """The windows of one key that the operator has opened or will open."""

    __slots__ = ("_in_line", "newest_committed", "newest_waiting", "waiting_closes", "windows")

    def __init__(self, in_line: WindowsInLine) -> None:
        self._in_line = in_line
        self.newest_committed = float("-inf")
        """The number of the newest window that the operator has opened."""
        self.newest_waiting = 0
        self.waiting_closes: deque[tuple[int, float]] = deque()
        """Closed windows that the operator has not opened yet, with the times of their closes."""
        self.windows: deque[CommittedWindow] = deque()
        """The windows that the operator has open, oldest first."""

    def release(self) -> None:
        """Release the windows and the last entry, which refer back to the place."""
        self.windows.clear()
        self._in_line.close()


class WindowsInLine:
    """The windows of one key, whose tuples wait in the line of the queue."""

    __slots__ = (
        "_counts",
        "_drawn",
        "_kept",
        "_last",
        "_line",
        "_opening",
        "_specification",
        "held",
        "key",
        "uncommitted",
        "windows",
    )

    def __init__(
        self,
        specification: WindowSpecification,
        counts: WindowCounts,
        key: Key,
        *,
        line: Line,
        drawn: deque[bool] | None,
    ) -> None:
        self._specification = specification
        self._counts = counts
        self.key = key
        self.windows = OpenWindows(specification, counts, key, self)
        """The windows that are open."""
        self.windows.keep = self._keep
        self._line = line
        self._drawn = drawn
        """Whether each of the next windows of the queue is shed, if the queue sheds windows."""
        self._kept: deque[int] = deque()
        """The open windows that were not shed."""
        self._opening: tuple[int, ...] | None = None
        """The windows that the next tuple starts and that are not shed; None if it starts none."""
        self._last: Entry | None = None
        self.held = 0
        """The number of tuples in the line."""
        self.uncommitted = 0
        """The number of windows that were not shed and whose first tuple is in the line."""

    @property
    def held_windows(self) -> int:
        """How many windows are held and may still be committed."""
        return self.uncommitted

    @property
    def held_tuples(self) -> int:
        """How many tuples have not left yet."""
        return self.held

    def drop_uncommitted(self) -> int:
        """Drop all windows of a forgotten key. The operator aborts those that it has open."""
        counts = self._counts
        counts.superseded += self.uncommitted
        counts.dropped += self.held
        self.uncommitted = self.held = 0
        self.windows.drop_open()
        self._kept.clear()
        place = self._place()
        for _ in place.progress.windows:
            ending = WindowEnding.of(self.key, WindowMark.ABORT)
            self._line.append(Entry(place, ending))
        return 0

    def close(self) -> None:
        """Release the last entry, which refers back to these windows."""
        self._last = None

    def _place(self) -> AppendPlace:
        place = self.windows.place
        assert isinstance(place, WindowPlace)
        return place

    def note_start(self, newest: int, windows: int) -> tuple[int, int]:
        """Note that a tuple starts windows, and which of them are shed."""
        indices = range(newest - windows + 1, newest + 1)
        drawn = self._drawn
        if drawn is not None:
            kept = tuple(index for index in indices if not drawn.popleft())
            self._counts.shed += windows - len(kept)
        else:
            kept = tuple(indices)
        place = self._place()
        for index in kept:
            place.note_commit(self.windows.version(index))  # each of them will be delivered
        self._opening = kept
        self._kept.extend(kept)
        self.uncommitted += len(kept)
        return 0, 0

    def _keep(self, row: Row) -> None:
        """Keep a tuple of the open windows."""
        opening = self._opening
        if opening is None:
            self._put(row, WindowMark.INSIDE)
        else:
            self._opening = None
            self._put(row, self._mark_of(opening) if opening else WindowMark.DISALLOW, opening)

    def _put(self, row: Row, mark: WindowMark | WindowEnd, opening: tuple[int, ...] = ()) -> None:
        """Add a tuple to the line, unless all of its windows were shed."""
        if not self._kept:
            self._counts.dropped += 1
            return
        self._last = Entry(self._place(), WindowTuple(Update(*row), mark), opening)
        self._line.append(self._last)
        self.held += 1

    def _mark_of(self, opening: tuple[int, ...]) -> WindowEnd:
        specification = self._specification
        earlier: tuple[WindowEnd, ...] = ()
        for index in opening:
            mark = WindowEnd(
                specification.end(index),
                start=specification.start(index),
                last=specification.closing_time(index),
                earlier=earlier,
            )
            earlier = (*earlier, mark)
        return earlier[-1]

    def note_close(self, index: int, number: int, windows: int) -> int:
        """Add the ends of windows to the line if no tuple of theirs completes them."""
        place = self._place()
        newest = None
        kept = self._kept
        while kept and kept[0] <= index:
            newest = kept.popleft()
            last = self._last
            assert last is not None and last.window_tuple.update is not None
            closing_time = self._specification.closing_time(newest)
            if last.window_tuple.update.time >= closing_time and not last.completes:
                last.completes = True
            else:
                entry = Entry(place, WindowEnding.of(self.key, WindowMark.CLOSE))
                entry.completes = True
                self._line.append(entry)
        if newest is None or newest <= place.progress.newest_committed:
            return 0
        place.progress.newest_waiting = newest
        return IS_UPDATE

    def reject_open(self) -> int:
        """Raise, because memory never refuses a tuple here."""
        raise AssertionError("memory refuses no tuple of this queue")

    def _check(self) -> None:
        """Assert every invariant."""
        self.windows._check()


AppendPlace = WindowPlace[WindowsInLine, Opened]


class AllWindows:
    """All windows of one queue, and the line of tuples that will leave."""

    __slots__ = (
        "_counts",
        "_drawn",
        "_rates",
        "_shedding",
        "_specification",
        "_sums",
        "_waiting_keys",
        "line",
    )

    def __init__(
        self,
        specification: WindowSpecification,
        places: QueuePlaces,
        counts: WindowCounts,
        rates: UpdateRates,
        *,
        shedding: Shedding | None,
    ) -> None:
        self._specification = specification
        self._sums = places.sums
        self._counts = counts
        self._rates = rates
        self._shedding = shedding
        self._drawn: deque[bool] | None = None if shedding is None else deque()
        self.line: Line = deque()
        """The tuples and ends that will leave, oldest first."""
        self._waiting_keys = 0

    def listen(self, feed: Feed) -> None:
        """Do nothing, because the arrivals are all that is needed of a stream."""

    def close(self, places: Iterable[AppendPlace], feed: Feed | None) -> None:
        """Release all windows, because the queue is closed."""
        self.line.clear()
        for place in places:
            place.progress.windows.clear()
            place.buffer.close()
        self._waiting_keys = 0

    def commit(self, place: AppendPlace, opens: tuple[int, ...], now: float) -> None:
        """Note that the operator opens windows."""
        self._counts.committed += len(opens)
        place.buffer.uncommitted -= len(opens)
        progress = place.progress
        for index in opens:
            version = place.windows.version(index)
            end = self._specification.end(index)
            progress.windows.append(CommittedWindow(place, version, end))
        progress.newest_committed = opens[-1]
        closes = progress.waiting_closes
        if not closes or closes[0][0] > opens[-1]:
            return
        while closes and closes[0][0] <= opens[-1]:
            closes.popleft()
        if closes:
            self._sums.wait_moves(place, closes[0][1], now)
        else:
            self._sums.wait_ends(place, now)
            place.waiting_since = None
            self._waiting_keys -= 1

    def react(self, place: AppendPlace, triggers: int, now: float) -> Outcome:
        """Note which windows were closed, and that they wait."""
        if triggers & CLOSES:
            place.note_close(place.windows.closed_version, now)
        if triggers & IS_UPDATE:
            cell = place.cell
            cell.version += 1
            cell.arrival = now
            if cell.version == 1:
                self._rates.begin_again(cell)
            place.progress.waiting_closes.append((place.progress.newest_waiting, now))
            if place.waiting_since is None:
                place.waiting_since = now
                self._waiting_keys += 1
        return Outcome.OUTSIDE if triggers & OUTSIDE else Outcome.WAITING

    # Adding and forgetting keys.

    def make_place(self, cell: KeyCell, key_hash: int | None) -> AppendPlace:
        """Make the place of a key that may be added, without storing anything about it."""
        windows = WindowsInLine(
            self._specification, self._counts, cell.key, line=self.line, drawn=self._drawn
        )
        return WindowPlace(cell, windows, Opened(windows), key_hash)

    def terms_for(self, key: Key) -> WindowTerms:
        """Return the options given for a new key; raise if they are invalid."""
        return self._rates.given(key), None

    def welcome(self, place: AppendPlace, terms: Terms) -> None:
        """Do nothing, because there is no scheduler."""

    def ask(self) -> None:
        """Do nothing, because no cost is needed."""

    def ask_times(self, times: Sequence[float]) -> None:
        """Draw which windows are shed that tuples at `times` may start, and one more."""
        if self._shedding is None or self._drawn is None:
            return
        needed = sum(len(self._specification.holding(time)) + 1 for time in times)
        for _ in range(needed - len(self._drawn)):
            self._drawn.append(self._shedding.sheds())

    def note_forgotten(self, place: AppendPlace) -> None:
        """Note that a key is forgotten."""
        if place.waiting_since is not None:
            self._waiting_keys -= 1
        place.buffer.close()

    # Counting.

    def held_by_forgotten(self) -> int:
        """Return 0, because the tuples of forgotten keys were dropped from the line."""
        return 0

    def waiting_count(self) -> int:
        """Return the number of waiting keys."""
        return self._waiting_keys

    def ready_count(self, places: Iterable[AppendPlace]) -> int:
        """Return the number of keys with a window that the operator has open."""
        return sum(1 for place in places if place.progress.windows)

    def idle_count(self) -> int:
        """Return 0, because the operator never waits for a key."""
        return 0

    def _check_place(self, place: AppendPlace) -> None:
        assert (place.waiting_since is not None) == bool(place.progress.waiting_closes)
