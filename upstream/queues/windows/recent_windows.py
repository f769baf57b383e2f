"""The most recent windows of the keys of a window queue, and the states of its keys."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence

from ...clock import again_of
from ...keys import ArrivalOrder, KeyCell, Place
from ...memory import BlockChain, Codec, Memory
from ...schedulers import Scheduler, Surroundings, Terms
from ...statistics import ProcessingCost, UpdateRates
from ...updates import Key, Outcome
from ...windows import (
    KeyEvent,
    KeyState,
    ObjectTuples,
    WindowBuffer,
    WindowCounts,
    WindowSpecification,
)
from ...windows.key_transitions import (
    CLOSES,
    IS_UPDATE,
    OUTSIDE,
    PROCESSING,
    REFUSED,
    SHOULD_PROMOTE,
    UNUSUAL,
    WAITING,
    WITHDRAWS,
)
from ..places import QueuePlaces
from ..stream.feed import Feed
from .in_process_windows import CommittedWindow, InProcessWindows
from .window_keys import WindowTerms
from .window_place import WindowPlace

_IDLE = KeyState.IDLE
_AT_COMMIT = PROCESSING[KeyEvent.COMMIT]
_AT_GAP = PROCESSING[KeyEvent.GAP]
_AT_PROMOTION = PROCESSING[KeyEvent.PROMOTE]
_AT_FINISH = PROCESSING[KeyEvent.FINISH]
_AT_UPDATE = WAITING[KeyEvent.UPDATE]
_AT_WITHDRAWAL = WAITING[KeyEvent.WITHDRAW]
_AFTER_WAIT = WAITING[KeyEvent.COMMIT]


class Processing:
    """The states of one key: whether it waits, and the progress of its committed window."""

    __slots__ = ("is_deferred", "processing_state", "waiting_state", "window")

    def __init__(self) -> None:
        self.waiting_state = KeyState.ENQ
        self.processing_state = KeyState.DONE
        self.is_deferred = False
        """Whether it waits outside the scheduler, because its turn came while it was IDLE."""
        self.window: CommittedWindow | None = None
        """The window under processing."""

    def release(self) -> None:
        """Release the window, which refers back to the place."""
        self.window = None


KeyPlace = WindowPlace[WindowBuffer, Processing]


class RecentWindows:
    """The windows that wait or are under processing, for all keys of one queue."""

    __slots__ = (
        "_buffer",
        "_codec",
        "_cost",
        "_counts",
        "_deferred",
        "_idle_keys",
        "_in_process",
        "_memory",
        "_order",
        "_places",
        "_rates",
        "_specification",
        "_sums",
        "_ticks",
        "_waits",
        "keys_under_processing",
        "scheduler",
    )

    _ticks: Callable[[], float]

    def __init__(
        self,
        buffer: type[WindowBuffer],
        scheduler: Scheduler,
        specification: WindowSpecification,
        *,
        places: QueuePlaces,
        counts: WindowCounts,
        rates: UpdateRates,
        cost: ProcessingCost,
        in_process: InProcessWindows,
        memory: Memory | None,
        codec: Codec,
    ) -> None:
        self._buffer = buffer
        self.scheduler = scheduler
        self._specification = specification
        self._places = places
        self._sums = places.sums
        self._counts = counts
        self._rates = rates
        self._cost = cost
        self._in_process = in_process
        self._memory = memory
        self._codec = codec
        self._order = ArrivalOrder() if scheduler.needs_arrival_order else None
        self.keys_under_processing: deque[KeyPlace] = deque()
        """The READY keys, in the order in which they are served."""
        self._idle_keys: set[KeyPlace] = set()
        self._deferred = self._waits = 0

    def begin(self, ticks: Callable[[], float]) -> None:
        """Start to serve keys; `ticks` returns the time."""
        self._ticks = again_of(ticks)
        self.scheduler.bind(
            Surroundings(
                rates=self._rates, cost=self._cost, place_of=self._places.find, order=self._order
            )
        )

    def listen(self, feed: Feed) -> None:
        """Note that a stream feeds the queue from now on."""
        self._ticks = again_of(feed.ticks)
        feed.intake.ask_first(self.scheduler, self._cost)

    def close(self, places: Iterable[KeyPlace], feed: Feed | None) -> None:
        """Release all windows, because the queue is closed."""
        for waiting in list(self.scheduler):
            self.scheduler.remove(waiting)
        self.scheduler.unbind()
        if self._order is not None:
            self._order.close()
        if feed is not None:
            feed.intake.ask_no_more(self._cost)
        for place in (*places, *self.keys_under_processing):
            place.buffer.clear()
            place.progress.window = None
        self.keys_under_processing.clear()
        self._idle_keys.clear()
        self._deferred = 0

    # From WAIT to READY, IDLE and DONE.

    def commit_next(self, now: float) -> bool:
        """Commit to the window of the key to serve next; return False if there is none."""
        while (place := self.scheduler.take(now)) is not None:
            assert isinstance(place, WindowPlace)
            if place.progress.processing_state is _IDLE:
                self.scheduler.stand_back(place)
                place.progress.is_deferred = True
                self._deferred += 1
                continue
            self._sums.wait_ends(place, now)
            place.waiting_since = None
            place.progress.waiting_state = _AFTER_WAIT[place.progress.waiting_state]
            place.progress.processing_state = _AT_COMMIT[place.progress.processing_state]
            buffer = place.buffer
            buffer.commit()
            index = buffer.committed_index
            version = place.windows.version(index)
            place.progress.window = CommittedWindow(place, version, self._specification.end(index))
            place.note_commit(version)
            self.keys_under_processing.append(place)
            return True
        return False

    def finish(self, place: KeyPlace, now: float) -> None:
        """Note that the window of the first key under processing has left completely."""
        self.keys_under_processing.popleft()
        place.progress.processing_state = _AT_FINISH[place.progress.processing_state]
        window = place.progress.window
        assert window is not None
        place.progress.window = None
        if place.buffer.is_aborted:
            self._in_process.aborted += 1
            place.note_end(window.version)
        else:
            self._in_process.add(window, now)
        if place.progress.is_deferred:
            self._end_deferral(place)
            place.version_before = place.cell.version - 1
            self.scheduler.restore(place)
        elif place.delivered_version == Place.FORGOTTEN:
            place.buffer.clear()

    def react(self, place: KeyPlace, triggers: int, now: float) -> Outcome:
        """Handle the triggers of an arrival."""
        if triggers & CLOSES and (place.committed_versions or place.stale_since is None):
            place.note_close(place.windows.closed_version, now)
        outcome = Outcome.WAITING
        if triggers & IS_UPDATE:
            cell = place.cell
            cell.version += 1
            cell.arrival = now
            if self._order is not None:
                self._order.move_to_newest(cell)
            if place.waiting_since is None:
                self._start_to_wait(place, now)
            else:
                outcome = Outcome.SUPERSEDED
        if triggers & UNUSUAL:
            return self._react_to_unusual(place, triggers, now, outcome)
        return outcome

    def _react_to_unusual(
        self, place: KeyPlace, triggers: int, now: float, outcome: Outcome
    ) -> Outcome:
        if triggers & WITHDRAWS:
            self._withdraw(place, now)
        if triggers & SHOULD_PROMOTE and place.progress.processing_state is _IDLE:
            place.progress.processing_state = _AT_PROMOTION[place.progress.processing_state]
            place.windows.stop_watching()
            self._idle_keys.remove(place)
            self.keys_under_processing.append(place)
        if triggers & REFUSED:
            return Outcome.REJECTED
        return Outcome.OUTSIDE if triggers & OUTSIDE else outcome

    def _start_to_wait(self, place: KeyPlace, now: float) -> None:
        """Let the key wait for its most recent window."""
        cell = place.cell
        if cell.version == 1:
            self._rates.begin_again(cell)  # the rate of its windows starts with the first update
        place.progress.waiting_state = _AT_UPDATE[place.progress.waiting_state]
        place.waiting_since = now
        place.version_before = cell.version - 1
        self._waits += 1
        place.waiting_rank = self._waits
        self.scheduler.schedule(place)

    def _withdraw(self, place: KeyPlace, now: float) -> None:
        """Stop the wait of the key, because its window was dropped."""
        if place.progress.is_deferred:
            self._end_deferral(place)
        else:
            self.scheduler.remove(place)
        self._sums.wait_ends(place, now)
        place.waiting_since = None
        place.progress.waiting_state = _AT_WITHDRAWAL[place.progress.waiting_state]

    def _end_deferral(self, place: KeyPlace) -> None:
        place.progress.is_deferred = False
        self._deferred -= 1

    def wait_for_more(self, place: KeyPlace) -> None:
        """Make the first key under processing IDLE, because its next tuple has not arrived."""
        self.keys_under_processing.popleft()
        progress = place.progress
        progress.processing_state = _AT_GAP[progress.processing_state]
        place.windows.watch()  # the next tuple may promote the key
        self._idle_keys.add(place)

    # Adding and forgetting keys.

    def make_place(self, cell: KeyCell, key_hash: int | None) -> KeyPlace:
        """Make the place of a key that may be added, without storing anything about it."""
        key = cell.key
        tuples = (
            ObjectTuples()
            if self._memory is None
            else BlockChain(key, self._memory, self._ticks, self._codec)
        )
        buffer = self._buffer(self._specification, tuples, self._counts, key)
        return WindowPlace(cell, buffer, Processing(), key_hash)

    def terms_for(self, key: Key) -> WindowTerms:
        """Return the options given for a new key; raise if they are invalid."""
        return self._rates.given(key), self.scheduler.terms_for(key)

    def welcome(self, place: KeyPlace, terms: Terms) -> None:
        """Note a new key, with the options that the scheduler was given for it."""
        if self._order is not None:
            self._order.append(place.cell)
        self.scheduler.welcome(place.cell, terms)

    def ask(self) -> None:
        """Ask for the processing cost if the scheduler needs it. This may fail."""
        if self.scheduler.asks_cost:
            self._cost.ask()

    def ask_times(self, times: Sequence[float]) -> None:
        """Do nothing, because windows start without any check."""

    def note_forgotten(self, place: KeyPlace) -> None:
        """Note that a key is forgotten. Its committed window may still have to leave."""
        if self._order is not None:
            self._order.remove(place.cell)
        if place.buffer.is_finished:
            place.buffer.clear()

    # Counting.

    def held_by_forgotten(self) -> int:
        """Return how many tuples of forgotten keys must still leave."""
        return sum(
            place.buffer.held_tuples
            for place in self.keys_under_processing
            if place.delivered_version == Place.FORGOTTEN
        )

    def waiting_count(self) -> int:
        """Return the number of waiting keys."""
        return len(self.scheduler) + self._deferred

    def ready_count(self, places: Iterable[KeyPlace]) -> int:
        """Return the number of READY keys."""
        return len(self.keys_under_processing)

    def idle_count(self) -> int:
        """Return the number of IDLE keys."""
        return len(self._idle_keys)

    def _check_place(self, place: KeyPlace) -> None:
        progress, buffer = place.progress, place.buffer
        waits = place.waiting_since is not None
        assert waits == (progress.waiting_state is KeyState.WAIT) == buffer.is_waiting
        is_processed = progress.processing_state is not KeyState.DONE
        assert is_processed == (progress.window is not None) == (not buffer.is_finished)
        assert progress.processing_state is not KeyState.IDLE or not buffer.is_available
        assert not progress.is_deferred or (waits and is_processed)
