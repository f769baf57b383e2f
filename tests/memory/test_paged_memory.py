"""On-demand memory holds what waits and nothing else; naive memory holds a location for ever."""

from __future__ import annotations

import pytest

from upstream.errors import PagePoolFullError
from upstream.memory import Location, Memory, MemoryUsage, NaiveMemory, OnDemandMemory, PagePool

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


class TestNaiveMemory(MemoryContract):
    def make(self, pool: PagePool, *, location_bytes: int | None = None) -> Memory:
        return NaiveMemory(pool, location_bytes=location_bytes)

    def test_a_key_keeps_its_location_dirty_until_it_is_written_again(self, memory: Memory) -> None:
        location = memory.allocate(b"a", 0.0)
        assert memory.release(location, 1.0) is location
        usage = memory.usage(1.0)
        assert (usage.locations_held, usage.locations_live) == (1, 0)
        assert memory.overwrite(location, b"b", 2.0) is location
        assert memory.read(location) == b"b"
        usage = memory.usage(2.0)
        assert (usage.locations_held, usage.locations_live) == (1, 1)
        assert usage.average_effective_usage == 0.5

    def test_a_release_keeps_only_the_first_location_of_a_chain(self, memory: Memory) -> None:
        location = memory.allocate(b"x" * 30, 0.0)
        memory.release(location, 1.0)
        assert memory.usage(1.0).locations_held == 1
        memory._check([location])
        memory.overwrite(location, b"y" * 30, 2.0)
        assert memory.read(location) == b"y" * 30
        memory._check([location])

    def test_a_dirty_location_that_cannot_grow_stays_dirty(self, memory: Memory) -> None:
        location = memory.allocate(b"a", 0.0)
        memory.release(location, 0.0)
        others = [memory.allocate(b"x" * 8, 0.0) for _ in range(11)]
        with pytest.raises(PagePoolFullError):
            memory.overwrite(location, b"y" * 9, 1.0)
        assert memory.usage(1.0).locations_live == 11
        memory._check([location, *others])

    def test_dirty_locations_keep_the_pool_full(self, memory: Memory, pool: PagePool) -> None:
        for location in [memory.allocate(b"x", 0.0) for _ in range(12)]:
            memory.release(location, 1.0)
        assert pool.pages_in_use == 3
        with pytest.raises(PagePoolFullError):
            memory.allocate(b"x", 1.0)


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


def test_the_check_notices_a_handle_that_is_missing_or_damaged() -> None:
    memory = OnDemandMemory(PagePool(96, page_bytes=32, location_bytes=8))
    first, second = memory.allocate(b"x" * 12, 0.0), memory.allocate(b"y", 0.0)
    memory._check([first, second])
    with pytest.raises(AssertionError):
        memory._check([first])
    with pytest.raises(AssertionError, match="share a location"):
        memory._check([second, second, second])
    assert first.next is not None
    first.next.next = first
    first.next.length = 4
    with pytest.raises(AssertionError):
        memory._check([first, second])


def test_the_bytes_behind_a_value_are_cleared_up_to_the_end_of_its_location() -> None:
    pool = PagePool(32, page_bytes=32, location_bytes=8)
    memory = OnDemandMemory(pool)
    location = memory.allocate(b"secret", 0.0)
    memory.overwrite(location, b"s", 0.0)
    assert bytes(pool.region[:8]) == b"s" + b"\x00" * 7


def test_a_memory_shows_its_kind_and_what_it_holds() -> None:
    memory = NaiveMemory(PagePool(4096, location_bytes=8))
    location = memory.allocate(b"a", 0.0)
    memory.allocate(b"123456789", 0.0)
    memory.release(location, 1.0)
    assert repr(memory) == "<NaiveMemory: 3 locations of 8 bytes held, 1 dirty>"
