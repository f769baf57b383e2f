"""The append window queue: every window is processed, in the order in which tuples arrive.

It is what windows under update semantics are compared with (report, section 6.3 and Figure 13b).
Tuples leave once, and each starter opens its windows, so the operator may have up to `overlap` open
per key and works on all of them with each tuple. Full load makes this queue ever longer; with
`RandomWindowShedding` it drops windows at random instead, whatever is the most recent one.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Sequence
from contextlib import suppress

from ..clock import Clock
from ..errors import ParameterError
from ..keys import KeyCell
from ..schedulers import Terms
from ..statistics import DEFAULT_FORGETTING, AnyKey, GivenCost, PerKey, is_quantity
from ..updates import Key, Outcome, Update
from ..windows import (
    OpenWindows,
    WindowCounts,
    WindowEnd,
    WindowEnding,
    WindowMark,
    WindowSpecification,
    WindowTuple,
)
from ..windows.buffered_tuples import Row
from ..windows.key_transitions import CLOSES, IS_UPDATE, OUTSIDE
from .stream_queue import DEFAULT_IN_PROCESS_LIMIT
from .window_keys import Admission
from .window_place import CommittedWindow, WindowPlace
from .windowed_queue import WindowedQueue


class RandomWindowShedding:
    """Drop each window with the probability `share`, when its first tuple comes.

    >>> RandomWindowShedding(1.0).sheds()
    True
    """

    __slots__ = ("_random", "share")

    def __init__(self, share: float, seed: int = 0) -> None:
        if not (is_quantity(share) and share <= 1):
            raise ParameterError("share", share, "a share of the windows, from 0 to 1")
        self.share = float(share)
        self._random = random.Random(seed)

    def sheds(self) -> bool:
        """Tell whether to drop the next window."""
        return self._random.random() < self.share


class _Entry:
    """What is to leave: a tuple or the end of a window."""

    __slots__ = ("completes", "opens", "place", "window_tuple")

    def __init__(
        self, place: AppendPlace, window_tuple: WindowTuple, opens: tuple[int, ...] = ()
    ) -> None:
        self.place = place
        self.window_tuple = window_tuple
        self.opens = opens
        """The windows that the operator is to open with it."""
        self.completes = False
        """Whether a window is complete when it has left."""

    def take_apart(self) -> None:
        """Let go of its place, whose windows refer to the line, and take that apart as well."""
        self.place.take_apart()  # the queue may have forgotten it
        del self.place


Line = deque[_Entry]


class AppendWindows(OpenWindows):
    """The windows of one key, whose tuples go into the line of the queue."""

    __slots__ = (
        "_drawn",
        "_kept",
        "_last",
        "_line",
        "_opening",
        "_shedding",
        "held",
        "place",
        "uncommitted",
    )

    place: AppendPlace

    def __init__(
        self,
        specification: WindowSpecification,
        counts: WindowCounts,
        key: Key,
        *,
        line: Line,
        drawn: deque[bool] | None,
    ) -> None:
        super().__init__(specification, counts, key)
        self._line = line
        self._drawn = drawn
        """Whether the windows of the queue that are started next are shed, if any may be."""
        self._kept: deque[int] = deque()
        """The open windows that were not shed."""
        self._opening: tuple[int, ...] | None = None
        """The windows that the next tuple starts and that were not shed, None if it starts none."""
        self._last: _Entry | None = None
        self.held = 0
        """How many tuples are in line."""
        self.uncommitted = 0
        """How many windows were not shed, and their first tuple is in line."""

    @property
    def held_windows(self) -> int:
        """How many windows are held that may still be committed."""
        return self.uncommitted

    @property
    def held_tuples(self) -> int:
        """How many tuples have not left yet."""
        return self.held

    def erase(self) -> int:
        """Let go of all windows, since the key is forgotten; the operator gives up what is open."""
        counts = self._counts
        counts.superseded += self.uncommitted
        counts.dropped += self.held
        self.uncommitted = self.held = 0
        self._forget_open()
        self._kept.clear()
        for _ in self.place.windows:
            ending = WindowEnding.of(self.key, WindowMark.ABORT)
            self._line.append(_Entry(self.place, ending))
        return 0

    def close(self) -> None:
        """Let go of what refers back to these windows, since nothing more comes."""
        self._last = None
        del self.place

    def _note_start(self, newest: int, windows: int) -> tuple[int, int]:
        indices = range(newest - windows + 1, newest + 1)
        drawn = self._drawn
        if drawn is not None:
            kept = tuple(index for index in indices if not drawn.popleft())
            self._counts.shed += windows - len(kept)
        else:
            kept = tuple(indices)
        for index in kept:
            self.place.note_commit(self.version(index))  # each will be delivered some time
        self._opening = kept
        self._kept.extend(kept)
        self.uncommitted += len(kept)
        return 0, 0

    def append(self, row: Row) -> None:
        """Keep a tuple of the open windows."""
        opening = self._opening
        if opening is None:
            self._put(row, WindowMark.INSIDE)
        else:
            self._opening = None
            self._put(row, self._mark_of(opening) if opening else WindowMark.DISALLOW, opening)

    def _put(self, row: Row, mark: WindowMark | WindowEnd, opening: tuple[int, ...] = ()) -> None:
        """Put a tuple into the line, unless its windows were all shed."""
        if not self._kept:
            self._counts.dropped += 1
            return
        self._last = _Entry(self.place, WindowTuple(Update(*row), mark), opening)
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

    def _note_close(self, index: int, number: int, windows: int) -> int:
        """Put the ends of windows that no tuple of theirs completes into the line."""
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
                entry = _Entry(self.place, WindowEnding.of(self.key, WindowMark.CLOSE))
                entry.completes = True
                self._line.append(entry)
        if newest is None or newest <= self.place.newest_committed:
            return 0
        self.place.newest_waiting = newest
        return IS_UPDATE

    def _refuse(self) -> int:
        raise AssertionError("there is room for everything")


class AppendPlace(WindowPlace):
    """What an append window queue knows about one key."""

    __slots__ = ("newest_committed", "newest_waiting", "waiting_closes", "windows")

    buffer: AppendWindows
    newest_committed: float
    """The number of the newest window that the operator has opened."""
    newest_waiting: int
    waiting_closes: deque[tuple[int, float]]
    """Closed windows that the operator has not opened yet, and when they were closed."""
    windows: deque[CommittedWindow]
    """The windows that the operator has open, oldest first."""

    def __init__(self, cell: KeyCell, buffer: AppendWindows, key_hash: int | None) -> None:
        super().__init__(cell, buffer, key_hash)
        buffer.place = self
        self.newest_committed = float("-inf")
        self.newest_waiting = 0
        self.waiting_closes = deque()
        self.windows = deque()

    def take_apart(self) -> None:
        """Let go of what refers back to it, since its queue is gone."""
        super().take_apart()
        self.windows.clear()
        with suppress(AttributeError):  # if they were closed
            self.buffer.close()


class AppendWindowQueue(WindowedQueue[AppendPlace]):
    """Keep every window, and serve the tuples in the order of their arrival.

    `shedding` drops windows at random; a tuple whose windows are all dropped is dropped with them.
    Values are Python objects; they are not kept in a page pool.

    >>> from upstream import Aggregate
    >>> queue = AppendWindowQueue(WindowSpecification(size=2, slide=1))
    >>> for time in range(4):
    ...     _ = queue.enqueue("IBM", 24.0 + time, time=time)
    >>> total = Aggregate("sum")
    >>> [result.value for _ in range(6) if (result := total.process(queue.dequeue()))]
    [49.0, 51.0]
    """

    __slots__ = ("_drawn", "_line", "_shedding", "_waiting_keys")

    def __init__(
        self,
        specification: WindowSpecification,
        *,
        clock: Clock | None = None,
        shedding: RandomWindowShedding | None = None,
        rates: PerKey[AnyKey] | None = None,
        processing_cost: GivenCost | None = None,
        forgetting: float = DEFAULT_FORGETTING,
        in_process_limit: int = DEFAULT_IN_PROCESS_LIMIT,
    ) -> None:
        if not (shedding is None or isinstance(shedding, RandomWindowShedding)):
            raise ParameterError(
                "shedding", shedding, "a RandomWindowShedding, such as RandomWindowShedding(0.5)"
            )
        super().__init__(
            specification,
            clock=clock,
            rates=rates,
            processing_cost=processing_cost,
            forgetting=forgetting,
            in_process_limit=in_process_limit,
        )
        self._shedding = shedding
        self._drawn: deque[bool] | None = None if shedding is None else deque()
        self._is_plain = shedding is None
        self._line: Line = deque()
        self._rings.add(self._line)
        self._waiting_keys = 0

    def dequeue(self) -> WindowTuple | None:
        """Hand out the next tuple, or the end of a window, or None if nothing waits."""
        now = self._ticks()
        self._note_service(now)
        while self._line:
            entry = self._line.popleft()
            place = entry.place
            if entry.window_tuple.mark is WindowMark.ABORT:
                place.windows.popleft()
                self._aborted += 1
                return entry.window_tuple
            if place.delivered_version != AppendPlace.FORGOTTEN:
                return self._hand_out(entry, now)
        return None

    def read(self, key: Key) -> list[Update] | None:
        """Return the tuples of the key that are to leave, or None. Changes nothing. O(tuples)."""
        self._ticks()
        place = self._find(key)
        updates = (entry.window_tuple.update for entry in self._line if entry.place is place)
        return [update for update in updates if update is not None] or None

    def _hand_out(self, entry: _Entry, now: float) -> WindowTuple:
        place = entry.place
        window_tuple = entry.window_tuple
        if entry.opens:
            self._commit(place, entry.opens, now)
        if window_tuple.update is not None:
            self._counts.used += 1
            place.buffer.held -= 1
        self._served = place.windows[0]
        self._served_at = now
        if entry.completes:
            self._note_finished(place.windows.popleft(), now)
        return window_tuple

    def _commit(self, place: AppendPlace, opens: tuple[int, ...], now: float) -> None:
        """Note that the operator opens windows."""
        buffer = place.buffer
        self._counts.committed += len(opens)
        buffer.uncommitted -= len(opens)
        for index in opens:
            version = buffer.version(index)
            end = self._specification.end(index)
            place.windows.append(CommittedWindow(place, version, end))
        place.newest_committed = opens[-1]
        closes = place.waiting_closes
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

    def _react(self, place: AppendPlace, triggers: int, now: float) -> Outcome:
        """Note what was closed, and that it waits."""
        if triggers & CLOSES:
            place.note_close(place.buffer.closed_version, now)
        if triggers & IS_UPDATE:
            cell = place.cell
            cell.version += 1
            cell.arrival = now
            if cell.version == 1:
                self._update_rates.begin_again(cell)
            place.waiting_closes.append((place.newest_waiting, now))
            if place.waiting_since is None:
                place.waiting_since = now
                self._waiting_keys += 1
        return Outcome.OUTSIDE if triggers & OUTSIDE else Outcome.WAITING

    def _make_place(self, cell: KeyCell, key_hash: int | None) -> AppendPlace:
        windows = AppendWindows(
            self._specification, self._counts, cell.key, line=self._line, drawn=self._drawn
        )
        return AppendPlace(cell, windows, key_hash)

    def admit(self, key: Key) -> Admission:
        """Return what was given for a new key; raise if it makes no sense."""
        return self._update_rates.admit(key), None

    def _ask_times(self, times: Sequence[float]) -> None:
        """Draw whether the windows are shed that tuples at `times` may start, and one to spare."""
        if self._shedding is None or self._drawn is None:
            return
        needed = sum(len(self._specification.holding(time)) + 1 for time in times)
        for _ in range(needed - len(self._drawn)):
            self._drawn.append(self._shedding.sheds())

    def _welcome_place(self, place: AppendPlace, terms: Terms) -> None:
        return

    def _note_forgotten(self, place: AppendPlace) -> None:
        if place.waiting_since is not None:
            self._waiting_keys -= 1
        place.buffer.close()

    def _let_go(self) -> None:
        self._line.clear()
        for place in self._open_places():
            place.windows.clear()
            place.buffer.close()
        self._waiting_keys = 0

    def _waiting_count(self) -> int:
        return self._waiting_keys

    def _ready_count(self) -> int:
        return sum(1 for place in self._open_places() if place.windows)

    def _idle_count(self) -> int:
        return 0
