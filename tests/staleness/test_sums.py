"""Staleness is integrated exactly: held against a sampling of its definition."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from upstream.clock import ManualClock
from upstream.keys import NOBODY, KeyCell, Place
from upstream.queues import UpdateQueue
from upstream.schedulers import InPlaceScheduler
from upstream.staleness import StalenessSums
from upstream.updates import Key, Update


def make_place(key: str = "IBM", *, index: int = 0) -> Place:
    return Place(KeyCell(key, index, time=0.0, arrival=0.0), NOBODY)


@dataclass
class Account:
    """What happened to one key, and nothing that is worked out from it but by definition.

    Its updates are numbered as they were accepted.
    """

    arrivals: list[float] = field(default_factory=list)
    waits: list[tuple[float, float, float]] = field(default_factory=list)
    """From when, until when, and since which arrival an update waited."""
    open_wait: tuple[float, float] | None = None
    """From when, and since which arrival an update has been waiting."""
    deliveries: list[tuple[float, int]] = field(default_factory=list)

    def begin_wait(self, now: float, since: float) -> None:
        assert self.open_wait is None
        self.open_wait = (now, since)

    def end_wait(self, now: float) -> None:
        assert self.open_wait is not None
        began, since = self.open_wait
        self.waits.append((began, now, since))
        self.open_wait = None

    def queue_staleness(self, at: float) -> float:
        """Return the time since the first waiting update arrived."""
        waits = list(self.waits)
        if self.open_wait is not None:
            waits.append((self.open_wait[0], math.inf, self.open_wait[1]))
        return max(
            (at - since for began, until, since in waits if began <= at < until), default=0.0
        )

    def application_staleness(self, at: float) -> float:
        """Return the time since the first update arrived that is newer than any delivered."""
        delivered = max((number for when, number in self.deliveries if when <= at), default=0)
        newer = [when for number, when in enumerate(self.arrivals, 1) if number > delivered]
        return max(0.0, at - min(newer, default=at))

    def sampled(self, until: float, *, step: float) -> tuple[float, float]:
        """Average both by the middles of steps in which nothing happens; exact, as they are linear.

        Everything happens at multiples of `step`.
        """
        begin = self.arrivals[0]
        steps = round((until - begin) / step)
        if not steps:
            return 0.0, 0.0
        middles = [begin + step * (number + 0.5) for number in range(steps)]
        return (
            sum(map(self.queue_staleness, middles)) / steps,
            sum(map(self.application_staleness, middles)) / steps,
        )


# A single key by hand.


@pytest.fixture
def sums() -> StalenessSums:
    return StalenessSums()


@pytest.fixture
def place() -> Place:
    return make_place()


def test_staleness_grows_while_the_first_update_waits(sums: StalenessSums, place: Place) -> None:
    #  time     0    2         6       8
    #  waits         |---------|
    #  queue    0    0 ....... 4       0      area 8 in 6 seconds
    sums.begin(place, 1, 2.0)
    place.waiting_since = place.stale_since = 2.0
    assert sums.queue_mean(place, 2.0) == 0.0
    assert sums.queue_mean(place, 4.0) == 1.0
    assert sums.queue_mean(place, 6.0) == 2.0
    sums.wait_ends(place, 6.0)
    place.waiting_since = None
    assert sums.queue_mean(place, 6.0) == 2.0
    assert sums.queue_mean(place, 8.0) == pytest.approx(8 / 6)


def test_the_application_is_stale_until_the_delivery(sums: StalenessSums, place: Place) -> None:
    #  time         0        2     3            6
    #  arrives      1        2
    #  delivered                   1            2
    #  staleness    0 ............ 3|1 ........ 4|0     area 4.5 + 7.5
    sums.begin(place, 1, 0.0)
    sums.accepted(place, 1, 0.0)
    sums.accepted(place, 2, 2.0)
    assert sums.application_mean(place, 3.0) == pytest.approx(4.5 / 3)
    sums.delivered(place, 1, 3.0)
    assert place.delivered_version == 1
    assert sums.application_mean(place, 3.0) == pytest.approx(4.5 / 3)
    sums.delivered(place, 2, 6.0)
    assert sums.application_mean(place, 6.0) == 2.0
    assert sums.application_mean(place, 12.0) == 1.0
    assert place.stale_since is None


def test_a_delivery_that_leaves_nothing_newer_makes_the_application_fresh(
    sums: StalenessSums, place: Place
) -> None:
    sums.begin(place, 1, 0.0)
    for version in range(1, 5):
        sums.accepted(place, version, float(version - 1))
    sums.delivered(place, 4, 10.0)
    assert place.stale_since is None
    assert sums.application_mean(place, 100.0) == pytest.approx(0.5)
    sums.accepted(place, 5, 100.0)
    assert sums.application_mean(place, 102.0) == pytest.approx((50.0 + 2.0) / 102.0)


def test_a_delivery_passes_over_all_older_updates(sums: StalenessSums, place: Place) -> None:
    sums.begin(place, 1, 0.0)
    for version, arrival in ((1, 0.0), (2, 1.0), (3, 2.0), (4, 5.0), (6, 7.0)):
        sums.accepted(place, version, arrival)
    sums.delivered(place, 3, 8.0)
    assert (place.stale_since, sums.later) == (5.0, {place: [(6, 7.0)]})
    sums.delivered(place, 5, 9.0)
    assert (place.stale_since, sums.later) == (7.0, {})
    sums.delivered(place, 6, 10.0)
    assert place.stale_since is None


def test_a_delivery_when_nothing_is_stale_adds_nothing(sums: StalenessSums, place: Place) -> None:
    sums.begin(place, 1, 0.0)
    sums.delivered(place, 1, 5.0)
    assert sums.application_mean(place, 10.0) == 0.0


def test_a_wait_that_goes_on_after_a_gap_counts_from_its_arrival(sums: StalenessSums) -> None:
    #  time      0        2        5      7
    #  waits     |--------|        |------|      of the update that arrived at 0
    #  queue     0 ...... 2   0    5 .... 7      area 2 + 12
    place = make_place()
    sums.begin(place, 1, 0.0)
    place.waiting_since = 0.0
    sums.wait_ends(place, 2.0)
    place.waiting_since = None
    sums.wait_resumes(place, 0.0, 5.0)
    assert place.waiting_since == 0.0
    assert sums.queue_mean(place, 5.0) == pytest.approx(2 / 5)
    assert sums.queue_mean(place, 7.0) == pytest.approx(14 / 7)
    sums.wait_ends(place, 7.0)
    place.waiting_since = None
    assert sums.queue_mean(place, 14.0) == pytest.approx(1.0)


@pytest.mark.parametrize(("since", "area"), [(3.0, 7.5), (1.0, 13.5), (0.0, 16.5)])
def test_a_wait_that_moves_makes_staleness_fall_or_rise(
    sums: StalenessSums, since: float, area: float, place: Place
) -> None:
    """Counted from 1 until 4, and from `since` until 7."""
    sums.begin(place, 1, 1.0)
    place.waiting_since = 1.0
    sums.wait_moves(place, since, 4.0)
    assert place.waiting_since == since
    assert sums.queue_mean(place, 4.0) == pytest.approx(4.5 / 3)
    assert sums.queue_mean(place, 7.0) == pytest.approx((4.5 + area) / 6)


# The life of keys.


def test_a_key_counts_from_its_first_arrival(sums: StalenessSums) -> None:
    place = make_place(index=5)
    assert place.delivered_version < 0
    sums.begin(place, 1, 100.0)
    assert place.delivered_version == 0
    assert sums.queue_mean(place, 100.0) == sums.application_mean(place, 100.0) == 0.0
    place.waiting_since = 100.0
    assert sums.queue_mean(place, 102.0) == 1.0


def test_rows_are_added_as_they_are_needed(sums: StalenessSums) -> None:
    sums.grow(3)
    places = [make_place(str(index), index=index) for index in (7, 1, 4)]
    for place in places:
        sums.begin(place, 1, 0.0)
        place.waiting_since = 0.0
    sums.wait_ends(places[1], 4.0)
    sums.grow(2)
    for place in places:
        place.waiting_since = None
    assert [sums.queue_mean(place, 8.0) for place in places] == [0.0, 1.0, 0.0]


def test_nothing_is_remembered_of_a_key_that_is_forgotten(sums: StalenessSums) -> None:
    place = make_place()
    sums.begin(place, 1, 0.0)
    sums.accepted(place, 1, 0.0)
    sums.accepted(place, 2, 1.0)
    assert sums.later == {place: [(2, 1.0)]}
    sums.retire(place, 5.0)
    assert sums.later == {}


def test_rows_are_reserved_before_anything_is_known(sums: StalenessSums) -> None:
    sums.reserve(3)
    place = make_place("A", index=2)
    assert math.isnan(sums.counted_since[2])
    sums.begin(place, 1, 0.0)
    assert len(sums.queue) == len(sums.application) == len(sums.counted_since) == 3
    with pytest.raises(AssertionError, match="in use"):
        sums.reserve(9)


def test_a_key_that_is_forgotten_keeps_its_averages_and_leaves_its_row(
    sums: StalenessSums,
) -> None:
    first, second, uncounted = make_place(), make_place(), make_place(index=1)
    sums.begin(first, 1, 0.0)
    first.waiting_since = first.stale_since = 0.0
    sums.wait_ends(first, 4.0)
    first.waiting_since = None
    sums.delivered(first, 1, 4.0)
    sums.retire(first, 8.0)
    assert sums.retired == 1
    assert sums.retired_means == {"queue": 1.0, "application": 1.0}
    sums.begin(second, 1, 10.0)
    assert sums.queue_mean(second, 12.0) == sums.application_mean(second, 12.0) == 0.0
    sums.retire(second, 12.0)
    assert sums.retired == 2
    assert sums.retired_means == {"queue": 1.0, "application": 1.0}
    sums.retire(uncounted, 12.0)
    assert sums.retired == 2, "a key that never arrived counts"


def test_rounding_never_makes_staleness_negative(sums: StalenessSums, place: Place) -> None:
    sums.begin(place, 1, 1e9)
    place.waiting_since = 1e9
    sums.wait_ends(place, 1e9 + 0.1)
    sums.wait_resumes(place, 1e9, 1e9 + 0.1 + 1e-7)
    place.waiting_since = None
    assert sums.queue_mean(place, 1e9 + 1.0) >= 0.0


# Random lives, against the definition.

STEP = 0.25


@dataclass
class Life:
    """One key, to which what may happen happens at random, told to the sums as a queue would."""

    sums: StalenessSums
    place: Place
    account: Account = field(default_factory=Account)
    in_process: list[tuple[int, float]] = field(default_factory=list)

    def arrive(self, now: float) -> None:
        cell, place = self.place.cell, self.place
        if place.delivered_version < 0:
            self.sums.begin(place, cell.version + 1, now)
        cell.version += 1
        cell.arrival = now
        self.account.arrivals.append(now)
        self.sums.accepted(place, cell.version, now)
        if place.waiting_since is None:
            place.waiting_since = now
            self.account.begin_wait(now, now)

    def dequeue(self, now: float) -> None:
        if self.place.waiting_since is not None:
            self.in_process.append((self.place.cell.version, self.place.cell.arrival))
            self.expire(now)

    def expire(self, now: float) -> None:
        if self.place.waiting_since is not None:
            self.sums.wait_ends(self.place, now)
            self.place.waiting_since = None
            self.account.end_wait(now)

    def deliver(self, position: int, now: float) -> None:
        if self.in_process:
            version, _ = self.in_process.pop(position % len(self.in_process))
            if version > self.place.delivered_version:
                self.sums.delivered(self.place, version, now)
            self.account.deliveries.append((now, version))

    def give_back(self, position: int, now: float) -> None:
        if self.in_process:
            version, arrival = self.in_process.pop(position % len(self.in_process))
            if version == self.place.cell.version:
                self.sums.wait_resumes(self.place, arrival, now)
                self.account.begin_wait(now, arrival)


def random_instants(generator: random.Random, count: int) -> Iterator[float]:
    """Yield times that go on in steps, several things at one instant among them."""
    now = 0.0
    for _ in range(count):
        now += STEP * generator.choice((0, 0, 1, 1, 2, 5))
        yield now


@pytest.mark.parametrize("seed", range(40))
def test_sums_are_the_integral_of_the_definition(seed: int) -> None:
    generator = random.Random(seed)
    life = Life(StalenessSums(), make_place(index=seed % 3))
    actions = ["arrive"] * generator.randint(1, 4) + ["dequeue", "deliver", "give back", "expire"]
    life.arrive(0.0)
    for now in random_instants(generator, 120):
        action, position = generator.choice(actions), generator.randrange(10)
        match action:
            case "arrive":
                life.arrive(now)
            case "dequeue":
                life.dequeue(now)
            case "deliver":
                life.deliver(position, now)
            case "give back":
                life.give_back(position, now)
            case _:
                if generator.random() < 0.3:
                    life.expire(now)
        if generator.random() < 0.1:
            until = now + STEP * generator.randrange(4)
            queue, application = life.account.sampled(until, step=STEP)
            assert life.sums.queue_mean(life.place, until) == pytest.approx(queue)
            assert life.sums.application_mean(life.place, until) == pytest.approx(application)


@pytest.mark.parametrize("seed", range(20))
def test_an_update_queue_measures_the_integral_of_the_definition(seed: int) -> None:
    """The queue notes only those arrivals to which application staleness may yet fall."""
    generator = random.Random(1000 + seed)
    clock = ManualClock()
    queue = UpdateQueue(InPlaceScheduler(), clock=clock)
    accounts: dict[Key, Account] = {}
    in_process: list[tuple[Update, int, float]] = []
    for now in random_instants(generator, 150):
        clock.set(now)
        action = generator.choice(["arrive"] * 3 + ["dequeue", "dequeue", "deliver", "give back"])
        if action == "arrive":
            key = generator.choice("ABC")
            account = accounts.setdefault(key, Account())
            queue.enqueue(key, now)
            account.arrivals.append(now)
            if account.open_wait is None:
                account.begin_wait(now, now)
        elif action == "dequeue":
            update = queue.dequeue()
            if update is not None:
                account = accounts[update.key]
                account.end_wait(now)
                in_process.append((update, len(account.arrivals), account.arrivals[-1]))
        elif in_process:
            update, number, arrival = in_process.pop(generator.randrange(len(in_process)))
            account = accounts[update.key]
            if action == "deliver":
                queue.deliver(update)
                account.deliveries.append((now, number))
            else:
                queue.give_back(update)
                if number == len(account.arrivals):
                    account.begin_wait(now, arrival)
        queue._check()
    clock.advance(STEP)
    means = {key: account.sampled(clock.now(), step=STEP) for key, account in accounts.items()}
    for known, (queue_staleness, application_staleness) in means.items():
        assert queue.queue_staleness(known) == pytest.approx(queue_staleness)
        assert queue.application_staleness(known) == pytest.approx(application_staleness)
    over_keys = [sum(both) / len(means) for both in zip(*means.values(), strict=True)]
    assert [queue.queue_staleness(), queue.application_staleness()] == pytest.approx(over_keys)
