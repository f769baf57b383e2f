"""Naive memory leaves a key its location for ever."""

from __future__ import annotations

import pytest

from upstream.errors import PagePoolFullError
from upstream.memory.naive import NaiveMemory
from upstream.memory.page_pool import PagePool
from upstream.memory.protocol import Memory

from .contract import MemoryContract, checked


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

    def test_of_a_chain_only_the_first_location_is_kept(self, memory: Memory) -> None:
        location = memory.allocate(b"x" * 30, 0.0)
        memory.release(location, 1.0)
        assert memory.usage(1.0).locations_held == 1
        checked(memory)._check([location])
        memory.overwrite(location, b"y" * 30, 2.0)
        assert memory.read(location) == b"y" * 30
        checked(memory)._check([location])

    def test_a_dirty_location_that_cannot_grow_stays_dirty(self, memory: Memory) -> None:
        location = memory.allocate(b"a", 0.0)
        memory.release(location, 0.0)
        others = [memory.allocate(b"x" * 8, 0.0) for _ in range(11)]
        with pytest.raises(PagePoolFullError):
            memory.overwrite(location, b"y" * 9, 1.0)
        assert memory.usage(1.0).locations_live == 11
        checked(memory)._check([location, *others])

    def test_dirty_locations_keep_the_pool_full(self, memory: Memory, pool: PagePool) -> None:
        for location in [memory.allocate(b"x", 0.0) for _ in range(12)]:
            memory.release(location, 1.0)
        assert pool.pages_in_use == 3
        with pytest.raises(PagePoolFullError):
            memory.allocate(b"x", 1.0)
