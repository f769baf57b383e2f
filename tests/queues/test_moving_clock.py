"""Streams whose clock moves each time that it is read, as every clock but a manual one does.

Then what falls due may do so in the middle of anything: while a queue counts before it leaves, or
while another one reads the log that both share.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable

import pytest

from upstream import (
    TOMBSTONE,
    AdaptiveQueue,
    AppendQueue,
    EagerWindowBuffer,
    InPlaceScheduler,
    LazyWindowBuffer,
    NotInProcessError,
    OnDemandMemory,
    Outcome,
    PagePool,
    PagePoolFullError,
    StalenessIndexScheduler,
    Stream,
    StreamQueue,
    UnknownKeyError,
    Update,
    UpdateQueue,
    WindowQueue,
    WindowSpecification,
)

STEP = 1e-5
AGES = (STEP / 10, STEP, 5 * STEP, 100 * STEP)
KEYS = "abcd"
AnyQueue = StreamQueue | WindowQueue


class MovingClock:
    """A clock that is a step further each time it is read."""

    def __init__(self) -> None:
        self.time = 0.0

    def now(self) -> float:
        self.time += STEP
        return self.time


def make_queue(rng: random.Random) -> AnyQueue:
    age = rng.choice([None, *AGES])
    capacity = rng.choice([None, 1, 3])
    scheduler = rng.choice([InPlaceScheduler, StalenessIndexScheduler])()
    kinds: list[Callable[[], AnyQueue]] = [
        lambda: UpdateQueue(scheduler, time_to_live=age, capacity=capacity),
        lambda: AppendQueue(time_to_live=age, capacity=capacity),
        lambda: AdaptiveQueue(scheduler, time_to_live=age, max_waiting=2),
        lambda: WindowQueue(
            WindowSpecification(1, 1), rng.choice([LazyWindowBuffer, EagerWindowBuffer]), scheduler
        ),
    ]
    return rng.choice(kinds)()


class Life:
    """A stream with queues that come and go, and what was done with it."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = random.Random(seed)
        self.clock = MovingClock()
        self.retain = rng.random() < 0.6
        pool = PagePool(rng.choice([256, 4_096]), page_bytes=256)
        self.stream = Stream(
            clock=self.clock,
            retain=self.retain,
            forget_after=rng.choice([None, *AGES]),
            memory=OnDemandMemory(pool) if rng.random() < 0.4 else None,
        )
        self.queues: list[AnyQueue] = []
        self.held: list[tuple[StreamQueue, Update]] = []
        self.deleted: set[str] = set()

    def live(self, steps: int) -> None:
        for number in range(steps):
            self.rng.choice(
                [
                    self.put,
                    self.put,
                    self.put_many,
                    self.delete,
                    self.serve,
                    self.serve,
                    self.attach,
                    self.detach,
                    self.look,
                    self.wait,
                    self.forget,
                ]
            )(number)
            for key in self.deleted:
                assert self.stream.read(key) is None
        for queue in self.queues:
            self.stream.detach(queue)
        self.stream.close()

    def put(self, number: int) -> None:
        key = self.rng.choice(KEYS)
        self.deleted.discard(key)
        with contextlib.suppress(PagePoolFullError):
            self.stream.enqueue(key, b"%d" % number, self.rng.choice([None, float(number)]))

    def put_many(self, number: int) -> None:
        keys = self.rng.choices(KEYS, k=3)
        self.deleted.difference_update(keys)
        self.stream.enqueue_many(keys, [b"%d" % number] * 3)

    def delete(self, _number: int) -> None:
        key = self.rng.choice(KEYS)
        if self.stream.enqueue(key, TOMBSTONE, 1e9) is not Outcome.REJECTED:
            self.deleted.add(key)

    def serve(self, _number: int) -> None:
        if not self.queues:
            return
        queue = self.rng.choice(self.queues)
        update = queue.dequeue()
        if isinstance(queue, StreamQueue) and isinstance(update, Update):
            if self.rng.random() < 0.5:
                queue.deliver(update)
            else:
                self.held.append((queue, update))
        if self.held and self.rng.random() < 0.4:
            holder, taken = self.held.pop(self.rng.randrange(len(self.held)))
            with contextlib.suppress(NotInProcessError, PagePoolFullError):
                holder.give_back(taken)

    def attach(self, _number: int) -> None:
        if len(self.queues) < 3:
            queue = make_queue(self.rng)
            self.stream.attach(queue, snapshot=self.retain and self.rng.random() < 0.5)
            self.queues.append(queue)

    def detach(self, _number: int) -> None:
        if self.queues and self.rng.random() < 0.5:
            queue = self.queues.pop(self.rng.randrange(len(self.queues)))
            self.held = [(holder, update) for holder, update in self.held if holder is not queue]
            self.stream.detach(queue)

    def look(self, _number: int) -> None:
        self.stream.statistics()
        self.stream.memory_usage()
        self.stream.snapshot()
        for queue in self.queues:
            queue.statistics()
            queue.queue_staleness()
            queue.application_staleness()

    def wait(self, _number: int) -> None:
        self.clock.time += self.rng.choice([STEP, 10 * STEP, 100 * STEP])

    def forget(self, _number: int) -> None:
        with contextlib.suppress(UnknownKeyError):
            self.stream.forget(self.rng.choice(KEYS))


@pytest.mark.parametrize("beginning", range(0, 2_000, 250))
def test_everything_that_becomes_due_during_a_call_is_done(beginning: int) -> None:
    for seed in range(beginning, beginning + 250):
        Life(seed).live(60)


def test_updates_that_expire_while_a_detached_queue_counts_are_counted() -> None:
    for age in range(1, 40):
        stream = Stream(clock=MovingClock(), forget_after=age * STEP)
        queue = UpdateQueue(InPlaceScheduler(), time_to_live=age * STEP)
        stream.attach(queue)
        stream.enqueue("a", 1)
        final = stream.detach(queue)
        assert final.arrived == final.expired + final.waiting
