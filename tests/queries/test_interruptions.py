"""A standing query that is interrupted anywhere goes on where it was.

While a query is evaluated, KeyboardInterrupt is raised at one line after the other: at each line
that is executed, the first time and the last. Lines that run while Ctrl-C is held back are left
out. What the query answers in all must be what it answers when it is never interrupted.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest

from tests.queries.setting import append, make_streams
from upstream import ContinuousQuery, Engine, ManualClock
from upstream.queries import Semantics
from upstream.queries.chunks.cutter import Cut
from upstream.queries.chunks.reading import Input
from upstream.queues.held_interrupt import HeldInterrupt
from upstream.tables.log import Batch

QUERIES = {
    "sums": "SELECT k, sum(x) AS x, avg(x) AS m FROM hop(bids, 20, 10) GROUP BY k",
    "extremes": "SELECT k, max(x) AS x, max(note) AS t FROM hop(bids, 30, 10) GROUP BY k",
    "rows": "SELECT k, x FROM hop(bids, 20, 10) ORDER BY x",
    "counted rows": "SELECT count(*) AS n FROM rows(bids, 4, 2)",
    "join": """SELECT b.k, count(*) AS n, max(a.x) AS x FROM hop(bids, 20, 10) b
               JOIN hop(asks, 40, 20) a ON a.k = b.k GROUP BY b.k""",
    "landmark": "SELECT k, sum(x) AS x, max(x) AS y FROM landmark(bids, 10) GROUP BY k",
    "session": "SELECT k, count(*) AS n, window_end FROM session(bids, 6) GROUP BY k, window_end",
    "row by row": "SELECT k, x + 1 AS y FROM bids",
    "newest": "SELECT k, x FROM latest(bids)",
    "failing": "SELECT sum(note::INT) AS n FROM hop(bids, 20, 10)",
    "side table": "SELECT b.k, a.x FROM bids b JOIN latest(asks) a ON a.k = b.k",
}
WAYS = {"sums": ("increments", "whole", "measured"), "join": ("increments", "whole")}
CASES = [(name, way) for name in QUERIES for way in WAYS.get(name, ("increments",))]
LINES = int(os.environ.get("INTERRUPTED_LINES", "40"))
"""How many of the lines are tried in a case; `make differ` tries more."""

Line = tuple[str, int]


class Interrupter:
    """Counts lines of the library that are executed, and raises at one of them."""

    def __init__(self, line: Line | None = None, time: int = 0) -> None:
        self.seen: dict[Line, int] = {}
        self._line = line
        self._time = time
        self._held = 0
        self.has_raised = False

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Look at each line of the library that the block executes."""
        before = sys.gettrace()
        sys.settrace(self._called)
        try:
            yield
        finally:
            sys.settrace(before)

    def hold(self) -> None:
        """Learn that Ctrl-C is held back."""
        self._held += 1

    def let_go(self) -> None:
        """Learn that it is not any more."""
        self._held -= 1

    def _called(self, frame: FrameType, event: str, argument: object) -> Callable[..., Any] | None:
        name = frame.f_code.co_filename
        is_ours = "/upstream/" in name and "/tests/" not in name and "held_interrupt" not in name
        return self._executed if is_ours else None

    def _executed(self, frame: FrameType, event: str, argument: object) -> Callable[..., Any]:
        if event == "line" and not self._held:
            line = (frame.f_code.co_filename, frame.f_lineno)
            count = self.seen[line] = self.seen.get(line, 0) + 1
            if line == self._line and count == self._time and not self.has_raised:
                self.has_raised = True
                raise KeyboardInterrupt
        return self._executed


def told(query: ContinuousQuery) -> list[object]:
    """Take the results, as values that can be compared; of rows without an order, sorted."""
    return [
        (
            *(each.window_start, each.window_end, each.error, each.rows_failed, each.revision),
            *sorted(map(repr, each.table.to_pylist())),
        )
        for each in query.results()
    ]


def run(name: str, way: str, interrupter: Interrupter, patch: pytest.MonkeyPatch) -> list[object]:
    """Run a query over a few batches, each evaluated until that is not interrupted."""
    clock = ManualClock()
    with Engine(clock=clock) as engine, patch.context() as held:
        make_streams(engine)
        lateness = 15 if name in ("sums", "join") else None
        semantics: Semantics = "update" if name == "newest" else "append"
        query = engine.continuous_query(
            QUERIES[name],
            semantics,
            evaluation=way,  # type: ignore[arg-type]  # one of the ways
            allowed_lateness=lateness,
        )
        enter, leave = HeldInterrupt.__enter__, HeldInterrupt.__exit__

        def held_back(self: HeldInterrupt) -> None:
            enter(self)
            interrupter.hold()

        def let_go(self: HeldInterrupt, *why: object) -> None:
            try:
                leave(self, *why)
            finally:
                interrupter.let_go()

        held.setattr(HeldInterrupt, "__enter__", held_back)
        held.setattr(HeldInterrupt, "__exit__", let_go)
        answers: list[object] = []
        for slide in range(5):
            for stream in ("bids", "asks"):
                times = [10 * slide + 3 * i - 9 * (i == 2) for i in range(4)]
                notes = ["x" if t % 5 == 1 else str(t) for t in times]
                rows = [(t, t % 7, "ab"[t % 2], n) for t, n in zip(times, notes, strict=True)]
                append(engine, stream, *rows)
            clock.advance(1)
            while True:
                try:
                    with interrupter.watching():
                        query.evaluate()
                        if name not in ("row by row", "side table"):
                            query.ask()
                    break
                except KeyboardInterrupt:
                    continue
            answers += told(query)
        counts = query.statistics()
        assert counts.is_balanced
        return [*answers, (counts.rows_late, counts.rows_failed, counts.rows_read)]


@pytest.mark.parametrize(("name", "way"), CASES)
def test_a_query_that_is_interrupted_anywhere_goes_on_where_it_was(
    name: str, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    watcher = Interrupter()
    expected = run(name, way, watcher, monkeypatch)
    assert len(expected) > 1
    moments = [(line, time) for line, count in watcher.seen.items() for time in {1, count}]
    stride = max(1, len(moments) // LINES)
    for line, time in moments[hash_of(name) % stride :: stride]:
        interrupter = Interrupter(line, time)
        found = run(name, way, interrupter, monkeypatch)
        assert interrupter.has_raised, line
        assert found == expected, f"interrupted at {line}, time {time}"


def test_ctrl_c_while_a_batch_is_taken_comes_once_right_after_it(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = engine.continuous_query("SELECT sum(x) AS x FROM tumble(bids, 10)")
    took = Input.took

    def interrupted(self: Input, batch: Batch, cut: Cut) -> None:
        signal.raise_signal(signal.SIGINT)
        took(self, batch, cut)

    append(engine, "bids", (1, 1), (11, 2))
    with monkeypatch.context() as patch:
        patch.setattr(Input, "took", interrupted)
        with pytest.raises(KeyboardInterrupt):
            query.results()
    assert query.statistics().rows_waiting == 0
    assert query.is_due()
    append(engine, "bids", (21, 3))
    assert [result.table["x"][0].as_py() for result in query.results()] == [1, 2]


def hash_of(text: str) -> int:
    """Return a number that is the same in each process."""
    return sum(map(ord, text))
