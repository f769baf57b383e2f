"""A consumer of fixed speed, for runs in which processing takes time but no work is done."""

from __future__ import annotations

import math

from upstream import StreamQueue, Update

NEVER = math.inf


class Consumer:
    """Take updates from a queue one after the other, `processing_cost` seconds for each.

    `due` is when the update in hand is ready. A consumer that is called late is not slowed down by
    it: the next update counts from when this one was due. The queue sees the clock's own times.

    >>> from upstream import ManualClock, UpdateQueue, InPlaceScheduler
    >>> clock = ManualClock()
    >>> queue = UpdateQueue(InPlaceScheduler(), clock=clock)
    >>> consumer = Consumer(queue, processing_cost=2.0)
    >>> _ = queue.enqueue("IBM", 24.0)
    >>> consumer.start(clock.now())
    >>> consumer.due
    2.0
    """

    __slots__ = ("_in_hand", "_processing_cost", "due", "queue")

    def __init__(self, queue: StreamQueue, *, processing_cost: float) -> None:
        self.queue = queue
        self._processing_cost = processing_cost
        self._in_hand: Update | None = None
        self.due = NEVER

    @property
    def is_idle(self) -> bool:
        """Whether it waits for something to process."""
        return self._in_hand is None

    def start(self, now: float) -> None:
        """Take the next update, if there is one, at the time `now`."""
        assert self._in_hand is None, "a consumer that is busy"
        self._in_hand = self.queue.dequeue()
        self.due = NEVER if self._in_hand is None else now + self._processing_cost

    def finish(self) -> None:
        """Deliver the update in hand, and take the next one."""
        assert self._in_hand is not None, "a consumer that has nothing in hand"
        self.queue.deliver(self._in_hand)
        self._in_hand = None
        self.start(self.due)
