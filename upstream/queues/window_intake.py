"""How a queue of windows takes tuples in: one by one, in batches, or from a stream.

A queue that is not attached takes them in at once. One that is attached to a stream reads the
stream's log, whenever it is asked anything, each tuple as of its own arrival; so an enqueue costs
the stream the same however many such queues it has.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Final, Generic, cast

from ..clock import Clock, SystemClock, steps_back_of, ticks_of
from ..columns import Column, as_list, check_key, check_lengths, float_time, length_of, read_times
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
from ..held_interrupt import uninterrupted
from ..keys import CLOSED, KeyCell, KeyNumbers
from ..schedulers import Terms
from ..statistics import ProcessingCost, UpdateRates
from ..updates import TOMBSTONE, Key, Outcome
from ..windows import WindowCounts, WindowSpecification
from ..windows.open_windows import ALWAYS, UNSTORABLE
from .batch_outcome import BatchOutcome, count_outcomes
from .beginning import Beginning, entry_of
from .log_feed import LogFeed
from .log_queue import READ_AHEAD
from .queue_places import QueuePlaces
from .shared_log import LogEntry
from .stream import Stream
from .window_keys import Admission, AnyPlace, WindowKeys
from .window_place import WindowPlace

_NOTHING_GIVEN: Final[Admission] = (None, None)
_OUT_OF_RANGE = object()
"""Instead of the value of a tuple whose windows cannot be told."""

_LATE = Outcome.LATE
_OUTSIDE = Outcome.OUTSIDE
_REJECTED = Outcome.REJECTED
_WAITING = Outcome.WAITING


class WindowIntake(QueuePlaces, Generic[AnyPlace]):
    """The part of a queue of windows that tuples pass; `WindowedQueue` is the whole."""

    __slots__ = (
        "_counts",
        "_encode",
        "_failure",
        "_feed",
        "_is_plain",
        "_next_place",
        "_next_value",
        "_numbers",
        "_origin",
        "_places_by_cell",
        "_specification",
        "_stream",
        "_terms",
        "_ticks",
        "_ticks_only",
        "_update_rates",
        "_window_keys",
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
        self._numbers = KeyNumbers()
        self._window_keys: WindowKeys[AnyPlace] = WindowKeys(self._make_place, self.admit)
        self._window_places = self._window_keys.places
        self._places_by_cell: dict[KeyCell, AnyPlace] = {}
        """The places of the keys of a stream by their cells, which cannot fail as keys may."""
        self._terms: dict[KeyCell, Admission] = {}
        """What was asked of the keys of the stream, where anything was given."""
        self._next_place: AnyPlace | None = None
        self._next_value: object = None
        """What was found out about the tuple that is to be read next."""
        self._failure: Exception | None = None
        """What a codec raised that broke its word."""
        self._counts = WindowCounts()
        self._encode: Callable[[object], object] | None = None
        """Makes of a value what is stored, where that is something else."""
        self._is_plain = True
        """Whether tuples are enqueued here, and held as they are."""
        self._stream: Stream | None = None
        self._feed = LogFeed(self._take_entry, read_ahead=READ_AHEAD, ask=self._ask_entry)

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
            return self._enqueue_checked(key, value, time)
        buffer = place.buffer
        if buffer.late_before <= time and self._is_plain and value is not TOMBSTONE:
            # `_take_in`, written out.
            if time < buffer.quiet_until:
                # Mostly. Nothing happens but that the tuple is there, and when does not matter.
                buffer.late_before = time
                buffer.append((key, value, time))
                self._counts.arrived += 1
                return _WAITING
            now = self._ticks()
            triggers = buffer.arrive((key, value, time))
            self._counts.arrived += 1
            return self._react(place, triggers, now) if triggers else _WAITING
        return self._enqueue_checked(key, value, time)

    def _enqueue_checked(self, key: Key, value: object, time: float) -> Outcome:
        """Enqueue a tuple after asking all that may fail."""
        now = self._ticks()
        check_key(key)
        self._specification.newest(time)  # which refuses what is no time
        stored = self._encode_value(value)
        self._ask()
        self._ask_times([time])
        try:
            place = self._window_keys.place_for(key, value)
            outcome = self._take_in(place, key, stored, time, now)
        finally:
            self._window_keys.end_call()
        if outcome is _REJECTED:
            raise PagePoolFullError(self._counts.pool_capacity)
        return outcome

    @uninterrupted
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
        self._ask()
        self._ask_times(moments)
        try:
            places = self._window_keys.places_for(all_keys, stored)
            outcomes = [
                self._take_in(place, key, value, time, now)
                for place, key, value, time in zip(places, all_keys, stored, moments, strict=True)
            ]
        finally:
            self._window_keys.end_call()
        return count_outcomes(outcomes)

    def _check_range(self, moments: list[float]) -> None:
        """Raise TimeOutOfRangeError for the row whose window cannot be told, if there is one."""
        for extreme in (min(moments), max(moments)) if moments else ():
            try:
                self._specification.newest(extreme)
            except TimeOutOfRangeError as error:
                row = moments.index(extreme)
                raise TimeOutOfRangeError(extreme, error.slide, row) from None

    def _ask(self) -> None:
        """Ask what is needed as keys start to wait, which may fail."""
        return

    def _ask_times(self, times: Sequence[float]) -> None:
        """Ask what is needed as tuples at `times` start windows, which may fail."""
        return

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
        self, place: AnyPlace, key: Key, value: object, time: float, now: float
    ) -> Outcome:
        """Take in a tuple of which all was asked; its place may not be open yet, or any more."""
        counts = self._counts
        place = self._window_keys.current(place)
        if value is TOMBSTONE:
            return self._take_in_deletion(place, time, now)
        if place.cell.index == CLOSED:
            self._open_place(place, self._window_keys.admission_of(place), now)
        buffer = place.buffer
        if time < buffer.late_before:
            counts.arrived += 1
            counts.late += 1
            return _LATE
        triggers = buffer.arrive((key, value, time))
        counts.arrived += 1
        return self._react(place, triggers, now) if triggers else _WAITING

    def _take_in_deletion(self, place: AnyPlace, time: float, now: float) -> Outcome:
        """Forget a key of which a tombstone came; it is in no window itself."""
        counts = self._counts
        counts.arrived += 1
        if place.cell.index != CLOSED:
            if time < place.buffer.late_before:
                counts.late += 1
                return _LATE
            self._forget_place(place, now)
            self._window_keys.forget(place)
        counts.outside += 1
        return _OUTSIDE

    def _open_place(self, place: AnyPlace, admission: Admission, now: float) -> None:
        """Let a key come in, which counts from now on."""
        cell = place.cell
        rate, terms = admission
        cell.time = cell.arrival = now
        self._numbers.open(cell)
        self._update_rates.begin(cell, rate)
        place.buffer.late_before = ALWAYS
        self._new_place(cell, place)
        self._welcome_place(place, terms)
        self._begin(place, 1, now)

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

    @property
    def copies_values(self) -> bool:
        """Whether the queue takes over values: it does."""
        return True

    def join(self, stream: Stream, beginning: Beginning) -> None:
        """Read the log of `stream` from now on. Called by `Stream.attach`."""
        self._stream = stream
        self._is_plain = False
        self._ticks_only = stream.ticks
        if self._encode is not None:
            self._feed.read_ahead = 1  # what is in the page pool is integrated as it comes
        for cell, terms in beginning.terms.items():
            self.welcome(cell, terms)
        self._feed.open(stream, at_once=True, first=beginning.entries, now=beginning.now)
        self._feed.try_settle()
        self._ticks = self._settle

    def take_over(self, cell: KeyCell, now: float) -> None:
        """Take in the newest tuple of a key, as if it arrived now."""
        assert self._stream is not None
        self._feed.take_one(entry_of(self._stream, cell), now)

    def welcome(self, cell: KeyCell, terms: Terms) -> None:
        """Note what `admit` returned for a key of the stream, which may never come in here."""
        if terms != _NOTHING_GIVEN:
            self._terms[cell] = cast("Admission", terms)

    def settle(self) -> None:
        """Take in what was not read yet."""
        self._feed.settle()

    def holds(self, cell: KeyCell) -> bool:
        """Tell whether a window of the key waits, or is committed and not delivered, or may."""
        if not self._feed.try_settle():
            return True
        place = self._places_by_cell.get(cell)
        return place is not None and (
            place.waiting_since is not None or bool(place.committed_versions)
        )

    def counts(self, cell: KeyCell) -> bool:
        """Tell whether the key has arrived here and was not forgotten since."""
        return not self._feed.try_settle() or cell in self._places_by_cell

    def forget_cell(self, cell: KeyCell, now: float) -> None:
        """Forget the key, as the stream has. Called by the stream."""
        self._feed.try_settle()
        self._terms.pop(cell, None)
        place = self._places_by_cell.pop(cell, None)
        if place is not None:
            self._forget_place(place, now)

    def _settle(self) -> float:
        """Take in what was not read, and return the time."""
        assert self._stream is not None
        now = self._stream.catch_up()
        self._ask()
        self._feed.settle()
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure
        return now

    def _ask_entry(self, entry: LogEntry, now: float) -> None:
        """Ask what may fail about a tuple that a stream has accepted, whatever it is like.

        What cannot be stored is counted as rejected, and not seen by the source of the tuple; if
        the codec broke its word, whoever asks this queue next is told.
        """
        place = self._places_by_cell.get(entry.cell)
        if place is None:
            cell = KeyCell(entry.cell.key, CLOSED, time=0.0, arrival=0.0)
            place = self._make_place(cell, None)
        self._next_place = place
        try:
            self._specification.newest(entry.time)
        except TimeOutOfRangeError:
            self._next_value = _OUT_OF_RANGE
            return
        self._ask_times([entry.time])
        try:
            self._next_value = self._encode_value(entry.value)
        except (ValueNotEncodableError, ValueTooLargeError):
            self._next_value = UNSTORABLE
        except Exception as error:  # noqa: BLE001 - no window is to lack it unseen
            self._next_value = UNSTORABLE
            self._failure = self._failure or error

    def _take_entry(self, entry: LogEntry, now: float) -> None:
        """Take in a tuple that a stream has accepted, of which all was asked."""
        place, value = self._next_place, self._next_value
        assert place is not None
        counts = self._counts
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
                self._window_keys.end_call()
            if self._stream is not None:
                self._stream.bury(entry.cell, now)  # nothing of it waits here to be delivered
            return
        if place.cell.index == CLOSED:
            self._places_by_cell[entry.cell] = place
            self._open_place(place, self._terms.get(entry.cell, _NOTHING_GIVEN), now)
        if value is not UNSTORABLE:
            self._take_in(place, entry.cell.key, value, entry.time, now)
            return
        counts.arrived += 1
        if entry.time < place.buffer.late_before:
            counts.late += 1
        else:
            self._react(place, place.buffer.refuse(entry.time), now)

    # What they share.

    def _forget_place(self, place: AnyPlace, now: float) -> None:
        """Let go of a key that is not found any more; what is committed of it may still leave."""
        cell = place.cell
        triggers = place.buffer.erase()
        if triggers:
            self._react(place, triggers, now)
        self._retire(place, now)
        place.delivered_version = WindowPlace.FORGOTTEN
        self._places[cell.index] = None
        self._numbers.close(cell)
        self._note_forgotten(place)
        place.close()

    def _open_places(self) -> Iterator[AnyPlace]:
        """Iterate over the keys that are known."""
        return chain(self._window_keys, self._places_by_cell.values())

    def _catch_up(self) -> float:
        return self._ticks()

    def _rates(self) -> UpdateRates:
        return self._update_rates

    def _find(self, key: Key) -> AnyPlace | None:
        if self._stream is not None:
            cell = self._stream.find(key)
            return None if cell is None else self._places_by_cell.get(cell)
        try:
            return self._window_keys.find(key)
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
    def admit(self, key: Key) -> Admission:
        """Return the rate and what else was given for a new key; raise if it makes no sense."""

    @abstractmethod
    def _welcome_place(self, place: AnyPlace, terms: Terms) -> None:
        """Note that a key came in, with what `admit` returned for it beside the rate."""

    @abstractmethod
    def _make_place(self, cell: KeyCell, key_hash: int | None) -> AnyPlace:
        """Make the place of a key that may come in, and note nothing of it."""

    @abstractmethod
    def _react(self, place: AnyPlace, triggers: int, now: float) -> Outcome:
        """Do what the triggers of an arrival ask for."""

    @abstractmethod
    def _note_forgotten(self, place: AnyPlace) -> None:
        """Note that a key is gone; what was committed of it may still have to leave."""

    def _check(self) -> None:
        super()._check()
        self._numbers._check_numbers(place.cell for place in self._open_places())
        for place in self._open_places():
            assert self.place_of(place.cell) is place
            place._check()
