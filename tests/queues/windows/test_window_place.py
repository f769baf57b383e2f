"""How application staleness falls when windows are delivered, against a plain list of closes."""

from __future__ import annotations

import random

import pytest

from upstream.keys import KeyCell
from upstream.queues.windows.in_process_windows import CommittedWindow
from upstream.queues.windows.recent_windows import KeyPlace, Processing
from upstream.staleness import StalenessSums
from upstream.windows import LazyWindowBuffer, WindowSpecification


def place_with(sums: StalenessSums) -> KeyPlace:
    buffer = LazyWindowBuffer(WindowSpecification(3, 1))
    place = KeyPlace(KeyCell("IBM", 0, time=0.0, arrival=0.0), buffer, Processing())
    sums.begin(place, 1, 0.0)
    return place


def test_staleness_falls_to_the_first_close_of_a_newer_window() -> None:
    sums = StalenessSums()
    place = place_with(sums)
    place.note_close(1, 3.0)
    place.note_commit(1)
    place.note_close(2, 4.0)
    place.note_close(3, 5.0)
    place.note_delivery(1, sums, 9.0)
    # from 3 to 9 it was stale since 3, from then on since 4
    assert place.stale_since == 4
    assert sums.application_mean(place, 9.0) == pytest.approx(6 * 6 / 2 / 9)
    place._check()


def test_windows_closed_together_count_together() -> None:
    sums = StalenessSums()
    place = place_with(sums)
    place.note_commit(2)
    place.note_close(4, 3.0)  # 2, 3 and 4, by one tuple
    place.note_delivery(2, sums, 5.0)
    assert place.stale_since == 3


def test_delivering_an_older_window_changes_nothing() -> None:
    sums = StalenessSums()
    place = place_with(sums)
    for version in (1, 2):
        place.note_commit(version)
        place.note_close(version, 3.0 + version)
    place.note_close(3, 9.0)
    place.note_delivery(2, sums, 10.0)
    assert place.stale_since == 9
    place.note_delivery(1, sums, 11.0)
    assert place.stale_since == 9


def test_closes_that_nothing_can_fall_to_are_not_remembered() -> None:
    place = place_with(StalenessSums())
    place.note_commit(5)
    for version in range(1, 1_000):
        place.note_close(version, float(version))
    assert place.closes == [(1, 1.0), (6, 6.0)]


@pytest.mark.parametrize("seed", range(100))
def test_staleness_is_that_of_a_list_of_all_closes(seed: int) -> None:
    chance = random.Random(seed)
    sums = StalenessSums()
    place = place_with(sums)
    closes: list[tuple[int, float]] = []
    committed: list[int] = []
    delivered = 0
    area = now = 0.0
    newest_closed = newest_committed = 0
    for _ in range(60):
        since = next((arrival for version, arrival in closes if version > delivered), None)
        step = chance.choice([0.0, 0.5, 1.0])
        if since is not None:
            area += ((now + step - since) ** 2 - (now - since) ** 2) / 2
        now += step
        action = chance.choice(["close", "close", "commit", "deliver"])
        if action == "close":
            newest_closed += chance.randint(1, 3)
            closes.append((newest_closed, now))
            place.note_close(newest_closed, now)
        elif action == "commit" and max(newest_closed, newest_committed) + 1 > newest_committed:
            # The most recent one: the last that was closed, or one that is still open.
            version = max(newest_closed, newest_committed + 1) + chance.randint(0, 1)
            if version > newest_committed:
                newest_committed = version
                committed.append(version)
                place.note_commit(version)
        elif action == "deliver":
            complete = [version for version in committed if version <= newest_closed]
            if complete:
                version = chance.choice(complete)
                committed.remove(version)
                delivered = max(delivered, version)
                place.note_delivery(version, sums, now)
        place._check()
        since = next((arrival for version, arrival in closes if version > delivered), None)
        assert place.stale_since == since
    if now:
        assert sums.application_mean(place, now) == pytest.approx(area / now)


def test_a_committed_window_is_known_by_its_key_and_end() -> None:
    window = CommittedWindow(place_with(StalenessSums()), 1, 4.0)
    assert window.name == (hash("IBM"), 4.0)
    assert window.seconds == 0
