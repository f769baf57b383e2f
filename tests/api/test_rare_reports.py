"""A report is made the more rarely the longer it takes."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import pytest

from api.definitions import QueueDefinition
from api.entries import QueueEntry
from api.rare_reports import RareReports
from api.service import Service
from api.settings import Settings
from upstream import ManualClock


def queue_entry(name: str) -> QueueEntry:
    return Service(Settings(demo=False)).define_queue(name, QueueDefinition())[0]


@pytest.mark.parametrize(
    ("took", "interval"), [(0.001, 0.01), (0.02, 0.2), (0.04, 0.8), (2.0, 2_000.0)]
)
def test_a_report_that_is_noticed_is_made_more_rarely_still(took: float, interval: float) -> None:
    def make(queue: QueueEntry) -> Mapping[str, object]:
        made.append(clock.now())
        clock.advance(took)
        return {"made": len(made)}

    made: list[float] = []
    clock = ManualClock()
    queue = queue_entry("trades")
    reports = RareReports(make, now=clock.now, busy=clock.now)
    while len(made) < 4:
        assert reports.of(queue) == {"made": len(made)}
        clock.advance(interval / 100)
    gaps = [after - before for before, after in pairwise(made)]
    assert gaps == pytest.approx([interval] * 3, rel=0.02)


def test_time_in_which_others_had_the_processor_does_not_count() -> None:
    clock = ManualClock()
    made: list[QueueEntry] = []

    def make(queue: QueueEntry) -> Mapping[str, object]:
        made.append(queue)
        clock.advance(5.0)
        return {}

    reports = RareReports(make, now=clock.now, busy=lambda: 0.001 * len(made))
    queue = queue_entry("trades")
    reports.of(queue)
    reports.of(queue)
    assert len(made) == 2


def test_each_queue_has_a_report_of_its_own() -> None:
    clock = ManualClock()

    def make(queue: QueueEntry) -> Mapping[str, object]:
        clock.advance(0.001)
        return {"name": queue.name}

    reports = RareReports(make, now=clock.now, busy=clock.now)
    queues = [queue_entry("trades"), queue_entry("quotes")]
    for queue in [*queues, *queues]:
        assert reports.of(queue) == {"name": queue.name}


def test_the_report_of_a_dropped_queue_is_let_go() -> None:
    reports = RareReports(lambda _: {}, now=ManualClock().now)
    queues = [queue_entry("trades"), queue_entry("quotes")]
    for queue in queues:
        reports.of(queue)
    queues[0].drop()
    reports.forget_dropped()
    assert list(reports._last) == [queues[1]]
