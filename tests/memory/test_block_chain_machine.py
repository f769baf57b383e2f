"""Two chains do what plain lists do, in a pool that others take pages of and that is full at times.

A record of a value of 4 bytes takes 16, one of 20 bytes 32: many of them end where a block does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from upstream.errors import PagePoolFullError, ValueTooLargeError
from upstream.memory import (
    RECORD_HEADER_BYTES,
    BytesCodec,
    Location,
    NaiveMemory,
    OnDemandMemory,
    PagePool,
)
from upstream.memory.block_chain import BlockChain, Row


@dataclass
class Model:
    """What a chain must hold, as lists; records are told apart by their times."""

    enqueued: list[Row] = field(default_factory=list)
    committed: list[Row] = field(default_factory=list)

    @property
    def is_joined(self) -> bool:
        """Whether no record lies behind those of the dequeue buffer."""
        if not self.committed or not self.enqueued:
            return True
        return self.enqueued[-1] == self.committed[-1]

    @property
    def not_committed(self) -> int:
        """How many of the newest in the enqueue buffer are not in the dequeue buffer."""
        newest_committed = self.committed[-1][2] if self.committed else 0.0
        return sum(time > newest_committed for _, _, time in self.enqueued)


class FailingCodec(BytesCodec):
    """Fail to decode while it `fails`."""

    fails = False

    def decode(self, data: bytes) -> object:
        if self.fails:
            raise ZeroDivisionError
        return data


PAGE_BYTES = 256
lengths = st.one_of(st.just(4), st.just(4), st.sampled_from([20, 4]), st.integers(0, 261))
values = lengths.map(lambda length: bytes(place % 251 for place in range(length)))
which = st.sampled_from([0, 1])
counts = st.sampled_from([1, 2, 3, 4, 5, 0, 999])


def most_blocks(records: list[Row], block_bytes: int) -> int:
    """Return how many blocks records that follow each other may take at most."""
    length = sum(RECORD_HEADER_BYTES + len(data) for _, data, _ in records if type(data) is bytes)
    return (length + block_bytes - 2) // block_bytes + 1 if records else 0


class ChainsMachine(RuleBasedStateMachine):
    """Two keys with one memory, and something else that takes pages of the same pool."""

    @initialize(
        kind=st.sampled_from([OnDemandMemory, NaiveMemory]),
        block_bytes=st.one_of(st.sampled_from([32, 16]), st.integers(16, PAGE_BYTES)),
        pages=st.sampled_from([8, 3, 1]),
    )
    def make(
        self, kind: type[OnDemandMemory] | type[NaiveMemory], block_bytes: int, pages: int
    ) -> None:
        self.pool = PagePool(pages * PAGE_BYTES, page_bytes=PAGE_BYTES)
        self.memory = kind(self.pool, location_bytes=block_bytes)
        self.others = OnDemandMemory(self.pool, location_bytes=PAGE_BYTES)
        self.taken_by_others: list[Location] = []
        self.now = 0.0
        self.codec = FailingCodec()
        self.chains = [
            BlockChain("IBM", self.memory, lambda: self.now, self.codec) for _ in range(2)
        ]
        self.models = [Model(), Model()]
        self.times = 0

    def blocks_missing(self, chain: BlockChain, data: bytes) -> int:
        """Return how many blocks a record needs beyond what is free for this chain."""
        block_bytes = self.memory.location_bytes
        last = chain._zone.last
        room = 0 if last is None else block_bytes - last.enqueue_offset
        needed = -(-(RECORD_HEADER_BYTES + len(data) - room) // block_bytes)
        return max(0, needed) - self.memory._paging.locations_available - chain.spare_count

    def attempt(self, index: int, data: bytes, change: Callable[[Row], None]) -> bool:
        """Append a record, which must fail exactly if there is no room for it."""
        chain = self.chains[index]
        self.times += 1
        self.entry: Row = "IBM", data, float(self.times)
        if self.blocks_missing(chain, data) <= 0:
            change(self.entry)
            return True
        per_page = PAGE_BYTES // self.memory.location_bytes
        largest = self.pool.page_count * per_page * self.memory.location_bytes
        is_too_large = RECORD_HEADER_BYTES + len(data) > largest
        before, usage = self.locations(index), asdict(self.memory.usage(self.now))
        with pytest.raises(ValueTooLargeError if is_too_large else PagePoolFullError):
            change(self.entry)
        assert self.locations(index) == before
        # The averages may differ in their last bit: they were summed up in one step more.
        assert asdict(self.memory.usage(self.now)) == pytest.approx(usage, rel=1e-12)
        return False

    def locations(self, index: int) -> list[tuple[int, int]]:
        return [(each.offset, each.length) for each in self.chains[index]._locations()]

    @rule(index=which, several=st.lists(values, min_size=1, max_size=6))
    def append(self, index: int, several: list[bytes]) -> None:
        for data in several:
            if self.attempt(index, data, self.chains[index].append):
                self.models[index].enqueued.append(self.entry)

    @rule(index=which, several=st.lists(values, min_size=1, max_size=3))
    def append_to_the_committed_window(self, index: int, several: list[bytes]) -> None:
        """Append to both buffers, or to the dequeue buffer if the other one is empty."""
        model, chain = self.models[index], self.chains[index]
        if not model.is_joined:
            return
        for data in several:
            if not model.enqueued and len(data) % 2 == 0:
                if self.attempt(index, data, chain.append_committed):
                    model.committed.append(self.entry)
            elif self.attempt(index, data, chain.append_to_both):
                model.enqueued.append(self.entry)
                model.committed.append(self.entry)

    @rule(index=which, count=counts)
    def drop(self, index: int, count: int) -> None:
        model = self.models[index]
        count = min(count, len(model.enqueued))
        self.chains[index].drop(count)
        del model.enqueued[:count]

    @rule(index=which, count=counts)
    def truncate(self, index: int, count: int) -> None:
        model = self.models[index]
        if count < len(model.enqueued):
            count = min(count, model.not_committed)
        else:
            count = len(model.enqueued)
        self.chains[index].truncate(count)
        del model.enqueued[len(model.enqueued) - count :]

    @rule(index=which, count=counts, dropping=counts)
    def commit(self, index: int, count: int, dropping: int) -> None:
        model = self.models[index]
        if not model.enqueued:  # no assumption: one that fails would end the whole example
            return
        self.take(index, len(model.committed), fails=False)
        count = max(1, min(count, len(model.enqueued)))
        dropped = min(dropping, len(model.enqueued))
        self.chains[index].commit(count, dropping=dropped)
        model.committed = model.enqueued[:count]
        del model.enqueued[:dropped]

    @rule(index=which, count=st.integers(1, 5), fails=st.booleans())
    def take(self, index: int, count: int, fails: bool) -> None:
        model, chain = self.models[index], self.chains[index]
        for _ in range(count):
            if not model.committed:
                with pytest.raises(IndexError):
                    chain.take()
                continue
            if fails:
                self.codec.fails = True
                with pytest.raises(ZeroDivisionError):
                    chain.take()
                self.codec.fails = False
            assert chain.take() == model.committed.pop(0)

    @rule(index=which, everything=st.sampled_from([False, False, True]))
    def drop_committed(self, index: int, everything: bool) -> None:
        self.chains[index].drop_committed()
        self.models[index].committed.clear()
        if everything:
            self.chains[index].clear()
            self.models[index] = Model()
            assert self.locations(index) == []

    @rule(elapsed=st.integers(0, 10), pages=st.sampled_from([0, 0, 1, 7]))
    def others_come_and_go(self, elapsed: int, pages: int) -> None:
        """Let time pass, and others have so many pages, if there are."""
        self.now += elapsed
        while len(self.taken_by_others) > pages:
            self.others.forget(self.taken_by_others.pop(), self.now)
        while len(self.taken_by_others) < pages and self.pool.pages_available:
            self.taken_by_others.append(self.others.allocate(b"\xff" * PAGE_BYTES, self.now))

    @invariant()
    def the_buffers_hold_what_the_lists_hold(self) -> None:
        for chain, model in zip(self.chains, self.models, strict=True):
            assert chain.enqueued_count() == len(model.enqueued)
            assert chain.committed_count() == len(model.committed)
            assert chain.enqueued() == model.enqueued
            assert chain.committed() == model.committed

    @invariant()
    def the_others_are_left_alone(self) -> None:
        for location in self.taken_by_others:
            assert self.others.read(location) == b"\xff" * PAGE_BYTES

    @invariant()
    def the_structures_are_sound(self) -> None:
        self.pool._check()
        for chain in self.chains:
            chain._check()
        self.memory._check([each for chain in self.chains for each in chain._locations()])
        held = sum(chain.block_count + chain.spare_count for chain in self.chains)
        assert self.memory.usage(self.now).locations_held == held

    @invariant()
    def no_block_is_held_without_need(self) -> None:
        block_bytes = self.memory.location_bytes
        for chain, model in zip(self.chains, self.models, strict=True):
            most = most_blocks(model.enqueued, block_bytes)
            most += most_blocks(model.committed, block_bytes)
            assert chain.block_count <= most
            assert chain.spare_count == 0 or isinstance(self.memory, NaiveMemory)

    def teardown(self) -> None:
        if not hasattr(self, "pool"):
            return
        for chain in self.chains:
            chain.clear()
        for location in self.taken_by_others:
            self.others.forget(location, self.now)
        assert self.pool.pages_in_use == 0
        self.pool._check()
        self.memory._check([])


TestChains = ChainsMachine.TestCase
