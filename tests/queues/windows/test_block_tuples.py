"""Tuples in blocks are what tuples in lists are, and take room in the page pool only."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from tests.windows.contract_of_tuples import TuplesContract, append, counts, row, some, take_all
from upstream.errors import PagePoolFullError, ValueTooLargeError
from upstream.memory import (
    BlockChain,
    BytesCodec,
    Codec,
    MessagePackCodec,
    NaiveMemory,
    OnDemandMemory,
    PagePool,
)
from upstream.queues.windows.block_tuples import BlockTuples
from upstream.updates import TOMBSTONE
from upstream.windows.buffered_tuples import BufferedTuples

MakeMemory = type[OnDemandMemory] | type[NaiveMemory]


class FailingCodec(BytesCodec):
    """Fail to decode as often as `failures` says."""

    def __init__(self, failures: int) -> None:
        self.failures = failures

    def decode(self, data: bytes) -> object:
        """Return `data`, or fail."""
        if self.failures:
            self.failures -= 1
            raise UnicodeDecodeError("utf-8", data, 0, 1, "cannot be decoded for now")
        return data


def block_tuples(pool: PagePool, codec: Codec, kind: MakeMemory = OnDemandMemory) -> BlockTuples:
    memory = kind(pool, location_bytes=32)
    return BlockTuples("IBM", BlockChain(memory, lambda: 0.0), codec)


@pytest.fixture
def pool() -> PagePool:
    """Two pages of four blocks."""
    return PagePool(256, page_bytes=128)


class TestBlockTuples(TuplesContract):
    @pytest.fixture(params=[OnDemandMemory, NaiveMemory])
    def tuples(self, pool: PagePool, request: pytest.FixtureRequest) -> Iterator[BufferedTuples]:
        tuples = block_tuples(pool, BytesCodec(), request.param)
        yield tuples
        tuples._chain._check()
        tuples.clear()
        assert pool.pages_in_use == 0

    def test_no_room_changes_nothing(self, tuples: BufferedTuples) -> None:
        append(tuples, *[2] * 10)
        tuples.commit(10, dropping=10)
        for refused in (tuples.append, tuples.append_committed, tuples.append_to_both):
            for length, error in ((200, PagePoolFullError), (300, ValueTooLargeError)):
                with pytest.raises(error):
                    refused(("IBM", b"x" * length, 3.0))
                assert counts(tuples) == (10, 0)
        assert take_all(tuples) == some(*[2] * 10)

    def test_what_was_not_encoded_is_noticed(self, tuples: BufferedTuples) -> None:
        append(tuples, 1)
        for append_row in (tuples.append, tuples.append_committed, tuples.append_to_both):
            for value in ("24.0", None, TOMBSTONE):
                with pytest.raises(AssertionError):
                    append_row(("IBM", value, 2.0))
        assert counts(tuples) == (0, 1)


def test_values_come_encoded_and_leave_decoded(pool: PagePool) -> None:
    codec = MessagePackCodec()
    tuples = block_tuples(pool, codec)
    value = {"bid": 24.0, "raw": [1]}
    tuples.append(("IBM", codec.encode(value), 1.25))
    assert tuples.enqueued() == [("IBM", value, 1.25)]
    tuples.commit(1, dropping=1)
    assert tuples.take() == ("IBM", value, 1.25)
    assert pool.pages_in_use == 0


def test_a_tuple_that_cannot_be_decoded_can_be_taken_again(pool: PagePool) -> None:
    codec = FailingCodec(failures=0)
    tuples = block_tuples(pool, codec)
    append(tuples, 1, 2)
    tuples.commit(2, dropping=2)
    for time in (1, 2):
        codec.failures = 2
        for _ in range(2):
            with pytest.raises(UnicodeDecodeError):
                tuples.take()
            assert counts(tuples) == (3 - time, 0)
        assert tuples.take() == row(time)


def test_tuples_that_cannot_be_decoded_can_be_looked_at_again(pool: PagePool) -> None:
    tuples = block_tuples(pool, FailingCodec(failures=1))
    append(tuples, 1, 2)
    with pytest.raises(UnicodeDecodeError):
        tuples.enqueued()
    assert tuples.enqueued() == some(1, 2)


def test_on_demand_memory_holds_nothing_when_the_last_tuple_has_left(pool: PagePool) -> None:
    tuples = block_tuples(pool, BytesCodec())
    append(tuples, 1, 2, 3)
    tuples.commit(3, dropping=3)
    assert pool.pages_in_use == 1
    take_all(tuples)
    assert pool.pages_in_use == 0


def test_the_pool_goes_with_the_last_reference_to_it() -> None:
    memory = _WatchedMemory(PagePool(256, page_bytes=128), location_bytes=32)
    watched = weakref.ref(memory)
    tuples = BlockTuples("IBM", BlockChain(memory, lambda: 0.0), BytesCodec())
    append(tuples, 2)
    tuples.clear()
    gc.disable()
    try:
        del memory, tuples
        assert watched() is None, "references in a circle"
    finally:
        gc.enable()


class _WatchedMemory(OnDemandMemory):
    __slots__ = ("__weakref__",)
