"""An update queue over the keys of one bucket, with its state in a store of blocks.

It has the semantics of `upstream.UpdateQueue`, with triggers as its clock. Updates of a micro-batch
arrive at the moment of its trigger, and served updates are delivered at that moment. So queue
staleness and application staleness are the same. The cost of a trigger is proportional to the
number of changed keys and served keys, not to the number of keys.
"""

from __future__ import annotations

import pickle
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from upstream.updates import Key

from .block_store import BlockStore
from .key_pages import KeyPages, Page
from .key_state import KeyState, restored
from .metrics import ConflationMetrics
from .waiting_lines import Entry, WaitingLines, class_of

POLICIES: Final = ("index", "in-place", "fifo")
FORMAT: Final = 1
"""The version of the format of the state."""
POSITION_BITS: Final = 64
MOST_OUT_OF_DATE: Final = 1_000
"""How many outdated entries, beyond the number of waiting keys, are kept before a sweep."""


class ConflatedRow(NamedTuple):
    """The updates of a key in a part of a micro-batch: the newest row, and the times of all.

    Updates that are older than one before them in the part are certainly late, and are only
    counted. The times of the others ascend; some may still be older than the newest known update.
    """

    key_hash: int
    key: Key
    payload: tuple[object, ...]
    """The newest row."""
    times: Sequence[float]
    positions: Sequence[int]
    """The positions of these updates in their part of the micro-batch."""
    partition: int = 0
    """The number of that part."""
    late: int = 0
    rejected: int = 0
    """How many rows have no key or no time; they are in a row of their own."""
    is_deletion: bool = False

    @classmethod
    def of(cls, key: Key, *payload: object, time: float, position: int = 0) -> ConflatedRow:
        """Return a row of a single update.

        >>> ConflatedRow.of("IBM", 24.0, time=1.0).times
        (1.0,)
        """
        return cls(hash(key), key, payload, (time,), (position,))


class Served(NamedTuple):
    """A served update."""

    payload: tuple[object, ...]
    since: int
    """The time of the trigger in which its key began to wait, in milliseconds."""
    superseded: int
    """How many values were replaced while it waited."""
    mean_staleness_seconds: float
    """The key's queue staleness, averaged from its first arrival until now."""


@dataclass(slots=True)
class _Totals:
    """The counters; staleness and times are whole milliseconds, so that sums are exact."""

    arrived: int = 0
    dequeued: int = 0
    superseded: int = 0
    late: int = 0
    rejected: int = 0
    waiting: int = 0
    forgotten: int = 0
    waiting_since: int = 0
    """The sum over the waiting keys."""
    waiting_since_squared: int = 0
    doubled_staleness: int = 0
    """Twice the integral over the waits that have ended."""
    first_arrivals: int = 0
    """The sum over the keys."""
    lifetimes_of_forgotten: int = 0
    triggers: int = 0


