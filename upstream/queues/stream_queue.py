"""What queues of every kind have in common: deliveries, staleness, statistics, their stream.

A queue is fed by a `Stream`. One that is not attached to any has a stream of its own, so there is
only one way for an update to arrive. Kinds differ in what `_restore`, `_serve_next` and a few
others of the abstract methods below do.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterable

from ..clock import steps_back_of
from ..columns import Column
from ..errors import AlreadyAttachedError, ClosedError, NotInProcessError, ParameterError
from ..keys import KeyCell, Place
from ..schedulers import Terms
from ..statistics import (
    DEFAULT_FORGETTING,
    GivenCost,
    ProcessingCost,
    QueueStatistics,
    UpdateRates,
    check_count,
)
from ..updates import TOMBSTONE, Key, Outcome, Update
from .ages import check_age
from .batch_outcome import BatchOutcome
from .beginning import Beginning
from .in_process import InProcess, Record, check_records, find_copy
from .own_queue import OwnQueue
from .queue_places import QueuePlaces
from .stream import Stream

DEFAULT_IN_PROCESS_LIMIT = 10_000

Admit = Callable[[Key], Terms]
Welcome = Callable[[KeyCell, Terms], None]


def _admit_all(_key: Key) -> Terms:
    return None


def _welcome_all(_cell: KeyCell, _terms: Terms) -> None:
    return


class StreamQueue(QueuePlaces):
    """A queue of updates of one stream.

    `clock`, `rates`, `forget_after` are its own stream's, and end when it is attached to another
    stream. `processing_cost` is measured unless given, and forgets at the rate `forgetting`; it may
    be a function, which is asked whenever the present cost is needed, and may tell None.
    `time_to_live` drops updates that wait so many seconds after their arrival.
    """

    _stream: Stream

    __slots__ = (
        "_delivered",
        "_dequeued",
        "_expired",
        "_final",
        "_in_process",
        "_in_process_limit",
        "_is_attached",
        "_orphans",
        "_rejected",
        "_returned",
        "_shed",
        "_stream",
        "_superseded",
        "_switches",
        "_taken_as_delivered",
        "_taken_over",
        "_ticks",
        "_values",
        "_without_room_before",
        "capacity",
        "time_to_live",
    )

    def __init__(
        self,
        own_stream: Stream,
        *,
        capacity: int | None = None,
        time_to_live: float | None = None,
        processing_cost: GivenCost | None = None,
        forgetting: float = DEFAULT_FORGETTING,
        in_process_limit: int = DEFAULT_IN_PROCESS_LIMIT,
    ) -> None:
        check_count("capacity", capacity, least=1, or_none=True)
        check_count("in_process_limit", in_process_limit, least=1)
        super().__init__(ProcessingCost(processing_cost, forgetting))
        self.capacity = capacity
        self.time_to_live = check_age("time_to_live", time_to_live)
        self._in_process_limit = in_process_limit
        self._in_process: InProcess = OrderedDict()
        self._dequeued = self._superseded = self._expired = self._rejected = 0
        self._returned = self._delivered = self._taken_as_delivered = self._taken_over = 0
        self._shed = self._switches = 0
        self._orphans = 0  # updates in process whose key was forgotten
        self._final: QueueStatistics | None = None
        self._is_attached = False
        self._hear(own_stream, Beginning())
        admit, welcome = self._admission()
        own = OwnQueue(
            self,
            own_stream,
            admit=admit,
            welcome=welcome,
            rings=self._rings,
        )
        own_stream.adopt(own)

    # What the application calls.

    @abstractmethod
    def enqueue(self, key: Key, value: object, time: float | None = None) -> Outcome:
        """Enqueue an update of `key`; `time` defaults to the clock's."""

    @abstractmethod
    def enqueue_many(
        self, keys: Column, values: Column, times: Column | None = None
    ) -> BatchOutcome:
        """Enqueue a batch of columns, all of it or, if a row is bad, none."""

    def dequeue(self) -> Update | None:
        """Hand out the update that is to be processed next, or None if none waits."""
        now = self._ticks()
        if now >= self._stream.due_at:
            self._stream.catch_up()
        return self._serve_next(now)

    def dequeue_many(self, limit: int) -> list[Update]:
        """Hand out up to `limit` updates, as that many calls of `dequeue` at one instant would."""
        check_count("limit", limit, least=0)
        now = self._stream.catch_up()
        updates: list[Update] = []
        while len(updates) < limit:
            try:
                update = self._serve_next(now)
            except Exception:  # of a codec, say; the next call will see it again
                if updates:
                    break
                raise
            if update is None:
                break
            updates.append(update)
        return updates

    def deliver(self, update: Update) -> None:
        """Note that the application has the result of `update`."""
        now = self._ticks()
        if now >= self._stream.due_at:
            self._stream.catch_up()
        record = self._in_process.pop(id(update), None)
        if record is None:
            record = self._find_copy(update)
            if record is None:
                if self._may_have_been_taken(update):
                    return
                raise NotInProcessError(update)
            del self._in_process[id(record[0])]
        self._note_delivery(record, now)

    def deliver_many(self, updates: Iterable[Update]) -> None:
        """Deliver each of `updates`."""
        for update in list(updates):
            self.deliver(update)

    def give_back(self, update: Update) -> None:
        """Let a dequeued update wait again, as of its original arrival.

        If a newer one was accepted meanwhile it is counted as superseded instead.
        """
        now = self._stream.catch_up()
        record = self._in_process.get(id(update)) or self._find_copy(update)
        if record is None:
            raise NotInProcessError(update)
        self._restore(record, now)
        del self._in_process[id(record[0])]
        place = record[1]
        place.in_process -= 1
        self._returned += 1
        self._note_quiet(place, now)

    def forget(self, key: Key) -> None:
        """Forget a key in the queue's stream, see `Stream.forget`."""
        self._stream.forget(key)

    @abstractmethod
    def peek(self) -> Update | None:
        """Return what `dequeue` would hand out now; change nothing."""

    @abstractmethod
    def read(self, key: Key) -> Update | None:
        """Return the key's newest waiting update or None; change nothing."""

    @abstractmethod
    def snapshot(self) -> list[Update]:
        """Return all waiting updates; change nothing. O(waiting)."""

    @abstractmethod
    def waiting_since(self) -> float | None:
        """Return the earliest arrival since which something waits, None if nothing does.

        On the scale of `Stream.now`. Changes nothing.
        """

    @abstractmethod
    def __len__(self) -> int:
        """Return how much waits: keys, or updates where a key may have several."""

    # Statistics.

    def statistics(self) -> QueueStatistics:
        """Return the exact counters; after `close` the final ones. O(waiting keys)."""
        if self._final is not None:
            return self._final
        self._catch_up()
        return self._count()

    # The queue's life with its stream.

    @property
    def stream(self) -> Stream:
        """The stream that feeds the queue."""
        return self._stream

    @property
    def is_closed(self) -> bool:
        """Whether the queue is closed, and only its final statistics can be read."""
        return self._final is not None

    @property
    def clock_steps_back(self) -> int:
        """How many readings of the clock were earlier than one before; time stood still then."""
        return steps_back_of(self._ticks)

    @property
    def is_attached(self) -> bool:
        """Whether the queue was attached to a stream that is not its own."""
        return self._is_attached

    def close(self) -> QueueStatistics:
        """Detach from the stream, free everything, and return the final statistics."""
        if self._final is None:
            self._stream.detach(self)
        assert self._final is not None
        return self._final

    def check_is_free(self, stream: Stream) -> None:
        """Raise unless the queue can join `stream`: its own was not used, and is all it has."""
        if self._final is not None:
            raise ClosedError("queue")
        if self._is_attached or self._stream.is_used or self._stream is stream:
            raise AlreadyAttachedError(
                "this queue is attached already, or has taken updates of its own; attach a new one"
            )
        if self._stream.has_memory:
            raise ParameterError(
                "memory", "one of the queue's own", "the stream's: pass it to Stream(memory=...)"
            )

    def join(self, stream: Stream, beginning: Beginning) -> None:
        """Leave the own stream for `stream`. Called by `Stream.attach`."""
        self._stop_listening(beginning.now)  # nothing waits
        self._stream.close_unused()
        self._is_attached = True
        self._hear(stream, beginning)

    def leave(self) -> QueueStatistics:
        """Free everything that the queue holds of its stream. Called by `Stream.detach`."""
        final = self._count()
        now = self._stream.now()  # not before: to count is to do what fell due
        self._final = final
        self._stop_listening(now)
        self._retire_all(now)
        self._in_process = OrderedDict()
        self._stream = Stream.closed("queue")
        self._values = self._stream.values  # those of the other one have a page pool, perhaps
        return self._final

    @property
    def copies_values(self) -> bool:
        """Whether the queue takes over values, and not only keys."""
        return False

    def admit(self, key: Key) -> Terms:
        """Return what was given for a new key; raise if it makes no sense."""
        return None

    def welcome(self, cell: KeyCell, terms: Terms) -> None:
        """Note that a key came in, for which `admit` returned `terms`."""
        return

    def settle(self) -> None:
        """Take in what was not read yet."""
        return

    def forget_cell(self, cell: KeyCell, now: float) -> None:
        """Drop what the queue knows of the key; what waits of it counts as expired."""
        place = self.place_of(cell)
        if place is not None:
            self._drop_waiting(place, now)
            self._retire(place, now)
            self._orphans += place.in_process
            place.delivered_version = place.version_before = Place.FORGOTTEN
            self._places[cell.index] = None

    # What the kinds of queues differ in.

    @abstractmethod
    def take_over(self, cell: KeyCell, now: float) -> None:
        """Take over the newest update of a key, as if it arrived now. Called by the stream."""

    def _admission(self) -> tuple[Admit, Welcome]:
        """Return what does the same as `admit` and `welcome`, and does not hold the queue."""
        return _admit_all, _welcome_all

    @abstractmethod
    def _listen(self, beginning: Beginning) -> None:
        """Begin to hear of the stream's updates."""

    @abstractmethod
    def _stop_listening(self, now: float) -> None:
        """Hear of no more updates; let go of what waits, uncounted since the end was counted."""

    @abstractmethod
    def _serve_next(self, now: float) -> Update | None:
        """Dequeue one update."""

    @abstractmethod
    def _restore(self, record: Record, now: float) -> None:
        """Let a returned update wait again, or count what else becomes of it."""

    @abstractmethod
    def _drop_waiting(self, place: Place, now: float) -> None:
        """Drop what waits of a key, if anything, counting it as expired."""

    @abstractmethod
    def _arrivals(self) -> tuple[int, int, int]:
        """Return how many updates arrived, were late, and were rejected."""

    @abstractmethod
    def _superseded_now(self) -> int:
        """Return how many values were superseded at places that still wait."""

    # What they share.

    def _catch_up(self) -> float:
        """Take in what arrived, do what fell due, and return the time."""
        return self._stream.catch_up()

    def _hear(self, stream: Stream, beginning: Beginning) -> None:
        self._stream = stream
        self._without_room_before = stream.counters()[2]
        self._values = stream.values
        self._ticks = stream.ticks
        self._listen(beginning)

    def _hand_out(self, record: Record, now: float) -> Update:
        """Note that an update is handed out, and return it."""
        update = record[0]
        record[1].in_process += 1
        self._dequeued += 1
        self._in_process[id(update)] = record
        if len(self._in_process) > self._in_process_limit:
            self._take_oldest_as_delivered(now)
        return update

    def _find_copy(self, update: Update) -> Record | None:
        """Return the record of an update in process of which `update` is a copy."""
        if not isinstance(update, Update):
            raise NotInProcessError(update)
        place = self._find(update.key)
        if place is not None and place.in_process == 0 and self._orphans == 0:
            return None
        return find_copy(self._in_process, update)

    def _may_have_been_taken(self, update: Update) -> bool:
        """Tell whether an update that is not in process may be one that was taken as delivered."""
        is_known = update.value is TOMBSTONE or self._find(update.key) is not None
        return is_known and self._taken_as_delivered > 0

    def _take_oldest_as_delivered(self, now: float) -> None:
        self._taken_as_delivered += 1
        self._note_delivery(self._in_process.popitem(last=False)[1], now)

    def _note_delivery(self, record: Record, now: float) -> None:
        update, place, version, _, dequeued_at, _ = record
        place.in_process -= 1
        self._delivered += 1
        self._cost.delivered(dequeued_at, now)
        if 0 <= place.delivered_version < version:
            self._sums.delivered(place, version, now)
            if update.value is TOMBSTONE:
                self._note_deletion(place, version, now)
        is_known = 0 <= place.delivered_version < Place.FORGOTTEN
        if not is_known or self._stream.forget_after is not None:
            self._note_quiet(place, now)

    def _note_quiet(self, place: Place, now: float) -> None:
        """Let the stream forget a key that may have become idle, if it is time to."""
        if place.delivered_version == Place.FORGOTTEN:
            self._orphans -= 1
            return
        if place.delivered_version == Place.UNCOUNTED:
            self._stream.bury(place.cell, now)
        if self._stream.forget_after is not None and place.delivered_version != Place.FORGOTTEN:
            self._stream.consider(place.cell, now)

    def _note_deletion(self, place: Place, version: int, now: float) -> None:
        """Forget a key whose deletion was delivered, unless it has updated since."""
        if place.cell.version == version:
            self._drop_waiting(place, now)  # an older update, if one was given back
            self._retire(place, now)
            place.delivered_version = Place.UNCOUNTED
            place.stale_since = None

    def _without_room(self) -> int:
        """Return how many updates found the stream's page pool full, and so never came here."""
        return self._stream.counters()[2] - self._without_room_before

    def _rates(self) -> UpdateRates:
        return self._stream.rates

    def _find(self, key: Key) -> Place | None:
        cell = self._stream.find(key)
        return None if cell is None else self.place_of(cell)

    def _count(self) -> QueueStatistics:
        waiting = len(self)  # first, since it takes in what was not looked at yet
        arrived, late, rejected = self._arrivals()
        return QueueStatistics(
            arrived=arrived,
            returned=self._returned,
            dequeued=self._dequeued,
            superseded=self._superseded + self._superseded_now(),
            late=late,
            expired=self._expired,
            shed=self._shed,
            rejected=rejected,
            waiting=waiting,
            delivered=self._delivered,
            taken_as_delivered=self._taken_as_delivered,
            in_process=len(self._in_process),
            keys=self.key_count,
            forgotten=self._forgotten,
            switches=self._switches,
        )

    def _check(self) -> None:
        super()._check()
        check_records(self._in_process)
        in_process = sum(place.in_process for place in self._places if place is not None)
        assert in_process + self._orphans == len(self._in_process)
        assert self.statistics().is_balanced, f"an update is not accounted for: {self._count()}"
