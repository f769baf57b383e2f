"""The queue of one connection, which returns only what the connection selected.

The selection is applied where it costs least. A `PacedScheduler` holds back keys with a rate, and
bars keys that are not wanted, so that their updates cost the connection nothing. Queues that cannot
have such a scheduler return all keys, and unwanted updates are delivered at once.
"""

from __future__ import annotations

import math
from random import random
from typing import Final

from upstream import AdaptiveQueue, PacedScheduler, Scheduler, Update

from ..definitions import AnyQueue
from ..window_results import WindowResults
from .feed import QueueFeed
from .late_scheduler import LateScheduler
from .resume import Beginning, sequence_before
from .selection import Selection, SelectionError

FEW_KEYS: Final = 128
"""Connections that begin with more keys than this begin with different ones."""
MOST_PASSED_OVER: Final = 1_000
"""The most unwanted updates that one call passes over, before other tasks run."""


class SelectedQueue:
    """A private queue with a selection, and the position of its connection."""

    __slots__ = (
        "_filter",
        "_has_passed_over",
        "_late",
        "_looked_at",
        "_now",
        "_paced",
        "_queue",
        "_sequence",
        "_taken",
    )

    def __init__(self, feed: QueueFeed, selection: Selection, beginning: Beginning) -> None:
        self._now = feed.stream.stream.now
        self._filter = selection.is_wanted if selection.filters_keys else None
        self._paced: PacedScheduler | None = None
        self._late: LateScheduler | None = None

        def wrap(inner: Scheduler) -> Scheduler:
            return self._wrap(inner, selection)

        self._queue: AnyQueue = feed.attach_private(
            wrap if feed.definition.kind == "update" else None,
            snapshot=beginning.snapshot,
            since=beginning.since,
        )
        if beginning.snapshot and self._late is not None and len(self._queue) > FEW_KEYS:
            self._late.begin_at(random())
        if selection.limits_keys and self._paced is None:
            self._queue.close()
            raise SelectionError(
                "max_rate_per_key", "left out, except for an update queue that fifo does not serve"
            )
        self._has_passed_over = False
        self._sequence = self._looked_at = self._taken = 0
        self._look()

    def _wrap(self, inner: Scheduler, selection: Selection) -> Scheduler:
        if inner.needs_arrival_order:
            return inner
        if selection.filters_keys or selection.limits_keys:
            self._filter = None
            inner = self._paced = PacedScheduler(inner, selection.interval_of)
        self._late = LateScheduler(inner)
        return self._late

    def take(self) -> Update | None:
        """Dequeue the next wanted update, or return None if there is none now."""
        queue = self._queue
        for _ in range(MOST_PASSED_OVER):
            update = queue.dequeue()
            if update is None:
                self._has_passed_over = False
                return None
            if self._filter is None or self._filter(update.key):
                self._has_passed_over = False
                self._taken += 1
                return update
            queue.deliver(update)
        self._has_passed_over = True
        return None

    def deliver(self, update: Update) -> None:
        """Note that the client has processed an update."""
        self._queue.deliver(update)

    @property
    def has_more(self) -> bool:
        """Whether `take` returned None only to let other tasks run."""
        queue = self._queue
        return self._has_passed_over or (isinstance(queue, WindowResults) and queue.has_more)

    def next_due(self) -> float:
        """Return when a key that is held back may be sent; infinity if none is held back."""
        due = None if self._paced is None else self._paced.next_due()
        return math.inf if due is None else due

    def sequence(self) -> int:
        """Return the sequence of a moment before which nothing arrived that still waits.

        Once found it stays true, since what begins to wait later has arrived later. So it is
        computed again only after as many updates as waited were taken: O(1) amortised.
        """
        if self._taken >= self._looked_at:
            self._look()
        return self._sequence

    def _look(self) -> None:
        self._looked_at = len(self)
        self._taken = 0
        since = self._queue.waiting_since()
        self._sequence = sequence_before(self._now() if since is None else since)

    def superseded(self) -> int:
        """Return how many updates an append or adaptive queue has left out so far.

        Each was replaced by a newer update of its key when too many waited. 0 for other queues,
        which leave out all but the newest updates as a rule.
        """
        queue = self._queue
        return queue.statistics().superseded if isinstance(queue, AdaptiveQueue) else 0

    def queue_staleness(self) -> float:
        """Return the mean queue staleness of the connection's keys. O(keys)."""
        return self._queue.queue_staleness()

    def close(self) -> None:
        """Detach from the stream, and release everything."""
        self._queue.close()

    def __len__(self) -> int:
        """Return how many wanted updates wait."""
        if self._paced is None or self._late is None:
            return len(self._queue)
        self._late.settle()
        return self._paced.ready + self._paced.held
