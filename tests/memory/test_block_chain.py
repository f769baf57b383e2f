"""A chain holds what its two buffers need, and no block more.

A record of a value of 4 bytes takes 16, so two of them fill a block of 32. In the drawings a digit
is a record, `|` the border of two blocks, and `.` a record that neither buffer needs.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator

import pytest

from tests.windows.contract_of_tuples import TuplesContract
from upstream.clock import ManualClock
from upstream.errors import PagePoolFullError, ValueTooLargeError
from upstream.memory import BytesCodec, MessagePackCodec, NaiveMemory, OnDemandMemory, PagePool
from upstream.memory.block_chain import BlockChain, Row
from upstream.updates import TOMBSTONE
from upstream.windows.buffered_tuples import BufferedTuples

BlockMemory = OnDemandMemory | NaiveMemory


class FailingCodec(BytesCodec):
    """Fail to decode while it `fails`."""

    fails = False

    def decode(self, data: bytes) -> object:
        if self.fails:
            raise UnicodeDecodeError("utf-8", data, 0, 1, "cannot be decoded for now")
        return data


def row(time: float, data: bytes) -> Row:
    return "IBM", data, time


def record(number: int) -> Row:
    return row(float(number), b"%04d" % number)


def numbers(rows: list[Row]) -> list[int]:
    assert rows == [record(int(time)) for _, _, time in rows]
    return [int(time) for _, _, time in rows]


def append(chain: BlockChain, count: int) -> None:
    for number in range(count):
        chain.append(record(number))


def take_all(chain: BlockChain) -> list[int]:
    return numbers([chain.take() for _ in range(chain.committed_count())])


def counts(chain: BlockChain) -> tuple[int, int, int]:
    return chain.enqueued_count(), chain.committed_count(), chain.block_count


@pytest.fixture(params=[OnDemandMemory, NaiveMemory])
def memory(request: pytest.FixtureRequest) -> BlockMemory:
    """Four pages of four blocks of 32 bytes."""
    kind: type[OnDemandMemory] | type[NaiveMemory] = request.param
    return kind(PagePool(512, page_bytes=128), location_bytes=32)


@pytest.fixture
def chain(memory: BlockMemory) -> BlockChain:
    return BlockChain("IBM", memory, lambda: 0.0, BytesCodec())


class TestBufferedTuples(TuplesContract):
    @pytest.fixture
    def tuples(self, chain: BlockChain, memory: BlockMemory) -> Iterator[BufferedTuples]:
        yield chain
        chain._check()
        chain.clear()
        assert memory.pool.pages_in_use == 0


def test_a_new_chain_holds_nothing(chain: BlockChain, memory: BlockMemory) -> None:
    assert counts(chain) == (0, 0, 0)
    with pytest.raises(IndexError):
        chain.take()
    chain.drop_committed()
    chain.drop(0)
    chain.truncate(0)
    chain._check()
    assert memory.usage(0.0).locations_held == 0


def test_committed_tuples_leave_in_order(chain: BlockChain) -> None:
    append(chain, 7)
    chain.commit(5, dropping=7)
    assert (chain.enqueued_count(), chain.committed_count()) == (0, 5)
    assert take_all(chain) == [0, 1, 2, 3, 4]


def test_overlapping_windows_share_records(chain: BlockChain) -> None:
    # 01|23|45|6
    append(chain, 7)
    chain.commit(4, dropping=2)
    chain._check()
    assert numbers(chain.enqueued()) == [2, 3, 4, 5, 6]
    assert take_all(chain) == [0, 1, 2, 3]
    chain._check()
    assert chain.block_count == 3
    chain.commit(5, dropping=5)
    assert take_all(chain) == [2, 3, 4, 5, 6]
    assert chain.block_count == 0


def test_blocks_go_as_their_last_record_is_taken(chain: BlockChain) -> None:
    # 01|23|45
    append(chain, 6)
    chain.commit(6, dropping=6)
    blocks = []
    while chain.committed_count():
        chain.take()
        chain._check()
        blocks.append(chain.block_count)
    assert blocks == [3, 2, 2, 1, 1, 0]


def test_a_record_that_runs_over_keeps_all_its_blocks_until_it_is_taken(chain: BlockChain) -> None:
    chain.append(row(1.0, b"x" * 21))
    chain.append(row(2.0, b"y" * 101))
    chain.append(row(3.0, b"z" * 3))
    assert chain.block_count == 6
    chain.commit(3, dropping=3)
    assert chain.take() == row(1.0, b"x" * 21)
    assert chain.block_count == 5
    assert chain.take() == row(2.0, b"y" * 101)
    assert chain.block_count == 2
    assert chain.take() == row(3.0, b"z" * 3)
    assert chain.block_count == 0


def test_blocks_go_as_their_last_record_is_dropped(chain: BlockChain) -> None:
    # 01|23|45|67|89
    append(chain, 10)
    blocks = []
    for count in (1, 1, 3, 4, 1):
        chain.drop(count)
        chain._check()
        blocks.append(chain.block_count)
    assert blocks == [5, 4, 3, 1, 0]


def test_the_dead_middle_between_the_two_buffers_is_released(chain: BlockChain) -> None:
    # 01|2.|..|..|89
    append(chain, 10)
    chain.commit(3, dropping=8)
    chain._check()
    assert chain.block_count == 3
    assert numbers(chain.committed()) == [0, 1, 2]
    assert numbers(chain.enqueued()) == [8, 9]
    append(chain, 1)
    assert take_all(chain) == [0, 1, 2]
    chain._check()
    assert chain.block_count == 2
    assert numbers(chain.enqueued()) == [8, 9, 0]


def test_dropping_never_touches_the_committed_window(chain: BlockChain) -> None:
    # 01|23|45|67
    append(chain, 8)
    chain.commit(5, dropping=1)
    for count in (1, 2, 2, 2):
        chain.drop(count)
        chain._check()
        assert numbers(chain.committed()) == [0, 1, 2, 3, 4]
    assert chain.enqueued_count() == 0
    assert chain.block_count == 3
    assert take_all(chain) == [0, 1, 2, 3, 4]


def test_the_committed_window_grows_where_dropped_records_were(chain: BlockChain) -> None:
    # 01|2..  and then  01|23|4
    append(chain, 5)
    chain.commit(3, dropping=5)
    assert chain.block_count == 2
    for number in (3, 4):
        chain.append_committed(record(number))
        chain._check()
    assert chain.block_count == 3
    assert take_all(chain) == [0, 1, 2, 3, 4]


def test_a_record_in_both_buffers_is_stored_once(chain: BlockChain) -> None:
    chain.append_to_both(record(0))
    for number in range(1, 6):
        chain.append_to_both(record(number))
        chain._check()
    assert counts(chain) == (6, 6, 3)
    assert take_all(chain) == [0, 1, 2, 3, 4, 5]
    assert (chain.block_count, numbers(chain.enqueued())) == (3, [0, 1, 2, 3, 4, 5])


def test_the_committed_window_may_go_on_behind_the_start_of_the_next(chain: BlockChain) -> None:
    # The window [0, 6) is under processing, and all that has come of it has left; [2, 8) waits.
    # 01|23|45
    append(chain, 2)
    chain.commit(2, dropping=2)
    for number in (2, 3):
        chain.append_to_both(record(number))
    assert take_all(chain) == [0, 1, 2, 3]
    for number in (4, 5):
        chain.append_to_both(record(number))
        chain._check()
    chain.append(record(6))
    chain._check()
    assert numbers(chain.committed()) == [4, 5]
    assert numbers(chain.enqueued()) == [2, 3, 4, 5, 6]
    chain.drop(3)
    chain._check()
    assert take_all(chain) == [4, 5]
    assert numbers(chain.enqueued()) == [5, 6]


def test_drop_committed_leaves_the_enqueue_buffer(chain: BlockChain) -> None:
    # 01|23|45
    append(chain, 6)
    chain.commit(4, dropping=3)
    chain.drop_committed()
    chain._check()
    assert counts(chain) == (3, 0, 2)
    assert numbers(chain.enqueued()) == [3, 4, 5]
    chain.commit(1, dropping=3)
    chain.drop_committed()
    assert chain.block_count == 0


def test_truncating_drops_the_newest(chain: BlockChain) -> None:
    # 01|23|45
    append(chain, 6)
    chain.truncate(3)
    chain._check()
    assert numbers(chain.enqueued()) == [0, 1, 2]
    assert chain.block_count == 2
    chain.append(record(9))
    assert numbers(chain.enqueued()) == [0, 1, 2, 9]
    assert chain.block_count == 2
    chain.truncate(4)
    assert chain.block_count == 0


def test_truncating_leaves_the_committed_window(chain: BlockChain) -> None:
    # 01|23|45
    append(chain, 6)
    chain.commit(3, dropping=2)
    chain.truncate(3)
    chain._check()
    assert (numbers(chain.committed()), numbers(chain.enqueued())) == ([0, 1, 2], [2])
    chain.truncate(1)
    chain._check()
    assert (numbers(chain.committed()), numbers(chain.enqueued())) == ([0, 1, 2], [])
    assert take_all(chain) == [0, 1, 2]
    assert chain.block_count == 0


def test_a_record_that_cannot_be_decoded_can_be_taken_again(memory: BlockMemory) -> None:
    codec = FailingCodec()
    chain = BlockChain("IBM", memory, lambda: 0.0, codec)
    append(chain, 3)
    chain.commit(3, dropping=2)
    for number in range(3):
        before = counts(chain)
        codec.fails = True
        for look in (chain.take, chain.take, chain.enqueued):
            with pytest.raises(UnicodeDecodeError):
                look()
        chain._check()
        assert counts(chain) == before
        codec.fails = False
        assert chain.take() == record(number)
    assert numbers(chain.enqueued()) == [2]


def test_values_come_encoded_and_leave_decoded(memory: BlockMemory) -> None:
    codec = MessagePackCodec()
    chain = BlockChain("IBM", memory, lambda: 0.0, codec)
    value = {"bid": 24.0, "raw": [1]}
    chain.append(("IBM", codec.encode(value), 1.25))
    assert chain.enqueued() == [("IBM", value, 1.25)]
    chain.commit(1, dropping=1)
    assert chain.take() == ("IBM", value, 1.25)
    assert chain.block_count == 0


def test_a_value_that_is_not_encoded_is_noticed(chain: BlockChain) -> None:
    for append_row in (chain.append, chain.append_committed, chain.append_to_both):
        for value in ("24.0", None, TOMBSTONE):
            with pytest.raises(AssertionError):
                append_row(("IBM", value, 2.0))
    assert counts(chain) == (0, 0, 0)


def test_no_room_changes_nothing(chain: BlockChain, memory: BlockMemory) -> None:
    # 01|2.|..|67| and so on, in 9 of the 16 blocks; naive memory has left a tenth as a spare
    append(chain, 20)
    chain.commit(3, dropping=6)
    other = BlockChain("IBM", memory, lambda: 0.0, BytesCodec())
    append(other, 2 * (16 - 9 - chain.spare_count))
    with pytest.raises(PagePoolFullError):
        other.append(record(0))
    before = chain.committed(), chain.enqueued(), chain._locations(), memory.usage(0.0)
    for length, error in ((21, PagePoolFullError), (501, ValueTooLargeError)):
        with pytest.raises(error):
            chain.append(row(1.0, b"x" * length))
        after = chain.committed(), chain.enqueued(), chain._locations(), memory.usage(0.0)
        assert after == before
        chain._check()
    memory._check(chain._locations() + other._locations())


def test_a_refused_record_leaves_an_empty_chain_empty(memory: BlockMemory) -> None:
    chain, other = (
        BlockChain("IBM", memory, lambda: 0.0, BytesCodec()),
        BlockChain("IBM", memory, lambda: 0.0, BytesCodec()),
    )
    append(other, 30)
    for refused in (chain.append, chain.append_committed, chain.append_to_both):
        with pytest.raises(PagePoolFullError):
            refused(row(1.0, b"x" * 21))
        assert counts(chain) == (0, 0, 0)
        assert chain._locations() == []
        chain._check()


def test_on_demand_memory_holds_what_the_buffers_need_and_naive_memory_what_they_ever_needed() -> (
    None
):
    """What the report's Figures 16 and 17 say of tuples, said of windows."""
    averages, effective = [], []
    for kind in (OnDemandMemory, NaiveMemory):
        memory = kind(PagePool(512, page_bytes=128), location_bytes=32)
        clock = ManualClock()
        chain = BlockChain("IBM", memory, clock.now, BytesCodec())
        for _ in range(5):
            append(chain, 8)
            clock.advance(1.0)
            chain.commit(8, dropping=8)
            assert take_all(chain) == list(range(8))
            clock.advance(3.0)
        usage = memory.usage(clock.now())
        assert usage.locations_held == chain.spare_count
        averages.append(usage.average_usage_locations)
        effective.append(usage.average_effective_usage)
        chain.clear()
        assert (chain.spare_count, memory.pool.pages_in_use) == (0, 0)
    assert averages == [1.0, 4.0]
    assert effective == [1.0, 0.25]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda chain: chain.commit(1, dropping=0),
        lambda chain: chain.append_committed(record(9)),
        lambda chain: chain.append_to_both(record(9)),
        lambda chain: chain.drop(6),
        lambda chain: chain.drop(-1),
        lambda chain: chain.truncate(6),
        lambda chain: chain.truncate(-1),
        lambda chain: chain.truncate(4),
    ],
    ids=[
        *("a window before the last one has left", "a tuple behind later ones"),
        *("a hole in the window", "more than there are", "less than none"),
        *("more of the newest", "less than none of the newest", "committed records"),
    ],
)
def test_an_impossible_call_is_noticed(
    chain: BlockChain, wrong: Callable[[BlockChain], None]
) -> None:
    append(chain, 6)
    chain.commit(4, dropping=1)
    with pytest.raises(AssertionError):
        wrong(chain)
    chain._check()
    assert numbers(chain.committed()) == [0, 1, 2, 3]
    assert numbers(chain.enqueued()) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(("count", "dropping"), [(0, 0), (4, 0), (1, 4), (-1, 0), (1, -1)])
