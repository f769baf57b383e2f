"""Updates are tuples, and a tombstone is the same one wherever it comes from."""

from __future__ import annotations

import copy
import pickle

import pytest

from upstream.updates import TOMBSTONE, BatchOutcome, Outcome, Tombstone, Update, count_outcomes


def test_an_update_is_a_tuple_of_key_value_and_time() -> None:
    update = Update("IBM", 24.0, 3.0)
    assert (update.key, update.value, update.time) == ("IBM", 24.0, 3.0)
    assert tuple(update) == ("IBM", 24.0, 3.0)
    assert repr(update) == "Update(key='IBM', value=24.0, time=3.0)"


def test_an_update_cannot_be_changed() -> None:
    update = Update("IBM", 24.0, 3.0)
    with pytest.raises(AttributeError):
        update.value = 25.0  # type: ignore[misc]


def test_an_update_can_be_made_from_a_tuple() -> None:
    update = tuple.__new__(Update, ("IBM", 24.0, 3.0))
    assert update == Update("IBM", 24.0, 3.0)
    assert type(update) is Update
    assert update.key == "IBM"


def test_updates_of_hashable_values_can_be_told_apart_in_a_set() -> None:
    updates = {Update("A", 1, 0.0), Update("A", 1, 0.0), Update("A", 2, 0.0), Update("B", 1, 0.0)}
    assert len(updates) == 3


def test_a_copied_tombstone_is_the_same_object() -> None:
    assert pickle.loads(pickle.dumps(TOMBSTONE)) is TOMBSTONE  # noqa: S301 - made just now
    assert copy.deepcopy(TOMBSTONE) is TOMBSTONE
    assert list(Tombstone) == [TOMBSTONE]
    assert repr(TOMBSTONE) == "TOMBSTONE"


def test_a_tombstone_equals_no_value_that_a_source_could_send() -> None:
    values: list[object] = [None, "", "tombstone", "TOMBSTONE", 0, False]
    assert TOMBSTONE not in values


def test_updates_can_be_pickled() -> None:
    update = Update(("IBM", 1), TOMBSTONE, 3.0)
    returned = pickle.loads(pickle.dumps(update))  # noqa: S301 - made just now
    assert returned == update
    assert returned.value is TOMBSTONE


def test_outcomes_have_the_names_that_users_see() -> None:
    names = {outcome.value for outcome in Outcome}
    assert names == {"waiting", "superseded", "late", "rejected", "outside"}
    assert all(outcome.name == outcome.value.upper() for outcome in Outcome)


def test_every_outcome_is_counted_and_the_rejected_rows_are_named() -> None:
    outcomes = [
        Outcome.WAITING,
        Outcome.REJECTED,
        Outcome.SUPERSEDED,
        Outcome.LATE,
        Outcome.SUPERSEDED,
        Outcome.REJECTED,
    ]
    assert count_outcomes(outcomes) == BatchOutcome(
        waiting=1, superseded=2, late=1, rejected=2, rejected_rows=(1, 5)
    )


def test_no_rows_have_no_outcome() -> None:
    assert count_outcomes([]) == BatchOutcome(waiting=0, superseded=0, late=0, rejected=0)


@pytest.mark.parametrize("outcome", list(Outcome))
def test_the_counts_sum_to_the_rows(outcome: Outcome) -> None:
    counted = count_outcomes([outcome] * 3)
    accepted = counted.waiting + counted.superseded
    assert accepted + counted.late + counted.rejected + counted.outside == 3
    assert getattr(counted, outcome.value) == 3
