"""The update queue: at most one waiting update per key, the newest (report, section 4.1)."""

from __future__ import annotations

from ..clock import Clock
from ..memory import Codec, Memory
from ..schedulers import Scheduler, check_scheduler
from ..statistics import DEFAULT_FORGETTING, AnyKey, GivenCost, PerKey, ProcessingCost
from .in_process import DEFAULT_IN_PROCESS_LIMIT, InProcess
from .places import QueuePlaces
from .stream import intake
from .stream.stream import Stream
from .stream_queue import StreamQueue, checked_limits
from .waiting_keys import WaitingKeys


class UpdateQueue(StreamQueue):
    """Keep the newest update of each key, and serve the keys in the scheduler's order.

    `scheduler` decides which key is served next.
    `capacity` is the largest number of waiting keys. An update of a further key is rejected and
    counted. By default there is no limit.
    `memory` stores the values in a page pool. By default they are Python references.
    `codec` turns values into the bytes that `memory` stores. The default is `BytesCodec`.

    The other parameters are those of every `StreamQueue`.

    >>> from upstream import InPlaceScheduler, ManualClock
    >>> queue = UpdateQueue(InPlaceScheduler(), clock=ManualClock())
    >>> queue.enqueue("IBM", 24.0, time=0)
    <Outcome.WAITING: 'waiting'>
    >>> queue.enqueue("IBM", 25.0, time=1)
    <Outcome.SUPERSEDED: 'superseded'>
    >>> queue.dequeue()
    Update(key='IBM', value=25.0, time=1.0)
    """

    __slots__ = ("_scheduler",)

    def __init__(
        self,
        scheduler: Scheduler,
        *,
        clock: Clock | None = None,
        capacity: int | None = None,
        time_to_live: float | None = None,
        memory: Memory | None = None,
        codec: Codec | None = None,
        rates: PerKey[AnyKey] | None = None,
        processing_cost: GivenCost | None = None,
        forgetting: float = DEFAULT_FORGETTING,
        forget_after: float | None = None,
        in_process_limit: int = DEFAULT_IN_PROCESS_LIMIT,
    ) -> None:
        check_scheduler(scheduler)
        capacity, time_to_live = checked_limits(capacity, time_to_live)
        self._scheduler = scheduler
        cost = ProcessingCost(processing_cost, forgetting)
        own_stream = Stream(
            clock=clock,
            retain=False,
            memory=memory,
            codec=codec,
            rates=rates,
            forgetting=forgetting,
            forget_after=forget_after,
        )

        def make_waiting(places: QueuePlaces, in_process: InProcess) -> WaitingKeys:
            return WaitingKeys(
                scheduler,
                places,
                in_process,
                cost,
                capacity=capacity,
                time_to_live=time_to_live,
            )

        super().__init__(own_stream, make_waiting, cost=cost, in_process_limit=in_process_limit)

    enqueue = intake.enqueue
    enqueue_many = intake.enqueue_many

    @property
    def scheduler(self) -> Scheduler:
        """The scheduler that decides which key is served next."""
        return self._scheduler

    def _policy(self) -> str:
        return f" {self._scheduler.name}"
