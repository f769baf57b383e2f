"""What a hundred times the keys cost: time per operation, and memory per key."""

from __future__ import annotations

import gc
import tracemalloc

import pytest

from tests.benchmarks.measure import Table, timed, zipf_keys
from upstream import (
    POLICIES,
    SCHEDULERS,
    InPlaceScheduler,
    Stream,
    StreamQueue,
    UpdateQueue,
    make_queue,
)

pytestmark = pytest.mark.benchmark

FEW = 3_000
MANY = 100 * FEW
OPERATIONS = 60_000


@pytest.mark.parametrize("policy", POLICIES)
def test_time_per_operation_against_the_number_of_keys(policy: str) -> None:
    few = operation_times(policy, FEW)
    many = operation_times(policy, MANY)
    dictionary = {name: dict_time(keys) for name, keys in (("few", FEW), ("many", MANY))}
    table = Table(f"{policy}: {MANY:,} keys by {FEW:,} keys, per operation")
    table.row(
        "(looking up an attribute of a dict's value)", dictionary["many"] / dictionary["few"], None
    )
    for name, seconds in few.items():
        table.row(name, many[name] / seconds, 4.0)
    table.assert_met()


def operation_times(policy: str, keys: int) -> dict[str, float]:
    """Return the least of some rounds of processor seconds for each operation."""
    queue = make_queue(policy, capacity=2 * MANY)
    names = [f"K{number}" for number in range(keys)]
    chosen = zipf_keys(keys=keys, updates=OPERATIONS)
    for name in names:
        queue.enqueue(name, 0.0, 0.0)
    rounds = [one_round(policy, queue, chosen, float(number)) for number in range(1, 6)]
    return {name: min(times[name] for times in rounds) for name in rounds[0]}


def one_round(policy: str, queue: StreamQueue, chosen: list[str], time: float) -> dict[str, float]:
    def enqueue() -> None:
        for name in chosen:
            queue.enqueue(name, time, time)

    # Reading is O(waiting updates of the key) where every update waits.
    looked_at = chosen if policy in SCHEDULERS else chosen[:50]

    def serve() -> None:
        for _ in range(min(OPERATIONS, FEW - 1) // 2):
            update = queue.dequeue()
            assert update is not None
            queue.deliver(update)

    def read() -> None:
        for name in looked_at:
            queue.read(name)

    seconds = {"enqueue": timed(enqueue), "dequeue and deliver": timed(serve)}
    seconds["read"] = timed(read)
    for update in queue.dequeue_many(OPERATIONS) if policy.startswith("append") else ():
        queue.deliver(update)
    return seconds


def dict_time(keys: int) -> float:
    class Value:
        __slots__ = ("time",)

        def __init__(self) -> None:
            self.time = 0.0

    values = {f"K{number}": Value() for number in range(keys)}
    chosen = zipf_keys(keys=keys, updates=OPERATIONS)

    def look_up() -> None:
        for name in chosen:
            values[name].time += 1.0

    return min(timed(look_up) for _ in range(5))


def test_memory_per_key() -> None:
    keys = [f"K{number}" for number in range(100_000)]
    prices = [float(number) for number in range(len(keys))]
    stream = Stream()
    table = Table("memory per key, beside key and value, every key served and waiting again")
    sizes = [traced()]
    tracemalloc.start()
    for number in range(3):
        queue = UpdateQueue(InPlaceScheduler())
        stream.attach(queue)
        for _ in range(2):
            stream.enqueue_many(keys, prices)
            for update in queue.dequeue_many(len(keys)):
                queue.deliver(update)
        stream.enqueue_many(keys, prices)
        assert len(queue) == len(keys)
        sizes.append(traced())
        per_key = (sizes[-1] - sizes[-2]) / len(keys)
        table.row(
            f"queue {number + 1} of the stream", per_key, 450 if number == 0 else 220, "bytes"
        )
    tracemalloc.stop()
    table.assert_met()


def traced() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0] if tracemalloc.is_tracing() else 0
