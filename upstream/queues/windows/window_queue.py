"""The window queue: the most recent window of each key, in the scheduler's order (report, 6.2).

It combines a key scheduler, a window buffer for each key, and a memory. A window here is what an
update is in an update queue: a key waits for its most recent window, and a newer window supersedes
the older one in its place. So schedulers, rates and both kinds of staleness are those of update
queues. The cell of each key counts windows.

`dequeue` serves the first of the keys under processing. When there is none, it commits to the
window of the key that the scheduler chooses. A key may wait while it is under processing, but it is
committed to one window at a time. If its turn comes while it is IDLE, it stands back. It gets its
place again, by how long it has waited, when its window has left.
"""

from __future__ import annotations

from functools import partial

from ...clock import Clock
from ...errors import ParameterError
from ...memory import RECORD_HEADER_BYTES, BytesCodec, Codec, Memory, MemoryUsage
from ...schedulers import Scheduler, check_scheduler
from ...statistics import DEFAULT_FORGETTING, AnyKey, GivenCost, PerKey, ProcessingCost
from ...updates import Key, Update
from ...windows import WindowBuffer, WindowSpecification, WindowTuple
from ..in_process import DEFAULT_IN_PROCESS_LIMIT
from .recent_windows import KeyPlace, RecentWindows
from .windowed_queue import WindowedQueue, check_specification


class WindowQueue(WindowedQueue[KeyPlace]):
    """Keep the most recent window of each key, and serve the keys in the scheduler's order.

    `buffer` is the semantics: the class `LazyWindowBuffer` or `EagerWindowBuffer`, since each key
    gets a buffer of its own. `scheduler` decides which key is served next. `memory` keeps the
    tuples in blocks of a page pool, each block one location of the memory, as the bytes that
    `codec` makes of their values. The other parameters are those of every `WindowedQueue`.

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

    __slots__ = ("_memory", "_recent")

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
        check_specification(specification)
        if isinstance(buffer, WindowBuffer) and buffer.is_unspecified:
            buffer = type(buffer)
        if not (isinstance(buffer, type) and issubclass(buffer, WindowBuffer)):
            raise ParameterError("buffer", buffer, "LazyWindowBuffer or EagerWindowBuffer")
        check_scheduler(scheduler)
        _check_memory(memory, codec)
        self._memory = memory
        kept_codec: Codec = BytesCodec() if codec is None else codec
        cost = ProcessingCost(processing_cost, forgetting)
        buffers = buffer

        def make_recent(queue: WindowedQueue[KeyPlace]) -> RecentWindows:
            self._recent = RecentWindows(
                buffers,
                scheduler,
                specification,
                places=queue._places,
                counts=queue._counts,
                rates=queue._update_rates,
                cost=cost,
                in_process=queue._in_process,
                memory=memory,
                codec=kept_codec,
            )
            return self._recent

        super().__init__(
            specification,
            make_recent,
            clock=clock,
            rates=rates,
            cost=cost,
            forgetting=forgetting,
            in_process_limit=in_process_limit,
            encode=None if memory is None else partial(_encode_for, memory, kept_codec),
            is_direct=memory is None and not (scheduler.asks_cost and cost.is_told),
        )
        if memory is not None:
            memory.claim()
        self._recent.begin(self._intake.ticks)
        self._cycles.add(self._recent.keys_under_processing)

    @property
    def scheduler(self) -> Scheduler:
        """The scheduler that decides which key is served next."""
        return self._recent.scheduler

    def dequeue(self) -> WindowTuple | None:
        """Return the next tuple of a committed window, or None if there is none now.

        After the last tuple of a window, a tuple without an update may follow. Its mark `CLOSE`
        ends a window that none of its own tuples ends.
        """
        intake = self._intake
        now = intake.ticks() if intake.stands_alone else intake.catch_up()
        in_process = self._in_process
        window = in_process.served
        if window is not None:  # this is `note_service`, written out
            window.seconds += now - in_process.served_at
            in_process.served = None
        recent = self._recent
        ready = recent.keys_under_processing
        while ready or recent.commit_next(now):
            place = ready[0]
            buffer = place.buffer
            window_tuple = buffer.take()
            if window_tuple is not None:
                in_process.served = place.progress.window
                in_process.served_at = now
                if buffer.is_finished:
                    recent.finish(place, now)
                return window_tuple
            recent.wait_for_more(place)
        return None

    def abort(self, key: Key) -> bool:
        """Drop the rest of the window of `key` that is under processing, if there is one.

        Use it if the consumer cannot continue with the window, or if a tuple cannot be decoded. An
        `ABORT` leaves instead of the rest. Returns whether there was such a window. An unknown key
        raises UnknownKeyError.
        """
        now = self._intake.catch_up()
        place = self._find_known(key)
        triggers = place.buffer.abort()
        if triggers:
            self._recent.react(place, triggers, now)
        return bool(triggers)

    def read(self, key: Key) -> list[Update] | None:
        """Return the tuples of the waiting window of `key` that have arrived, or None.

        It changes nothing. O(tuples).
        """
        self._intake.catch_up()
        place = self._find(key)
        if place is None or not place.buffer.is_waiting:
            return None
        return place.buffer.waiting()

    def memory_usage(self) -> MemoryUsage | None:
        """Return the tuples' use of the page pool, or None if they are not stored in one."""
        return None if self._memory is None else self._memory.usage(self._intake.catch_up())

    def _policy(self) -> str:
        return f" {self.scheduler.name}"


def _check_memory(memory: Memory | None, codec: Codec | None) -> None:
    if memory is None and codec is not None:
        raise ParameterError("codec", codec, "given together with memory")
    if memory is not None and not hasattr(memory, "claim"):
        raise ParameterError("memory", memory, "a memory, such as OnDemandMemory(pool)")
    if codec is not None and not (hasattr(codec, "encode") and hasattr(codec, "decode")):
        raise ParameterError("codec", codec, "a codec, such as JsonCodec()")


def _encode_for(memory: Memory, codec: Codec, value: object) -> object:
    """Return the bytes of a value. A method instead would keep its queue alive."""
    data = codec.encode(value)
    memory.check_length(RECORD_HEADER_BYTES + len(data))
    return data
