"""How a queue of windows takes tuples in: one by one, in batches, or from a stream.

A queue that is not attached takes them in at once. One that is attached to a stream reads the
stream's log whenever it is asked anything, each tuple as of its own arrival. So an enqueue costs
the stream the same, however many such queues it has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Final, Generic, Protocol, cast

from ...clock import Clock, ticks_of
from ...columns import Column, as_list, check_key, check_lengths, float_time, length_of, read_times
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
from ...updates import TOMBSTONE, Key, Outcome
from ...windows import WindowCounts, WindowSpecification
from ...windows.open_windows import ALWAYS, UNSTORABLE
from ..batch_outcome import BatchOutcome, count_outcomes
from ..log.log_cursor import LogCursor
from ..log.log_waiting import READ_AHEAD
from ..log.shared_log import LogEntry
from ..places import QueuePlaces
from .window_keys import WindowKeys, WindowTerms
from .window_place import AnyPlace

if TYPE_CHECKING:
    from ..stream.beginning import Beginning
    from ..stream.feed import Feed
    from ..stream.stream import Stream

_NOTHING_GIVEN: Final[WindowTerms] = (None, None)
_OUT_OF_RANGE: Final = object()
"""Instead of the value of a tuple whose windows cannot be told."""

_LATE = Outcome.LATE
_OUTSIDE = Outcome.OUTSIDE
_REJECTED = Outcome.REJECTED
_WAITING = Outcome.WAITING


class WindowKind(Protocol[AnyPlace]):
    """What the kinds of queues of windows differ in: which windows leave, and when."""

    def make_place(self, cell: KeyCell, key_hash: int | None) -> AnyPlace:
        """Make the place of a key that may come in, and note nothing of it."""
        ...

    def terms_for(self, key: Key) -> WindowTerms:
        """Return the rate and what else was given for a new key. Raises if it makes no sense."""
        ...

    def welcome(self, place: AnyPlace, terms: Terms) -> None:
        """Note that a key came in, with what `terms_for` returned for it beside the rate."""
        ...

    def react(self, place: AnyPlace, triggers: int, now: float) -> Outcome:
        """Do what the triggers of an arrival ask for."""
        ...

    def note_forgotten(self, place: AnyPlace) -> None:
        """Note that a key is forgotten. What was committed of it may still have to leave."""
        ...

    def ask(self) -> None:
        """Ask what is needed as keys start to wait. May fail."""
        ...

    def ask_times(self, times: Sequence[float]) -> None:
        """Ask what is needed as tuples at `times` start windows. May fail."""
        ...

    def _check_place(self, place: AnyPlace) -> None:
        """State every invariant of a key."""
        ...


class TakesTuples(Protocol[AnyPlace]):
    """A queue of windows."""

    _stream: Stream | None
    _intake: WindowIntake[AnyPlace]


def enqueue(
    self: TakesTuples[AnyPlace], key: Key, value: object, time: float | None = None
) -> Outcome:
    """Enqueue one tuple, and return what became of it. O(1) amortised.

    `key` is any hashable object and `value` any object; with a page pool, one that the codec can
    encode. `time` is when the source made the tuple, in seconds; it decides which windows the tuple
    is in, and defaults to the clock's time. A tuple older than the newest of its key is late.

    Raises PagePoolFullError if the page pool has no room for it. The tuple is counted as rejected,
    and the windows that lack it are dropped.
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
        # `_take_in`, written out.
        if time < windows.quiet_until:
            # Mostly. Nothing happens but that the tuple is there, and when does not matter.
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
    """Enqueue the rows of three equally long columns, and return what became of them.

    Columns are sequences, NumPy arrays or Arrow arrays; `times` defaults to the clock's time. The
    result is what enqueueing row by row at one instant would give. If a row is bad, an error names
    it and nothing is applied. What load does to a row is counted and never raised.
    """
    if self._stream is not None:
        return self._stream.enqueue_many(keys, values, times)
    return self._intake.take_many(keys, values, times)


