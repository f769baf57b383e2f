"""What queues of windows have in common: tuples in, results delivered, both kinds of staleness.

Tuples enter by `enqueue` or `enqueue_many`, and go to the windows of their key. What a tuple means
for the key comes back as triggers, of which the close of a window matters here: from then on the
application is stale. The kinds of queues differ in which windows leave, and when.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar, cast

from ..clock import Clock, SystemClock, ticks_of
from ..errors import (
    ClosedError,
    PagePoolFullError,
    ParameterError,
    UnknownKeyError,
    ValueNotEncodableError,
    WindowNotInProcessError,
)
from ..keys import KeyCell, KeyTable
from ..memory import MemoryUsage
from ..statistics import (
    DEFAULT_FORGETTING,
    AnyKey,
    EstimatedRates,
    GivenRates,
    PerKey,
    ProcessingCost,
    Rates,
    UpdateRates,
    check_count,
)
from ..updates import TOMBSTONE, Key, Outcome, Update
from ..windows import (
    OpenWindows,
    TupleStatistics,
    WindowCounts,
    WindowQueueStatistics,
    WindowResult,
    WindowSpecification,
    WindowStatistics,
    WindowTuple,
)
from .batch_outcome import BatchOutcome, count_outcomes
from .columns import Column, as_list, check_key, check_lengths, float_time, length_of, read_times
from .queue_places import QueuePlaces
from .stream_queue import DEFAULT_IN_PROCESS_LIMIT
from .window_place import CommittedWindow, WindowPlace

Buffer = TypeVar("Buffer", bound=OpenWindows)

_LATE = Outcome.LATE
_OUTSIDE = Outcome.OUTSIDE
_REJECTED = Outcome.REJECTED
_WAITING = Outcome.WAITING
_new_tuple = tuple.__new__


class WindowedQueue(QueuePlaces, Generic[Buffer]):
    """A queue of windows.

    `processing_cost` is that of a window, measured unless given: the time that passes between a
    dequeue and the next call, summed over the window's tuples.
    """

    __slots__ = (
        "_aborted",
        "_counts",
        "_delivered",
        "_encode",
        "_final",
        "_in_process",
        "_in_process_limit",
        "_origin",
        "_served",
        "_served_at",
        "_specification",
        "_table",
        "_taken_as_delivered",
        "_ticks",
        "_update_rates",
        "_window_places",
    )

    def __init__(
        self,
        specification: WindowSpecification,
        *,
        clock: Clock | None = None,
        rates: PerKey[AnyKey] | None = None,
        processing_cost: float | None = None,
        forgetting: float = DEFAULT_FORGETTING,
        in_process_limit: int = DEFAULT_IN_PROCESS_LIMIT,
    ) -> None:
        if not isinstance(specification, WindowSpecification):
            raise ParameterError("specification", specification, "a WindowSpecification")
        check_count("in_process_limit", in_process_limit, least=1)
        super().__init__(ProcessingCost(processing_cost, forgetting))
        self._specification = specification
        self._ticks, self._origin = ticks_of(SystemClock() if clock is None else clock)
        self._update_rates: UpdateRates = (
            EstimatedRates(forgetting) if rates is None else GivenRates(cast(Rates, rates))
        )
        self._table = KeyTable()
        self._encode: Callable[[object], object] | None = None
        """Makes of a value what is stored, where that is something else."""
        self._window_places: dict[Key, WindowPlace[Buffer]] = {}
        self._counts = WindowCounts()
        self._in_process: OrderedDict[tuple[Key, float], CommittedWindow[Buffer]] = OrderedDict()
        """The windows that have left and were not delivered, oldest first."""
        self._in_process_limit = in_process_limit
        self._delivered = self._taken_as_delivered = self._aborted = 0
        self._served: CommittedWindow[Buffer] | None = None
        self._served_at = 0.0
        self._final: WindowQueueStatistics | None = None

    @property
    def specification(self) -> WindowSpecification:
        """Which windows there are."""
        return self._specification

    # Tuples that come.

    def enqueue(self, key: Key, value: object, time: float | None = None) -> Outcome:
        """Enqueue a tuple of `key`; `time` defaults to the clock's. O(1) amortised.

        Raises PagePoolFullError if the page pool has no room for it, after counting it and letting
        go of the windows that lack it now.
        """
        now = self._ticks()
        if time is None:
            time = now + self._origin
        elif time.__class__ is not float:
            time = float_time(time)
        stored = value if self._encode is None else self._encode_value(value)
        place: WindowPlace[Buffer] | None
        try:
            place = self._window_places[key]
        except (KeyError, TypeError):
            place = None
            check_key(key)
            self._specification.newest(time)  # which refuses what is no time
            self._admit(key)
        outcome = self._take_in(place, key, stored, time, now)
        if outcome is _REJECTED:
            raise PagePoolFullError(self._counts.pool_capacity)
        return outcome

    def enqueue_many(
        self, keys: Column, values: Column, times: Column | None = None
    ) -> BatchOutcome:
        """Enqueue the rows of three equally long columns; `times` defaults to the clock's.

        What comes of it is what enqueueing row by row at one instant would give. If a row is bad
        nothing is applied; what load does to a row is counted, and never raised.
        """
        now = self._ticks()
        rows = length_of("keys", keys)
        check_lengths(
            keys=rows,
            values=length_of("values", values),
            times=rows if times is None else length_of("times", times),
        )
        moments = [now + self._origin] * rows if times is None else read_times(times).tolist()
        for extreme in (min(moments), max(moments)) if moments else ():
            self._specification.newest(extreme)  # which refuses times that are too large
        all_keys = as_list("keys", keys)
        stored = as_list("values", values)
        if self._encode is not None:
            stored = [self._encode_value(value, row) for row, value in enumerate(stored)]
        self._admit_all(all_keys)
        places = self._window_places
        return count_outcomes(
            [
                self._take_in(places.get(key), key, value, time, now)
                for key, value, time in zip(all_keys, stored, moments, strict=True)
            ]
        )

    def _admit_all(self, keys: list[object]) -> None:
        """Check and admit the new keys of a batch, all of them or none."""
        admitted: dict[Key, None] = {}
        try:
            for row, key in enumerate(keys):
                check_key(key, row)
                if key not in self._window_places and key not in admitted:
                    self._admit(key)
                    admitted[key] = None
        except Exception:
            for key in admitted:
                self._dismiss(key)
            raise

    def _encode_value(self, value: object, row: int | None = None) -> object:
        """Return `value` as it will be stored, or raise if it never can be."""
        if value is TOMBSTONE or self._encode is None:
            return value
        try:
            return self._encode(value)
        except ValueNotEncodableError as error:
            if row is None:
                raise
            raise error.at(row) from error

    def _take_in(
        self,
        place: WindowPlace[Buffer] | None,
        key: Key,
        value: object,
        time: float,
        now: float,
    ) -> Outcome:
        """Take in a tuple of a key that was admitted."""
        counts = self._counts
        if value is TOMBSTONE:
            return self._take_in_deletion(place, key, time, now)
        if place is None:
            place = self._welcome(key, now)
        buffer = place.buffer
        if time < buffer.late_before:
            counts.arrived += 1
            counts.late += 1
            return _LATE
        triggers = buffer.arrive(_new_tuple(Update, (key, value, time)))
        counts.arrived += 1
        return self._react(place, triggers, now) if triggers else _WAITING

    def _take_in_deletion(
        self, place: WindowPlace[Buffer] | None, key: Key, time: float, now: float
    ) -> Outcome:
        """Forget a key of which a tombstone came; it is in no window itself."""
        self._counts.arrived += 1
        if place is not None and time < place.buffer.late_before:
            self._counts.late += 1
            return _LATE
        self._counts.outside += 1
        if place is None:
            self._dismiss(key)
        else:
            self._forget_place(place, now)
        return _OUTSIDE

    def _welcome(self, key: Key, now: float) -> WindowPlace[Buffer]:
        """Make a place for a new key, which counts from now on."""
        cell = self._table.add(key, time=now, arrival=now)
        self._update_rates.begin(cell)
        place = self._window_places[key] = self._make_place(cell)
        self._new_place(cell, place)
        self._begin(place, 1, now)
        return place

    def advance(self, now: float) -> None:
        """Close the windows that end at or before `now`, a source time, as no tuple will.

        A tuple that comes for one of them after all is late. O(1) if none ends, else O(keys).
        """
        clock_now = self._ticks()
        try:
            until = float(now)
        except (TypeError, ValueError):
            until = math.nan
        if math.isnan(until):
            raise ParameterError("now", now, "a time in seconds")
        if until < self._counts.earliest_end:
            return
        self._counts.earliest_end = math.inf
        for place in self._window_places.values():
            triggers = place.buffer.close_until(until)
            if triggers:
                self._react(place, triggers, clock_now)
            self._counts.earliest_end = min(self._counts.earliest_end, place.buffer.next_end)

    # Results.

    def deliver(self, result: WindowResult) -> None:
        """Note that the application has the result of a window, known by its key and end."""
        now = self._ticks()
        self._note_service(now)
        try:
            window = self._in_process.pop((result.key, result.end), None)
        except (AttributeError, TypeError):
            raise WindowNotInProcessError(result) from None
        if window is not None:
            self._note_delivery(window, now)
        elif not (self._taken_as_delivered and result.key in self._window_places):
            raise WindowNotInProcessError(result)

    def deliver_many(self, results: Iterable[WindowResult]) -> None:
        """Deliver each of `results`."""
        for result in results:
            self.deliver(result)

    @abstractmethod
    def dequeue(self) -> WindowTuple | None:
        """Hand out the next tuple of a committed window, or None if there is none now."""

    def dequeue_many(self, limit: int) -> list[WindowTuple]:
        """Hand out up to `limit` tuples, as that many calls of `dequeue` would."""
        check_count("limit", limit, least=0)
        tuples: list[WindowTuple] = []
        while len(tuples) < limit and (window_tuple := self.dequeue()) is not None:
            tuples.append(window_tuple)
        return tuples

    def _note_service(self, now: float) -> None:
        """Count the time since the last tuple was handed out as spent on its window."""
        window = self._served
        if window is not None:
            window.seconds += now - self._served_at
            self._served = None

    def _note_finished(self, window: CommittedWindow[Buffer], now: float) -> None:
        """Note that all of a window has left, and that its result is to be delivered."""
        name = window.name
        older = self._in_process.pop(name, None)  # of a key that was forgotten and came again
        self._in_process[name] = window
        if older is None and len(self._in_process) > self._in_process_limit:
            older = self._in_process.popitem(last=False)[1]
        if older is not None:
            self._taken_as_delivered += 1
            self._note_delivery(older, now)

    def _note_delivery(self, window: CommittedWindow[Buffer], now: float) -> None:
        self._delivered += 1
        self._cost.took(window.seconds)
        window.place.note_delivery(window.version, self._sums, now)

    # What is known.

    def statistics(self) -> WindowQueueStatistics:
        """Return the exact counters; after `close` the final ones. O(keys)."""
        if self._final is not None:
            return self._final
        return self._count()

    def memory_usage(self) -> MemoryUsage | None:
        """Return what the tuples take of the page pool, None if they are not kept there."""
        return None

    def __len__(self) -> int:
        """Return how many keys wait."""
        return self._waiting_count()

    @property
    def is_closed(self) -> bool:
        """Whether the queue is closed, and only its final statistics can be read."""
        return self._final is not None

    def forget(self, key: Key) -> None:
        """Forget `key`; UnknownKeyError if it is not known.

        Its staleness keeps counting in the averages. Its windows count as superseded; one that is
        committed and complete still leaves, one that is not is given up.
        """
        now = self._ticks()
        place = self._find(key)
        if place is None:
            raise UnknownKeyError(key)
        self._forget_place(place, now)

    def close(self) -> WindowQueueStatistics:
        """Free everything, and return the final statistics."""
        if self._final is None:
            now = self._ticks()
            self._final = self._count()
            for place in self._window_places.values():
                self._sums.retire(place, now)
            self._let_go()
            self._places.clear()
            self._window_places.clear()
            self._in_process.clear()
            self._served = None
            self._ticks = _raise_closed
        return self._final

    def _forget_place(self, place: WindowPlace[Buffer], now: float) -> None:
        """Let go of a key; what is committed of it may still leave."""
        cell = place.cell
        triggers = place.buffer.erase()
        if triggers:
            self._react(place, triggers, now)
        self._retire(place, now)
        place.delivered_version = WindowPlace.FORGOTTEN
        self._places[cell.index] = None
        del self._window_places[cell.key]
        self._table.remove(cell)
        self._dismiss(cell.key)
        self._note_forgotten(place)

    def _count(self) -> WindowQueueStatistics:
        counts = self._counts
        waiting, ready, idle = self._waiting_count(), self._ready_count(), self._idle_count()
        return WindowQueueStatistics(
            windows=WindowStatistics(
                opened=counts.opened,
                committed=counts.committed,
                superseded=counts.superseded,
                shed=counts.shed,
                rejected=counts.rejected,
                held=sum(place.buffer.held_windows for place in self._window_places.values()),
            ),
            tuples=TupleStatistics(
                arrived=counts.arrived,
                used=counts.used,
                dropped=counts.dropped,
                outside=counts.outside,
                late=counts.late,
                rejected=counts.refused,
                held=self._held_tuples(),
            ),
            waiting=waiting,
            under_processing=ready,
            idle=idle,
            in_process=len(self._in_process),
            delivered=self._delivered,
            taken_as_delivered=self._taken_as_delivered,
            aborted=self._aborted,
            keys=self._keys,
            forgotten=self._forgotten,
        )

    def _held_tuples(self) -> int:
        return sum(place.buffer.held_tuples for place in self._window_places.values())

    def _catch_up(self) -> float:
        return self._ticks()

    def _rates(self) -> UpdateRates:
        return self._update_rates

    def _find(self, key: Key) -> WindowPlace[Buffer] | None:
        try:
            return self._window_places.get(key)
        except TypeError:
            check_key(key)
            raise

    # What the kinds differ in.

    @abstractmethod
    def _admit(self, key: Key) -> None:
        """Raise if the parameters that were given for `key` make no sense."""

    @abstractmethod
    def _dismiss(self, key: Key) -> None:
        """Forget what `_admit` noted."""

    @abstractmethod
    def _make_place(self, cell: KeyCell) -> WindowPlace[Buffer]:
        """Make the place of a new key."""

    @abstractmethod
    def _react(self, place: WindowPlace[Buffer], triggers: int, now: float) -> Outcome:
        """Do what the triggers of an arrival ask for."""

    @abstractmethod
    def _note_forgotten(self, place: WindowPlace[Buffer]) -> None:
        """Note that a key is gone; what was committed of it may still have to leave."""

    @abstractmethod
    def _let_go(self) -> None:
        """Free everything, since the queue is closed."""

    @abstractmethod
    def _waiting_count(self) -> int:
        """Return how many keys wait."""

    @abstractmethod
    def _ready_count(self) -> int:
        """Return how many keys are READY."""

    @abstractmethod
    def _idle_count(self) -> int:
        """Return how many keys are IDLE."""

    def _check(self) -> None:
        super()._check()
        self._table._check()
        assert len(self._table) == len(self._window_places)
        for place in self._window_places.values():
            assert self.place_of(place.cell) is place
            place._check()
        assert self.statistics().is_balanced, f"something is not accounted for: {self._count()}"


def _raise_closed() -> float:
    raise ClosedError("queue")
