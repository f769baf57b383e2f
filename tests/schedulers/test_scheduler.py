"""What the parent of all schedulers gives to each of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import FrozenInstanceError

import pytest

from upstream.errors import AlreadyAttachedError, UpStreamError
from upstream.keys import Place
from upstream.schedulers import (
    FifoScheduler,
    InPlaceScheduler,
    LinecuttingScheduler,
    Scheduler,
    StalenessIndexScheduler,
    Surroundings,
)
from upstream.statistics import EstimatedRates, ProcessingCost

from .feed import Feed, no_place


class NewestFirst(Scheduler):
    """A policy of a user, with only the methods that it must have."""

    __slots__ = ("_places",)

    name = "newest-first"

    def __init__(self) -> None:
        super().__init__()
        self._places: list[Place] = []

    def schedule(self, place: Place) -> None:
        self._places.append(place)

    def restore(self, place: Place) -> None:
        self._places.append(place)

    def next(self, now: float) -> Place | None:
        return self._places[-1] if self._places else None

    def remove(self, place: Place) -> None:
        self._places.remove(place)

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[Place]:
        return reversed(self._places)

    def _check(self) -> None:
        assert len(set(map(id, self._places))) == len(self._places)


def make_surroundings() -> Surroundings:
    return Surroundings(rates=EstimatedRates(), cost=ProcessingCost(None), place_of=no_place)


def test_a_policy_needs_no_more_than_the_abstract_methods() -> None:
    feed = Feed()
    line = feed.attach(NewestFirst())
    feed.arrive(*"ABAC")
    assert line.drain() == ["C", "B", "A"]
    assert line.serve() is None
    feed._check()


def test_taking_a_key_removes_it() -> None:
    feed = Feed()
    line = feed.attach(NewestFirst())
    feed.arrive("A")
    assert line.scheduler.next(0.0) is line.scheduler.take(0.0) is line.place_of("A")
    assert line.scheduler.next(0.0) is line.scheduler.take(0.0) is None


def test_a_scheduler_without_an_order_is_no_scheduler() -> None:
    class Undecided(Scheduler):
        """Has no `next`."""

    with pytest.raises(TypeError, match="abstract"):
        Undecided()  # type: ignore[abstract]


def test_a_scheduler_that_is_bound_refuses_another_queue() -> None:
    scheduler = NewestFirst()
    assert not scheduler.is_bound
    scheduler.bind(make_surroundings())
    assert scheduler.is_bound
    with pytest.raises(AlreadyAttachedError, match="NewestFirst") as raised:
        scheduler.bind(make_surroundings())
    assert isinstance(raised.value, UpStreamError)
    scheduler.unbind()
    assert not scheduler.is_bound
    scheduler.bind(make_surroundings())


def test_a_scheduler_knows_nothing_of_single_keys_unless_it_wants_to() -> None:
    scheduler = NewestFirst()
    assert scheduler.terms_for("A") is None
    assert not scheduler.asks_cost


def test_surroundings_cannot_be_exchanged_afterwards() -> None:
    surroundings = make_surroundings()
    assert surroundings.order is None
    assert not surroundings.from_oldest
    with pytest.raises(FrozenInstanceError):
        surroundings.from_oldest = True  # type: ignore[misc]


def test_every_policy_has_a_name_of_its_own() -> None:
    policies: list[type[Scheduler]] = [
        FifoScheduler,
        InPlaceScheduler,
        LinecuttingScheduler,
        StalenessIndexScheduler,
    ]
    names = [policy.name for policy in policies]
    assert names == ["fifo", "in-place", "linecutting", "index"]
    assert [policy for policy in policies if policy.needs_arrival_order] == [FifoScheduler]


@pytest.mark.parametrize(
    "policy", [FifoScheduler, InPlaceScheduler, LinecuttingScheduler, StalenessIndexScheduler]
)
def test_a_scheduler_shows_its_kind_and_how_many_keys_wait(policy: type[Scheduler]) -> None:
    feed = Feed()
    line = feed.attach(policy())
    feed.arrive(*"AAB")
    assert repr(line.scheduler) == f"<{policy.__name__}: 2 waiting>"
    line.serve()
    assert repr(line.scheduler) == f"<{policy.__name__}: 1 waiting>"
