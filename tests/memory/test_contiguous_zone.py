"""Records lie one behind the other in a zone, wherever the borders of its blocks are.

A record of a value of 4 bytes takes 16, so two of them fill a block of 32.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.errors import PagePoolFullError, ValueTooLargeError
from upstream.memory import NaiveMemory, OnDemandMemory, PagePool
from upstream.memory.contiguous_zone import RECORD_HEADER_BYTES, Block, ContiguousZone, Record

BlockMemory = OnDemandMemory | NaiveMemory
MakeMemory = type[OnDemandMemory] | type[NaiveMemory]

both_memories = pytest.mark.parametrize("kind", [OnDemandMemory, NaiveMemory])

records = st.tuples(st.floats(allow_nan=False), st.binary(max_size=200))


def make_memory(kind: MakeMemory, *, block_bytes: int, pages: int = 4) -> BlockMemory:
    return kind(PagePool(pages * 64, page_bytes=64), location_bytes=block_bytes)


def make_zone(memory: BlockMemory) -> ContiguousZone:
    return ContiguousZone(memory, lambda: 0.0)


def record(number: int) -> Record:
    return float(number), b"%04d" % number


def write(zone: ContiguousZone, numbers: range) -> list[tuple[Block, int]]:
    return [zone.write(*record(number)) for number in numbers]


def numbers_of(zone: ContiguousZone) -> list[int]:
    return [block.number for block in zone][::-1]


def locations_of(zone: ContiguousZone) -> list[tuple[int, int]]:
    return [(location.offset, location.length) for location in zone._locations()]


@both_memories
def test_the_region_of_a_memory_is_that_of_its_pool(kind: MakeMemory) -> None:
    memory = make_memory(kind, block_bytes=32)
    assert memory.region is memory.pool.region


@given(st.lists(records, min_size=1, max_size=20), st.integers(1, 300))
def test_records_come_back_whatever_the_size_of_the_blocks(
    written: list[Record], block_bytes: int
) -> None:
    pool = PagePool(1 << 16, page_bytes=1024)
    memory = OnDemandMemory(pool, location_bytes=block_bytes)
    zone = make_zone(memory)
    places = [zone.write(*entry) for entry in written]
    assert list(zone.records(*places[0], len(written))) == written
    for index, place in enumerate(places):
        assert zone.read(*place)[:2] == written[index]
        assert zone.start(*zone.skip(*places[0], index)) == place
    total = sum(RECORD_HEADER_BYTES + len(data) for _, data in written)
    assert zone.block_count == -(-total // block_bytes)
    zone._check()
    memory._check(zone._locations())


def test_a_record_lies_in_the_region_as_header_and_bytes() -> None:
    memory = make_memory(OnDemandMemory, block_bytes=64)
    zone = make_zone(memory)
    for data in (b"24.0", b"x" * 8):
        block, offset = zone.write(2.5, data)
        start = block.location.offset + offset
        expected = struct.pack("<dI", 2.5, len(data)) + data
        assert bytes(memory.region[start : start + len(expected)]) == expected


@both_memories
def test_a_record_runs_over_from_block_to_block(kind: MakeMemory) -> None:
    # bytes   0       8       16      24      32      40
    # blocks  |---0---|---1---|---2---|---3---|---4---|
    # record  |--header---|-------24 bytes--------|
    zone = make_zone(make_memory(kind, block_bytes=8))
    block, offset = zone.write(1.0, bytes(range(24)))
    assert zone.block_count == 5
    assert zone.read(block, offset)[:2] == (1.0, bytes(range(24)))
    assert zone.last is not None
    assert zone.skip(block, offset, 1) == (zone.last, 4)


def test_a_header_may_run_over_from_the_last_bytes_of_the_region() -> None:
    memory = make_memory(OnDemandMemory, block_bytes=32, pages=1)
    zone, other = make_zone(memory), make_zone(memory)
    write(other, range(1))
    first = zone.write(1.0, b"x" * 10)  # which leaves 10 bytes of the second block
    other.clear()
    second = zone.write(*record(2))
    assert [block.location.offset for block in zone] == [0, 32]
    assert zone.read(*second)[:2] == record(2)
    assert zone.skip(*first, 2) == (zone.last, 6)


@both_memories
def test_a_record_that_ends_with_its_block_needs_no_other(kind: MakeMemory) -> None:
    zone = make_zone(make_memory(kind, block_bytes=32))
    (first, _), second, third = write(zone, range(2)) + write(zone, range(2, 3))
    assert second == (first, 16)
    assert third == (first.next, 0)
    assert zone.block_count == 2


@both_memories
@pytest.mark.parametrize("length", [51, 52, 53])
def test_a_record_in_the_middle_of_a_block_leaves_its_neighbours_alone(
    kind: MakeMemory, length: int
) -> None:
    memory = kind(PagePool(1024, page_bytes=256), location_bytes=200)
    zone, other = make_zone(memory), make_zone(memory)
    neighbour = other.write(*record(5))
    places = [zone.write(1.0, bytes([fill]) * length) for fill in (1, 2, 3)]
    neighbour_behind = other.write(*record(6))
    for fill, place in enumerate(places, start=1):
        assert zone.read(*place)[1] == bytes([fill]) * length
    assert other.read(*neighbour)[:2] == record(5)
    assert other.read(*neighbour_behind)[:2] == record(6)


@both_memories
def test_blocks_can_be_released_out_of_the_middle(kind: MakeMemory) -> None:
    zone = make_zone(make_memory(kind, block_bytes=32))
    places = write(zone, range(8))
    zone.release(places[0][0], None, kept=range(1, 2))
    assert numbers_of(zone) == [1]
    assert list(zone.records(*places[2], 2)) == [record(2), record(3)]
    zone._check()
    write(zone, range(8, 10))
    assert numbers_of(zone) == [1, 2]


@both_memories
def test_numbers_tell_where_blocks_are_missing(kind: MakeMemory) -> None:
    zone = make_zone(make_memory(kind, block_bytes=32))
    places = write(zone, range(8))
    zone.release(places[2][0], places[6][0])
    assert numbers_of(zone) == [0, 3]
    first, last = places[0][0], places[6][0]
    assert first.next is last
    assert last.previous is first
    zone._check()


@both_memories
def test_the_end_can_be_moved_back_and_what_was_behind_it_is_written_over(kind: MakeMemory) -> None:
    zone = make_zone(make_memory(kind, block_bytes=32))
    places = write(zone, range(6))
    zone.end_at(*zone.skip(*places[0], 3))
    assert zone.block_count == 2
    assert zone.write(*record(9)) == places[3]
    assert list(zone.records(*places[0], 4)) == [record(0), record(1), record(2), record(9)]
    zone._check()


def test_on_demand_memory_has_a_released_block_back_at_once() -> None:
    memory = make_memory(OnDemandMemory, block_bytes=32)
    zone = make_zone(memory)
    places = write(zone, range(6))
    zone.release(places[2][0], places[4][0])
    assert memory.usage(0.0).locations_held == zone.block_count == 2
    assert zone.spares == []


def test_naive_memory_leaves_a_released_block_which_is_the_next_to_be_used() -> None:
    memory = make_memory(NaiveMemory, block_bytes=32)
    zone = make_zone(memory)
    places = write(zone, range(6))
    offset = places[2][0].location.offset
    zone.release(places[2][0], places[4][0])
    usage = memory.usage(0.0)
    assert (usage.locations_held, usage.locations_live, zone.block_count) == (3, 2, 2)
    assert [spare.offset for spare in zone.spares] == [offset]
    block, _ = zone.write(*record(6))
    assert block.location.offset == offset
    usage = memory.usage(0.0)
    assert (usage.locations_held, usage.locations_live, zone.spares) == (3, 3, [])


@both_memories
def test_a_record_for_which_there_are_not_enough_blocks_changes_nothing(kind: MakeMemory) -> None:
    memory = make_memory(kind, block_bytes=32)
    zone, other = make_zone(memory), make_zone(memory)
    places = write(zone, range(3))
    write(other, range(9))  # five of the eight blocks
    before = memory.usage(0.0), locations_of(zone)
    with pytest.raises(PagePoolFullError):
        zone.write(1.0, b"x" * 37)  # 16 bytes of room, one free block, and one byte
    assert (memory.usage(0.0), locations_of(zone)) == before
    assert list(zone.records(*places[0], 3)) == [record(0), record(1), record(2)]
    zone._check()
    memory._check(zone._locations() + other._locations())
    place = zone.write(1.0, b"x" * 36)
    assert zone.read(*place)[1] == b"x" * 36


def test_a_refusal_leaves_the_spares_dirty_and_gives_fresh_blocks_back() -> None:
    memory = make_memory(NaiveMemory, block_bytes=32)
    zone, other = make_zone(memory), make_zone(memory)
    places = write(zone, range(4))
    zone.release(places[0][0], places[2][0])
    write(other, range(10))  # five of the eight blocks, so one is free
    before = memory.usage(0.0), locations_of(zone)
    with pytest.raises(PagePoolFullError):
        zone.write(1.0, b"x" * 53)  # which needs three: a spare, the free one, one more
    assert (memory.usage(0.0), locations_of(zone)) == before
    memory._check(zone._locations() + other._locations())
    zone.write(1.0, b"x" * 52)
    assert (zone.block_count, zone.spares) == (3, [])


@both_memories
def test_a_record_longer_than_the_whole_pool_can_never_fit(kind: MakeMemory) -> None:
    memory = make_memory(kind, block_bytes=32)
    zone = make_zone(memory)
    zone.write(*record(0))
    with pytest.raises(ValueTooLargeError) as raised:
        zone.write(1.0, b"x" * 245)
    assert (raised.value.length, raised.value.capacity) == (257, 256)
    with pytest.raises(PagePoolFullError):
        zone.write(1.0, b"x" * 244)
    zone.clear()
    place = zone.write(1.0, b"x" * 244)
    assert zone.read(*place)[1] == b"x" * 244


@both_memories
def test_clearing_releases_blocks_and_spares(kind: MakeMemory) -> None:
    memory = make_memory(kind, block_bytes=32)
    zone = make_zone(memory)
    places = write(zone, range(8))
    zone.release(places[2][0], places[4][0])
    zone.clear()
    assert memory.pool.pages_in_use == 0
    assert (zone.block_count, zone.last, zone.spares) == (0, None, [])
    memory._check([])


def number_twice(zone: ContiguousZone) -> None:
    assert zone.last is not None
    zone.last.number = 0


def cut_a_link(zone: ContiguousZone) -> None:
    assert zone.last is not None
    assert zone.last.previous is not None
    zone.last.previous.next = None


def miscount(zone: ContiguousZone) -> None:
    zone.block_count += 1


def leave_room_in_the_middle(zone: ContiguousZone) -> None:
    assert zone.last is not None
    assert zone.last.previous is not None
    zone.last.previous.enqueue_offset -= 1


def use_a_location_twice(zone: ContiguousZone) -> None:
    assert zone.last is not None
    assert zone.last.previous is not None
    zone.last.location = zone.last.previous.location


def keep_a_spare_that_is_in_use(zone: ContiguousZone) -> None:
    assert zone.last is not None
    zone.spares.append(zone.last.location)


@pytest.mark.parametrize(
    "damage",
    [
        *(number_twice, cut_a_link, miscount, leave_room_in_the_middle),
        *(use_a_location_twice, keep_a_spare_that_is_in_use),
    ],
)
def test_the_check_notices_damage(damage: Callable[[ContiguousZone], None]) -> None:
    zone = make_zone(make_memory(OnDemandMemory, block_bytes=32))
    write(zone, range(5))
    zone._check()
    damage(zone)
    with pytest.raises(AssertionError):
        zone._check()


@pytest.fixture
def block() -> Block:
    memory = OnDemandMemory(PagePool(256, page_bytes=64), location_bytes=32)
    memory.allocate(b"", 0.0)
    return Block(memory.allocate(b"", 0.0), number=7)


def test_a_new_block_is_empty_and_stands_alone(block: Block) -> None:
    assert (block.dequeue_offset, block.enqueue_offset) == (0, 0)
    assert block.previous is None
    assert block.next is None


def test_a_block_knows_its_enclosing_page_and_where_it_begins(block: Block) -> None:
    assert block.location.page.index == 0
    assert block.location.offset == 32


def test_a_block_shows_where_it_is_and_how_full(block: Block) -> None:
    block.enqueue_offset = 20
    block.dequeue_offset = 3
    assert repr(block) == "Block(number=7, page=0, offset=32, dequeue_offset=3, enqueue_offset=20)"


def test_a_block_takes_no_more_than_its_six_references(block: Block) -> None:
    assert not hasattr(block, "__dict__")
    assert sys.getsizeof(block) <= sys.getsizeof(object()) + 16 + 6 * 8
