"""Two memories of different policy and location size share a pool that is full most of the time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from upstream.errors import PagePoolFullError, ValueTooLargeError
from upstream.memory import Location, NaiveMemory, OnDemandMemory, PagePool


@dataclass
class Stored:
    """A key's handle, and the value that must be read from it; None while it is dirty."""

    location: Location
    value: bytes | None


@dataclass
class Integral:
    """What the usage must be, summed up after every step from the values alone."""

    started: bool = False
    seconds: int = 0
    locations: int = 0
    held_seconds: int = 0
    effective_seconds: float = 0.0


PAGES = 6
lengths = st.one_of(st.integers(0, 8), st.integers(0, 32), st.integers(0, 32 * PAGES + 8))
values = st.tuples(lengths, st.integers(0, 255)).map(
    lambda drawn: bytes((drawn[1] + place) % 256 for place in range(drawn[0]))
)
which = st.sampled_from([0, 1])


def parts_of(entries: list[Stored]) -> list[Location]:
    """Return all locations of these keys, with those that are chained."""
    parts = []
    for entry in entries:
        part: Location | None = entry.location
        while part is not None:
            parts.append(part)
            part = part.next
    return parts


class MemoriesMachine(RuleBasedStateMachine):
    @initialize(small=st.integers(1, 16), large=st.integers(1, 32))
    def make(self, small: int, large: int) -> None:
        self.pool = PagePool(PAGES * 32 + 5, page_bytes=32, location_bytes=small)
        self.memories = (OnDemandMemory(self.pool), NaiveMemory(self.pool, location_bytes=large))
        self.stored: tuple[list[Stored], list[Stored]] = ([], [])
        self.integrals = (Integral(), Integral())
        self.now = 0

    def locations_for(self, index: int, value: bytes | None) -> int:
        unit_bytes = self.memories[index].location_bytes
        return max(1, -(-len(value or b"") // unit_bytes))

    def locations_free(self, index: int) -> int:
        """Count the free locations from where the keys' handles point to."""
        used, others = (parts_of(self.stored[which]) for which in (index, 1 - index))
        pages_of_others = {part.page.index for part in others}
        per_page = 32 // self.memories[index].location_bytes
        return (PAGES - len(pages_of_others)) * per_page - len(used)

    def attempt(self, index: int, more: int, length: int, change: Callable[[], Location]) -> bool:
        """Make a change, which must fail exactly if there is no room for `more` locations."""
        memory = self.memories[index]
        largest = PAGES * (32 // memory.location_bytes) * memory.location_bytes
        assert memory.fits(length) == (length <= largest)
        error = ValueTooLargeError if length > largest else PagePoolFullError
        if more <= self.locations_free(index):
            self.result = change()
            self.integrals[index].started = True
            return True
        before = memory.usage(self.now)
        with pytest.raises(error):
            change()
        assert memory.usage(self.now) == before
        return False

    @rule(index=which, value=values)
    def allocate(self, index: int, value: bytes) -> None:
        memory = self.memories[index]
        needed = self.locations_for(index, value)
        if self.attempt(index, needed, len(value), lambda: memory.allocate(value, self.now)):
            self.stored[index].append(Stored(self.result, value))

    @rule(index=which, choice=st.integers(0, 999), value=values)
    def overwrite(self, index: int, choice: int, value: bytes) -> None:
        entry = self.choose(index, choice)
        more = self.locations_for(index, value) - self.locations_for(index, entry.value)
        memory = self.memories[index]
        if self.attempt(
            index, more, len(value), lambda: memory.overwrite(entry.location, value, self.now)
        ):
            assert self.result is entry.location
            entry.value = value

    @rule(index=which, choice=st.integers(0, 999))
    def release(self, index: int, choice: int) -> None:
        entry = self.choose(index, choice)
        assume(entry.value is not None)
        if index == 0:
            self.memories[0].release(entry.location, self.now)
            self.stored[0].remove(entry)
        else:
            assert self.memories[1].release(entry.location, self.now) is entry.location
            entry.value = None

    @rule(index=which, choice=st.integers(0, 999))
    def forget(self, index: int, choice: int) -> None:
        entry = self.choose(index, choice)
        self.memories[index].forget(entry.location, self.now)
        self.stored[index].remove(entry)

    def choose(self, index: int, choice: int) -> Stored:
        entries = self.stored[index]
        assume(entries)
        return entries[choice % len(entries)]

    @rule(elapsed=st.integers(0, 10))
    def advance(self, elapsed: int) -> None:
        self.now += elapsed
        for index, integral in enumerate(self.integrals):
            if not integral.started:
                continue
            held = sum(self.locations_for(index, entry.value) for entry in self.stored[index])
            dirty = sum(entry.value is None for entry in self.stored[index])
            integral.seconds += elapsed
            integral.locations += held * elapsed
            if held:
                integral.held_seconds += elapsed
                integral.effective_seconds += elapsed * (held - dirty) / held

    @invariant()
    def every_value_is_read_as_it_was_written_last(self) -> None:
        for memory, entries in zip(self.memories, self.stored, strict=True):
            for entry in entries:
                if entry.value is not None:
                    assert memory.read(entry.location) == entry.value

    @invariant()
    def the_structures_are_sound(self) -> None:
        self.pool._check()
        for memory, entries in zip(self.memories, self.stored, strict=True):
            memory._check([entry.location for entry in entries])
        pages = [memory.usage(self.now).pages_in_use for memory in self.memories]
        assert sum(pages) == self.pool.pages_in_use

    @invariant()
    def the_averages_are_right(self) -> None:
        for memory, integral in zip(self.memories, self.integrals, strict=True):
            usage = memory.usage(self.now)
            if integral.seconds:
                average = integral.locations / integral.seconds
                assert usage.average_usage_locations == pytest.approx(average)
            if integral.held_seconds:
                effective = integral.effective_seconds / integral.held_seconds
                assert usage.average_effective_usage == pytest.approx(effective)
        assert self.memories[0].usage(self.now).average_effective_usage == 1.0


TestMemories = MemoriesMachine.TestCase
