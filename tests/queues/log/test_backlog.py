"""A backlog holds updates in the order of their arrival, and links those of each key."""

from __future__ import annotations

import pytest

from upstream import Update
from upstream.keys import KeyCell
from upstream.queues.log.backlog import Backlog, BacklogPlace
from upstream.queues.log.shared_log import LogEntry
from upstream.staleness import StalenessSums


class Keys:
    """A backlog, and the keys that wait in it."""

    def __init__(self) -> None:
        self.sums = StalenessSums()
        self.backlog = Backlog(self.sums)
        self.places: dict[str, BacklogPlace] = {}
        self.versions: dict[str, int] = {}

    def place(self, key: str, now: float) -> BacklogPlace:
        if key not in self.places:
            cell = KeyCell(key, len(self.places), time=now, arrival=now)
            self.places[key] = BacklogPlace(cell)
            self.sums.begin(self.places[key], 1, now)
        return self.places[key]

    def append(self, key: str, now: float) -> None:
        place = self.place(key, now)
        version = self.versions[key] = self.versions.get(key, 0) + 1
        entry = LogEntry(place.cell, f"{key}{version}", time=now, arrival=now, version=version)
        self.backlog.accept(place, entry, now)
        self.backlog.append(place, entry, now)

    def values(self) -> list[object]:
        self.backlog._check()
        return [ticket.entry.value for ticket in self.backlog]


@pytest.fixture
def keys() -> Keys:
    return Keys()


def test_updates_leave_in_the_order_in_which_they_came(keys: Keys) -> None:
    for now, key in enumerate("ABA"):
        keys.append(key, float(now))
    popped = [keys.backlog.pop(3.0).update() for _ in range(3)]
    assert popped == [Update("A", "A1", 0.0), Update("B", "B1", 1.0), Update("A", "A2", 2.0)]
    assert not keys.backlog


def test_the_staleness_of_a_key_falls_to_its_next_update(keys: Keys) -> None:
    keys.append("A", 0.0)
    keys.append("A", 4.0)
    place = keys.places["A"]
    keys.backlog.pop(6.0)
    assert place.waiting_since == 4.0
    keys.backlog.pop(8.0)
    assert place.waiting_since is None
    area = 6.0**2 / 2 + (4.0**2 - 2.0**2) / 2
    assert keys.sums.queue_mean(place, 8.0) == area / 8.0


def test_updates_given_back_in_any_order_stand_where_they_stood(keys: Keys) -> None:
    for now, key in enumerate("ABAB"):
        keys.append(key, float(now))
    records = [keys.backlog.pop(4.0).record(4.0) for _ in range(3)]
    for record in (records[1], records[2], records[0]):
        keys.backlog.restore(record, 5.0)
        keys.backlog._check()
    assert keys.values() == ["A1", "B1", "A2", "B2"]
    assert keys.places["A"].waiting_since == 0.0


def test_any_update_can_be_dropped(keys: Keys) -> None:
    for now, key in enumerate("AABA"):
        keys.append(key, float(now))
    assert keys.backlog.drop(1, 4.0).entry.value == "A2"
    assert keys.values() == ["A1", "B1", "A3"]
    assert keys.backlog.drop_key(keys.places["A"], 4.0) == 2
    assert keys.backlog.drop_key(keys.places["A"], 4.0) == 0
    assert keys.values() == ["B1"]


def test_staleness_does_not_fall_to_a_dropped_update(keys: Keys) -> None:
    for now in (0.0, 1.0, 2.0, 3.0):
        keys.append("A", now)
    place = keys.places["A"]
    first = keys.backlog.pop(3.0)
    keys.backlog.drop(0, 3.0)
    keys.sums.delivered(place, first.entry.version, 4.0)
    assert place.stale_since == 1.0, "the second was accepted, though it was dropped"
    last = [keys.backlog.pop(5.0) for _ in range(2)][1]
    keys.sums.delivered(place, last.entry.version, 6.0)
    assert place.stale_since is None


def test_a_standing_consumer_lets_nothing_grow_but_what_waits(keys: Keys) -> None:
    for now in range(1_000):
        keys.append("A", float(now))
        if len(keys.backlog) > 3:
            keys.backlog.drop(1, float(now))
    assert len(keys.sums.later[keys.places["A"]]) <= 4


def test_the_oldest_update_says_when_it_expires(keys: Keys) -> None:
    assert keys.backlog.next_expiry(2.0) == float("inf")
    keys.append("A", 1.0)
    keys.append("B", 2.0)
    assert keys.backlog.next_expiry(None) == float("inf")
    assert keys.backlog.next_expiry(2.0) == 3.0
