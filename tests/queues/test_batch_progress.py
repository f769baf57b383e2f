"""A batch that Ctrl-C interrupts, at whatever line, is finished when its stream is looked at."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from upstream import (
    InPlaceScheduler,
    LinecuttingScheduler,
    ManualClock,
    PacedScheduler,
    Scheduler,
    StalenessIndexScheduler,
    Stream,
    UpdateQueue,
)
from upstream.queues.columns import Column

if TYPE_CHECKING:
    from _typeshed import TraceFunction

SCHEDULERS: dict[str, Callable[[], list[Scheduler]]] = {
    "in-place": lambda: [InPlaceScheduler()],
    "linecutting": lambda: [LinecuttingScheduler()],
    "index": lambda: [StalenessIndexScheduler(weight=lambda key: 1.0 + len(str(key)))],
    "paced": lambda: [PacedScheduler(StalenessIndexScheduler(), lambda key: float(key == "b"))],
    "three": lambda: [InPlaceScheduler(), LinecuttingScheduler(), StalenessIndexScheduler()],
}
KEYS = ["a", "b", "a", "new", "c", "a", "other", "b", "new", "a"]
VALUES = [1.0, 1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0, 3.0, 1.0]
TIMES = [5.0, 5.0, 5.0, 0.0, 1.0, 4.0, 5.0, 5.0, 5.0, 5.0]


class Interrupt:
    """Raise KeyboardInterrupt at line number `at` of those run while a batch is taken in."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.lines = 0

    def __enter__(self) -> None:
        sys.settrace(self.trace)

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)

    def trace(self, frame: FrameType, event: str, _arg: object) -> TraceFunction | None:
        before = frame.f_back
        names = {frame.f_code.co_name, before.f_code.co_name if before else ""}
        if "/upstream/" not in frame.f_code.co_filename or "__del__" in names:
            return None  # of what `__del__` raises Python takes no notice
        if event == "line":
            self.lines += 1
            if self.lines == self.at:
                sys.settrace(None)
                raise KeyboardInterrupt
        return self.trace


def make(kind: str) -> tuple[ManualClock, Stream, list[UpdateQueue]]:
    clock = ManualClock()
    stream = Stream(clock=clock, retain=False)
    queues = [UpdateQueue(scheduler, processing_cost=0.1) for scheduler in SCHEDULERS[kind]()]
    for queue in queues:
        stream.attach(queue)
    for key in "abcab":
        stream.enqueue(key, 0.0, 0.0)
        clock.advance(1.0)
    for queue in queues:
        taken = queue.dequeue_many(2)
        queue.deliver(taken[0])
    clock.advance(1.0)
    return clock, stream, queues


def seen(clock: ManualClock, stream: Stream, queues: list[UpdateQueue]) -> list[object]:
    """Return all that is to be seen, and use the queues on."""
    clock.advance(2.0)
    found: list[object] = [stream.statistics()]
    for queue in queues:
        found.append(queue.statistics())
        assert queue.statistics().is_balanced
        queue._check()
        found += [queue.staleness_by_key("queue"), queue.staleness_by_key("application")]
    stream._check()
    stream.enqueue_many(["b", "z"], [8.0, 9.0], [9.0, 9.0])
    for queue in queues:
        found += queue.dequeue_many(3)
        clock.advance(1.5)
        found += queue.dequeue_many(9)
        found.append(queue.statistics())
        queue._check()
    return found


@pytest.mark.parametrize("column", [list, pa.array], ids=["rows", "columns"])
@pytest.mark.parametrize("kind", SCHEDULERS)
def test_a_batch_is_taken_in_wholly_or_not_at_all_whatever_line_is_interrupted(
    kind: str, column: Callable[[Sequence[object]], Column]
) -> None:
    expected = make(kind)
    untouched = seen(*make(kind))
    expected[1].enqueue_many(column(KEYS), column(VALUES), column(TIMES))
    whole = seen(*expected)
    assert whole != untouched
    at = 0
    outcomes: list[bool] = []
    while True:
        at += 1
        clock, stream, queues = make(kind)
        interrupt = Interrupt(at)
        columns = column(KEYS), column(VALUES), column(TIMES)
        try:
            with interrupt:
                stream.enqueue_many(*columns)
        except KeyboardInterrupt:
            has_begun = stream._batch is not None
            found = seen(clock, stream, queues)
            assert found == whole or (found == untouched and not has_begun), f"line {at}"
            outcomes.append(found == whole)
        else:
            break
    assert 50 < outcomes.count(True) < len(outcomes)