class WindowIntake(Generic[AnyPlace]):
    """Takes tuples into one queue of windows. It is what the queue's stream tells of arrivals."""

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
        """Makes of a value what is stored, where that is something else."""
        self.is_direct = is_direct
        """Whether tuples are enqueued here, and held as they are."""
        self._numbers = KeyNumbers()
        self._keys: WindowKeys[AnyPlace] = WindowKeys(kind.make_place, kind.terms_for)
        self.places_by_key = self._keys.places
        """The places of keys whose tuples are enqueued here; for looking up only."""
        self._places_by_cell: dict[KeyCell, AnyPlace] = {}
        """The places of keys of a stream by their cells, whose hashes cannot fail as keys' may."""
        self._terms: dict[KeyCell, WindowTerms] = {}
        """What was given for keys of the stream, where anything was."""
        self._next_place: AnyPlace | None = None
        self._next_value: object = None
        """What was found out about the tuple that is to be read next."""
        self._failure: Exception | None = None
        """What a codec raised that it should not raise."""
        self._cursor: LogCursor | None = None
        self.feed: Feed | None = None
        """The stream that feeds the queue, None if tuples are enqueued here."""
        self.is_closed = False
        self.stands_alone = True
        """Whether the queue is neither attached nor closed, so that only its clock has to be read."""

    def catch_up(self) -> float:
        """Read what the stream's log has, and return the time. Raises ClosedError if closed."""
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
        """Take in a tuple of which nothing is known yet."""
        now = self.catch_up()
        check_key(key)
        self._specification.newest(time)  # which refuses what is no time
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
        """Take in a batch, see `enqueue_many`."""
        now = self.catch_up()
        rows = length_of("keys", keys)
        check_lengths(
            keys=rows,
            values=length_of("values", values),
            times=rows if times is None else length_of("times", times),
        )
        moments = [now + self.origin] * rows if times is None else read_times(times).tolist()
        self._check_range(moments)
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

    def _check_range(self, moments: list[float]) -> None:
        """Raise TimeOutOfRangeError for the row whose window cannot be told, if there is one."""
        for extreme in (min(moments), max(moments)) if moments else ():
            try:
                self._specification.newest(extreme)
            except TimeOutOfRangeError as error:
                row = moments.index(extreme)
                raise TimeOutOfRangeError(extreme, error.slide, row) from None

    def _encode_value(self, value: object, row: int | None = None) -> object:
        """Return `value` as it will be stored, or raise if it never can be."""
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
        """Take in a tuple after everything was asked. Its place may be closed."""
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
        """Forget a key whose tombstone came; the tombstone is in no window itself."""
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
        """Let a key come in, which counts from now on."""
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

    # What the stream tells.

    copies_values = True

    def join(self, feed: Feed, beginning: Beginning) -> None:
        """Read the log of a stream from now on."""
        self.feed = feed
        self.is_direct = self.stands_alone = False
        self.ticks = feed.ticks
        # What is in the page pool is integrated as it comes.
        read_ahead = READ_AHEAD if self.encode is None else 1
        self._cursor = LogCursor(self._take_entry, read_ahead=read_ahead, ask=self._ask_entry)
        for cell, terms in beginning.terms.items():
            self.welcome(cell, terms)
        self._cursor.open(feed, at_once=True, first=beginning.entries, now=beginning.now)
        self._cursor.try_settle()

    def terms_for(self, key: Key) -> Terms:
        """Return what was given for a new key; raise if it makes no sense."""
        return self.kind.terms_for(key)

    def welcome(self, cell: KeyCell, terms: Terms) -> None:
        """Note what was given for a key of the stream, which may never come in here."""
        if terms != _NOTHING_GIVEN:
            self._terms[cell] = cast("WindowTerms", terms)

    def take_over(self, cell: KeyCell, now: float) -> None:
        """Take in the newest tuple of a key, as if it arrived now."""
        assert self.feed is not None and self._cursor is not None
        self._cursor.take_one(self.feed.entry_of(cell), now)

    def settle(self) -> None:
        """Read what the stream's log has."""
        if self._cursor is not None:
            self._cursor.settle()

    def holds(self, cell: KeyCell) -> bool:
        """Tell whether a window of the key waits, or is committed and not delivered, or may."""
        if not self._try_settle():
            return True
        place = self._places_by_cell.get(cell)
        return place is not None and (
            place.waiting_since is not None or bool(place.committed_versions)
        )

    def has_arrived(self, cell: KeyCell) -> bool:
        """Tell whether the key has arrived here and was not forgotten since."""
        return not self._try_settle() or cell in self._places_by_cell

    def forget_cell(self, cell: KeyCell, now: float) -> None:
        """Forget the key, as the stream has."""
        self._try_settle()
        self._terms.pop(cell, None)
        place = self._places_by_cell.pop(cell, None)
        if place is not None:
            self._forget_place(place, now)

    def _try_settle(self) -> bool:
        return self._cursor is None or self._cursor.try_settle()

    def _ask_entry(self, entry: LogEntry, now: float) -> None:
        """Ask what may fail about a tuple that a stream has accepted, whatever it is like.

        What cannot be stored is counted as rejected; the source of the tuple does not hear of it.
        If the codec raises anything else, the next caller of this queue is told.
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
        except Exception as error:  # noqa: BLE001 - a window must not lack the tuple unseen
            self._next_value = UNSTORABLE
            self._failure = self._failure or error

    def _take_entry(self, entry: LogEntry, now: float) -> None:
        """Take in a tuple that a stream has accepted, after `_ask_entry`."""
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
        if place.cell.index == CLOSED and entry.version == 0:  # late in the stream, and new here
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
            self.feed.forget_if_deleted(entry.cell, now)  # nothing of it waits to be delivered
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
        """Forget a key. What is committed of it may still leave."""
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
        """Iterate over the places of keys that are known."""
        return chain(self._keys, self._places_by_cell.values())

    def find(self, key: Key) -> AnyPlace | None:
        """Return the place of a key, None if it is not known; KeyNotHashableError if it is none."""
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
        """Take nothing in any more; every further use raises ClosedError."""
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
        """Release what refers back to the intake, since nothing uses it any more."""
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
