"""What is in process is found by identity, and a copy of it by what it says."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
import pytest

from tests.keys.owner import make_place
from upstream import Update
from upstream.queues.in_process import InProcess, Record, check_records, find_copy


def hand_out(*updates: Update) -> InProcess:
    table: InProcess = OrderedDict()
    for update in updates:
        table[id(update)] = _record(update)
    return table


def _record(update: Update) -> Record:
    place = make_place(update.key)
    place.in_process = 1
    return update, place, 1, 0.0, 0.0, 0


def found(table: InProcess, update: Update) -> Update | None:
    record = find_copy(table, update)
    return None if record is None else record[0]


def test_a_copy_is_found_by_key_and_time() -> None:
    update = Update("A", 1, 0.0)
    table = hand_out(Update("B", 1, 0.0), update, Update("A", 1, 1.0))
    assert found(table, Update("A", "changed on the way", 0.0)) is update
    check_records(table)


def test_a_copy_is_told_apart_by_its_value_from_others_of_its_key_and_time() -> None:
    first, second = Update("A", 1, 0.0), Update("A", 2, 0.0)
    table = hand_out(first, second)
    assert found(table, Update("A", 2, 0.0)) is second
    assert found(table, Update("A", "changed on the way", 0.0)) is first


def test_values_that_have_no_single_answer_to_equality_are_no_obstacle() -> None:
    first, second = Update("A", np.zeros(2), 0.0), Update("A", 2, 0.0)
    assert found(hand_out(first, second), Update("A", 2, 0.0)) is second


@pytest.mark.parametrize("unknown", [Update("B", 1, 0.0), Update("A", 1, 1.0)])
def test_what_was_not_handed_out_is_not_found(unknown: Update) -> None:
    assert found(hand_out(Update("A", 1, 0.0)), unknown) is None
