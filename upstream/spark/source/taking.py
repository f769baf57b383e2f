"""Taking batches out of a queue, so that a repeated one is the same and none is lost.

Spark asks for the end of the next batch, writes that into the checkpoint, runs the batch, notes
that it is done, and asks for the end of the next one; it may be killed anywhere in between. So:

- The updates of a batch are taken when Spark asks for its end, under idempotency keys made of the
  query, the number of the batch and that of the answer. Who takes the same batch again, in any
  process, gets the same updates, as long as the service remembers the keys (600 seconds by
  default).
- Leases granted under a key do not run out while it is remembered. Their names are in the offset.
  As Spark asks for what follows a batch, that batch is done: its leases are delivered then, before
  anything else, by this process or by the one that is started after a kill. Delivering names leases
  and never takes anything, so it can be repeated.
- A query that is killed after it took a batch and before Spark wrote that down asks for the same
  batch when it is started again: its number is the same, and so are the keys, unless `max_updates`
  or `partitions` were changed meanwhile.

What is not delivered before the service forgets the keys waits again, as of its arrival, and comes
once more: a batch that takes so long, triggers so far apart, a query that is started again so late.
The same holds for what a query had taken that was killed before its very first offset was written.
Nothing is lost by either, and the service counts it as returned.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Protocol

from upstream.client import ConflictError, QueueView
from upstream.client.addresses import without_password

from .errors import BatchLostError, QueueUnfitError
from .lease_ranges import from_ranges, to_ranges
from .offsets import Offset
from .options import QueueOptions


class Queue(Protocol):
    """A queue of the service; see `service`."""

    def look(self) -> QueueView:
        """Return the queue as it is."""

    def take(self, limit: int, retry_key: str) -> Taken:
        """Dequeue, or return what was dequeued under the same key before."""

    def deliver(self, leases: Iterable[str]) -> None:
        """Tell that updates were used; leases that have ended do not matter."""


@dataclass(frozen=True, slots=True)
class Taken:
    """One answer to a dequeue."""

    body: bytes
    leases: tuple[str, ...]
    """One for each update."""


class BatchTaker:
    """Takes the batches of one query, one after the other; lives as long as the query runs."""

    def __init__(self, queue: Queue, options: QueueOptions) -> None:
        self._queue = queue
        self._options = options
        self._query = uuid.uuid4().hex
        self._taken: dict[int, list[Taken]] = {}
        """By their batch: what is not known to be done."""
        self._last: Offset | None = None
        """The end of the batch that was taken last."""
        self._delivered: Offset | None = None
        self._may_have_taken = True
        """Whether an earlier process may have taken the next batch already."""
        self._remaining: int | None = None
        """How many more updates to take at all."""

    def initial(self) -> Offset:
        """Return where a query starts that has no checkpoint."""
        return Offset(self._query)

    def stop_after_what_waits(self) -> None:
        """Let batches end when as many updates were taken as wait now."""
        self._remaining = self._look().waiting

    def next(self, start: Offset, most: int | None) -> Offset:
        """Deliver the batch that ends at `start`; take another one, and return its end.

        That is `start` if there is nothing to take. `most` is how many updates to take; None: all
        that wait.
        """
        self._deliver(start)
        if self._last is not None and self._last.batch == start.batch + 1:
            return self._last  # Spark has asked before, and not used it yet
        view = self._look()
        may_have_taken, self._may_have_taken = self._may_have_taken, False
        if may_have_taken and start.query != self._query and view.in_process:
            # An earlier process may have died with this batch in its hands.
            wanted = view.waiting + view.in_process if most is None else most
            self._last = self._take_batch(start, wanted, most)
            return self._last
        bounds = (view.waiting, self._remaining, most)
        wanted = min(bound for bound in bounds if bound is not None)
        if wanted == 0:
            return start
        self._last = self._take_batch(start, wanted, most)
        if self._remaining is not None:
            self._remaining = max(0, self._remaining - sum(self._last.leases.values()))
        return self._last

    def answers(self, offset: Offset) -> list[bytes]:
        """Return the answers that the batch which ends at `offset` is made of."""
        taken = self._taken.get(offset.batch)
        if taken is None:
            taken = [self._take(offset, answer) for answer in range(offset.answers)]
            self._taken[offset.batch] = taken
        return [answer.body for answer in taken if answer.leases]

    def _take_batch(self, start: Offset, wanted: int, most: int | None) -> Offset:
        answers = None if most is None else self._options.most_answers
        offset = Offset(start.query, start.batch + 1, 0, self._options.answer_limit)
        taken: list[Taken] = []
        total = 0
        while total < wanted and (answers is None or len(taken) < answers):
            answer = self._take(offset, len(taken))
            taken.append(answer)
            total += len(answer.leases)
            if not answer.leases:
                break  # others took the rest
        leases = to_ranges(lease for answer in taken for lease in answer.leases)
        self._taken[offset.batch] = taken
        return replace(offset, answers=len(taken), leases=leases)

    def _take(self, offset: Offset, answer: int) -> Taken:
        try:
            return self._queue.take(offset.limit, offset.retry_key(answer))
        except ConflictError as error:
            options = self._options
            raise BatchLostError(options.address.url, options.queue, offset.batch) from error

    def _look(self) -> QueueView:
        view = self._queue.look()
        options = self._options
        url = without_password(options.address.url)
        if view.lease_seconds is None:
            raise QueueUnfitError(
                f"queue {view.name!r} at {url} has no leases, so that a batch that "
                "fails would be lost: make it with lease_seconds, such as "
                f"create_queue({view.name!r}, stream={view.stream!r}, lease_seconds=60)"
            )
        if options.stream not in {None, view.stream}:
            raise QueueUnfitError(
                f"queue {view.name!r} at {url} is of stream {view.stream!r}, and "
                f"not of {options.stream!r} as option `stream` says"
            )
        return view

    def _deliver(self, done: Offset) -> None:
        if self._delivered == done:
            return
        leases = dict.fromkeys(from_ranges(done.leases))
        # Where the service had forgotten the keys, the batch was repeated with other leases.
        for answer in self._taken.get(done.batch, ()):
            leases.update(dict.fromkeys(answer.leases))
        if leases:
            self._queue.deliver(leases)
        self._delivered = done
        for batch in [batch for batch in self._taken if batch <= done.batch]:
            del self._taken[batch]