def test_a_window_has_as_many_records_as_there_are(
    chain: BlockChain, count: int, dropping: int
) -> None:
    append(chain, 3)
    with pytest.raises(AssertionError):
        chain.commit(count, dropping=dropping)
    chain._check()
    assert (chain.enqueued_count(), chain.committed_count()) == (3, 0)


def move_df(chain: BlockChain) -> None:
    assert chain._df is not None
    chain._df.dequeue_offset += 16


def move_we(chain: BlockChain) -> None:
    chain._we_offset -= 16


def move_ws(chain: BlockChain) -> None:
    chain._ws_offset += 16


def forget_ws(chain: BlockChain) -> None:
    chain._ws = None
    chain._enqueued = 0


def forget_df(chain: BlockChain) -> None:
    chain._df = chain._we = None
    chain._committed = 0


def miscount_enqueued(chain: BlockChain) -> None:
    chain._enqueued += 1


def miscount_committed(chain: BlockChain) -> None:
    chain._committed -= 1


def release_a_block(chain: BlockChain) -> None:
    assert chain._df is not None
    chain._zone.release(chain._df, chain._df.next)


@pytest.mark.parametrize(
    "damage",
    [
        *(move_df, move_we, move_ws, forget_ws, forget_df),
        *(miscount_enqueued, miscount_committed, release_a_block),
    ],
)
def test_the_check_notices_damage(chain: BlockChain, damage: Callable[[BlockChain], None]) -> None:
    # 01|2.|45|67
    append(chain, 8)
    chain.commit(3, dropping=4)
    chain._check()
    damage(chain)
    with pytest.raises(AssertionError):
        chain._check()


class _WatchedMemory(OnDemandMemory):
    __slots__ = ("__weakref__",)


def test_the_pool_goes_with_the_last_reference_to_it() -> None:
    memory = _WatchedMemory(PagePool(256, page_bytes=128), location_bytes=32)
    watched = weakref.ref(memory)
    chain = BlockChain("IBM", memory, lambda: 0.0, BytesCodec())
    append(chain, 2)
    chain.clear()
    gc.disable()
    try:
        del memory, chain
        assert watched() is None, "references in a circle"
    finally:
        gc.enable()
