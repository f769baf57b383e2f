"""What falls due, falls due in the order of time, wherever it does, and sources come and go."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.errors import ClosedError, ParameterError
from upstream.queues.stream.deadlines import AT_ONCE, NEVER, Deadlines, check_age

Fallen = list[tuple[str, float]]


class Source:
    """Falls due at given times, and a fixed age after each arrival."""

    def __init__(self, name: str, age: float, fallen: Fallen, *dues: float) -> None:
        self.name = name
        self.age = age
        self.dues = sorted(dues)
        self.asked = 0
        self._fallen = fallen

    def next_due(self) -> float:
        self.asked += 1
        return self.dues[0] if self.dues else math.inf

    def fall_due(self, due: float) -> None:
        assert self.dues.pop(0) == due
        self._fallen.append((self.name, due))

    def arrive(self, now: float) -> None:
        self.dues.append(now + self.age)
        self.dues.sort()


@pytest.fixture
def deadlines() -> Deadlines:
    return Deadlines()


def test_things_fall_due_in_the_order_of_time_and_at_one_time_by_age(deadlines: Deadlines) -> None:
    fallen: Fallen = []
    deadlines.watch(Source("old", 9.0, fallen, 1.0, 4.0), 0.0)
    deadlines.watch(Source("young", 2.0, fallen, 3.0, 4.0), 0.0)
    assert deadlines.due_at == 1.0
    deadlines.catch_up_to(0.5)
    assert fallen == []
    deadlines.catch_up_to(4.0)
    assert fallen == [("old", 1.0), ("young", 3.0), ("young", 4.0), ("old", 4.0)]
    deadlines._check()


def test_a_later_arrival_becomes_due_in_time_without_being_noted(deadlines: Deadlines) -> None:
    fallen: Fallen = []
    source = Source("A", 5.0, fallen)
    deadlines.watch(source, 0.0)
    source.arrive(1.0)
    assert deadlines.due_at <= 6.0
    deadlines.catch_up_to(5.5)
    assert fallen == []
    assert deadlines.due_at == 6.0
    deadlines.catch_up_to(6.0)
    assert fallen == [("A", 6.0)]


def test_a_source_that_is_idle_is_asked_once_in_its_age(deadlines: Deadlines) -> None:
    source = Source("A", 5.0, [])
    deadlines.watch(source, 0.0)
    for tenth in range(1, 500):
        deadlines.catch_up_to(tenth / 10)
    assert source.asked <= 1 + 50 / 5


def test_a_source_may_become_due_sooner_than_it_said(deadlines: Deadlines) -> None:
    fallen: Fallen = []
    source = Source("A", 5.0, fallen, 4.0)
    deadlines.watch(source, 0.0)
    source.dues.insert(0, 1.0)
    deadlines.reconsider(source, 0.0)
    assert deadlines.due_at == 1.0
    deadlines.catch_up_to(2.0)
    assert fallen == [("A", 1.0)]
    deadlines.reconsider(Source("unknown", 1.0, fallen, 0.0), 0.0)
    deadlines._check()


def test_a_source_that_is_watched_no_more_falls_due_no_more(deadlines: Deadlines) -> None:
    fallen: Fallen = []
    gone, other = Source("gone", 1.0, fallen, 1.0), Source("other", 1.0, fallen, 2.0)
    deadlines.watch(gone, 0.0)
    deadlines.watch(other, 0.0)
    deadlines.stop_watching(gone)
    deadlines.stop_watching(gone)
    deadlines.catch_up_to(9.0)
    assert fallen == [("other", 2.0)]
    deadlines.stop_watching(other)
    assert deadlines.is_idle
    assert deadlines.due_at == NEVER


def test_a_source_may_stop_the_watch_as_it_is_asked_or_falls_due(deadlines: Deadlines) -> None:

    class Leaving(Source):
        def next_due(self) -> float:
            if self.asked:
                deadlines.stop_watching(self)
            return super().next_due()

    deadlines.watch(Leaving("A", 1.0, [], 5.0), 0.0)
    deadlines.catch_up_to(3.0)
    assert deadlines.is_idle
    deadlines._check()


def test_an_age_below_the_precision_of_time_does_not_stop_it(deadlines: Deadlines) -> None:
    deadlines.watch(Source("A", 1e-12, []), 1e9)
    deadlines.catch_up_to(1e9)
    deadlines.catch_up_to(2e9)
    assert deadlines.due_at > 2e9


def test_closed_deadlines_raise_at_every_look(deadlines: Deadlines) -> None:
    deadlines.watch(Source("A", 1.0, [], 1.0), 0.0)
    deadlines.close("stream")
    assert deadlines.is_closed
    assert not deadlines.is_idle
    assert deadlines.due_at == AT_ONCE
    with pytest.raises(ClosedError, match="stream"):
        deadlines.catch_up_to(-1e9)
    deadlines._check()


@given(
    st.lists(st.integers(1, 6), min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=40),
)
def test_any_sources_fall_due_as_a_look_at_all_of_them_says(
    ages: list[int], arrivals: list[tuple[int, int]]
) -> None:
    fallen: Fallen = []
    sources = [Source(str(at), float(age), fallen) for at, age in enumerate(ages)]
    deadlines = Deadlines()
    for source in sources:
        deadlines.watch(source, 0.0)
    expected: list[tuple[float, float, int]] = []
    now = 0.0
    for at, passed in arrivals:
        now += passed
        deadlines.catch_up_to(now)
        deadlines._check()
        due = sorted(each for each in expected if each[0] <= now)
        assert fallen == [(str(number), due_at) for due_at, _, number in due]
        expected = [each for each in expected if each[0] > now]
        fallen.clear()
        source = sources[at % len(sources)]
        source.arrive(now)
        expected.append((now + source.age, source.age, at % len(sources)))


@pytest.mark.parametrize("seconds", [None, 1, 0.5, 1e300])
def test_an_age_is_a_finite_number_above_zero_or_none(seconds: float | None) -> None:
    assert check_age("time_to_live", seconds) == seconds


def test_an_age_becomes_a_float() -> None:
    assert type(check_age("time_to_live", np.float32(1.5))) is float
    assert type(check_age("time_to_live", 2)) is float


@pytest.mark.parametrize("seconds", [0, -1, math.inf, math.nan])
def test_any_other_age_is_refused_by_name(seconds: float) -> None:
    with pytest.raises(ParameterError) as raised:
        check_age("time_to_live", seconds)
    assert raised.value.name == "time_to_live"
