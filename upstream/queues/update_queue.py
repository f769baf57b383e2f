"""The update queue: at most one waiting update per key, the newest (report, section 4.1).

It composes a key scheduler with the stream's memory. The values are the stream's; the queue has a
`Place` for each key, and hears of a key only when it starts to wait. Values that are superseded
while the key waits are counted, when the wait ends, by the versions that have passed.
"""

from __future__ import annotations

import math

from ..clock import Clock
from ..errors import ParameterError
from ..keys import KeyCell, Place
from ..memory import Codec, Memory
from ..schedulers import Scheduler, Surroundings, Terms
from ..statistics import DEFAULT_FORGETTING, AnyKey, GivenCost, PerKey, QueueStatistics
from ..updates import TOMBSTONE, Key, Update
from .attached import EnqueueManyMethod, EnqueueMethod
from .beginning import Beginning
from .in_process import Record
from .stream import Stream
from .stream_queue import DEFAULT_IN_PROCESS_LIMIT, Admit, StreamQueue, Welcome
from .waiting_keys import WaitingKeys

_new_tuple = tuple.__new__


class UpdateQueue(StreamQueue):
    """Keep the newest update of each key, and serve the keys in the scheduler's order.

    `capacity` bounds the keys that wait at once: a key more is rejected, and counted.

    >>> from upstream import InPlaceScheduler, ManualClock
    >>> queue = UpdateQueue(InPlaceScheduler(), clock=ManualClock())
    >>> queue.enqueue("IBM", 24.0, time=0)
    <Outcome.WAITING: 'waiting'>
    >>> queue.enqueue("IBM", 25.0, time=1)
    <Outcome.SUPERSEDED: 'superseded'>
    >>> queue.dequeue()
    Update(key='IBM', value=25.0, time=1.0)
    """

    enqueue: EnqueueMethod
    """Enqueue an update; this is the stream's own method, which spares a call (DECISIONS.md)."""
    enqueue_many: EnqueueManyMethod
    """Enqueue a batch of columns, all of it or, if a row is bad, none."""

    __slots__ = (
        "_arrived_before",
        "_is_plain",
        "_late_before",
        "_lets_go",
        "_queue_area",
        "_scheduler",
        "_take",
        "_taken_over_at",
        "_waiting",
        "enqueue",
        "enqueue_many",
    )

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
        if not isinstance(scheduler, Scheduler):
            raise ParameterError(
                "scheduler", scheduler, "a scheduler, such as InPlaceScheduler(), not its name"
            )
        self._scheduler = scheduler
        # A method that is kept is called faster than one that is looked up.
        self._take = scheduler.take
        self._arrived_before = self._late_before = 0
        self._taken_over_at = -math.inf
        stream = Stream(
            clock=clock,
            retain=False,
            memory=memory,
            codec=codec,
            rates=rates,
            forgetting=forgetting,
            forget_after=forget_after,
        )
        super().__init__(
            stream,
            capacity=capacity,
            time_to_live=time_to_live,
            processing_cost=processing_cost,
            forgetting=forgetting,
            in_process_limit=in_process_limit,
        )

    @property
    def scheduler(self) -> Scheduler:
        """The scheduler that decides which key is served next."""
        return self._scheduler

    def peek(self) -> Update | None:
        """Return what `dequeue` would hand out now, None if nothing; change nothing."""
        place = self._scheduler.next(self._stream.catch_up())
        return None if place is None else self._stream.update_of(place.cell)

    def read(self, key: Key) -> Update | None:
        """Return the key's waiting update or None; change nothing."""
        self._stream.catch_up()
        place = self._find(key)
        if place is None or place.waiting_since is None:
            return None
        return self._stream.update_of(place.cell)

    def snapshot(self) -> list[Update]:
        """Return the waiting updates; change nothing. O(waiting)."""
        self._stream.catch_up()
        return [self._stream.update_of(place.cell) for place in self._scheduler]

    def waiting_since(self) -> float | None:
        """Return the earliest arrival since which something waits, None if nothing does.

        On the scale of `Stream.now`, and without what a scheduler bars. As fast as the scheduler
        tells it, and O(waiting) while a key waits that was taken over from a snapshot.
        """
        self._stream.catch_up()
        scheduler = self._scheduler
        since = scheduler.waiting_since()
        if since is None or since > self._taken_over_at:
            return since
        # A key that was taken over waits from then on, and its update arrived before.
        arrivals = (place.cell.arrival for place in scheduler if not scheduler.bars(place))
        return min(since, *arrivals)

    def __len__(self) -> int:
        """Return how many keys wait, those among them that the scheduler holds back."""
        self._stream.catch_up()
        return len(self._scheduler)

    # What the stream calls.

    @property
    def is_full(self) -> bool:
        """Whether no further key can wait."""
        return self._waiting.is_full

    def admit(self, key: Key) -> Terms:
        """Return what was given for a new key; raise if it makes no sense."""
        return self._scheduler.admit(key)

    def counts(self, cell: KeyCell) -> bool:
        """Tell whether the key has arrived at the queue and was not forgotten; not if barred."""
        return super().counts(cell) and not self._is_barred(cell)

    def holds(self, cell: KeyCell) -> bool:
        """Tell whether an update of the key waits or is in process; not if it is barred."""
        return super().holds(cell) and not self._is_barred(cell)

    def _is_barred(self, cell: KeyCell) -> bool:
        """Tell whether nobody waits for the key, so that the stream may forget it."""
        place = self.place_of(cell)
        return place is not None and self._scheduler.bars(place)

    def welcome(self, cell: KeyCell, terms: Terms) -> None:
        """Give a key of the stream a place, in which it does not wait yet."""
        self._waiting.welcome(cell, terms)

    def leave(self) -> QueueStatistics:
        """Free everything that the queue holds of its stream. Called by `Stream.detach`."""
        final = super().leave()
        self._enqueue_to(self._stream)
        return final

    def check_is_free(self, stream: Stream) -> None:
        """Raise unless the queue can join `stream`; ask for the cost, if that is needed."""
        super().check_is_free(stream)
        if self._scheduler.asks_cost:
            self._cost.ask()

    def _listen(self, beginning: Beginning) -> None:
        stream = self._stream
        self._is_plain = stream.values.is_plain
        self._lets_go = not stream.values.retain
        self._reserve(stream.key_numbers)
        self._queue_area = self._sums.queue
        self._waiting = WaitingKeys(self._scheduler, self._column, self._sums, self.capacity)
        self._enqueue_to(stream)
        order = stream.keep_order() if self._scheduler.needs_arrival_order else None
        if self.time_to_live is not None:
            stream.watch_age(self.time_to_live, self._expire)
        self._scheduler.bind(
            Surroundings(
                rates=stream.rates,
                cost=self._cost,
                place_of=self._column.place_of,
                order=order,
                from_oldest=beginning.since is not None,
            )
        )
        self._arrived_before, self._late_before, _ = stream.counters()
        stream.listen(self._waiting)
        if self._scheduler.asks_cost and self._cost.is_told:
            stream.ask_first(self._cost.ask)
        for cell, terms in beginning.terms.items():
            self.welcome(cell, terms)
        if beginning.since is not None:
            self._take_over(beginning.since, beginning.now)

    def _admission(self) -> tuple[Admit, Welcome]:
        return self._scheduler.admit, self._waiting.welcome

    def _enqueue_to(self, stream: Stream) -> None:
        self.enqueue = stream.enqueue
        self.enqueue_many = stream.enqueue_many

    def _take_over(self, since: float, now: float) -> None:
        self._taken_over_at = now
        for cell in self._stream.newest_cells(since):
            if self.time_to_live is None or cell.arrival + self.time_to_live > now:
                self.take_over(cell, now)

    def take_over(self, cell: KeyCell, now: float) -> None:
        """Let a key wait with its newest update, as if it arrived now. Called by the stream."""
        place = self.place_of(cell)
        assert place is not None
        self._taken_over += 1
        cell.remove_idle(place)
        if self._waiting.start(place, cell.version, now):
            place.version_before = place.delivered_version
            cell.waiting += 1
        else:
            cell.add_idle(place)

    def _stop_listening(self, now: float) -> None:
        for place in list(self._scheduler):
            self._scheduler.remove(place)
            self._end_wait(place, now)
        for idle in self._places:
            if idle is not None:
                idle.cell.remove_idle(idle)
        stream = self._stream
        stream.stop_listening(self._waiting)
        if self._scheduler.asks_cost and self._cost.is_told:
            stream.ask_no_more(self._cost.ask)
        self._scheduler.unbind()
        if self.time_to_live is not None:
            stream.stop_watching_age(self._expire)
        if self._scheduler.needs_arrival_order:
            stream.drop_order()

    def _serve_next(self, now: float) -> Update | None:
        """Dequeue one update. It is written out, since a call for each step costs as much again."""
        if self._is_plain:
            place = self._take(now)
            if place is None:
                return None
            cell = place.cell
            value = cell.value
        else:
            place = self._scheduler.next(now)
            if place is None:
                return None
            cell = place.cell
            value = self._values.load(cell)  # which may fail, and must change nothing then
            self._scheduler.serve(place, now)
        # Not Update(...): a generated constructor takes three times as long as a plain tuple.
        update = _new_tuple(Update, (cell.key, value, cell.time))
        version = cell.version
        in_process = self._in_process
        in_process[id(update)] = (update, place, version, cell.arrival, now, 0)
        place.in_process += 1
        self._dequeued += 1
        # _end_wait
        waited = now - place.waiting_since  # type: ignore[operator]  # it waits; hot path
        self._queue_area[cell.index] += 0.5 * waited * waited
        self._superseded += version - place.version_before - 1
        place.waiting_since = None
        if cell.idle is None:
            place.previous = place.next = cell.idle = place
        else:
            cell.add_idle(place)
        still_waiting = cell.waiting - 1
        cell.waiting = still_waiting
        if still_waiting == 0 and self._lets_go:
            if self._is_plain and value is not TOMBSTONE:
                cell.value = None
            else:
                self._values.nobody_waits(cell, now)
        if len(in_process) > self._in_process_limit:
            self._take_oldest_as_delivered(now)
        return update

    def _end_wait(self, place: Place, now: float) -> None:
        """Let the key of `place`, which its scheduler has let go, wait no more."""
        cell = place.cell
        self._sums.wait_ends(place, now)
        self._superseded += cell.version - place.version_before - 1
        place.waiting_since = None
        cell.add_idle(place)
        cell.waiting -= 1
        if cell.waiting == 0:
            self._values.nobody_waits(cell, now)

    def _drop_waiting(self, place: Place, now: float) -> None:
        if place.waiting_since is not None:
            self._scheduler.remove(place)
            self._end_wait(place, now)
            self._expired += 1

    def forget_cell(self, cell: KeyCell, now: float) -> None:
        """Drop what the queue knows of the key; what waits of it counts as expired."""
        place = self.place_of(cell)
        super().forget_cell(cell, now)
        if place is not None:
            cell.remove_idle(place)
            place.close()

    def _expire(self, cell: KeyCell, due: float) -> None:
        """Drop the key's waiting update, which has outlived `time_to_live` at `due`."""
        place = self.place_of(cell)
        if place is not None and place.waiting_since is not None:
            self._drop_waiting(place, due)
            self._stream.consider(cell, due)

    def _restore(self, record: Record, now: float) -> None:
        update, place, version, arrival, _, _ = record
        if place.version_before >= version or place.cell.version > version:
            self._superseded += 1
        elif self.time_to_live is not None and arrival + self.time_to_live <= now:
            self._expired += 1
        else:
            cell = place.cell
            if cell.waiting == 0:
                self._stream.store_again(cell, update.value, now)
            cell.remove_idle(place)
            cell.waiting += 1
            place.version_before = cell.version - 1
            self._sums.wait_resumes(place, self._sums.start_of_wait(place, arrival), now)
            self._scheduler.restore(place)

    def _arrivals(self) -> tuple[int, int, int]:
        arrived, late, _ = self._stream.counters()
        return (
            self._taken_over + arrived - self._arrived_before,
            late - self._late_before,
            self._waiting.rejected + self._without_room(),
        )

    def _superseded_now(self) -> int:
        return sum(place.cell.version - place.version_before - 1 for place in self._scheduler)

    def _check(self) -> None:
        super()._check()
        self._scheduler._check()
        for place in self._scheduler:
            assert place.waiting_since is not None and self.place_of(place.cell) is place
        waiting = sum(1 for place in self._places if place and place.waiting_since is not None)
        assert waiting == len(self._scheduler)
