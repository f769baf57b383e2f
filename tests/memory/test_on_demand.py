"""On-demand memory holds what waits and nothing else."""

from __future__ import annotations

from upstream.memory.location import Location
from upstream.memory.naive import NaiveMemory
from upstream.memory.on_demand import OnDemandMemory
from upstream.memory.page_pool import PagePool
from upstream.memory.protocol import Memory
from upstream.memory.usage import MemoryUsage

from .contract import MemoryContract


class TestOnDemandMemory(MemoryContract):
    def make(self, pool: PagePool, *, location_bytes: int | None = None) -> Memory:
        return OnDemandMemory(pool, location_bytes=location_bytes)

    def test_a_key_keeps_nothing_when_it_no_longer_waits(self, memory: Memory) -> None:
        assert memory.release(memory.allocate(b"x" * 20, 0.0), 1.0) is None
        assert memory.usage(1.0).locations_held == 0

    def test_all_pages_are_back_when_all_values_are_released(
        self, memory: Memory, pool: PagePool
    ) -> None:
        locations = [memory.allocate(b"x", 0.0) for _ in range(12)]
        assert pool.pages_in_use == 3
        pages_in_use = []
        for location in locations:
            memory.release(location, 1.0)
            pages_in_use.append(pool.pages_in_use)
        assert pages_in_use == [3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0]

    def test_a_location_that_was_freed_is_the_next_to_be_used(self, memory: Memory) -> None:
        locations = [memory.allocate(b"x", 0.0) for _ in range(6)]
        offset = locations[2].offset
        memory.release(locations[2], 1.0)
        assert memory.allocate(b"y", 1.0).offset == offset


def run(memory: Memory, *, keys: int, arrivals_per_dequeue: int) -> list[MemoryUsage]:
    """Let keys take turns to arrive and be dequeued in place; return the usage over time."""
    held: dict[int, Location | None] = {}
    waiting: dict[int, None] = {}
    usages = []
    for tick in range(keys * 20):
        key, now = tick * 7 % keys, float(tick)
        location = held.get(key)
        if location is None:
            held[key] = memory.allocate(b"x", now)
        else:
            memory.overwrite(location, b"y", now)
        waiting[key] = None
        if tick % arrivals_per_dequeue == 0:
            served = next(iter(waiting))
            del waiting[served]
            location = held[served]
            assert location is not None
            held[served] = memory.release(location, now + 0.5)
        usages.append(memory.usage(now + 0.5))
    return usages


def test_effective_usage_is_exactly_one_and_that_of_naive_memory_is_less() -> None:
    """The report's Figures 16(a) and 17(a)."""
    naive_effective = []
    for load in (1, 2, 3, 5):
        usages = run(OnDemandMemory(PagePool(8192)), keys=100, arrivals_per_dequeue=load)
        assert {usage.average_effective_usage for usage in usages} == {1.0}
        naive = run(NaiveMemory(PagePool(8192)), keys=100, arrivals_per_dequeue=load)
        naive_effective.append(naive[-1].average_effective_usage)
    assert naive_effective == sorted(naive_effective)
    assert naive_effective[0] < 0.2
    assert naive_effective[-1] < 1.0


def test_average_usage_is_below_that_of_naive_memory_and_grows_with_the_load() -> None:
    """The report's Figures 16(b) and 17(b)."""
    averages = []
    for load in (1, 2, 3, 5):
        on_demand = run(OnDemandMemory(PagePool(8192)), keys=100, arrivals_per_dequeue=load)[-1]
        naive = run(NaiveMemory(PagePool(8192)), keys=100, arrivals_per_dequeue=load)[-1]
        assert on_demand.average_usage_locations < naive.average_usage_locations
        assert on_demand.average_page_usage_bytes <= naive.average_page_usage_bytes
        assert on_demand.locations_live == naive.locations_live
        averages.append(on_demand.average_usage_locations)
    assert averages == sorted(averages)


def test_naive_usage_is_the_number_of_keys_once_all_have_been_seen() -> None:
    usages = run(NaiveMemory(PagePool(8192)), keys=100, arrivals_per_dequeue=2)
    assert {usage.locations_held for usage in usages[99:]} == {100}
    assert {usage.pages_in_use for usage in usages[99:]} == {2}
