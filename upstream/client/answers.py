"""The service's answers as values.

Members that a newer service adds are ignored. Members that an older service does not send take
their defaults.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import msgspec

Key: TypeAlias = str | int | tuple[str | int, ...]
"""An update key as the service takes it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one request, before it is parsed."""

    status: int
    body: bytes
    retry_after: float | None = None
    """Seconds after which the service asks the client to try again."""


class ReceivedUpdate(msgspec.Struct, frozen=True, omit_defaults=True):
    """An update that the service handed out.

    `lease` names the delivery if the queue grants leases. `is_deleted` is true if this update says
    that the key was deleted; its value is then None.

    >>> import msgspec
    >>> msgspec.json.decode(b'{"key": ["NYSE", 7], "value": 24.0, "time": 1}', type=ReceivedUpdate)
    ReceivedUpdate(key=('NYSE', 7), value=24.0, time=1.0, lease=None, is_deleted=False)
    """

    key: Key
    value: object
    time: float
    lease: str | None = None
    is_deleted: bool = msgspec.field(default=False, name="deleted")


class WatchMessage(msgspec.Struct, frozen=True, omit_defaults=True):
    """One message that the service pushed.

    `id` is the position from which the watch can be resumed after this message. If `is_reset` is
    true, forget everything received before: these updates begin a new picture. `superseded` counts
    the updates that newer ones replaced since the previous message. It is counted over all keys,
    for the queues that would keep every update (`append`, `adaptive`).
    """

    updates: list[ReceivedUpdate]
    id: str = ""
    is_reset: bool = msgspec.field(default=False, name="reset")
    superseded: int = 0


class Rejection(msgspec.Struct, frozen=True):
    """Why one update of a batch was rejected; `index` is its place in the batch, from 0."""

    index: int
    reason: str


MOST_REJECTIONS = 100
"""How many rejections are listed. All of them are counted."""


class Counts(msgspec.Struct, frozen=True):
    """What happened to the updates that were sent.

    `waiting` updates were accepted; `superseded` ones replaced a value that was still waiting;
    `late` ones were older than the newest of their key; `rejected` ones were invalid; `outside`
    ones belonged to no open window. `rejections` lists the first 100 rejected updates.

    >>> Counts(waiting=2).plus(Counts(rejected=1, rejections=[Rejection(0, "too long")]), sent=3)
    ... # doctest: +NORMALIZE_WHITESPACE
    Counts(waiting=2, superseded=0, late=0, rejected=1, outside=0,
           rejections=[Rejection(index=3, reason='too long')])
    """

    waiting: int = 0
    superseded: int = 0
    late: int = 0
    rejected: int = 0
    outside: int = 0
    rejections: list[Rejection] = []

    def plus(self, later: Counts, *, sent: int) -> Counts:
        """Add the counts of a later batch, before which `sent` updates were sent."""
        moved = [Rejection(each.index + sent, each.reason) for each in later.rejections]
        return Counts(
            waiting=self.waiting + later.waiting,
            superseded=self.superseded + later.superseded,
            late=self.late + later.late,
            rejected=self.rejected + later.rejected,
            outside=self.outside + later.outside,
            rejections=[*self.rejections, *moved][:MOST_REJECTIONS],
        )


class Delivered(msgspec.Struct, frozen=True):
    """How many updates were delivered, and how many were not in process in the queue."""

    delivered: int = 0
    unknown: int = 0

    def plus(self, other: Delivered) -> Delivered:
        """Add two results."""
        return Delivered(self.delivered + other.delivered, self.unknown + other.unknown)


class StreamView(msgspec.Struct, frozen=True):
    """A stream: its definition (see `StreamOptions`) and its counters.

    `too_far_ahead` counts the updates that were rejected because their times were further ahead of
    the service's clock than `most_ahead` allows. `run` changes when the stream is created again,
    for example after a restart of the service.
    """

    name: str
    retain: bool = True
    forget_after: float | None = None
    pool_bytes: int | None = None
    most_ahead: float | str | None = None
    keys: int = 0
    arrived: int = 0
    late: int = 0
    rejected: int = 0
    too_far_ahead: int = 0
    queues: list[str] = []
    subscribers: int = 0
    run: str = ""


class QueueView(msgspec.Struct, frozen=True):
    """A queue: its definition (see `QueueOptions`) and how many updates it holds.

    `serves` is `push` while only push connections use the queue. It then holds no updates itself,
    because every connection has a queue of its own with this definition.
    """

    name: str
    stream: str
    kind: str = "update"
    scheduler: str | None = None
    weights: Mapping[str, float] | None = None
    longest_wait: float | None = None
    processing_cost: float | None = None
    window: Mapping[str, object] | None = None
    capacity: int | None = None
    shedding: bool = False
    time_to_live: float | None = None
    lease_seconds: float | None = None
    snapshot: bool = False
    keep_for_dequeue: bool | None = None
    waiting: int = 0
    in_process: int = 0
    subscribers: int = 0
    serves: str = "dequeue"


class Counters(msgspec.Struct, frozen=True):
    """The exact counters of a queue at one moment.

    `arrived + returned` equals `dequeued + superseded + late + expired + shed + rejected +
    waiting`. A window queue counts in `windows` and `tuples` instead.
    """

    arrived: int = 0
    returned: int = 0
    dequeued: int = 0
    superseded: int = 0
    late: int = 0
    expired: int = 0
    shed: int = 0
    rejected: int = 0
    waiting: int = 0
    delivered: int = 0
    taken_as_delivered: int = 0
    in_process: int = 0
    keys: int = 0
    forgotten: int = 0
    switches: int = 0
    windows: Mapping[str, int] | None = None
    tuples: Mapping[str, int] | None = None


class KeyStaleness(msgspec.Struct, frozen=True):
    """The staleness of one key.

    `queue_staleness` and `application_staleness` are averages since the key first arrived.
    `waiting_seconds` and `stale_seconds` are the same two measures at this moment.
    """

    key: Key
    queue_staleness: float | None = None
    application_staleness: float | None = None
    waiting_seconds: float | None = None
    stale_seconds: float | None = None
    rate: float | None = None


class RankStaleness(msgspec.Struct, frozen=True):
    """The staleness of the key with this rank; rank 1 has the most updates per second."""

    rank: int
    rate: float | None = None
    queue_staleness: float | None = None
    application_staleness: float | None = None


class ArrivalRates(msgspec.Struct, frozen=True):
    """How many updates arrive per second over all keys, and how many keys there are."""

    arrival: float | None = None
    keys: int = 0


class Staleness(msgspec.Struct, frozen=True):
    """The staleness of a queue, beside a lower bound that assumes Poisson arrivals.

    Staleness is in seconds, averaged over time and then over keys; names with `present` are the
    values at this moment. `ratio` is `queue_staleness` divided by `lower_bound`. Both are None
    until the processing cost and the rates are known. `ratio` is also None while `is_warming_up`,
    which means that the queue has not been measured for long enough. The names that begin with
    `application` are the same for application staleness.
    """

    queue_staleness: float | None = None
    application_staleness: float | None = None
    worst_key: Key | None = None
    percentiles: Mapping[str, float | None] = {}
    application_percentiles: Mapping[str, float | None] = {}
    stalest_keys: list[KeyStaleness] = []
    ranks: list[RankStaleness] = []
    present_queue_staleness: float | None = None
    present_application_staleness: float | None = None
    rates: ArrivalRates = ArrivalRates()
    cost: float | None = None
    lower_bound: float | None = None
    ratio: float | None = None
    application_lower_bound: float | None = None
    application_ratio: float | None = None
    is_warming_up: bool = False
    application_is_warming_up: bool = False
    bound: str = "memoryless"


class DroppedStream(msgspec.Struct, frozen=True):
    """The final counters of the queues of a dropped stream, by queue name."""

    name: str
    queues: Mapping[str, Counters] = {}


class DroppedQueue(msgspec.Struct, frozen=True):
    """The final counters of a dropped queue."""

    name: str
    statistics: Counters = Counters()
