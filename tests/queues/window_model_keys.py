"""The model of one key of a window queue: every tuple and every window ever, in plain lists.

Nothing is kept that can be found again by looking at all of them: what waits, what a window holds,
what was superseded or dropped, and both averages. Moments of the clock are exact binary fractions
in the tests, so nothing is rounded before an average is taken.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

from upstream import Key, Outcome, Update
from upstream.windows import WindowEnd, WindowMark, WindowSpecification, WindowTuple


class Fate(Enum):
    """What became of a tuple as it arrived."""

    KEPT = "kept"
    LATE = "late"
    OUTSIDE = "outside"
    DROPPED = "dropped"
    """Its windows had been given up when it came."""
    REJECTED = "rejected"


@dataclass(eq=False, slots=True)
class Arrival:
    """One tuple of one key."""

    update: Update
    fate: Fate = Fate.KEPT
    is_starter: bool = False
    """Whether it was the first of any window."""
    has_left: bool = False
    """Whether it was handed out at least once."""


@dataclass(eq=False, slots=True)
class Window:
    """One window of one key, from its first tuple on."""

    index: int
    start: float
    end: float
    last: float
    """The time from which on a tuple closes it."""
    closed: float | None = None
    """When it was closed, by the clock."""
    lacks_tuple: bool = False
    """Whether there was no room for one of its tuples: such a window is never closed."""
    is_committed: bool = False
    is_rejected: bool = False
    """Whether it came to lack a tuple before it was committed or superseded."""
    is_aborted: bool = False
    """Whether it was committed, and then given up."""
    left: int = 0
    """How many of its tuples have left since it was committed."""

    def covers(self, time: float) -> bool:
        """Tell whether a tuple at this time belongs to it."""
        return self.start <= time < self.end


class ModelKey:
    """All that ever happened to one key, from its first arrival until it is forgotten."""

    def __init__(self, specification: WindowSpecification, key: Key, began: float) -> None:
        self.specification = specification
        self.key = key
        self.began = began
        self.arrivals: list[Arrival] = []
        self.windows: list[Window] = []
        """Every window that was ever opened; a newer one comes after an older one."""
        self.waits: list[tuple[float, float | None]] = []
        """From when until when it waited; None if it waits still."""
        self.rank = 0
        """The number of the event by which it began to wait last."""
        self.delivered: list[tuple[float, int]] = []
        """The deliveries: moment and window."""
        self.processed: Window | None = None
        """The window that it is under processing with."""
        self.turn: float | None = None
        """Its place among the keys under processing; None if it is idle, or not among them."""
        self.forgotten: float | None = None
        """When it was forgotten."""

    # What the two semantics differ in.

    def waiting(self) -> Window | None:
        """Return the window that waits, if one does."""
        raise NotImplementedError

    def superseded(self) -> list[Window]:
        """Return the windows that gave way to a newer one."""
        raise NotImplementedError

    def held(self) -> list[Window]:
        """Return the windows that may be committed yet."""
        raise NotImplementedError

    # What arrives.

    def take(self, update: Update, now: float, number: int, *, is_refused: bool) -> Outcome:
        """Take in one tuple, the event of this number; it is refused if there is no room for it."""
        arrival = Arrival(update)
        if self.is_late(update.time):
            assert not is_refused, "a late tuple needs no room"
            arrival.fate = Fate.LATE
            self.arrivals.append(arrival)
            return Outcome.LATE
        before = self.waiting()
        self.arrivals.append(arrival)
        started = self.start_windows(update.time)
        arrival.is_starter = bool(started)
        covering = [window for window in self.windows if window.covers(update.time)]
        if all(window.lacks_tuple for window in covering):
            assert not is_refused, "a tuple outside all windows needs no room"
            arrival.fate = Fate.DROPPED if covering else Fate.OUTSIDE
        elif is_refused:
            arrival.fate = Fate.REJECTED
            self.refuse(update.time)
        self.close(update.time, now, number, by_tuple=True)
        self.note_wait(now, number)
        return self.outcome(arrival, before)

    def outcome(self, arrival: Arrival, before: Window | None) -> Outcome:
        """Tell what became of a tuple that is not late; `before` is what waited before it."""
        if arrival.fate in {Fate.OUTSIDE, Fate.DROPPED}:
            return Outcome.OUTSIDE
        if arrival.fate is Fate.REJECTED:
            return Outcome.REJECTED
        was_replaced = before is not None and self.waiting() is not before
        return Outcome.SUPERSEDED if was_replaced else Outcome.WAITING

    def is_late(self, time: float) -> bool:
        """Tell whether a tuple is older than the newest, or than the end of a closed window."""
        known = [each.update.time for each in self.arrivals if each.fate is not Fate.LATE]
        known += [window.end for window in self.windows if window.closed is not None]
        return any(time < other for other in known)

    def start_windows(self, time: float) -> list[Window]:
        """Open the windows that a tuple is the first of, and return them."""
        first = self.arrivals[0].update.time
        opened = [window.index for window in self.windows]
        covering = windows_covering(self.specification, time)
        started = [each for each in covering if each.start >= first and each.index not in opened]
        self.windows += started
        return started

    def refuse(self, time: float) -> None:
        """Give up the windows that lack a tuple; those that are held yet count as rejected."""
        held = self.held()
        for window in self.windows:
            is_open = window.closed is None and not window.lacks_tuple
            if is_open and window.covers(time):
                window.lacks_tuple = True
                window.is_aborted = window is self.processed
                window.is_rejected = window in held

    def close(self, time: float, now: float, number: int, *, by_tuple: bool) -> None:
        """Close the windows that the time closes; a key that was idle goes on if it concerns it."""
        for window in self.windows:
            reached = time >= (window.last if by_tuple else window.end)
            if window.closed is None and reached and not window.lacks_tuple:
                window.closed = now
        if self.processed is not None and self.turn is None and self.leaving() is not None:
            self.turn = number

    def advance(self, time: float, now: float, number: int) -> None:
        """Close the windows that ended by `time`."""
        self.close(time, now, number, by_tuple=False)
        self.note_wait(now, number)

    def forget(self, now: float, number: int) -> None:
        """Give up all windows but the one under processing, and that too if it is not complete."""
        self.forgotten = now
        if self.processed is not None and self.processed.closed is None:
            self.processed.is_aborted = True
            self.turn = number if self.turn is None else self.turn

    def note_wait(self, now: float, number: int) -> None:
        """Write down whether it waits now."""
        waited = bool(self.waits) and self.waits[-1][1] is None
        if self.waiting() is not None and not waited:
            self.waits.append((now, None))
            self.rank = number
        elif self.waiting() is None and waited:
            self.waits[-1] = (self.waits[-1][0], now)

    # What leaves.

    def commit(self, now: float, number: int) -> None:
        """Commit to the window that waits."""
        self.processed = self.waiting()
        assert self.processed is not None
        self.processed.is_committed = True
        self.turn = number
        self.note_wait(now, number)

    def leaving(self) -> WindowTuple | None:
        """Return what leaves next of the window under processing, None if there is nothing yet."""
        window = self.processed
        assert window is not None
        if window.is_aborted:
            return WindowTuple(None, WindowMark.ABORT)
        contents = self.contents(window)
        if window.left < len(contents):
            arrival = contents[window.left]
            return WindowTuple(arrival.update, mark(window, arrival, is_first=window.left == 0))
        return None if window.closed is None else WindowTuple(None, WindowMark.CLOSE)

    def leave(self) -> WindowTuple:
        """Let the next tuple leave; after the last one it is not under processing any more."""
        leaving, window = self.leaving(), self.processed
        assert leaving is not None
        assert window is not None
        if leaving.update is not None:
            self.contents(window)[window.left].has_left = True
            window.left += 1
        if leaving.update is None or window.last <= leaving.update.time < window.end:
            self.processed = self.turn = None
        return leaving

    def contents(self, window: Window) -> list[Arrival]:
        """Return the tuples of a window, in the order of their arrival."""
        kept = [arrival for arrival in self.arrivals if arrival.fate is Fate.KEPT]
        return [arrival for arrival in kept if window.covers(arrival.update.time)]

    def deliver(self, end: float, now: float) -> None:
        """Note that the application has the result of a window."""
        (window,) = (window for window in self.windows if window.end == end)
        if self.forgotten is None:
            self.delivered.append((now, window.index))

    # What is known of it.

    def needed(self) -> list[Arrival]:
        """Return the tuples that have still to leave, or may have to."""
        held = [] if self.forgotten is not None else self.held()
        needed = [arrival for window in held for arrival in self.contents(window)]
        window = self.processed
        if window is not None and not window.is_aborted:
            needed += self.contents(window)[window.left :]
        return needed

    def window_counts(self) -> dict[str, int]:
        """Return how many windows had which fate; those of a forgotten key are superseded."""
        held, superseded = len(self.held()), len(self.superseded())
        if self.forgotten is not None:
            held, superseded = 0, superseded + held
        return {
            "opened": len(self.windows),
            "committed": sum(window.is_committed for window in self.windows),
            "superseded": superseded,
            "shed": 0,
            "rejected": sum(window.is_rejected for window in self.windows),
            "held": held,
        }

    def tuple_counts(self) -> dict[str, int]:
        """Return how many tuples had which first fate."""
        needed = self.needed()
        fates = [arrival.fate for arrival in self.arrivals]
        unseen = [each for each in self.arrivals if each.fate is Fate.KEPT and not each.has_left]
        return {
            "arrived": len(self.arrivals),
            "used": sum(arrival.has_left for arrival in self.arrivals),
            "dropped": fates.count(Fate.DROPPED) + sum(each not in needed for each in unseen),
            "outside": fates.count(Fate.OUTSIDE),
            "late": fates.count(Fate.LATE),
            "rejected": fates.count(Fate.REJECTED),
            "held": sum(arrival in needed for arrival in unseen),
        }

    def means(self, now: float) -> tuple[float, float]:
        """Return queue and application staleness, averaged until it was forgotten."""
        until = now if self.forgotten is None else self.forgotten
        return self.queue_mean(until), self.application_mean(until)

    def queue_mean(self, now: float) -> float:
        """Average the time since it began to wait, 0 while it does not."""
        spans = [(now if end is None else end) - start for start, end in self.waits]
        return self.mean(sum(span**2 / 2 for span in spans), now)

    def application_mean(self, now: float) -> float:
        """Average the time since the first close of a window newer than the newest delivered."""
        closes = [(each.closed, each.index) for each in self.windows if each.closed is not None]
        moments = {self.began, now}
        moments.update(moment for moment, _ in closes)
        moments.update(moment for moment, _ in self.delivered)
        area = 0.0
        for start, end in pairwise(sorted(moments)):
            newest = max((i for at, i in self.delivered if at <= start), default=-math.inf)
            missing = [at for at, i in closes if i > newest and at <= start]
            if missing:
                since = min(missing)
                area += ((end - since) ** 2 - (start - since) ** 2) / 2
        return self.mean(area, now)

    def mean(self, area: float, now: float) -> float:
        """Average over the time since its first arrival."""
        return area / (now - self.began) if now > self.began else 0.0


class LazyKey(ModelKey):
    """What waits is the newest window that is closed."""

    def closed(self) -> list[Window]:
        """Return the closed windows, the newest last."""
        return [window for window in self.windows if window.closed is not None]

    def waiting(self) -> Window | None:
        """Return the newest closed window, unless it is committed."""
        newest = self.closed()[-1:]
        return newest[0] if newest and not newest[0].is_committed else None

    def superseded(self) -> list[Window]:
        """Return the closed windows before the newest that were never committed."""
        return [window for window in self.closed()[:-1] if not window.is_committed]

    def held(self) -> list[Window]:
        """Return the window that waits and all that are open."""
        waiting = self.waiting()
        held = [each for each in self.windows if each.closed is None and not each.lacks_tuple]
        return held if waiting is None else [waiting, *held]


class EagerKey(ModelKey):
    """What waits is the newest window that is open, or was."""

    def waiting(self) -> Window | None:
        """Return the newest window, unless it is committed or rejected."""
        newest = self.windows[-1:]
        return newest[0] if newest and is_undecided(newest[0]) else None

    def superseded(self) -> list[Window]:
        """Return the windows before the newest that were never committed."""
        return [window for window in self.windows[:-1] if is_undecided(window)]

    def held(self) -> list[Window]:
        """Return the window that waits."""
        waiting = self.waiting()
        return [] if waiting is None else [waiting]


def windows_covering(specification: WindowSpecification, time: float) -> list[Window]:
    """Return the windows that cover a time, the oldest first: try all that might."""
    size, slide, tick = specification.size, specification.slide, specification.tick
    around, reach = math.floor(time / slide), math.ceil(size / slide) + 2
    found = []
    for index in range(around - reach, around + reach):
        start, end = index * slide, index * slide + size
        if start <= time < end:
            found.append(Window(index, start, end, end if tick is None else end - tick))
    return found


def mark(window: Window, arrival: Arrival, *, is_first: bool) -> WindowMark | WindowEnd:
    """Return the mark with which a tuple of a committed window leaves."""
    if is_first:
        return WindowEnd(window.end, start=window.start, last=window.last)
    return WindowMark.DISALLOW if arrival.is_starter else WindowMark.INSIDE


def is_undecided(window: Window) -> bool:
    """Tell whether a window was neither committed nor rejected."""
    return not window.is_committed and not window.is_rejected