class BucketQueue:
    """The keys of a bucket, with the order of the waiting ones.

    >>> from .block_store import DictBlockStore
    >>> queue = BucketQueue(DictBlockStore(), policy="in-place")
    >>> queue.take_in([ConflatedRow.of("IBM", 24.0, time=0.0)], now=1_000)
    >>> queue.take_in([ConflatedRow.of("IBM", 25.0, time=1.0)], now=3_000)
    >>> [(update.payload, update.superseded) for update in queue.serve(10, now=5_000)]
    [((25.0,), 1)]
    >>> queue.counts(5_000).staleness_seconds_mean
    2.0
    """

    __slots__ = ("_lines", "_pages", "_policy", "_totals")

    def __init__(self, store: BlockStore, *, policy: str, state: bytes | None = None) -> None:
        assert policy in POLICIES, policy
        self._policy = policy
        self._lines = WaitingLines(store)
        self._totals = _Totals()
        if state is None:
            self._pages = KeyPages(store)
        else:
            keys, pages, lines, totals = pickle.loads(state)  # noqa: S301 - what `save` returned
            self._pages = KeyPages(store, keys=keys, pages=pages)
            self._lines.restore(lines)
            self._totals = _Totals(*totals)

    def take_in(self, rows: Iterable[ConflatedRow], *, now: int) -> None:
        """Accept the rows of a micro-batch; those of a key arrive in the order of `rows`."""
        totals = self._totals
        totals.triggers += 1
        by_page: dict[int, list[ConflatedRow]] = {}
        for row in rows:
            totals.arrived += row.late + row.rejected + len(row.times)
            totals.late += row.late
            totals.rejected += row.rejected
            if len(row.times):
                by_page.setdefault(self._pages.address(row.key_hash), []).append(row)
        entries: list[tuple[int | None, Entry]] = []
        for address, its_rows in by_page.items():
            page = self._pages.load(address)
            keys = len(page)
            for row in its_rows:
                self._accept(row, page, now, entries)
            self._pages.save(address, page, more_keys=len(page) - keys)
        entries.sort(key=lambda named: named[1].place)
        for name, entry in entries:
            self._lines.append(name, entry)
        self._pages.grow()

    def serve(self, most: int | None, *, now: int) -> Iterator[Served]:
        """Serve at most `most` keys in the policy's order; None means all that wait."""
        left = self._totals.waiting if most is None else min(most, self._totals.waiting)
        while left:
            taken = [self._lines.take(now) for _ in range(min(left, len(self._lines)))]
            served = self._end_waits(taken, now)
            left -= len(served)
            yield from served
        if self._policy == "fifo" and self._is_littered():
            self._lines.sweep()

    def save(self) -> bytes:
        """Write the changed blocks, and return the state for the next trigger."""
        self._lines.save()
        totals = self._totals
        counted = tuple(getattr(totals, name) for name in _Totals.__slots__)
        state = (self._pages.keys, self._pages.pages, self._lines.state(), counted)
        return pickle.dumps(state, pickle.HIGHEST_PROTOCOL)

    def counts(self, now: int) -> ConflationMetrics:
        """Return the counters, and the staleness so far."""
        totals = self._totals
        waiting = totals.waiting
        doubled = waiting * now * now - 2 * now * totals.waiting_since
        doubled += totals.waiting_since_squared + totals.doubled_staleness
        keys = self._pages.keys
        lifetimes = keys * now - totals.first_arrivals + totals.lifetimes_of_forgotten
        return ConflationMetrics(
            arrived=totals.arrived,
            dequeued=totals.dequeued,
            superseded=totals.superseded,
            late=totals.late,
            rejected=totals.rejected,
            waiting=waiting,
            keys=keys,
            forgotten=totals.forgotten,
            staleness_key_seconds=(waiting * now - totals.waiting_since) / 1_000,
            staleness_integral=doubled / 2_000_000,
            lifetimes_seconds=lifetimes / 1_000,
            buckets=1,
        )

    def _is_littered(self) -> bool:
        return len(self._lines) > 2 * self._totals.waiting + MOST_OUT_OF_DATE

    def _accept(
        self, row: ConflatedRow, page: Page, now: int, entries: list[tuple[int | None, Entry]]
    ) -> None:
        """Accept the updates of a row that are not older than the newest of the key."""
        totals = self._totals
        stored = page.get(row.key)
        times = row.times
        first = 0
        if stored is None:
            state = KeyState(row.key_hash, arrival=now, first_arrival=now, seen_arrival=now)
            totals.first_arrivals += now
        else:
            state = restored(stored)
            first = bisect_left(times, state.time)
            totals.late += first
        accepted = len(times) - first
        if accepted == 0:
            return
        starts = state.waiting_since is None
        if starts:
            self._start(state, now)
        totals.superseded += accepted - starts
        if starts or self._policy == "fifo":
            position = row.positions[first if self._policy != "fifo" else -1]
            state.place = totals.triggers << POSITION_BITS | row.partition << 40 | position
            name, interval = class_of(state.observe_rate()) if self._has_classes else (None, 1.0)
            since = state.waiting_since
            assert since is not None
            entries.append((name, Entry(state.place, row.key_hash, row.key, since, interval)))
        state.version += accepted
        state.time = times[-1]
        state.arrival = now
        state.payload = row.payload
        state.is_deletion = row.is_deletion
        page[row.key] = state.stored()

    @property
    def _has_classes(self) -> bool:
        return self._policy == "index"

    def _start(self, state: KeyState, now: int) -> None:
        """Begin the wait of a key."""
        state.waiting_since = now
        state.version_before = state.version
        self._totals.waiting += 1
        self._totals.waiting_since += now
        self._totals.waiting_since_squared += now * now

    def _end_waits(self, entries: Sequence[Entry], now: int) -> list[Served]:
        """Serve the keys of entries, and skip outdated entries."""
        by_page: dict[int, list[int]] = {}
        for index, entry in enumerate(entries):
            by_page.setdefault(self._pages.address(entry.key_hash), []).append(index)
        found: dict[int, Served] = {}
        for address, indices in by_page.items():
            page = self._pages.load(address)
            keys = len(page)
            for index in indices:
                served = self._end_wait(entries[index], page, now)
                if served is not None:
                    found[index] = served
            self._pages.save(address, page, more_keys=len(page) - keys)
        return [found[index] for index in sorted(found)]

    def _end_wait(self, entry: Entry, page: Page, now: int) -> Served | None:
        stored = page.get(entry.key)
        if stored is None:
            return None
        state = restored(stored)
        since = state.waiting_since
        if state.place != entry.place or since is None:
            return None
        totals = self._totals
        waited = now - since
        state.doubled_staleness += waited * waited
        state.waiting_since = None
        totals.doubled_staleness += waited * waited
        totals.waiting -= 1
        totals.waiting_since -= since
        totals.waiting_since_squared -= since * since
        totals.dequeued += 1
        assert state.payload is not None
        superseded = state.version - state.version_before - 1
        served = Served(state.payload, since, superseded, state.mean_staleness_seconds(now))
        if state.is_deletion:
            del page[entry.key]
            totals.forgotten += 1
            totals.first_arrivals -= state.first_arrival
            totals.lifetimes_of_forgotten += now - state.first_arrival
        else:
            state.payload = None
            page[entry.key] = state.stored()
        return served
