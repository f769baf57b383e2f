"""Epochs that are interrupted anywhere: none is half answered, lost, or answered twice.

While a query is evaluated, KeyboardInterrupt is raised at each line of the library, or at each call
of C code, when it is reached for the first time; in CI, also for the second. Then it is raised once
each, where some of the places are reached for the last time. All answers together must be those of
a query that is never interrupted.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.interrupted import Interrupter, respect_held_interrupts
from tests.queries.setting import append, make_streams
from tests.queries.test_interruptions import LINES, TIMES, hash_of, told
from upstream import Engine, ManualClock
from upstream.queries import Semantics
from upstream.queries.choices import Way
from upstream.queries.chunks import reading


@dataclass(frozen=True)
class Case:
    """A query, and the options with which it is evaluated."""

    text: str
    close_after: float | None = None
    semantics: Semantics = "append"
    way: Way = "increments"
    most_ahead: int = 1_000_000
    """So many rows are read ahead of other inputs."""


PAIRS = """SELECT a.k, a.x, b.x AS y FROM epochs(bids, {cut}, keep => 2) AS a
           {kind} epochs(asks, {cut}, keep => 3) AS b ON a.k = b.k"""
CASES = {
    "buffered": Case(
        """SELECT a.k, count(*) AS n, max(b.x) AS x FROM epochs(bids, 10, keep => 3) AS a
           JOIN epochs(asks, 10, keep => 2) AS b ON a.k = b.k GROUP BY a.k"""
    ),
    "buffered and whole": Case(
        """SELECT a.k, a.epoch AS e, b.x FROM epochs(bids, 10, pairing => 'newest-window') AS a
           LEFT JOIN epochs(asks, 10, keep => 2) AS b ON a.x = b.x""",
        way="whole",
    ),
    "left": Case(PAIRS.format(cut="10", kind="LEFT JOIN")),
    "full": Case(PAIRS.format(cut="10", kind="FULL JOIN")),
    "semi": Case(
        """SELECT a.k, a.x FROM epochs(bids, 10, keep => 2) AS a
           SEMI JOIN epochs(asks, 10, keep => 3) AS b ON a.k = b.k"""
    ),
    "left and failing": Case(
        """SELECT a.note::INT AS n, b.x FROM epochs(bids, 10, keep => 2) AS a
           LEFT JOIN epochs(asks, 10, keep => 3) AS b ON a.x = b.x"""
    ),
    "self-join": Case(
        """SELECT a.k, a.x, b.x AS y FROM epochs(bids, 10, pairing => 'window') AS a
           JOIN epochs(bids, 10, keep => 3) AS b ON a.k = b.k AND a.x < b.x""",
        close_after=1.5,
    ),
    "newest only": Case(PAIRS.format(cut="10", kind="LEFT JOIN"), semantics="update"),
    "count": Case(PAIRS.format(cut="rows => 3", kind="LEFT JOIN")),
    "object": Case(
        """SELECT k, count(*) AS n, min(window_start) AS s, max(window_end) AS e
           FROM epochs(bids, by => k, keep => 2) GROUP BY k"""
    ),
    "punctuation": Case(
        """SELECT a.x, a.window_start AS s, b.x AS y, b.epoch AS e
           FROM epochs(bids, punctuation => x = 3, keep => 2) AS a
           LEFT JOIN epochs(asks, punctuation => x = 5, keep => 3) AS b ON a.k = b.k"""
    ),
    "failing punctuation": Case(
        "SELECT count(*) AS n FROM epochs(bids, punctuation => note::INT % 3 = 0)"
    ),
    "idle": Case(PAIRS.format(cut="10", kind="FULL JOIN"), close_after=1.5),
    "idle by count": Case(PAIRS.format(cut="rows => 3", kind="LEFT JOIN"), close_after=1.5),
    "far ahead": Case(PAIRS.format(cut="10", kind="LEFT JOIN"), most_ahead=3),
}


def run(name: str, interrupter: Interrupter, patch: pytest.MonkeyPatch) -> list[object]:
    """Run a query over a few batches, each evaluated until that is not interrupted."""
    case, clock = CASES[name], ManualClock()
    with Engine(clock=clock, stopwatch=ManualClock()) as engine, patch.context() as held:
        held.setattr(reading, "MOST_AHEAD", case.most_ahead)
        make_streams(engine)
        query = engine.continuous_query(
            *(case.text, case.semantics), close_after=case.close_after, evaluation=case.way
        )
        respect_held_interrupts(held)
        answers: list[object] = []

        def evaluate_and_ask() -> None:
            query.evaluate()
            query.ask()

        for step in range(7):
            feed(engine, step)
            clock.advance(1)
            interrupter.until_done(evaluate_and_ask)
            answers += told(query)
        counts = query.statistics()
        assert counts.is_balanced
        return [*answers, (counts.rows_late, counts.rows_failed, counts.rows_read)]


def feed(engine: Engine, step: int) -> None:
    """Append the rows of a step; one stream is silent for a while, and sources punctuate."""
    for stream in ("bids", "asks"):
        if stream == "asks" and step in (3, 4):
            continue
        times = [8 * step + 3 * i - 9 * (i == 2) for i in range(4)]
        notes = ["x" if t % 5 == 1 else str(t) for t in times]
        rows = [(t, t % 7, "ab"[t % 2], n) for t, n in zip(times, notes, strict=True)]
        append(engine, stream, *rows)
        if step in (1, 5):
            engine.punctuate(stream)


@pytest.mark.parametrize("event", ["line", "c_call"])
@pytest.mark.parametrize("name", CASES)
def test_epochs_that_are_interrupted_everywhere_are_answered_once(
    name: str, event: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    watcher = Interrupter(event)
    expected = run(name, watcher, monkeypatch)
    assert len(expected) > 2
    for time in TIMES:
        often = Interrupter(event, lambda moment: moment.time == time)  # noqa: B023  # used here
        found = run(name, often, monkeypatch)
        assert often.raised > 10
        assert found == expected, f"interrupted at {often.raised} places at time {time}"
    moments = list(watcher.seen.values())
    stride = max(1, len(moments) // LINES)
    for last in moments[hash_of(name) % stride :: stride]:
        once = Interrupter(event, lambda moment: moment == last)  # noqa: B023  # used here
        found = run(name, once, monkeypatch)
        assert once.raised == 1, last
        assert found == expected, f"interrupted at {last}"
