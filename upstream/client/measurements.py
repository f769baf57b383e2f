"""What the service has counted and measured of a queue, as values."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from .answers import Key


class Counters(msgspec.Struct, frozen=True):
    """The exact counters of a queue at one moment.

    `arrived + returned` equals `dequeued + superseded + late + expired + shed + rejected +
    waiting`. A queue of windows counts these in `windows` and `tuples` instead.
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
    """How stale one key is: on average so far, and at this moment."""

    key: Key
    queue_staleness: float | None = None
    application_staleness: float | None = None
    waiting_seconds: float | None = None
    stale_seconds: float | None = None
    rate: float | None = None


class RankStaleness(msgspec.Struct, frozen=True):
    """How stale the key is that is this busy: rank 1 is the busiest."""

    rank: int
    rate: float | None = None
    queue_staleness: float | None = None
    application_staleness: float | None = None


class ArrivalRates(msgspec.Struct, frozen=True):
    """Updates per second over all keys, and of how many keys."""

    arrival: float | None = None
    keys: int = 0


class Staleness(msgspec.Struct, frozen=True):
    """How stale a queue is, beside the lower bound expected under memoryless arrivals.

    Seconds, averaged over time and then over keys unless the name says otherwise. `ratio` is that
    of `queue_staleness` to `lower_bound`, both None while the cost or the rates are not known. It
    is None, too, while `is_warming_up`: the queue has not been measured for long enough.
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
    """The final counters of the queues of a stream that is gone, by their names."""

    name: str
    queues: Mapping[str, Counters] = {}


class DroppedQueue(msgspec.Struct, frozen=True):
    """The final counters of a queue that is gone."""

    name: str
    statistics: Counters = Counters()
