"""What every memory must do; the test of each memory is a subclass of this suite."""

from __future__ import annotations

from abc import ABC, abstractmethod

import pytest

from upstream.errors import PagePoolFullError, ParameterError, ValueTooLargeError
from upstream.memory import Location, Memory, PagePool


class MemoryContract(ABC):
    """Three pages of four locations of eight bytes."""

    @abstractmethod
    def make(self, pool: PagePool, *, location_bytes: int | None = None) -> Memory: ...

    @pytest.fixture
    def pool(self) -> PagePool:
        return PagePool(3 * 32, page_bytes=32, location_bytes=8)

    @pytest.fixture
    def memory(self, pool: PagePool) -> Memory:
        return self.make(pool)

    def test_a_value_is_read_as_it_was_written(self, memory: Memory) -> None:
        values = [b"", b"a", b"12345678", b"\x00\x01\x00"]
        locations = [memory.allocate(value, 0.0) for value in values]
        assert [memory.read(location) for location in locations] == values
        memory._check(locations)

    def test_a_value_is_overwritten_in_its_place(self, memory: Memory, pool: PagePool) -> None:
        location, neighbour = memory.allocate(b"12345678", 0.0), memory.allocate(b"abc", 0.0)
        offset = location.offset
        for value in (b"87654321", b"1", b"", b"12"):
            assert memory.overwrite(location, value, 1.0) is location
            assert memory.read(location) == value
            assert bytes(pool.region[offset : offset + len(value)]) == value
        assert location.offset == offset
        assert memory.read(neighbour) == b"abc"
        assert memory.usage(1.0).locations_held == 2

    @pytest.mark.parametrize("length", [9, 16, 17, 40])
    def test_a_longer_value_is_chained_over_several_locations(
        self, memory: Memory, length: int
    ) -> None:
        value = bytes(range(length))
        location = memory.allocate(value, 0.0)
        assert memory.read(location) == value
        assert memory.usage(0.0).locations_held == -(-length // 8)
        memory._check([location])

    def test_a_chain_grows_and_shrinks_with_its_value(self, memory: Memory) -> None:
        location = memory.allocate(b"a", 0.0)
        for length in (8, 9, 96, 95, 24, 25, 16, 17, 1, 0, 33, 33):
            value = bytes(range(length))
            assert memory.overwrite(location, value, 1.0) is location
            assert memory.read(location) == value
            assert memory.usage(1.0).locations_held == max(1, -(-length // 8))
            memory._check([location])

    def test_a_full_pool_refuses_a_new_value_and_nothing_changes(
        self, memory: Memory, pool: PagePool
    ) -> None:
        locations = [memory.allocate(bytes([number]) * 8, 0.0) for number in range(12)]
        before = memory.usage(1.0)
        with pytest.raises(PagePoolFullError) as raised:
            memory.allocate(b"", 1.0)
        assert raised.value.capacity == 96
        assert memory.usage(1.0) == before
        assert [memory.read(location)[0] for location in locations] == list(range(12))
        memory._check(locations)
        pool._check()

    def test_a_chain_that_does_not_fit_leaves_no_part_and_no_page_behind(
        self, memory: Memory, pool: PagePool
    ) -> None:
        locations = [memory.allocate(b"x" * 8, 0.0) for _ in range(3)]
        before = memory.usage(1.0)
        with pytest.raises(PagePoolFullError):
            memory.allocate(b"y" * 80, 1.0)
        assert memory.usage(1.0) == before
        assert pool.pages_in_use == 1
        memory._check(locations)

    def test_a_value_that_cannot_grow_stays_as_it_was(self, memory: Memory, pool: PagePool) -> None:
        location = memory.allocate(b"old value", 0.0)
        other = memory.allocate(b"x" * 72, 0.0)
        for length in (33, 96, 97):
            with pytest.raises((PagePoolFullError, ValueTooLargeError)):
                memory.overwrite(location, b"n" * length, 1.0)
            assert memory.read(location) == b"old value"
            memory._check([location, other])
        assert memory.overwrite(location, b"n" * 24, 1.0) is location
        assert memory.read(location) == b"n" * 24
        assert memory.read(other) == b"x" * 72
        pool._check()

    def test_a_value_longer_than_the_whole_pool_can_never_fit(self, memory: Memory) -> None:
        assert memory.fits(96)
        assert not memory.fits(97)
        memory.check_length(96)
        with pytest.raises(ValueTooLargeError) as raised:
            memory.check_length(97)
        assert (raised.value.length, raised.value.capacity) == (97, 96)
        with pytest.raises(ValueTooLargeError):
            memory.allocate(b"x" * 97, 0.0)
        assert memory.usage(0.0).pages_in_use == 0
        location = memory.allocate(b"x" * 96, 0.0)
        with pytest.raises(ValueTooLargeError):
            memory.overwrite(location, b"x" * 97, 0.0)
        assert memory.read(location) == b"x" * 96

    def test_whether_there_is_room_for_all_counts_each_of_them(
        self, memory: Memory, pool: PagePool
    ) -> None:
        held: list[Location] = []
        while memory.has_room_for([memory.location_bytes] * 3):
            held.append(memory.allocate(b"x", now=0.0))
        assert held
        assert memory.has_room_for([1, memory.location_bytes])
        assert not memory.has_room_for([1, memory.location_bytes + 1])
        full = b"x" * memory.location_bytes
        held += [memory.allocate(full, now=0.0) for _ in range(2)]
        assert not memory.has_room_for([1])
        assert memory.has_room_for([])
        with pytest.raises(ValueTooLargeError):
            memory.has_room_for([1, 1 << 40])

    def test_forgetting_everything_returns_all_pages(self, memory: Memory, pool: PagePool) -> None:
        locations = [memory.allocate(b"x" * length, 0.0) for length in (8, 30, 1, 17)]
        for location in locations:
            memory.forget(location, 1.0)
        assert pool.pages_in_use == 0
        assert memory.usage(1.0).locations_held == 0
        memory._check([])

    def test_a_released_key_can_be_forgotten(self, memory: Memory, pool: PagePool) -> None:
        kept = memory.release(memory.allocate(b"x" * 20, 0.0), 1.0)
        if kept is not None:
            memory.forget(kept, 2.0)
        assert pool.pages_in_use == 0
        memory._check([])

    def test_a_released_value_is_not_used_again(self, memory: Memory) -> None:
        location = memory.allocate(b"a", 0.0)
        memory.release(location, 1.0)
        with pytest.raises(AssertionError):
            memory.read(location)
        with pytest.raises(AssertionError):
            memory.release(location, 1.0)

    def test_a_forgotten_location_is_not_used_again(self, memory: Memory) -> None:
        location = memory.allocate(b"a", 0.0)
        memory.forget(location, 1.0)
        for use in (memory.read, lambda gone: memory.overwrite(gone, b"b", 1.0)):
            with pytest.raises(AssertionError):
                use(location)
        for end in (memory.release, memory.forget):
            with pytest.raises(AssertionError):
                end(location, 1.0)
        memory._check([])

    def test_locations_may_have_another_size_than_the_pools(self, pool: PagePool) -> None:
        memory = self.make(pool, location_bytes=12)
        assert memory.location_bytes == 12
        assert memory.fits(72)
        assert not memory.fits(73)
        locations = [memory.allocate(b"x" * 24, 0.0) for _ in range(3)]
        memory._check(locations)
        with pytest.raises(ParameterError):
            self.make(pool, location_bytes=33)

    def test_memories_share_a_pool_and_leave_each_other_alone(self, pool: PagePool) -> None:
        one, two = self.make(pool), self.make(pool, location_bytes=16)
        first: list[Location] = [one.allocate(b"1" * 8, 0.0) for _ in range(4)]
        second = [two.allocate(b"2" * 16, 0.0) for _ in range(4)]
        for memory in (one, two):
            with pytest.raises(PagePoolFullError):
                memory.allocate(b"", 0.0)
        one.forget(first.pop(), 1.0)
        with pytest.raises(PagePoolFullError):
            two.allocate(b"", 1.0)
        while first:
            one.forget(first.pop(), 1.0)
        second.append(two.allocate(b"3", 1.0))
        assert {two.read(location) for location in second} == {b"2" * 16, b"3"}
        two._check(second)

    def test_usage_is_averaged_over_time(self, memory: Memory) -> None:
        # time   2    4      7    10
        # held      1     4    3
        first = memory.allocate(b"a", 2.0)
        second = memory.allocate(b"x" * 24, 4.0)
        memory.overwrite(second, b"x" * 16, 7.0)
        usage = memory.usage(10.0)
        assert usage.average_usage_locations == (2 * 1 + 3 * 4 + 3 * 3) / 8
        assert usage.average_usage_bytes == 8 * usage.average_usage_locations
        assert usage.average_page_usage_bytes == 32.0
        assert usage.average_effective_usage == 1.0
        assert memory.read(first) == b"a"
