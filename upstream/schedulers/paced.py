"""Pacing: a minimum time between two services of a key (not in the report).

A push connection may want GOOG every second and GM every hour. This scheduler wraps another one and
holds back the keys that were served too recently. These keys wait outside the inner scheduler,
which orders only keys that may be served. A heap has the times at which they become due. A due key
moves to the inner scheduler with its original arrival, like a key that was given back. A key that
never becomes due is barred: it waits outside the heap and is never served. A filter on keys works
this way.

The due time of a key changes only when the key is served, and a held key is not served. So an entry
of the heap is valid as long as its key is held. If the key expired or was forgotten, its entry is
removed when its time comes, or together with all other such entries once they are more than half of
the heap.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterator
from heapq import heapify, heappop, heappush
from typing import ClassVar, cast

from ..errors import AlreadyAttachedError, ParameterError
from ..keys import KeyCell, Place, QueueOfKeys
from ..statistics import AnyKey, is_quantity
from ..updates import Key
from .scheduler import Scheduler, Surroundings, Terms

_SPARE_ENTRIES = 16
"""The number of invalid entries that may stay in the heap however few keys are held."""


class PacedScheduler(Scheduler):
    """Serve keys like `inner`, but each key at most once per interval.

    `inner` is the scheduler of the keys that may be served. It must not be a `FifoScheduler` or a
    `PacedScheduler`.
    `interval_of` is a function of the key. It is called once for each new key and returns the
    interval in seconds: 0 for no limit, `math.inf` for a key that must never be served.

    `len` counts all waiting keys, including those that are held back. So a queue that is not empty
    may have nothing to dequeue; `next_due` says when that changes. A key whose update was given
    back still counts as served. Keys with a limit cost O(log held) in addition to the inner
    scheduler.

    >>> from upstream import InPlaceScheduler, ManualClock, UpdateQueue
    >>> clock = ManualClock()
    >>> scheduler = PacedScheduler(InPlaceScheduler(), {"GOOG": 1.0, "GM": 3600.0}.__getitem__)
    >>> queue = UpdateQueue(scheduler, clock=clock)
    >>> for price in (24.0, 25.0):
    ...     _ = queue.enqueue("GOOG", price)
    ...     print(queue.dequeue())
    Update(key='GOOG', value=24.0, time=0.0)
    None
    >>> len(queue), scheduler.next_due()
    (1, 1.0)
    >>> clock.advance(1.0)
    >>> queue.dequeue().value
    25.0
    """

    __slots__ = (
        "_barred",
        "_barred_count",
        "_dues",
        "_entries",
        "_held",
        "_held_count",
        "_inner",
        "_interval_of",
        "_intervals",
        "_schedule_inner",
        "_sequence",
    )

    name: ClassVar[str] = "paced"
    holds_back: ClassVar[bool] = True

    def __init__(self, inner: Scheduler, interval_of: Callable[[AnyKey], float]) -> None:
        super().__init__()
        if not isinstance(inner, Scheduler) or inner.needs_arrival_order or inner.holds_back:
            what = inner.name if isinstance(inner, Scheduler) else inner
            expected = "a scheduler that does not need the arrival order and holds no keys back"
            raise ParameterError("inner", what, expected)
        if not callable(interval_of):
            raise ParameterError("interval_of", interval_of, "a function of the key")
        self._inner = inner
        self._schedule_inner = inner.schedule
        self._interval_of = cast(Callable[[Key], float], interval_of)
        # Indexed by key number, and as long as the last key with a limit requires.
        self._intervals = array("d")
        self._dues = array("d")
        """When the key may be served next."""
        self._held = QueueOfKeys()
        self._barred = QueueOfKeys()
        self._held_count = self._barred_count = 0
        self._entries: list[tuple[float, int, Place]] = []
        self._sequence = 0

    @property
    def inner(self) -> Scheduler:
        """The scheduler of the keys that are not held back."""
        return self._inner

    @property
    def held(self) -> int:
        """How many keys are held back. A due key counts until `next` or `take` is called."""
        return self._held_count

    @property
    def ready(self) -> int:
        """How many keys wait in the inner scheduler."""
        return len(self._inner)

    def next_due(self) -> float | None:
        """Return when the first held key becomes due, on the clock of the queue, or None.

        The time may have passed already, until `next` or `take` is called. O(1) amortised.
        """
        entries = self._entries
        while entries and entries[0][2].line is not self._held:
            heappop(entries)
        return entries[0][0] if entries else None

    # Keys that come and go.

    def bind(self, surroundings: Surroundings) -> None:
        """Bind this scheduler and the inner one to a queue."""
        super().bind(surroundings)
        try:
            self._inner.bind(surroundings)
        except AlreadyAttachedError:
            super().unbind()
            raise

    def unbind(self) -> None:
        """Release the queue, and forget when its keys were served."""
        super().unbind()
        self._inner.unbind()
        assert not (self._held_count or self._barred_count), "keys still wait"
        self._intervals = array("d")
        self._dues = array("d")
        self._entries.clear()

    @property
    def asks_cost(self) -> bool:
        """Whether `schedule` needs the processing cost; that depends on the inner scheduler."""
        return self._inner.asks_cost

    def terms_for(self, key: Key) -> Terms:
        """Ask for the key's interval; an invalid one raises ParameterError."""
        return self._ask(key), self._inner.terms_for(key)

    def welcome(self, cell: KeyCell, terms: Terms) -> None:
        """Note the interval of a new key, which has not been served yet."""
        interval, inner_terms = cast("tuple[float, Terms]", terms)
        self._inner.welcome(cell, inner_terms)
        missing = cell.index + 1 - len(self._intervals)
        if missing > 0:
            if interval == 0:
                return
            missing += cell.index // 8
            self._intervals.extend([0.0] * missing)
            self._dues.extend([-math.inf] * missing)
        self._intervals[cell.index] = interval
        self._dues[cell.index] = math.inf if interval == math.inf else -math.inf

    def _ask(self, key: Key) -> float:
        interval = self._interval_of(key)
        if not (is_quantity(interval) or (isinstance(interval, float) and interval == math.inf)):
            raise ParameterError(
                f"the interval of {key!r}", interval, "a number of seconds, 0 or more"
            )
        return float(interval)

    # Keys that wait.

    def schedule(self, place: Place) -> None:
        """Hold the key back if it was served too recently, else pass it to the inner scheduler."""
        index = place.cell.index
        dues = self._dues
        if index < len(dues) and dues[index] > place.waiting_since:  # type: ignore[operator]
            self._hold(place, dues[index]).append(place)
        else:
            self._schedule_inner(place)

    def restore(self, place: Place) -> None:
        """Hold back a key that was given back until it is due, or pass it to `inner`."""
        index = place.cell.index
        dues = self._dues
        if index < len(dues) and dues[index] > place.waiting_since:  # type: ignore[operator]
            self._hold(place, dues[index]).insert_by_wait(place)
        else:
            self._inner.restore(place)

    def next(self, now: float) -> Place | None:
        """Return the key to serve next, or None. First pass the due keys to `inner`."""
        entries = self._entries
        if entries and entries[0][0] <= now:
            self._release_due(now)
        return self._inner.next(now)

    def serve(self, place: Place, now: float) -> None:
        """Remove the key that `next` has just returned; its interval starts now."""
        self._inner.serve(place, now)
        self._note_service(place, now)

    def take(self, now: float) -> Place | None:
        """Remove and return the key to serve next, or return None."""
        entries = self._entries
        if entries and entries[0][0] <= now:
            self._release_due(now)
        place = self._inner.take(now)
        if place is not None:
            self._note_service(place, now)
        return place

    def stand_back(self, place: Place) -> None:
        """Note that the key that was just taken is not served after all; it stays due."""
        self._inner.stand_back(place)
        if place.cell.index < len(self._dues):
            self._dues[place.cell.index] = -math.inf

    def remove(self, place: Place) -> None:
        """Remove a key that is not served now, whether it is held back or not."""
        line = place.line
        if line is self._held:
            self._release(place)
            self._drop_surplus()
        elif line is self._barred:
            self._barred.remove(place)
            self._barred_count -= 1
            place.line = None
        else:
            self._inner.remove(place)

    def bars(self, place: Place) -> bool:
        """Tell whether this waiting key will never be served."""
        return place.line is self._barred

    def waiting_since(self) -> float | None:
        """Return the start of the longest wait of any key that is not barred."""
        waits = self._inner.waiting_since()
        first = self._held.head()
        since = None if first is None else first.waiting_since
        return waits if since is None or (waits is not None and waits <= since) else since

    def _note_service(self, place: Place, now: float) -> None:
        index = place.cell.index
        intervals = self._intervals
        if index < len(intervals) and intervals[index]:
            self._dues[index] = now + intervals[index]

    def _hold(self, place: Place, due: float) -> QueueOfKeys:
        """Hold a key back until `due`, and return the list to put it into."""
        if due == math.inf:
            self._barred_count += 1
            line = self._barred
        else:
            self._held_count += 1
            self._sequence += 1
            heappush(self._entries, (due, self._sequence, place))
            line = self._held
        place.line = line
        return line

    def _release(self, place: Place) -> None:
        self._held.remove(place)
        self._held_count -= 1
        place.line = None

    def _release_due(self, now: float) -> None:
        """Pass the due keys to the inner scheduler."""
        entries = self._entries
        due: list[Place] = []
        while entries and entries[0][0] <= now:
            place = heappop(entries)[2]
            if place.line is self._held:
                self._release(place)
                due.append(place)
        self._drop_surplus()
        # In the order of their waits, each key goes right behind the one before it.
        due.sort(key=_wait_rank)
        for place in due:
            self._inner.restore(place)

    def _drop_surplus(self) -> None:
        """Remove the invalid entries if there are too many. O(1) amortised."""
        if len(self._entries) > 2 * self._held_count + _SPARE_ENTRIES:
            dues = self._dues
            self._entries = [
                (dues[place.cell.index], number, place)
                for number, place in enumerate(self._held, self._sequence + 1)
            ]
            self._sequence += len(self._entries)
            heapify(self._entries)

    def __len__(self) -> int:
        return len(self._inner) + self._held_count + self._barred_count

    def __iter__(self) -> Iterator[Place]:
        """Iterate over the waiting keys, with those that are held back at the end."""
        yield from self._inner
        yield from self._held
        yield from self._barred

    def _check(self) -> None:
        self._inner._check()
        entries = self._entries
        assert len(entries) <= 2 * self._held_count + _SPARE_ENTRIES, "too many invalid entries"
        assert all(entries[(child - 1) // 2] < entries[child] for child in range(1, len(entries)))
        due_of = {id(place): due for due, _, place in entries if place.line is self._held}
        for line, count in ((self._held, self._held_count), (self._barred, self._barred_count)):
            line._check()
            places = list(line)
            assert len(places) == count
            assert all(place.line is line for place in places)
        for place in self._held:
            due = self._dues[place.cell.index]
            assert due_of.pop(id(place)) == due < math.inf, "an entry with a wrong due time"
        assert not due_of, "an entry of a key that is not held"
        assert all(self._dues[place.cell.index] == math.inf for place in self._barred)
        waits = [place.waiting_since for place in self._held if place.waiting_since is not None]
        assert waits == sorted(waits), "the held keys are out of order"
        assert len(self._intervals) == len(self._dues)
        for interval, due in zip(self._intervals, self._dues, strict=True):
            assert (interval == math.inf) <= (due == math.inf)
            assert interval > 0 or due == -math.inf, "a due time without an interval"


def _wait_rank(place: Place) -> tuple[float, int]:
    assert place.waiting_since is not None
    return place.waiting_since, place.waiting_rank
