"""The record of deletions has those since a time, or says that it does not reach back so far."""

from __future__ import annotations

from api.deletions import Deletions
from upstream import TOMBSTONE, Key, Update


def record(alive: set[Key], *, most: int = 10) -> Deletions:
    return Deletions(start=100.0, is_gone=lambda key: key not in alive, most=most)


def test_a_deletion_is_known_to_consumers_from_before_it() -> None:
    deletions = record(set())
    deletions.note("IBM", time=1.0, arrival=101.0)
    assert deletions.since(101.0) == [Update("IBM", TOMBSTONE, 1.0)]
    assert deletions.since(101.5) == []


def test_a_key_that_is_back_is_not_deleted() -> None:
    alive: set[Key] = {"IBM"}
    deletions = record(alive)
    deletions.note("IBM", time=1.0, arrival=101.0)
    assert deletions.since(100.0) == []
    alive.clear()
    assert deletions.since(100.0) != []


def test_of_a_key_that_was_deleted_twice_the_last_counts() -> None:
    deletions = record(set())
    deletions.note("IBM", time=1.0, arrival=101.0)
    deletions.note("IBM", time=2.0, arrival=102.0)
    assert deletions.since(100.0) == [Update("IBM", TOMBSTONE, 2.0)]


def test_deletions_before_the_record_are_not_known() -> None:
    assert record(set()).since(99.9) is None


def test_the_record_is_bounded_and_knows_how_far_it_reaches() -> None:
    deletions = record(set(), most=2)
    for second in range(3):
        deletions.note(second, time=0.0, arrival=101.0 + second)
    assert len(deletions) == 2
    assert deletions.since(101.0) is None
    gone = deletions.since(101.5)
    assert gone is not None
    assert [update.key for update in gone] == [1, 2]
    assert [update.key for update in deletions.remembered(0.0)] == [1, 2]
    assert [update.key for update in deletions.remembered(102.5)] == [2]
