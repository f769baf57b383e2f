"""The report's Figures 11 and 12 of windows under update semantics, tuple by tuple.

In both, windows have a size of 3 and a slide of 1, and times are whole seconds, so that the tuple
in the last second of a window completes it.
"""

from __future__ import annotations

import pytest

from upstream import (
    Aggregate,
    EagerWindowBuffer,
    InPlaceScheduler,
    LazyWindowBuffer,
    ManualClock,
    Outcome,
    WindowMark,
    WindowQueue,
    WindowResult,
    WindowSpecification,
)
from upstream.windows import WindowEnd

OVERLAPPING = WindowSpecification(size=3, slide=1, tick=1)
COST = 2

Left = tuple[float, float, float]
"""When a tuple left, its time, and its mark."""
Line = list[float | tuple[float, float]]
"""Staleness at times 1, 2, 3, ...; where it falls, before and after."""


class Trace:
    """A consumer that never pauses, and one tuple for one key every second from 1 on.

    At one moment a tuple arrives first, then a result is delivered, then a tuple leaves.
    """

    def __init__(self, buffer: type[LazyWindowBuffer | EagerWindowBuffer], end: int) -> None:
        self.clock = ManualClock()
        self.queue = WindowQueue(OVERLAPPING, buffer, InPlaceScheduler(), clock=self.clock)
        self.aggregate = Aggregate(list)
        self.left: list[Left] = []
        self.results: list[tuple[float, WindowResult]] = []
        self.areas: list[tuple[float, float]] = []
        """The integrals of queue and application staleness at times 1, 2, 3, ..."""
        self.in_process: WindowResult | None = None
        self.done_at = 0
        for now in range(1, end + 1):
            self.clock.set(now)
            self.step(now)

    def step(self, now: int) -> None:
        """Let happen what happens at one moment."""
        self.queue.enqueue("k", now, time=now)
        self.areas.append(self.measure(now))
        if now >= self.done_at:
            if self.in_process is not None:
                self.queue.deliver(self.in_process)
                self.results.append((now, self.in_process))
            self.in_process = None
            self.take(now)

    def take(self, now: int) -> None:
        """Take the next tuple if there is one, which costs two seconds."""
        leaving = self.queue.dequeue()
        if leaving is not None:
            assert leaving.update is not None, "no window ends without a tuple here"
            self.left.append((now, leaving.update.time, leaving.mark))
            self.in_process = self.aggregate.process(leaving)
            self.done_at = now + COST

    def measure(self, now: int) -> tuple[float, float]:
        """Return both integrals since the first arrival."""
        elapsed = now - 1
        return self.queue.queue_staleness() * elapsed, self.queue.application_staleness() * elapsed


def assert_line(areas: list[float], drawn: Line) -> None:
    """Compare with the trapezia under the drawn line, second by second."""
    points = [point if isinstance(point, tuple) else (point, point) for point in drawn]
    assert len(areas) == len(points)
    for now in range(1, len(points)):
        area = (points[now - 1][1] + points[now][0]) / 2
        assert areas[now] - areas[now - 1] == pytest.approx(area), f"from {now} to {now + 1}"


def lines_of(trace: Trace) -> tuple[list[float], list[float]]:
    """Return the integrals of queue staleness, and those of application staleness."""
    return [queue for queue, _ in trace.areas], [application for _, application in trace.areas]


