"""What is in process is found by identity, and a copy of it by what it says."""

from __future__ import annotations

import numpy as np
import pytest

from upstream import AppendQueue, ManualClock, NotInProcessError, Update


def handed_out(*updates: Update) -> tuple[AppendQueue, list[Update]]:
    """Return a queue in which these are in process, and they themselves."""
    queue = AppendQueue(clock=ManualClock())
    for key, value, time in updates:
        queue.enqueue(key, value, time)
    return queue, queue.dequeue_many(len(updates))


def found(queue: AppendQueue, update: Update) -> Update:
    return queue._in_process.find(update)[0]


def test_a_copy_is_found_by_key_and_time() -> None:
    queue, updates = handed_out(Update("B", 1, 0.0), Update("A", 1, 0.0), Update("A", 1, 1.0))
    assert found(queue, Update("A", "changed on the way", 0.0)) is updates[1]
    queue._check()


def test_a_copy_is_told_apart_by_its_value_from_others_of_its_key_and_time() -> None:
    queue, (first, second) = handed_out(Update("A", 1, 0.0), Update("A", 2, 0.0))
    assert found(queue, Update("A", 2, 0.0)) is second
    assert found(queue, Update("A", "changed on the way", 0.0)) is first


def test_values_that_have_no_single_answer_to_equality_are_no_obstacle() -> None:
    queue, (_, second) = handed_out(Update("A", np.zeros(2), 0.0), Update("A", 2, 0.0))
    assert found(queue, Update("A", 2, 0.0)) is second


@pytest.mark.parametrize("unknown", [Update("B", 1, 0.0), Update("A", 1, 1.0)], ids=["key", "time"])
def test_an_update_that_was_not_dequeued_is_not_found(unknown: Update) -> None:
    queue, _ = handed_out(Update("A", 1, 0.0))
    with pytest.raises(NotInProcessError):
        found(queue, unknown)
