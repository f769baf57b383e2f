"""How tuples enter a queue of windows: one by one, in batches, or from a stream.

A queue that is not attached processes tuples at once. A queue that is attached to a stream reads
the stream's log (`LogCursor`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Final, Generic, Protocol, cast

from ...clock import Clock, ticks_of
from ...columns import Column, as_list, check_key, checked_rows, float_time, read_times
from ...errors import (
    ClosedError,
    PagePoolFullError,
    TimeOutOfRangeError,
    ValueNotEncodableError,
    ValueTooLargeError,
)
from ...held_interrupt import uninterrupted
from ...keys import CLOSED, KeyCell, KeyNumbers, Place
from ...schedulers import Terms
from ...statistics import UpdateRates
from ...updates import TOMBSTONE, BatchOutcome, Key, Outcome, count_outcomes
from ...windows import WindowCounts, WindowSpecification
from ...windows.open_windows import ALWAYS, UNSTORABLE
from ..log.log_cursor import LogCursor
from ..log.log_waiting import READ_AHEAD
from ..log.shared_log import LogEntry
from ..places import QueuePlaces
from .window_keys import WindowKeys, WindowTerms
from .window_kind import WindowKind
from .window_place import AnyPlace

if TYPE_CHECKING:
    from ..stream.feed import Feed
    from ..stream.listener import Beginning
    from ..stream.stream import Stream

_NOTHING_GIVEN: Final[WindowTerms] = (None, None)
_OUT_OF_RANGE: Final = object()
"""Stands for the value of a tuple whose windows cannot be computed."""

_LATE = Outcome.LATE
_OUTSIDE = Outcome.OUTSIDE
_REJECTED = Outcome.REJECTED
_WAITING = Outcome.WAITING


class TakesTuples(Protocol[AnyPlace]):
    """A queue of windows."""

    _stream: Stream | None
    _intake: WindowIntake[AnyPlace]


def enqueue(
    self: TakesTuples[AnyPlace], key: Key, value: object, time: float | None = None
) -> Outcome:
    """Enqueue one tuple and return its outcome. O(1) amortised.

    `key` is any hashable object that equals itself. `value` is any object; with a page pool, one
    that the codec can encode. `time` is when the source made the tuple, in seconds. It decides
    which windows have the tuple, and defaults to the clock's time. A tuple older than the newest of
    its key is late: it is dropped and counted.

    Raises PagePoolFullError if the page pool has no room for it. The tuple counts as rejected, and
    the windows that lack it are dropped.
    """
    if self._stream is not None:
        return self._stream.enqueue(key, value, time)
    intake = self._intake
    if time is None:
        time = intake.ticks() + intake.origin
    elif time.__class__ is not float:
        time = float_time(time)
    try:
        place = intake.places_by_key[key]
    except (KeyError, TypeError):
        return intake.take_one(key, value, time)
    windows = place.windows
    if windows.late_before <= time and intake.is_direct and value is not TOMBSTONE:
        # This is `_take_in`, written out.
        if time < windows.quiet_until:
            # The usual case. The tuple is only stored, and its arrival time does not matter.
            windows.late_before = time
            windows.keep((key, value, time))
            intake.counts.arrived += 1
            return _WAITING
        now = intake.ticks()
        triggers = windows.arrive((key, value, time))
        intake.counts.arrived += 1
        return intake.kind.react(place, triggers, now) if triggers else _WAITING
    return intake.take_one(key, value, time)


def enqueue_many(
    self: TakesTuples[AnyPlace], keys: Column, values: Column, times: Column | None = None
) -> BatchOutcome:
    """Enqueue the rows of three columns of equal length, and return the outcomes.

    The columns are sequences, NumPy arrays or Arrow arrays. `times` defaults to the clock's time.
    The result is the same as enqueueing row by row at one instant. If a row is invalid, an error
    names it and no row is applied. Rows that are dropped because of load are counted and raise no
    error.
    """
    if self._stream is not None:
        return self._stream.enqueue_many(keys, values, times)
    return self._intake.take_many(keys, values, times)


class WindowIntake(Generic[AnyPlace]):
    """The part of a queue of windows through which tuples enter. It is the stream's `Listener`."""

    __slots__ = (
        "_cursor",
        "_failure",
        "_keys",
        "_next_place",
        "_next_value",
        "_numbers",
        "_places_by_cell",
        "_rates",
        "_specification",
        "_terms",
        "counts",
        "encode",
        "feed",
        "is_closed",
        "is_direct",
        "kind",
        "origin",
        "places",
        "places_by_key",
        "stands_alone",
        "ticks",
    )

    def __init__(
        self,
        kind: WindowKind[AnyPlace],
        specification: WindowSpecification,
        places: QueuePlaces,
        counts: WindowCounts,
        rates: UpdateRates,
        *,
        clock: Clock,
        encode: Callable[[object], object] | None,
        is_direct: bool,
    ) -> None:
        self.kind = kind
        self.places = places
        self.counts = counts
        self._specification = specification
        self._rates = rates
        self.ticks, self.origin = ticks_of(clock)
        self.encode = encode
        """Returns the stored form of a value, if that is not the value itself."""
        self.is_direct = is_direct
        """Whether tuples are enqueued here and stored as they are."""
        self._numbers = KeyNumbers()
        self._keys: WindowKeys[AnyPlace] = WindowKeys(kind.make_place, kind.terms_for)
        self.places_by_key = self._keys.places
        """The places of keys whose tuples are enqueued here, for looking up only."""
        self._places_by_cell: dict[KeyCell, AnyPlace] = {}
        """The places of a stream's keys by cell. The hash of a cell cannot fail, unlike a key's."""
        self._terms: dict[KeyCell, WindowTerms] = {}
        """The options that were given for keys of the stream, if any."""
        self._next_place: AnyPlace | None = None
        self._next_value: object = None
        """The stored form of the value of the next tuple, from `_ask_entry`."""
        self._failure: Exception | None = None
        """An exception of a codec that it should not raise."""
        self._cursor: LogCursor | None = None
        self.feed: Feed | None = None
        """The stream that feeds the queue; None if tuples are enqueued here."""
        self.is_closed = False
        self.stands_alone = True
        """Whether the queue is neither attached nor closed, and only its clock is read."""

    def catch_up(self) -> float:
        """Read the unread tuples and return the time. A closed queue raises ClosedError."""
        if self.is_closed:
            raise ClosedError("queue")
        if self.feed is None or self._cursor is None:
            return self.ticks()
        now = self.feed.catch_up()
        self.kind.ask()
        self._cursor.settle()
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure
        return now

    # Tuples that are enqueued here.

    def take_one(self, key: Key, value: object, time: float) -> Outcome:
        """Process a tuple that has not been checked yet."""
        now = self.catch_up()
        check_key(key)
        self._specification.newest(time)  # raises for an invalid time
        stored = self._encode_value(value)
        self.kind.ask()
        self.kind.ask_times([time])
        try:
            place = self._keys.place_for(key, value)
            outcome = self._take_in(place, key, stored, time, now)
        finally:
            self._keys.end_call()
        if outcome is _REJECTED:
            raise PagePoolFullError(self.counts.pool_capacity)
        return outcome

    @uninterrupted
    def take_many(self, keys: Column, values: Column, times: Column | None) -> BatchOutcome:
        """Process a batch (`enqueue_many`)."""
        now = self.catch_up()
        rows = checked_rows(keys, values, times)
        moments = [now + self.origin] * rows if times is None else read_times(times).tolist()
        self._specification.check_times(moments)
        all_keys = as_list("keys", keys)
        stored = as_list("values", values)
        if self.encode is not None:
            stored = [self._encode_value(value, row) for row, value in enumerate(stored)]
        self.kind.ask()
        self.kind.ask_times(moments)
        try:
            places = self._keys.places_for(all_keys, stored)
            outcomes = [
                self._take_in(place, key, value, time, now)
                for place, key, value, time in zip(places, all_keys, stored, moments, strict=True)
            ]
        finally:
            self._keys.end_call()
        return count_outcomes(outcomes)

    def _encode_value(self, value: object, row: int | None = None) -> object:
        """Return `value` in the form in which it is stored; raise if that is impossible."""
        if value is TOMBSTONE or self.encode is None:
            return value
        try:
            return self.encode(value)
        except ValueNotEncodableError as error:
            if row is None:
                raise
            raise error.at(row) from error

    def _take_in(
        self, place: AnyPlace, key: Key, value: object, time: float, now: float
    ) -> Outcome:
        """Process a tuple after all checks. Its place may be closed."""
        counts = self.counts
        place = self._keys.current(place)
        if value is TOMBSTONE:
            return self._take_in_deletion(place, time, now)
        if place.cell.index == CLOSED:
            self._open_place(place, self._keys.terms_of(place), now)
        windows = place.windows
        if time < windows.late_before:
            counts.arrived += 1
            counts.late += 1
            return _LATE
        triggers = windows.arrive((key, value, time))
        counts.arrived += 1
        return self.kind.react(place, triggers, now) if triggers else _WAITING

    def _take_in_deletion(self, place: AnyPlace, time: float, now: float) -> Outcome:
        """Forget a key whose tombstone arrived. The tombstone is in no window."""
        counts = self.counts
        counts.arrived += 1
        if place.cell.index != CLOSED:
            if time < place.windows.late_before:
                counts.late += 1
                return _LATE
            self._forget_place(place, now)
            self._keys.forget(place)
        counts.outside += 1
        return _OUTSIDE

    def _open_place(self, place: AnyPlace, terms: WindowTerms, now: float) -> None:
        """Add a key, which counts from now on."""
        cell = place.cell
        rate, scheduler_terms = terms
        cell.time = cell.arrival = now
        self._numbers.open(cell)
        self._rates.begin(cell, rate)
        place.windows.late_before = ALWAYS
        self.places.put(cell, place)
        self.kind.welcome(place, scheduler_terms)
        self.places.sums.begin(place, 1, now)

    def forget(self, place: AnyPlace) -> None:
        """Forget a key whose tuples are enqueued here."""
        self._forget_place(place, self.ticks())
        self._keys.forget(place)
        self._keys.end_call()

    def forget_all(self) -> None:
        """Forget all keys here, whether the stream knows them or not."""
        now = self.catch_up()
        for cell in list(self._places_by_cell):
            self.forget_cell(cell, now)
        for place in list(self._keys):
            self.forget(place)

    # Calls of the stream.

    copies_values = True

    def join(self, feed: Feed, beginning: Beginning) -> None:
        """Start to read the log of a stream."""
        self.feed = feed
        self.is_direct = self.stands_alone = False
        self.ticks = feed.ticks
        # Memory usage is averaged over time, so pooled tuples are read as soon as they arrive.
        read_ahead = READ_AHEAD if self.encode is None else 1
        self._cursor = LogCursor(self._take_entry, read_ahead=read_ahead, ask=self._ask_entry)
        for cell, terms in beginning.terms.items():
            self.welcome(cell, terms)
        self._cursor.open(feed, at_once=True, first=beginning.entries, now=beginning.now)
        self._cursor.try_settle()

    def terms_for(self, key: Key) -> Terms:
        """Return the options given for a new key; raise if they are invalid."""
        return self.kind.terms_for(key)

    def welcome(self, cell: KeyCell, terms: Terms) -> None:
        """Note the options of a key of the stream, which may never arrive here."""
        if terms != _NOTHING_GIVEN:
            self._terms[cell] = cast("WindowTerms", terms)

    def take_over(self, cell: KeyCell, now: float) -> None:
        """Take over the newest tuple of a key, as if it had arrived now."""
        assert self.feed is not None and self._cursor is not None
        self._cursor.take_one(self.feed.entry_of(cell), now)

    def settle(self) -> None:
        """Read the entries of the stream's log that the queue has not read."""
        if self._cursor is not None:
            self._cursor.settle()

    def holds(self, cell: KeyCell) -> bool:
        """Tell whether a window of the key waits, or is committed and not delivered, or may be."""
        if not self._try_settle():
            return True
        place = self._places_by_cell.get(cell)
        return place is not None and (
            place.waiting_since is not None or bool(place.committed_versions)
        )

    def has_arrived(self, cell: KeyCell) -> bool:
        """Tell whether the key has arrived here and is not forgotten."""
        return not self._try_settle() or cell in self._places_by_cell

    def forget_cell(self, cell: KeyCell, now: float) -> None:
        """Forget a key that the stream has forgotten."""
        self._try_settle()
        self._terms.pop(cell, None)
        place = self._places_by_cell.pop(cell, None)
        if place is not None:
            self._forget_place(place, now)

    def _try_settle(self) -> bool:
        return self._cursor is None or self._cursor.try_settle()

    def _ask_entry(self, entry: LogEntry, now: float) -> None:
        """Check what may fail about a tuple that a stream has accepted.

        A value that cannot be stored counts as rejected, and the source of the tuple gets no error.
        If the codec raises anything else, the next call of this queue raises it.
        """
        self._release_next_place()
        place = self._places_by_cell.get(entry.cell)
        if place is None:
            cell = KeyCell(entry.cell.key, CLOSED, time=0.0, arrival=0.0)
            place = self.kind.make_place(cell, None)
        self._next_place = place
        try:
            self._specification.newest(entry.time)
        except TimeOutOfRangeError:
            self._next_value = _OUT_OF_RANGE
            return
        self.kind.ask_times([entry.time])
        try:
            self._next_value = self._encode_value(entry.value)
        except (ValueNotEncodableError, ValueTooLargeError):
            self._next_value = UNSTORABLE
        except Exception as error:  # noqa: BLE001 - no window may lack the tuple unnoticed
            self._next_value = UNSTORABLE
            self._failure = self._failure or error

    def _take_entry(self, entry: LogEntry, now: float) -> None:
        """Process a tuple that a stream has accepted, after `_ask_entry`."""
        self._take_asked(entry, now)
        self._release_next_place()

    def _release_next_place(self) -> None:
        """Release the place that was made for the key of a tuple, if the key did not come in."""
        place, self._next_place = self._next_place, None
        if place is not None and place.cell.index == CLOSED:
            place.close_unopened()

    def _take_asked(self, entry: LogEntry, now: float) -> None:
        place, value = self._next_place, self._next_value
        assert place is not None and self.feed is not None
        counts = self.counts
        if place.cell.index == CLOSED and entry.version == 0:  # late in the stream and new here
            counts.arrived += 1
            counts.late += 1
            return
        if value is _OUT_OF_RANGE:
            counts.arrived += 1
            counts.outside += 1
            return
        if value is TOMBSTONE:
            if self._take_in_deletion(place, entry.time, now) is _OUTSIDE:
                self._places_by_cell.pop(entry.cell, None)
                self._keys.end_call()
            self.feed.forget_if_deleted(entry.cell, now)  # nothing of it must be delivered
            return
        if place.cell.index == CLOSED:
            self._places_by_cell[entry.cell] = place
            self._open_place(place, self._terms.get(entry.cell, _NOTHING_GIVEN), now)
        if value is not UNSTORABLE:
            self._take_in(place, entry.cell.key, value, entry.time, now)
            return
        counts.arrived += 1
        if entry.time < place.windows.late_before:
            counts.late += 1
        else:
            self.kind.react(place, place.windows.refuse(entry.time), now)

    # Keys.

    def _forget_place(self, place: AnyPlace, now: float) -> None:
        """Forget a key. Its committed window may still leave."""
        cell = place.cell
        triggers = place.buffer.drop_uncommitted()
        if triggers:
            self.kind.react(place, triggers, now)
        if self.counts.ends is not None:
            self.counts.ends.remove(place)
        self.places.retire(place, now)
        place.delivered_version = Place.FORGOTTEN
        self.places.column[cell.index] = None
        self._numbers.close(cell)
        self.kind.note_forgotten(place)
        place.close()

    def open_places(self) -> Iterator[AnyPlace]:
        """Iterate over the places of known keys."""
        return chain(self._keys, self._places_by_cell.values())

    def find(self, key: Key) -> AnyPlace | None:
        """Return the place of a key, or None; an invalid key raises KeyNotHashableError."""
        if self.feed is not None:
            cell = self.feed.find(key)
            return None if cell is None else self._places_by_cell.get(cell)
        try:
            return self._keys.find(key)
        except TypeError:
            check_key(key)
            raise

    # The end.

    def close(self) -> None:
        """Stop processing tuples; every further use raises ClosedError."""
        self._release_next_place()
        self._keys.clear()
        self._places_by_cell.clear()
        self.counts.ends = None
        self._numbers = KeyNumbers()
        if self.feed is not None and self._cursor is not None:
            self._cursor.close(self.feed)
            self._cursor.release()
        self._cursor = self.feed = self.encode = None
        self.is_direct = self.stands_alone = False
        self.is_closed = True

    def release(self) -> None:
        """Release the references that lead back to the intake, which is no longer used."""
        if self._cursor is not None:
            self._cursor.release()
        self._release_next_place()
        self.counts.ends = None
        self._keys.release()

    def _check(self) -> None:
        self._numbers._check_numbers(place.cell for place in self.open_places())
        for place in self.open_places():
            assert self.places.find(place.cell) is place
            place._check()
            self.kind._check_place(place)
