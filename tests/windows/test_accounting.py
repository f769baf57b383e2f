"""The two laws: every window and every tuple has one fate, or is held."""

from __future__ import annotations

import dataclasses

import pytest

from upstream import TupleStatistics, WindowQueueStatistics, WindowStatistics
from upstream.windows import WindowCounts

WINDOWS = WindowStatistics(opened=15, committed=1, superseded=2, shed=3, rejected=4, held=5)
TUPLES = TupleStatistics(arrived=21, used=1, dropped=2, outside=3, late=4, rejected=5, held=6)


def test_counters_start_at_zero() -> None:
    counts = WindowCounts()
    numbers = {name: getattr(counts, name) for name in WindowCounts.__slots__}
    assert numbers.pop("ends") is None
    assert set(numbers.values()) == {0}


@pytest.mark.parametrize("statistics", [WINDOWS, TUPLES], ids=["windows", "tuples"])
def test_a_law_holds_only_if_every_count_is_right(
    statistics: WindowStatistics | TupleStatistics,
) -> None:
    assert statistics.is_balanced
    for field in dataclasses.fields(statistics):
        more = getattr(statistics, field.name) + 1
        assert not dataclasses.replace(statistics, **{field.name: more}).is_balanced


def test_a_queue_is_balanced_if_both_laws_hold() -> None:
    queue = WindowQueueStatistics(
        windows=WINDOWS,
        tuples=TUPLES,
        waiting=0,
        under_processing=0,
        idle=0,
        in_process=0,
        delivered=0,
        taken_as_delivered=0,
        aborted=0,
        keys=0,
        forgotten=0,
    )
    assert queue.is_balanced
    for field in ("windows", "tuples"):
        wrong = dataclasses.replace(getattr(queue, field), held=0)
        assert not dataclasses.replace(queue, **{field: wrong}).is_balanced
