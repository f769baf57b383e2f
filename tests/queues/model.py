"""A model of streams and queues that is too plain to be wrong: lists of events, scanned each time.

It is written from the definitions of what updates, queues and staleness mean (DESIGN.md, section
4), and knows nothing of versions, links, cursors or sums. Times are exact binary fractions in the
tests, so nothing in it is rounded before an average is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypedDict, TypeVar, Unpack

from upstream import TOMBSTONE, Key, Outcome, Update

if TYPE_CHECKING:
    from .model_stream import ModelStream

Argument = TypeVar("Argument")


@dataclass(eq=False, slots=True)
class Event:
    """One update that a stream took in."""

    update: Update
    arrival: float
    number: int
    """How many updates had arrived before."""
    is_late: bool = False


@dataclass(eq=False, slots=True)
class Known:
    """A key that a stream knows, from its first accepted update until it is forgotten."""

    key: Key
    newest: Event
    is_forgotten: bool = False


@dataclass(eq=False, slots=True)
class Waiting:
    """One update that waits in one queue."""

    event: Event
    known: Known
    since: float
    """Since when this wait counts."""
    rank: int
    """Its number in the order in which the queue heard of it."""
    is_loose: bool = False
    """Whether its order among those of the same moment is left open."""
    has_superseded: bool = False
    turn: int = 0
    """Its number in the order in which waits began."""


@dataclass(eq=False, slots=True)
class Held:
    """One update that is in process."""

    update: Update
    event: Event
    known: Known
    rank: int


class Life:
    """What happened to one key in one queue from its first arrival until it was forgotten."""

    def __init__(self, began: float) -> None:
        self.began = began
        self.waits: list[tuple[float, float | None]] = []
        """From when on the first update that waited was of which moment, None for none."""
        self.accepted: list[tuple[int, float]] = []
        """The accepted updates: number, and arrival here."""
        self.delivered: list[tuple[float, int]] = []
        """The deliveries: moment, and number of the update."""

    def queue_mean(self, now: float) -> float:
        """Average the time since the first waiting update came, 0 while none waits."""
        ends = [moment for moment, _ in self.waits[1:]] + [now]
        area = sum(
            _area(since, start, end)
            for (start, since), end in zip(self.waits, ends, strict=True)
            if since is not None
        )
        return self._mean(area, now)

    def application_mean(self, now: float) -> float:
        """Average the time since the first accepted update newer than the newest delivered."""
        moments = {self.began, now}
        moments.update(arrival for _, arrival in self.accepted)
        moments.update(moment for moment, _ in self.delivered)
        ordered = sorted(moments)
        area = 0.0
        for start, end in pairwise(ordered):
            newest = max((number for at, number in self.delivered if at <= start), default=-1)
            missing = [at for number, at in self.accepted if number > newest and at <= start]
            if missing:
                area += _area(missing[0], start, end)
        return self._mean(area, now)

    def _mean(self, area: float, now: float) -> float:
        return area / (now - self.began) if now > self.began else 0.0


def _area(since: float, start: float, end: float) -> float:
    """Return the area under the line that is 0 at `since` and rises with slope one."""
    return ((end - since) ** 2 - (start - since) ** 2) / 2


Due = tuple[float, int, Callable[[], None]]
"""When something falls due, its precedence at that moment, and what to do."""

EXPIRY, RETIREMENT, IMPATIENCE = range(3)


class Limits(TypedDict, total=False):
    """The limits that all kinds of queues have."""

    capacity: int | None
    time_to_live: float | None
    in_process_limit: int


class ModelQueue:
    """What all kinds of queues have in common."""

    hears_starts = False
    """Whether it is an update queue, for whose keys the stream keeps the values."""

    def __init__(self, **limits: Unpack[Limits]) -> None:
        self.capacity = limits.get("capacity")
        self.time_to_live = limits.get("time_to_live")
        self.in_process_limit = limits.get("in_process_limit", 1_000)
        self.stream: ModelStream
        self.waiting: list[Waiting] = []
        self.held: list[Held] = []
        self.lives: dict[Key, Life] = {}
        self.finished: list[tuple[float, float]] = []
        self.heard = 0
        self.counts = dict.fromkeys(COUNTERS, 0)

    # What arrives.

    def take(self, event: Event, known: Known, since: float) -> Outcome:
        """Take an accepted update, which counts here `since`."""
        raise NotImplementedError

    def take_late(self, event: Event, known: Known) -> None:
        """Take an update that is older than the newest of its key."""
        raise NotImplementedError

    def refuses(self, key: Key) -> bool:
        """Tell whether there is no room for the key."""
        return False

    def take_over(self, known: Known, now: float) -> None:
        """Take a value that was there before the queue."""
        if not self.is_expired(known.newest, now):
            self.take(known.newest, known, now)
            for waiting in self.waiting_of(known.key):
                waiting.is_loose = True

    def refuse(self) -> None:
        """Count an update that there was no room for."""
        self.counts["arrived"] += 1
        self.counts["rejected"] += 1

    def accept(self, event: Event, since: float) -> None:
        """Note an accepted update, from which on its key counts."""
        self.begin(event.update.key, since)
        self.lives[event.update.key].accepted.append((event.number, since))

    def begin(self, key: Key, now: float) -> None:
        """Count a key from now on, if it does not count yet."""
        if key not in self.lives:
            self.lives[key] = Life(now)
            self.note_wait(key, now)

    def note_wait(self, key: Key, now: float) -> None:
        """Write down since when the key waits at present."""
        if key in self.lives:
            since = min((each.since for each in self.waiting_of(key)), default=None)
            self.lives[key].waits.append((now, since))

    def next_rank(self) -> int:
        """Return the next number in the order of arrival here."""
        self.heard += 1
        return self.heard

    # What waits.

    def waiting_of(self, key: Key) -> list[Waiting]:
        """Return the waiting updates of a key in the order of service."""
        return [waiting for waiting in self.waiting if waiting.event.update.key == key]

    def read(self, key: Key) -> Update | None:
        """Return the newest waiting update of a key, of equal times the last."""
        mine = sorted(self.waiting_of(key), key=lambda each: (each.event.update.time, each.rank))
        return mine[-1].event.update if mine else None

    def order(self) -> list[list[Waiting]] | None:
        """Return what waits in the order of service, in groups that may be in any order.

        None where the order is not the model's to say.
        """
        return [[waiting] for waiting in self.waiting]

    def may_be_served(self, now: float) -> list[Waiting]:
        """Return what waits and is not held back."""
        return self.waiting

    def is_barred(self, key: Key) -> bool:
        """Tell whether nothing of a key will ever be served."""
        return False

    def waiting_since(self) -> float | None:
        """Return the earliest arrival since which something waits that will be served."""
        waits = (
            min(waiting.since, waiting.event.arrival)
            for waiting in self.waiting
            if not self.is_barred(waiting.known.key)
        )
        return min(waits, default=None)

    def may_be_next(self, update: Update, now: float) -> list[Waiting]:
        """Return the waiting updates equal to `update` of which one may be served now."""
        order = self.order()
        first = self.waiting if order is None else order[0] if order else []
        return [waiting for waiting in first if waiting.event.update == update]

    def is_expired(self, event: Event, now: float) -> bool:
        """Tell whether an update has outlived its time."""
        return self.time_to_live is not None and event.arrival + self.time_to_live <= now

    def due(self) -> list[Due]:
        """Return what falls due some time, if nothing else happens."""
        if self.time_to_live is None:
            return []
        return [
            (waiting.event.arrival + self.time_to_live, EXPIRY, call(self.expire, waiting))
            for waiting in self.waiting
        ]

    def expire(self, waiting: Waiting) -> None:
        """Drop a waiting update that fell due, or whose key is forgotten."""
        self.leave(waiting)
        self.counts["expired"] += 1

    def leave(self, waiting: Waiting) -> None:
        """Let an update wait no more."""
        self.waiting.remove(waiting)
        self.note_wait(waiting.known.key, self.stream.now)

    # What leaves.

    def serve(self, update: Update | None, now: float) -> None:
        """Check that the update that was handed out had its turn, and hand it out."""
        if update is None:
            assert not self.may_be_served(now), "nothing was served though something waits"
            self.find_nothing()
            return
        candidates = self.may_be_next(update, now)
        assert candidates, f"{update} was served, but these were to be: {self.waiting[:3]}"
        waiting = candidates[0]
        self.leave(waiting)
        self.held.append(Held(update, waiting.event, waiting.known, waiting.rank))
        self.counts["dequeued"] += 1
        if len(self.held) > self.in_process_limit:
            self.counts["taken_as_delivered"] += 1
            self.deliver(self.held[0])
        self.served(waiting)

    def find_nothing(self) -> None:
        """Hear that a dequeue found nothing."""

    def served(self, waiting: Waiting) -> None:
        """Hear that an update was served."""

    def deliver(self, held: Held) -> None:
        """Note a delivery; that of a deletion ends the life of its key here."""
        self.held.remove(held)
        self.counts["delivered"] += 1
        event, known = held.event, held.known
        life = self.lives.get(known.key)
        if known.is_forgotten or event.is_late or life is None:
            return
        life.delivered.append((self.stream.now, event.number))
        if event.update.value is TOMBSTONE and event is known.newest:
            for waiting in self.waiting_of(known.key):
                self.expire(waiting)
            self.retire(known.key)

    def give_back(self, held: Held) -> None:
        """Let an update wait again, unless a newer one is known or it is too old."""
        self.held.remove(held)
        self.counts["returned"] += 1
        if held.known.is_forgotten or self.is_outdated(held):
            self.counts["superseded"] += 1
        elif self.is_expired(held.event, self.stream.now):
            self.counts["expired"] += 1
        else:
            since = max(held.event.arrival, self.lives[held.known.key].began)
            waiting = Waiting(held.event, held.known, since, held.rank, is_loose=True)
            self.insert(waiting)
            self.note_wait(held.known.key, self.stream.now)
        self.note_return()

    def note_return(self) -> None:
        """Do what a kind of queue does when an update was given back."""

    def is_outdated(self, held: Held) -> bool:
        """Tell whether a newer update than one that was given back is known."""
        return held.event is not held.known.newest

    def insert(self, waiting: Waiting) -> None:
        """Let an update that was given back wait where it belongs."""
        self.waiting.append(waiting)
        self.waiting.sort(key=lambda each: each.rank)

    def forget(self, known: Known) -> None:
        """Forget a key: what waits of it has expired, what is in process changes nothing."""
        for waiting in self.waiting_of(known.key):
            self.expire(waiting)
        self.retire(known.key)

    def retire(self, key: Key) -> None:
        """End the life of a key, whose averages count once more from now on."""
        life = self.lives.pop(key, None)
        if life is not None:
            now = self.stream.now
            self.finished.append((life.queue_mean(now), life.application_mean(now)))
            self.counts["forgotten"] += 1

    def holds(self, known: Known) -> bool:
        """Tell whether anything of a key waits, to be served, or is in process."""
        is_held = any(held.known is known for held in self.held)
        return is_held or (
            any(waiting.known is known for waiting in self.waiting)
            and not self.is_barred(known.key)
        )

    def will_deliver(self, known: Known) -> bool:
        """Tell whether the deletion of a key is still to be delivered here."""
        is_barred = self.is_barred(known.key) and bool(self.waiting_of(known.key))
        return known.key in self.lives and not is_barred

    # What is known of it.

    def means(self, now: float) -> tuple[float, float]:
        """Return queue and application staleness, averaged over time and then over keys."""
        lives = [(life.queue_mean(now), life.application_mean(now)) for life in self.lives.values()]
        every = self.finished + lives
        if not every:
            return 0.0, 0.0
        return sum(of for of, _ in every) / len(every), sum(of for _, of in every) / len(every)

    def statistics(self) -> dict[str, int]:
        """Return all counters by name."""
        now = {
            "waiting": len(self.waiting),
            "in_process": len(self.held),
            "keys": len(self.lives),
        }
        return self.counts | now


COUNTERS = (
    "arrived",
    "returned",
    "dequeued",
    "superseded",
    "late",
    "expired",
    "shed",
    "rejected",
    "delivered",
    "taken_as_delivered",
    "forgotten",
    "switches",
)


def call(function: Callable[[Argument], None], argument: Argument) -> Callable[[], None]:
    return lambda: function(argument)