def test_figure_12_a_lazy_windows_are_committed_when_they_are_complete() -> None:
    # arrives      1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16
    # closes             1  2  3  4  5  6  7  8  9 10 11 12 13 14   the window that starts then
    # leaves             1-----2-----3-----7-----8-----9-----13---- each costs 2
    # marked             4     0     0    10     0     0     16
    # result                              [1,4)             [7,10)
    # queue              0  0  1  2  3  4  5  0  1  2  3  4  5      waits from 4 to 9, 10 to 15
    #                                      0                 0
    # application        0  1  2  3  4  5  6                        [1,4) is missed since 3
    #                                      5  6  7  8  9 10 11      [2,5) since 4
    #                                                        5  6   [8,11) since 10
    trace = Trace(LazyWindowBuffer, 16)
    assert trace.left == [
        (3, 1, 4.0),
        (5, 2, 0),
        (7, 3, 0),
        (9, 7, 10.0),
        (11, 8, 0),
        (13, 9, 0),
        (15, 13, 16.0),
    ]
    assert trace.results == [(9, ("k", 1.0, 4.0, [1, 2, 3])), (15, ("k", 7.0, 10.0, [7, 8, 9]))]
    queue, application = lines_of(trace)
    falls: Line = [(5, 0), 0, 1, 2, 3, 4, (5, 0), 0]
    assert_line(queue, [0, 0, 0, 0, 1, 2, 3, 4, *falls])
    assert_line(application, [0, 0, 0, 1, 2, 3, 4, 5, (6, 5), 6, 7, 8, 9, 10, (11, 5), 6])
    windows, tuples = trace.queue.statistics().windows, trace.queue.statistics().tuples
    assert (windows.opened, windows.committed, windows.superseded, windows.held) == (16, 3, 10, 3)
    assert (tuples.arrived, tuples.used, tuples.dropped, tuples.held) == (16, 7, 6, 3)


def test_figure_12_b_eager_windows_are_committed_when_they_start() -> None:
    # arrives      1  2  3  4  5  6  7  8  9 10 11 12 13 14
    # closes             1  2  3  4  5  6  7  8  9 10 11 12   the window that starts then
    # leaves       1-----2-----3-----7-----8-----9-----13---- each costs 2
    # marked       4     0     0    10     0     0     16
    # result                        [1,4)            [7,10)
    # queue        0  0  1  2  3  4  5  0  1  2  3  4  5      waits from 2 to 7, 8 to 13
    #                                0                 0
    # application        0  1  2  3  4                        [1,4) is missed since 3
    #                                3  4  5  6  7  8  9      [2,5) since 4
    #                                                  3  4   [8,11) since 10
    trace = Trace(EagerWindowBuffer, 14)
    assert trace.left == [
        (1, 1, 4.0),
        (3, 2, 0),
        (5, 3, 0),
        (7, 7, 10.0),
        (9, 8, 0),
        (11, 9, 0),
        (13, 13, 16.0),
    ]
    assert trace.results == [(7, ("k", 1.0, 4.0, [1, 2, 3])), (13, ("k", 7.0, 10.0, [7, 8, 9]))]
    queue, application = lines_of(trace)
    falls: Line = [(5, 0), 0, 1, 2, 3, 4, (5, 0), 0]
    assert_line(queue, [0, 0, 1, 2, 3, 4, *falls])
    assert_line(application, [0, 0, 0, 1, 2, 3, (4, 3), 4, 5, 6, 7, 8, (9, 3), 4])
    windows, tuples = trace.queue.statistics().windows, trace.queue.statistics().tuples
    assert (windows.opened, windows.committed, windows.superseded, windows.held) == (14, 3, 10, 1)
    assert (tuples.arrived, tuples.used, tuples.dropped, tuples.held) == (14, 7, 6, 1)


def leave(queue: WindowQueue, count: int = 1) -> list[tuple[float, float]]:
    """Take tuples; return their times and marks."""
    taken = [queue.dequeue() for _ in range(count)]
    updates = [leaving for leaving in taken if leaving is not None and leaving.update is not None]
    assert len(updates) == count
    return [(each.update.time, each.mark) for each in updates if each.update is not None]


def held(queue: WindowQueue) -> tuple[int, int]:
    """Return how many windows and how many tuples are held."""
    statistics = queue.statistics()
    return statistics.windows.held, statistics.tuples.held


