"""Batches are taken from a queue so that a repeated batch is the same, and none is lost.

Spark asks for the end of the next batch, writes it to the checkpoint, runs the batch, notes that it
is done, and asks for the next end. It may be killed at any point. So:

- The updates of a batch are taken when Spark asks for its end. Their idempotency keys consist of
  the query, the number of the batch and the number of the answer. Any process that takes the same
  batch again gets the same updates, as long as the service remembers the keys (600 seconds by
  default).
- Leases granted under a key do not expire while the service remembers the key. Their names are in
  the offset. When Spark asks for the batch that follows, this batch is done: its leases are
  delivered first, by this process or by the one that is started after a kill. A delivery can be
  repeated, because it names leases and takes no updates.
- A query may be killed after it took a batch and before Spark wrote that down. When it is started
  again, it requests the same batch: the number and the keys are the same, unless `max_updates` or
  `partitions` were changed.

If updates are not delivered before the service forgets the keys, they wait again with their
original arrival, and arrive once more. This happens if a batch takes that long, if triggers are
that far apart, or if a query is started again that late. It also happens if a query is killed
before its very first offset was written. Nothing is lost in these cases, and the service counts the
updates as returned.
"""

from __future__ import annotations

import uuid
from dataclasses import replace

from upstream.client import ConflictError, QueueView
from upstream.client.connection import without_password

from .errors import BatchLostError, QueueUnfitError
from .offsets import Offset, from_ranges, to_ranges
from .options import QueueOptions
from .service import ServiceQueue, Taken


class BatchTaker:
    """Takes the batches of one query, one after the other, while the query runs."""

    def __init__(self, queue: ServiceQueue, options: QueueOptions) -> None:
        self._queue = queue
        self._options = options
        self._query = uuid.uuid4().hex
        self._taken: dict[int, list[Taken]] = {}
        """The answers of batches that are not known to be done, by batch."""
        self._last: Offset | None = None
        """The end of the last batch."""
        self._delivered: Offset | None = None
        self._may_have_taken = True
        """Whether an earlier process may have taken the next batch already."""
        self._remaining: int | None = None
        """How many more updates to take in all; None for no limit."""

    def initial(self) -> Offset:
        """Return where a query without a checkpoint starts."""
        return Offset(self._query)

    def stop_after_what_waits(self) -> None:
        """Take no more than the updates that wait now."""
        self._remaining = self._look().waiting

    def next(self, start: Offset, most: int | None) -> Offset:
        """Deliver the batch that ends at `start`, take the next one, and return its end.

        The result is `start` if no update waits. `most` is the most updates to take; None means
        all that wait.
        """
        self._deliver(start)
        if self._last is not None and self._last.batch == start.batch + 1:
            return self._last  # Spark asked before, and has not used that batch yet
        view = self._look()
        may_have_taken, self._may_have_taken = self._may_have_taken, False
        if may_have_taken and start.query != self._query and view.in_process:
            # An earlier process may have taken this batch before it died.
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
        """Return the answers in the batch that ends at `offset`."""
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
                break  # other consumers took the rest
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
                f"queue {view.name!r} at {url} has no leases, so a batch that "
                "fails would be lost; create it with lease_seconds, such as "
                f"create_queue({view.name!r}, stream={view.stream!r}, lease_seconds=60)"
            )
        if options.stream not in {None, view.stream}:
            raise QueueUnfitError(
                f"queue {view.name!r} at {url} belongs to stream {view.stream!r}, "
                f"not to {options.stream!r} as the option `stream` says"
            )
        return view

    def _deliver(self, done: Offset) -> None:
        if self._delivered == done:
            return
        leases = dict.fromkeys(from_ranges(done.leases))
        # If the service had forgotten the keys, the batch was repeated with other leases.
        for answer in self._taken.get(done.batch, ()):
            leases.update(dict.fromkeys(answer.leases))
        if leases:
            self._queue.deliver(leases)
        self._delivered = done
        for batch in [batch for batch in self._taken if batch <= done.batch]:
            del self._taken[batch]
