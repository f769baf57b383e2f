"""How a queue of windows takes tuples in: one by one, in batches, or from a stream.

A queue that is not attached takes them in at once. One that is attached to a stream reads the
stream's log, whenever it is asked anything, each tuple as of its own arrival; so an enqueue costs
the stream the same however many such queues it has.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Generic, TypeVar

from ..clock import Clock, SystemClock, steps_back_of, ticks_of
from ..errors import (
    AlreadyAttachedError,
    ClosedError,
    PagePoolFullError,
    ParameterError,
    TimeOutOfRangeError,
    UnknownKeyError,
    ValueNotEncodableError,
    ValueTooLargeError,
)
from ..keys import KeyCell, KeyTable
from ..statistics import ProcessingCost, UpdateRates
from ..updates import TOMBSTONE, Key, Outcome
from ..windows import WindowCounts, WindowSpecification
from .batch_outcome import BatchOutcome, count_outcomes
from .columns import Column, as_list, check_key, check_lengths, float_time, length_of, read_times
from .log_feed import LogFeed, entry_of, newest_entries
from .log_queue import READ_AHEAD
from .queue_places import QueuePlaces
from .shared_log import LogEntry
from .stream import Stream
from .window_place import WindowPlace

AnyPlace = TypeVar("AnyPlace", bound=WindowPlace)

_LATE = Outcome.LATE
_OUTSIDE = Outcome.OUTSIDE
_REJECTED = Outcome.REJECTED
_WAITING = Outcome.WAITING


class WindowIntake(QueuePlaces, Generic[AnyPlace]):
    """The part of a queue of windows that tuples pass; `WindowedQueue` is the whole."""

    __slots__ = (
        "_counts",
        "_encode",
        "_feed",
        "_is_plain",
        "_origin",
        "_specification",
        "_stream",
        "_table",
        "_ticks",
        "_ticks_only",
        "_update_rates",
        "_window_places",
    )

    def __init__(
        self,
        specification: WindowSpecification,
        *,
        clock: Clock | None,
        rates: UpdateRates,
        cost: ProcessingCost,
    ) -> None:
        if not isinstance(specification, WindowSpecification):
            raise ParameterError("specification", specification, "a WindowSpecification")
        super().__init__(cost)
        self._specification = specification
        self._ticks, self._origin = ticks_of(SystemClock() if clock is None else clock)
        self._ticks_only = self._ticks
        """Tells the time; `_ticks` also takes in what the stream's log has."""
        self._update_rates = rates
        self._table = KeyTable()
        self._window_places: dict[Key, AnyPlace] = {}
        self._counts = WindowCounts()
        self._encode: Callable[[object], object] | None = None
        """Makes of a value what is stored, where that is something else."""
        self._is_plain = True
        """Whether tuples are enqueued here, and held as they are."""
        self._stream: Stream | None = None
        self._feed = LogFeed(self._take_entry, read_ahead=READ_AHEAD)

    def enqueue(self, key: Key, value: object, time: float | None = None) -> Outcome:
        """Enqueue a tuple of `key`; `time` defaults to the clock's. O(1) amortised.

        Raises PagePoolFullError if the page pool has no room for it, after counting it and letting
        go of the windows that lack it now.
        """
        if self._stream is not None:
            return self._stream.enqueue(key, value, time)
        if time is None:
            time = self._ticks() + self._origin
        elif time.__class__ is not float:
            time = float_time(time)
        try:
            place = self._window_places[key]
        except (KeyError, TypeError):
            return self._enqueue_new(key, value, time)
        buffer = place.buffer
        if buffer.late_before <= time and self._is_plain and value is not TOMBSTONE:
            # `_take_in`, written out.
            if time < buffer.quiet_until:
                # Mostly. Nothing happens but that the tuple is there, and when does not matter.
                buffer.late_before = time
                buffer.append((key, value, time))
                self._counts.arrived += 1
                return _WAITING
            triggers = buffer.arrive((key, value, time))
            self._counts.arrived += 1
            return self._react(place, triggers, self._ticks()) if triggers else _WAITING
        stored = value if self._encode is None else self._encode_value(value)
        return self._take_in_or_raise(place, key, stored, time, self._ticks())

    def _enqueue_new(self, key: Key, value: object, time: float) -> Outcome:
        """Enqueue a tuple of a key that is not known, after finding out that it can be."""
        now = self._ticks()
        check_key(key)
        self._specification.newest(time)  # which refuses what is no time
        stored = self._encode_value(value)
        self.admit(key)
        return self._take_in_or_raise(None, key, stored, time, now)

    def _take_in_or_raise(
        self, place: AnyPlace | None, key: Key, value: object, time: float, now: float
    ) -> Outcome:
        outcome = self._take_in(place, key, value, time, now)
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
        if self._stream is not None:
            return self._stream.enqueue_many(keys, values, times)
        now = self._ticks()
        rows = length_of("keys", keys)
        check_lengths(
            keys=rows,
            values=length_of("values", values),
            times=rows if times is None else length_of("times", times),
        )
        moments = [now + self._origin] * rows if times is None else read_times(times).tolist()
        self._check_range(moments)
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

    def _check_range(self, moments: list[float]) -> None:
        """Raise TimeOutOfRangeError for the row whose window cannot be told, if there is one."""
        for extreme in (min(moments), max(moments)) if moments else ():
            try:
                self._specification.newest(extreme)
            except TimeOutOfRangeError as error:
                row = moments.index(extreme)
                raise TimeOutOfRangeError(extreme, error.slide, row) from None

    def _admit_all(self, keys: list[object]) -> None:
        """Check and admit the new keys of a batch, all of them or none."""
        admitted: dict[Key, None] = {}
        try:
            for row, key in enumerate(keys):
                check_key(key, row)
                if key not in self._window_places and key not in admitted:
                    self.admit(key)
                    admitted[key] = None
        except Exception:
            for key in admitted:
                self.dismiss(key)
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
        self, place: AnyPlace | None, key: Key, value: object, time: float, now: float
    ) -> Outcome:
        """Take in a tuple of a key that was admitted."""
        counts = self._counts
        if value is TOMBSTONE:
            return self._take_in_deletion(place, key, time, now)
        if place is None:
            place = self._welcome(key, now)
        buffer = place.buffer
        if time < buffer.late_before:
            self._specification.newest(time)  # which refuses what is no time
            counts.arrived += 1
            counts.late += 1
            return _LATE
        triggers = buffer.arrive((key, value, time))
        counts.arrived += 1
        return self._react(place, triggers, now) if triggers else _WAITING

    def _take_in_deletion(
        self, place: AnyPlace | None, key: Key, time: float, now: float
    ) -> Outcome:
        """Forget a key of which a tombstone came; it is in no window itself."""
        self._specification.newest(time)  # which refuses what is no time
        self._counts.arrived += 1
        if place is not None and time < place.buffer.late_before:
            self._counts.late += 1
            return _LATE
        self._counts.outside += 1
        if place is None:
            self.dismiss(key)
        else:
            self._forget_place(place, now)
        return _OUTSIDE

    def _welcome(self, key: Key, now: float) -> AnyPlace:
        """Make a place for a new key, which counts from now on."""
        cell = self._table.add(key, time=now, arrival=now)
        self._update_rates.begin(cell)
        place = self._window_places[key] = self._make_place(cell)
        self._new_place(cell, place)
        self._begin(place, 1, now)
        return place

    # From a stream.

    @property
    def stream(self) -> Stream | None:
        """The stream that the queue is attached to, None if tuples are enqueued here."""
        return self._stream

    @property
    def clock_steps_back(self) -> int:
        """How many readings of the clock were earlier than one before; time stood still then."""
        return steps_back_of(self._ticks_only)

    @property
    def is_attached(self) -> bool:
        """Whether the queue is attached to a stream."""
        return self._stream is not None

    def check_is_free(self, stream: Stream) -> None:
        """Raise unless the queue can join a stream: it was not used yet."""
        if self.is_closed:
            raise ClosedError("queue")
        if self._stream is not None or self._counts.arrived:
            raise AlreadyAttachedError(
                "this queue is attached already, or has taken updates of its own; attach a new one"
            )

    def join(self, stream: Stream, *, since: float | None) -> None:
        """Read the log of `stream` from now on. Called by `Stream.attach`."""
        self._stream = stream
        self._is_plain = False
        self._ticks_only = stream.ticks
        if self._encode is not None:
            self._feed.read_ahead = 1  # what is in the page pool is integrated as it comes
        self._feed.open(stream, at_once=True)
        now = stream.now()
        if since is not None:
            for entry in newest_entries(stream, now, None, since=since):
                self._take_at(entry, now)
        self._ticks = self._settle

    def take_over(self, cell: KeyCell, now: float) -> None:
        """Take in the newest tuple of a key, as if it arrived now."""
        assert self._stream is not None
        self._take_at(entry_of(self._stream, cell), now)

    def holds(self, cell: KeyCell) -> bool:
        """Tell whether a window of the key waits, or is committed and not delivered."""
        self._feed.settle()
        place = self._window_places.get(cell.key)
        return place is not None and (
            place.waiting_since is not None or bool(place.committed_versions)
        )

    def counts(self, cell: KeyCell) -> bool:
        """Tell whether the key has arrived here and was not forgotten since."""
        self._feed.settle()
        return cell.key in self._window_places

    def forget_cell(self, cell: KeyCell, now: float) -> None:
        """Forget the key, as the stream has. Called by the stream."""
        self._feed.settle()
        place = self._window_places.get(cell.key)
        if place is not None:
            self._forget_place(place, now)
        else:
            self.dismiss(cell.key)  # none of its tuples came in

    def _settle(self) -> float:
        """Take in what was not read, and return the time."""
        assert self._stream is not None
        now = self._stream.catch_up()
        self._feed.settle()
        return now

    def _take_entry(self, entry: LogEntry) -> None:
        self._take_at(entry, entry.arrival)
        if entry.value is TOMBSTONE and self._stream is not None:
            self._stream.bury(entry.cell)  # nothing of the key waits here to be delivered

    def _take_at(self, entry: LogEntry, now: float) -> None:
        """Take in a tuple that a stream has accepted, whatever its value and time are."""
        key = entry.cell.key
        place = self._window_places.get(key)
        if place is None and entry.version == 0:  # late in the stream, and new here
            self._counts.arrived += 1
            self._counts.late += 1
            return
        try:
            self._specification.newest(entry.time)
            stored = self._encode_value(entry.value)
        except TimeOutOfRangeError:
            self._counts.arrived += 1
            self._counts.outside += 1
        except (ValueNotEncodableError, ValueTooLargeError):
            self._take_in_unstorable(place, key, entry.time, now)
        except Exception:  # of a codec that breaks its word; no window is to lack it unseen
            self._take_in_unstorable(place, key, entry.time, now)
            raise
        else:
            self._take_in(place, key, stored, entry.time, now)

    def _take_in_unstorable(
        self, place: AnyPlace | None, key: Key, time: float, now: float
    ) -> None:
        """Count a tuple as rejected, which now lacks in its windows."""
        if place is None:
            place = self._welcome(key, now)
        self._counts.arrived += 1
        if time < place.buffer.late_before:
            self._counts.late += 1
        else:
            self._react(place, place.buffer.refuse(time), now)

    # What they share.

    def _forget_place(self, place: AnyPlace, now: float) -> None:
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
        self.dismiss(cell.key)
        self._note_forgotten(place)
        place.close()

    def _catch_up(self) -> float:
        return self._ticks()

    def _rates(self) -> UpdateRates:
        return self._update_rates

    def _find(self, key: Key) -> AnyPlace | None:
        try:
            return self._window_places.get(key)
        except TypeError:
            check_key(key)
            raise

    def _find_known(self, key: Key) -> AnyPlace:
        """Return the place of a key, or raise UnknownKeyError."""
        place = self._find(key)
        if place is None:
            raise UnknownKeyError(key)
        return place

    # What the kinds differ in.

    @abstractmethod
    def admit(self, key: Key) -> None:
        """Raise if the parameters that were given for `key` make no sense."""

    @abstractmethod
    def dismiss(self, key: Key) -> None:
        """Forget what `admit` noted of a key that did not come in, or is gone."""

    @abstractmethod
    def _make_place(self, cell: KeyCell) -> AnyPlace:
        """Make the place of a new key."""

    @abstractmethod
    def _react(self, place: AnyPlace, triggers: int, now: float) -> Outcome:
        """Do what the triggers of an arrival ask for."""

    @abstractmethod
    def _note_forgotten(self, place: AnyPlace) -> None:
        """Note that a key is gone; what was committed of it may still have to leave."""

    def _check(self) -> None:
        super()._check()
        self._table._check()
        assert len(self._table) == len(self._window_places)
        for place in self._window_places.values():
            assert self.place_of(place.cell) is place
            place._check()