def test_figure_11_a_the_lazy_buffer_keeps_what_waits_above_what_is_open() -> None:
    # arrives           1  2  3 | 4  5 |       | 6 |
    # enqueue buffer            |      |       |   |
    #   the top:                |      |       |   |
    #   closed, waits  [1  2  3)|  ... |       |   | [1,4), [2,5), and then [3,6) or [4,7)
    #   open              [2  3 | 4)   |       |   | [2,5): on top at 4
    #                        [3 | 4  5)|       |   | [3,6): on top at 5, committed
    #                           |[4  5 |       | 6)| [4,7): on top at 6
    #                           |   [5 |       | 6 | [5,8)
    #                           |      |       |[6 | [6,9)
    # dequeue buffer            |      |[3 4 5)|   |
    queue = WindowQueue(OVERLAPPING, LazyWindowBuffer, InPlaceScheduler(), clock=ManualClock())
    outcomes = [queue.enqueue("k", time, time=time) for time in (1, 2, 3, 4, 5)]
    assert outcomes == [*[Outcome.WAITING] * 3, *[Outcome.SUPERSEDED] * 2]
    assert held(queue) == (OVERLAPPING.overlap, 3)
    assert (queue.statistics().windows.superseded, queue.statistics().tuples.dropped) == (2, 2)
    assert leave(queue) == [(3, 6.0)]
    assert (len(queue), *held(queue)) == (0, 2, 2)
    assert queue.enqueue("k", 6, time=6) is Outcome.WAITING
    assert (len(queue), *held(queue)) == (1, OVERLAPPING.overlap, 3)
    assert leave(queue, 2) == [(4, WindowMark.DISALLOW), (5, WindowMark.DISALLOW)]
    assert leave(queue, 3) == [(4, 7.0), (5, WindowMark.DISALLOW), (6, WindowMark.DISALLOW)]
    assert queue.dequeue() is None
    assert held(queue) == (2, 0), "both tuples of the open windows have been used"


def test_figure_11_b_the_eager_buffer_keeps_nothing_but_the_newest_window() -> None:
    # arrives           1  2  3 |  | 4 |   | 5 |   |      |
    # enqueue buffer   [1       |  |   |   |   |   |      | [1,4): emptied at 2
    #                     [2    |  |   |   |   |   |      | [2,5): emptied at 3
    #                        [3 |  |   |   |   |   |      | [3,6): committed
    #                           |  |[4 |   |   |   |      | [4,7): emptied at 5
    #                           |  |   |   |[5 |   |      | [5,8): committed
    # dequeue buffer            |[3| 4 |   | 5)|   |      |
    #                           |  |   |   |   |   |[5    |
    # leaves                    | 3|   | 4 |   | 5 | 5    |
    # marked                    | 6|   | 0 |   | 0 | 8    |
    queue = WindowQueue(OVERLAPPING, EagerWindowBuffer, InPlaceScheduler(), clock=ManualClock())
    outcomes = [queue.enqueue("k", time, time=time) for time in (1, 2, 3)]
    assert outcomes == [Outcome.WAITING, Outcome.SUPERSEDED, Outcome.SUPERSEDED]
    assert held(queue) == (1, 1)
    assert (queue.statistics().windows.superseded, queue.statistics().tuples.dropped) == (2, 2)
    assert leave(queue) == [(3, 6.0)]
    assert (len(queue), *held(queue)) == (0, 0, 0)
    assert queue.enqueue("k", 4, time=4) is Outcome.WAITING
    assert held(queue) == (1, 1), "one tuple, in both buffers"
    assert leave(queue) == [(4, WindowMark.DISALLOW)]
    assert held(queue) == (1, 0), "it is used, but waits to leave again"
    assert queue.enqueue("k", 5, time=5) is Outcome.SUPERSEDED
    assert held(queue) == (1, 1)
    assert queue.statistics().tuples.dropped == 2, "the tuple at 4 was not lost with [4,7)"
    assert leave(queue, 2) == [(5, WindowMark.DISALLOW), (5, 8.0)]
    assert queue.dequeue() is None, "the key is idle: its window is still open"
    assert queue.enqueue("k", 6, time=6) is Outcome.WAITING
    assert leave(queue) == [(6, WindowMark.DISALLOW)]


def test_a_window_end_at_zero_is_not_taken_for_a_mark() -> None:
    queue = WindowQueue(OVERLAPPING, LazyWindowBuffer, InPlaceScheduler(), clock=ManualClock())
    for time in (-3, -2, -1):
        queue.enqueue("k", time, time=time)
    leaving = queue.dequeue()
    assert leaving is not None
    assert leaving.mark == 0
    assert isinstance(leaving.mark, WindowEnd)
    assert leaving.mark.start == -3
