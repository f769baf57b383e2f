"""The window queue: the most recent window of each key, in the scheduler's order (report, 6.2).

It composes a key scheduler, a window buffer for each key, and the memory. What an update is to an
update queue, a window is here: the key waits for its most recent window, and a newer one supersedes
it in its place. So schedulers, rates and both stalenesses are those of update queues; each key's
cell counts windows.

`dequeue` serves the first of the keys under processing. When there is none it commits to the window
of the key that the scheduler chooses. A key may wait while it is under processing, but it is
committed to one window at a time: if its turn comes while it is IDLE it stands back, and gets its
place again, by how long it has waited, when its window has left.
"""

from __future__ import annotations

from collections import deque
from functools import partial

from ..clock import Clock, again_of
from ..errors import ParameterError
from ..keys import ArrivalOrder, KeyCell
from ..memory import (
    RECORD_HEADER_BYTES,
    BlockChain,
    BytesCodec,
    Codec,
    Memory,
    MemoryUsage,
)
from ..schedulers import Scheduler, Surroundings, Terms
from ..statistics import DEFAULT_FORGETTING, AnyKey, GivenCost, PerKey
from ..updates import Key, Outcome, Update
from ..windows import (
    KeyEvent,
    KeyState,
    PlainTuples,
    WindowBuffer,
    WindowSpecification,
    WindowTuple,
)
from ..windows.key_transitions import (
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
from .beginning import Beginning
from .block_tuples import BlockTuples
from .stream import Stream
from .stream_queue import DEFAULT_IN_PROCESS_LIMIT
from .window_keys import Admission
from .window_place import CommittedWindow, WindowPlace
from .windowed_queue import WindowedQueue

_IDLE = KeyState.IDLE
_AT_COMMIT = PROCESSING[KeyEvent.COMMIT]
_AT_GAP = PROCESSING[KeyEvent.GAP]
_AT_PROMOTION = PROCESSING[KeyEvent.PROMOTE]
_AT_FINISH = PROCESSING[KeyEvent.FINISH]
_AT_UPDATE = WAITING[KeyEvent.UPDATE]
_AT_WITHDRAWAL = WAITING[KeyEvent.WITHDRAW]
_AFTER_WAIT = WAITING[KeyEvent.COMMIT]


class KeyPlace(WindowPlace):
    """What a window queue knows about one key."""

    __slots__ = ("is_deferred", "processing_state", "waiting_rank", "waiting_state", "window")

    buffer: WindowBuffer
    waiting_state: KeyState
    processing_state: KeyState
    is_deferred: bool
    """Whether it waits outside of the scheduler, since its turn came while it was IDLE."""
    window: CommittedWindow | None
    """What is under processing."""

    def __init__(self, cell: KeyCell, buffer: WindowBuffer, key_hash: int | None) -> None:
        super().__init__(cell, buffer, key_hash)
        self.waiting_state = KeyState.ENQ
        self.processing_state = KeyState.DONE
        self.is_deferred = False
        self.waiting_rank = 0
        self.window = None

    def take_apart(self) -> None:
        """Let go of what refers back to it, since its queue is gone."""
        super().take_apart()
        self.window = None

    def _check(self) -> None:
        """State every invariant."""
        super()._check()
        waits = self.waiting_since is not None
        assert waits == (self.waiting_state is KeyState.WAIT) == self.buffer.is_waiting
        is_processed = self.processing_state is not KeyState.DONE
        assert is_processed == (self.window is not None) == (not self.buffer.is_finished)
        assert self.processing_state is not KeyState.IDLE or not self.buffer.is_available
        assert not self.is_deferred or (waits and is_processed)


class WindowQueue(WindowedQueue[KeyPlace]):
    """Keep the most recent window of each key, and serve the keys in the scheduler's order.

    `buffer` is the semantics: `LazyWindowBuffer` or `EagerWindowBuffer`, the class itself, since
    each key gets one; made without arguments, a buffer stands for its class. `memory` keeps the
    tuples in blocks of a page pool, each block one location of the memory, as the bytes that
    `codec` makes of their values.

    >>> from upstream import Aggregate, InPlaceScheduler, LazyWindowBuffer, ManualClock
    >>> windows = WindowSpecification(size=2, slide=2)
    >>> queue = WindowQueue(windows, LazyWindowBuffer, InPlaceScheduler(), clock=ManualClock())
    >>> for time in range(5):
    ...     _ = queue.enqueue("IBM", 24.0 + time, time=time)
    >>> mean = Aggregate("mean")
    >>> while window_tuple := queue.dequeue():
    ...     if result := mean.process(window_tuple):
    ...         queue.deliver(result)
    ...         print(result)
    WindowResult(key='IBM', start=2.0, end=4.0, value=26.5)
    >>> queue.statistics().windows.superseded
    1
    """

    __slots__ = (
        "_buffer",
        "_codec",
        "_deferred",
        "_idle_keys",
        "_keys_under_processing",
        "_memory",
        "_order",
        "_scheduler",
        "_waits",
    )

    def __init__(
        self,
        specification: WindowSpecification,
        buffer: type[WindowBuffer] | WindowBuffer,
        scheduler: Scheduler,
        *,
        clock: Clock | None = None,
        memory: Memory | None = None,
        codec: Codec | None = None,
        rates: PerKey[AnyKey] | None = None,
        processing_cost: GivenCost | None = None,
        forgetting: float = DEFAULT_FORGETTING,
        in_process_limit: int = DEFAULT_IN_PROCESS_LIMIT,
    ) -> None:
        if isinstance(buffer, WindowBuffer) and buffer.is_bare:
            buffer = type(buffer)
        if not (isinstance(buffer, type) and issubclass(buffer, WindowBuffer)):
            raise ParameterError("buffer", buffer, "LazyWindowBuffer or EagerWindowBuffer, a class")
        if not isinstance(scheduler, Scheduler):
            raise ParameterError(
                "scheduler", scheduler, "a scheduler, such as InPlaceScheduler(), not its name"
            )
        if memory is None and codec is not None:
            raise ParameterError("codec", codec, "given together with memory")
        if memory is not None and not hasattr(memory, "claim"):
            raise ParameterError("memory", memory, "a memory, such as OnDemandMemory(pool)")
        if codec is not None and not (hasattr(codec, "encode") and hasattr(codec, "decode")):
            raise ParameterError("codec", codec, "a codec, such as JsonCodec()")
        super().__init__(
            specification,
            clock=clock,
            rates=rates,
            processing_cost=processing_cost,
            forgetting=forgetting,
            in_process_limit=in_process_limit,
        )
        self._buffer = buffer
        self._memory = memory
        self._codec: Codec = BytesCodec() if codec is None else codec
        self._scheduler = scheduler
        self._order = ArrivalOrder() if scheduler.needs_arrival_order else None
        self._keys_under_processing: deque[KeyPlace] = deque()
        self._rings.add(self._keys_under_processing)
        self._idle_keys: set[KeyPlace] = set()
        self._deferred = self._waits = 0
        if memory is not None:
            memory.claim()
            self._encode = partial(_encode_for, memory, self._codec)
            self._is_plain = False
        if scheduler.asks_cost and self._cost.is_told:
            self._is_plain = False
        scheduler.bind(
            Surroundings(
                rates=self._update_rates,
                cost=self._cost,
                place_of=self._column.place_of,
                order=self._order,
            )
        )

    @property
    def scheduler(self) -> Scheduler:
        """The scheduler that decides which key is served next."""
        return self._scheduler

    def dequeue(self) -> WindowTuple | None:
        """Hand out the next tuple of a committed window, or None if there is none now.

        After the last tuple of a window that no tuple of it completes comes a bare mark, `CLOSE`.
        """
        now = self._ticks()
        window = self._served
        if window is not None:  # `_note_service`, written out
            window.seconds += now - self._served_at
            self._served = None
        ready = self._keys_under_processing
        while ready or self._commit_next(now):
            place = ready[0]
            buffer = place.buffer
            window_tuple = buffer.take()
            if window_tuple is not None:
                self._served = place.window
                self._served_at = now
                if buffer.is_finished:
                    self._finish(place, now)
                return window_tuple
            ready.popleft()
            place.processing_state = _AT_GAP[place.processing_state]
            buffer.watch()  # whatever comes next may promote the key
            self._idle_keys.add(place)
        return None

    def abort(self, key: Key) -> bool:
        """Give up the window of `key` that is under processing, if there is one.

        For consumers that cannot go on with it, or with a tuple that cannot be decoded. `ABORT`
        leaves instead of the rest. Returns whether there was one; UnknownKeyError for other keys.
        """
        now = self._ticks()
        place = self._find_known(key)
        triggers = place.buffer.abort()
        if triggers:
            self._react(place, triggers, now)
        return bool(triggers)

    def read(self, key: Key) -> list[Update] | None:
        """Return the tuples of the key's waiting window, as far as they have come, or None.

        Changes nothing. O(tuples).
        """
        self._ticks()
        place = self._find(key)
        if place is None or not place.buffer.is_waiting:
            return None
        return place.buffer.waiting()

    def memory_usage(self) -> MemoryUsage | None:
        """Return what the tuples take of the page pool, None if they are not kept there."""
        return None if self._memory is None else self._memory.usage(self._ticks())

    # From WAIT to READY, IDLE and DONE.

    def _commit_next(self, now: float) -> bool:
        """Commit to the window of the key that is to be served next, if any can be."""
        while (place := self._scheduler.take(now)) is not None:
            assert isinstance(place, KeyPlace)
            if place.processing_state is _IDLE:
                self._scheduler.stand_back(place)
                place.is_deferred = True
                self._deferred += 1
                continue
            self._sums.wait_ends(place, now)
            place.waiting_since = None
            place.waiting_state = _AFTER_WAIT[place.waiting_state]
            place.processing_state = _AT_COMMIT[place.processing_state]
            buffer = place.buffer
            buffer.commit()
            index = buffer.committed_index
            version = buffer.version(index)
            place.window = CommittedWindow(place, version, self._specification.end(index))
            place.note_commit(version)
            self._keys_under_processing.append(place)
            return True
        return False

    def _finish(self, place: KeyPlace, now: float) -> None:
        """Note that all of the window of the first key under processing has left."""
        self._keys_under_processing.popleft()
        place.processing_state = _AT_FINISH[place.processing_state]
        window = place.window
        assert window is not None
        place.window = None
        if place.buffer.is_aborted:
            self._aborted += 1
            place.note_gone(window.version)
        else:
            self._note_finished(window, now)
        if place.is_deferred:
            self._end_deferral(place)
            place.version_before = place.cell.version - 1
            self._scheduler.restore(place)
        elif place.delivered_version == KeyPlace.FORGOTTEN:
            place.buffer.clear()

    def _react(self, place: KeyPlace, triggers: int, now: float) -> Outcome:
        """Do what the triggers of an arrival ask for."""
        if triggers & CLOSES and (place.committed_versions or place.stale_since is None):
            place.note_close(place.buffer.closed_version, now)
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
        if triggers & SHOULD_PROMOTE and place.processing_state is _IDLE:
            place.processing_state = _AT_PROMOTION[place.processing_state]
            place.buffer.stop_watching()
            self._idle_keys.remove(place)
            self._keys_under_processing.append(place)
        if triggers & REFUSED:
            return Outcome.REJECTED
        return Outcome.OUTSIDE if triggers & OUTSIDE else outcome

    def _start_to_wait(self, place: KeyPlace, now: float) -> None:
        """Let the key wait for its most recent window."""
        cell = place.cell
        if cell.version == 1:
            self._update_rates.begin_again(cell)  # its windows count from the first update
        place.waiting_state = _AT_UPDATE[place.waiting_state]
        place.waiting_since = now
        place.version_before = cell.version - 1
        self._waits += 1
        place.waiting_rank = self._waits
        self._scheduler.schedule(place)

    def _withdraw(self, place: KeyPlace, now: float) -> None:
        """Let the key wait no more, since its window is gone."""
        if place.is_deferred:
            self._end_deferral(place)
        else:
            self._scheduler.remove(place)
        self._sums.wait_ends(place, now)
        place.waiting_since = None
        place.waiting_state = _AT_WITHDRAWAL[place.waiting_state]

    def _end_deferral(self, place: KeyPlace) -> None:
        place.is_deferred = False
        self._deferred -= 1

    # Keys that come and go.

    def _make_place(self, cell: KeyCell, key_hash: int | None) -> KeyPlace:
        key = cell.key
        tuples = (
            PlainTuples()
            if self._memory is None
            else BlockTuples(key, BlockChain(self._memory, again_of(self._ticks_only)), self._codec)
        )
        buffer = self._buffer(self._specification, tuples, self._counts, key)
        return KeyPlace(cell, buffer, key_hash)

    def _welcome_place(self, place: KeyPlace, terms: Terms) -> None:
        if self._order is not None:
            self._order.append(place.cell)
        self._scheduler.welcome(place.cell, terms)

    def admit(self, key: Key) -> Admission:
        """Return what was given for a new key; raise if it makes no sense."""
        return self._update_rates.admit(key), self._scheduler.admit(key)

    def _ask(self) -> None:
        if self._scheduler.asks_cost:
            self._cost.ask()

    def check_is_free(self, stream: Stream) -> None:
        """Raise unless the queue can join `stream`; ask for the cost, if that is needed."""
        super().check_is_free(stream)
        self._ask()

    def join(self, stream: Stream, beginning: Beginning) -> None:
        """Read the log of `stream` from now on. Called by `Stream.attach`."""
        super().join(stream, beginning)
        if self._scheduler.asks_cost and self._cost.is_told:
            stream.ask_first(self._cost.ask)

    def _note_forgotten(self, place: KeyPlace) -> None:
        if self._order is not None:
            self._order.remove(place.cell)
        if place.buffer.is_finished:
            place.buffer.clear()

    def _let_go(self) -> None:
        for place in list(self._scheduler):
            self._scheduler.remove(place)
        self._scheduler.unbind()
        if self._order is not None:
            self._order.close()
        if self._stream is not None and self._scheduler.asks_cost and self._cost.is_told:
            self._stream.ask_no_more(self._cost.ask)
        for key_place in (*self._open_places(), *self._keys_under_processing):
            key_place.buffer.clear()
            key_place.window = None
        self._keys_under_processing.clear()
        self._idle_keys.clear()
        self._deferred = 0

    def _held_tuples(self) -> int:
        gone = (
            place.buffer.held_tuples
            for place in self._keys_under_processing
            if place.delivered_version == KeyPlace.FORGOTTEN
        )
        return super()._held_tuples() + sum(gone)

    def _waiting_count(self) -> int:
        return len(self._scheduler) + self._deferred

    def _ready_count(self) -> int:
        return len(self._keys_under_processing)

    def _idle_count(self) -> int:
        return len(self._idle_keys)


def _encode_for(memory: Memory, codec: Codec, value: object) -> object:
    """Return the bytes of a value; a function, since a method would hold its queue."""
    data = codec.encode(value)
    memory.check_length(RECORD_HEADER_BYTES + len(data))
    return data
