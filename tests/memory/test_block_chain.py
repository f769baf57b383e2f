"""A chain holds what its two buffers need, and no block more.

A record of a value of 3 bytes takes 16, so two of them fill a block of 32. In the drawings a digit
is a record, `|` the border of two blocks, and `.` a record that neither buffer needs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from upstream.errors import PagePoolFullError, ValueTooLargeError
from upstream.memory.block_chain import BlockChain
from upstream.memory.contiguous_zone import HEADER_BYTES, Record
from upstream.memory.location import Location
from upstream.memory.naive import NaiveMemory
from upstream.memory.on_demand import OnDemandMemory
from upstream.memory.page_pool import PagePool

BlockMemory = OnDemandMemory | NaiveMemory


def record(number: int) -> Record:
    return float(number), 0, b"%03d" % number


def numbers(records: list[Record]) -> list[int]:
    return [int(data) for _, _, data in records]


def append(chain: BlockChain, count: int) -> None:
    for number in range(count):
        chain.append(*record(number))


def take_all(chain: BlockChain) -> list[int]:
    taken = []
    while (entry := chain.take()) is not None:
        time, mark, _ = entry
        assert entry == record(int(time))
        assert mark == 0
        taken.append(int(time))
    return taken


@pytest.fixture(params=[OnDemandMemory, NaiveMemory])
def memory(request: pytest.FixtureRequest) -> BlockMemory:
    """Four pages of four blocks of 32 bytes."""
    kind: type[OnDemandMemory] | type[NaiveMemory] = request.param
    return kind(PagePool(512, page_bytes=128), location_bytes=32)


@pytest.fixture
def chain(memory: BlockMemory) -> BlockChain:
    return BlockChain(memory, lambda: 0.0)


def test_a_new_chain_holds_nothing(chain: BlockChain, memory: BlockMemory) -> None:
    assert (chain.enqueued_count, chain.committed_count, chain.block_count) == (0, 0, 0)
    assert chain.take() is None
    chain.discard()
    chain.drop(0)
    chain.truncate(0)
    chain._check()
    assert memory.usage(0.0).locations_held == 0


def test_what_is_committed_leaves_in_order(chain: BlockChain) -> None:
    append(chain, 7)
    chain.commit(5, dropping=7)
    assert (chain.enqueued_count, chain.committed_count) == (0, 5)
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
    while chain.take():
        chain._check()
        blocks.append(chain.block_count)
    assert blocks == [3, 2, 2, 1, 1, 0]


def test_a_record_that_runs_over_keeps_all_its_blocks_until_it_is_taken(chain: BlockChain) -> None:
    chain.append(1.0, 0, b"x" * 20)
    chain.append(2.0, 0, b"y" * 100)
    chain.append(3.0, 0, b"z" * 2)
    assert chain.block_count == 6
    chain.commit(3, dropping=3)
    assert chain.take() == (1.0, 0, b"x" * 20)
    assert chain.block_count == 5
    assert chain.take() == (2.0, 0, b"y" * 100)
    assert chain.block_count == 2
    assert chain.take() == (3.0, 0, b"z" * 2)
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
    assert chain.enqueued_count == 0
    assert chain.block_count == 3
    assert take_all(chain) == [0, 1, 2, 3, 4]


def test_the_committed_window_grows_where_dropped_records_were(chain: BlockChain) -> None:
    # 01|2..  and then  01|23|4
    append(chain, 5)
    chain.commit(3, dropping=5)
    assert chain.block_count == 2
    for number in (3, 4):
        chain.append_committed(*record(number))
        chain._check()
    assert chain.block_count == 3
    assert take_all(chain) == [0, 1, 2, 3, 4]


def test_a_record_in_both_buffers_is_stored_once(chain: BlockChain) -> None:
    chain.append_to_both(*record(0))
    for number in range(1, 6):
        chain.append_to_both(*record(number))
        chain._check()
    assert (chain.block_count, chain.enqueued_count, chain.committed_count) == (3, 6, 6)
    assert take_all(chain) == [0, 1, 2, 3, 4, 5]
    assert (chain.block_count, numbers(chain.enqueued())) == (3, [0, 1, 2, 3, 4, 5])


def test_the_committed_window_may_go_on_behind_the_start_of_the_next(chain: BlockChain) -> None:
    # The window [0, 6) is under processing, and all that has come of it has left; [2, 8) waits.
    # 01|23|45
    append(chain, 2)
    chain.commit(2, dropping=2)
    for number in (2, 3):
        chain.append_to_both(*record(number))
    assert take_all(chain) == [0, 1, 2, 3]
    for number in (4, 5):
        chain.append_to_both(*record(number))
        chain._check()
    chain.append(*record(6))
    chain._check()
    assert numbers(chain.committed()) == [4, 5]
    assert numbers(chain.enqueued()) == [2, 3, 4, 5, 6]
    chain.drop(3)
    chain._check()
    assert take_all(chain) == [4, 5]
    assert numbers(chain.enqueued()) == [5, 6]


def test_discarding_leaves_the_enqueue_buffer(chain: BlockChain) -> None:
    # 01|23|45
    append(chain, 6)
    chain.commit(4, dropping=3)
    chain.discard()
    chain._check()
    assert (chain.committed_count, chain.take(), chain.block_count) == (0, None, 2)
    assert numbers(chain.enqueued()) == [3, 4, 5]
    chain.commit(1, dropping=3)
    chain.discard()
    assert chain.block_count == 0


def test_truncating_drops_the_newest(chain: BlockChain) -> None:
    # 01|23|45
    append(chain, 6)
    chain.truncate(3)
    chain._check()
    assert numbers(chain.enqueued()) == [0, 1, 2]
    assert chain.block_count == 2
    chain.append(*record(9))
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


def test_a_record_that_cannot_be_decoded_can_be_taken_again(chain: BlockChain) -> None:
    append(chain, 3)
    chain.commit(3, dropping=3)
    for last in (False, False, True):
        before = chain.committed()
        with pytest.raises(UnicodeDecodeError):
            chain.take(lambda _: b"\xff".decode())
        chain._check()
        assert chain.committed() == before
        assert chain.take(lambda data: data.decode()) == (before[0][0], 0, before[0][2].decode())
        assert (chain.block_count == 0) == last


def test_no_room_changes_nothing(chain: BlockChain, memory: BlockMemory) -> None:
    # 01|2.|..|67| and so on, in 9 of the 16 blocks; naive memory has left a tenth as a spare
    append(chain, 20)
    chain.commit(3, dropping=6)
    other = BlockChain(memory, lambda: 0.0)
    append(other, 2 * (16 - 9 - chain.spare_count))
    with pytest.raises(PagePoolFullError):
        other.append(*record(0))
    before = chain.committed(), chain.enqueued(), chain._locations(), memory.usage(0.0)
    for length, error in ((20, PagePoolFullError), (500, ValueTooLargeError)):
        with pytest.raises(error):
            chain.append(1.0, 0, b"x" * length)
        after = chain.committed(), chain.enqueued(), chain._locations(), memory.usage(0.0)
        assert after == before
        chain._check()
    memory._check(chain._locations() + other._locations())


def test_a_refused_record_leaves_an_empty_chain_empty(memory: BlockMemory) -> None:
    chain, other = BlockChain(memory, lambda: 0.0), BlockChain(memory, lambda: 0.0)
    append(other, 30)
    for refused in (chain.append, chain.append_committed, chain.append_to_both):
        with pytest.raises(PagePoolFullError):
            refused(1.0, 0, b"x" * 20)
        assert (chain.enqueued_count, chain.committed_count, chain.block_count) == (0, 0, 0)
        assert chain._locations() == []
        chain._check()


def test_on_demand_memory_holds_what_the_buffers_need_and_naive_memory_what_they_ever_needed() -> (
    None
):
    """What the report's Figures 16 and 17 say of tuples, said of windows."""
    averages, effective = [], []
    for kind in (OnDemandMemory, NaiveMemory):
        now = 0.0
        memory = kind(PagePool(512, page_bytes=128), location_bytes=32)
        chain = BlockChain(memory, lambda: now)  # noqa: B023  # called in this turn only
        for _ in range(5):
            append(chain, 8)
            now += 1.0
            chain.commit(8, dropping=8)
            assert take_all(chain) == list(range(8))
            now += 3.0
        usage = memory.usage(now)
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
        lambda chain: chain.append_committed(*record(9)),
        lambda chain: chain.append_to_both(*record(9)),
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
def test_what_makes_no_sense_is_noticed(
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
    assert (chain.enqueued_count, chain.committed_count) == (3, 0)


def move_df(chain: BlockChain) -> None:
    assert chain._df is not None
    chain._df.dequeue_offset += 16


def move_we(chain: BlockChain) -> None:
    chain._we_offset -= 16


def move_ws(chain: BlockChain) -> None:
    chain._ws_offset += 16


def forget_ws(chain: BlockChain) -> None:
    chain._ws = None
    chain.enqueued_count = 0


def forget_df(chain: BlockChain) -> None:
    chain._df = chain._we = None
    chain.committed_count = 0


def miscount_enqueued(chain: BlockChain) -> None:
    chain.enqueued_count += 1


def miscount_committed(chain: BlockChain) -> None:
    chain.committed_count -= 1


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


@dataclass
class Model:
    """What a chain must hold, as lists; records are told apart by their times."""

    enqueued: list[Record] = field(default_factory=list)
    committed: list[Record] = field(default_factory=list)

    @property
    def is_joined(self) -> bool:
        """Whether no record lies behind those of the dequeue buffer."""
        if not self.committed or not self.enqueued:
            return True
        return self.enqueued[-1] == self.committed[-1]

    @property
    def not_committed(self) -> int:
        """How many of the newest in the enqueue buffer are not in the dequeue buffer."""
        newest_committed = self.committed[-1][0] if self.committed else 0.0
        return sum(time > newest_committed for time, _, _ in self.enqueued)


PAGE_BYTES = 256
lengths = st.one_of(st.just(3), st.just(3), st.sampled_from([19, 3]), st.integers(0, 260))
values = lengths.map(lambda length: bytes(place % 251 for place in range(length)))
which = st.sampled_from([0, 1])
counts = st.sampled_from([1, 2, 3, 4, 5, 0, 999])


def most_blocks(records: list[Record], block_bytes: int) -> int:
    """Return how many blocks records that follow each other may take at most."""
    length = sum(HEADER_BYTES + len(data) for _, _, data in records)
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
        self.chains = [BlockChain(self.memory, lambda: self.now) for _ in range(2)]
        self.models = [Model(), Model()]
        self.times = 0

    def blocks_missing(self, chain: BlockChain, data: bytes) -> int:
        """Return how many blocks a record needs beyond what is free for this chain."""
        block_bytes = self.memory.location_bytes
        last = chain._zone.last
        room = 0 if last is None else block_bytes - last.enqueue_offset
        needed = -(-(HEADER_BYTES + len(data) - room) // block_bytes)
        return max(0, needed) - self.memory._paging.locations_available - chain.spare_count

    def attempt(self, index: int, data: bytes, change: Callable[[float, int, bytes], None]) -> bool:
        """Append a record, which must fail exactly if there is no room for it."""
        chain = self.chains[index]
        self.times += 1
        self.entry: Record = (float(self.times), -(self.times % 2), data)
        if self.blocks_missing(chain, data) <= 0:
            change(*self.entry)
            return True
        per_page = PAGE_BYTES // self.memory.location_bytes
        largest = self.pool.page_count * per_page * self.memory.location_bytes
        is_too_large = HEADER_BYTES + len(data) > largest
        before, usage = self.locations(index), asdict(self.memory.usage(self.now))
        with pytest.raises(ValueTooLargeError if is_too_large else PagePoolFullError):
            change(*self.entry)
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
            if not model.enqueued and len(data) % 2:
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
            if fails and model.committed:
                with pytest.raises(ZeroDivisionError):
                    chain.take(lambda _: 1 // 0)
            assert chain.take() == (model.committed.pop(0) if model.committed else None)

    @rule(index=which, everything=st.sampled_from([False, False, True]))
    def let_go(self, index: int, everything: bool) -> None:
        self.chains[index].discard()
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
            assert chain.enqueued_count == len(model.enqueued)
            assert chain.committed_count == len(model.committed)
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
