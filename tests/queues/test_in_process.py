"""What is in process is found by identity, and a copy of it by what it says."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
import pytest

from tests.keys.owner import make_place
from upstream import NotInProcessError, Update
from upstream.queues.in_process import InProcess, Record, check_records, find_record


def hand_out(*updates: Update) -> InProcess:
    table: InProcess = OrderedDict()
    for update in updates:
        table[id(update)] = _record(update)
    return table


def _record(update: Update) -> Record:
    place = make_place(update.key)
    place.in_process = 1
    return update, place, 1, 0.0, 0.0, 0


def test_an_update_is_found_by_its_identity() -> None:
    one, other = Update("A", 1, 0.0), Update("A", 1, 0.0)
    table = hand_out(one, other)
    assert find_record(table, other)[0] is other
    check_records(table)


def test_a_copy_is_found_by_key_and_time_and_by_its_value_among_several() -> None:
    first, second = Update("A", 1, 0.0), Update("A", 2, 0.0)
    table = hand_out(first, second)
    assert find_record(table, Update("A", 2, 0.0))[0] is second
    assert find_record(table, Update("A", "changed on the way", 0.0))[0] is first


def test_values_that_have_no_single_answer_to_equality_are_no_obstacle() -> None:
    update = Update("A", np.zeros(2), 0.0)
    assert find_record(hand_out(update), Update("A", np.zeros(2), 0.0))[0] is update


@pytest.mark.parametrize("unknown", [Update("B", 1, 0.0), Update("A", 1, 1.0), ("A", 1, 0.0), None])
def test_what_was_not_handed_out_is_not_found(unknown: Update) -> None:
    table = hand_out(Update("A", 1, 0.0))
    with pytest.raises(NotInProcessError):
        find_record(table, unknown)
