"""What the service answers, as values.

Members that a newer service adds are left out, and those that an older one does not have yet take
their defaults.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import msgspec

Key: TypeAlias = str | int | tuple[str | int, ...]
"""What an update is about, as the service takes it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for one request, before it is understood."""

    status: int
    body: bytes
    retry_after: float | None = None
    """Seconds after which to try again, if the answer says so."""


class ReceivedUpdate(msgspec.Struct, frozen=True, omit_defaults=True):
    """An update as the service handed it out.

    >>> import msgspec
    >>> msgspec.json.decode(b'{"key": ["NYSE", 7], "value": 24.0, "time": 1}', type=ReceivedUpdate)
    ReceivedUpdate(key=('NYSE', 7), value=24.0, time=1.0, lease=None, is_deleted=False)
    """

    key: Key
    value: object
    time: float
    lease: str | None = None
    """By what it is delivered, if the queue has leases."""
    is_deleted: bool = msgspec.field(default=False, name="deleted")
    """Whether this is the news that the key was deleted."""


class WatchMessage(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the service pushed at once."""

    updates: list[ReceivedUpdate]
    id: str = ""
    """Where to go on from, after this."""
    is_reset: bool = msgspec.field(default=False, name="reset")
    """Whether to forget all that was received before: these updates begin a new picture."""
    superseded: int = 0
    """How many updates were left out since the message before, as newer ones replaced them.

    Counted for queues that would keep every update (`append`, `adaptive`), over all of their keys.
    """


class Rejection(msgspec.Struct, frozen=True):
    """Why one update of a batch was not taken."""

    index: int
    """Its place in what was sent, from 0."""
    reason: str


MOST_REJECTIONS = 100
"""How many rejections are listed; all are counted."""


class Counts(msgspec.Struct, frozen=True):
    """What became of the updates that were sent.

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
    """In no open window of a queue of windows."""
    rejections: list[Rejection] = []
    """The first of those rejected, with their reasons."""

    def plus(self, later: Counts, *, sent: int) -> Counts:
        """Return the sum of this and of what was sent after it; `sent` is how many went before."""
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
    """How many updates were delivered, and how many the queue did not know to be in process."""

    delivered: int = 0
    unknown: int = 0

    def plus(self, other: Delivered) -> Delivered:
        """Return the sum of both."""
        return Delivered(self.delivered + other.delivered, self.unknown + other.unknown)


class StreamView(msgspec.Struct, frozen=True):
    """A stream: how it was defined, and what it has counted."""

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
    """Updates rejected since their times were too far ahead of the service's clock."""
    queues: list[str] = []
    subscribers: int = 0
    run: str = ""
    """Identifies this life of the stream: another after a restart of the service."""


class QueueView(msgspec.Struct, frozen=True):
    """A queue: how it was defined, and what waits in it."""

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
    """`push` while it holds nothing, since it is only what the queues of connections are like."""
