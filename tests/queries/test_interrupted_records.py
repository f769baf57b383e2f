"""A query with a record that is interrupted anywhere gives each result once, also after a restart.

KeyboardInterrupt is raised at each line of the library, or at each call of C code, when it is
reached for the first time, and later also for the second. Then the process ends, and another engine
goes on. All results must be those of a query that is never interrupted.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.interrupted import Interrupter, respect_held_interrupts
from tests.queries.setting import append, make_streams, rows_of
from tests.queries.sinks import QuickDisk
from upstream import ContinuousQuery, Engine, ManualClock
from upstream.queries import query_records

QUERIES = {
    "by time": "SELECT epoch, sum(x) AS x FROM epochs(bids, 10, keep => 2) GROUP BY epoch",
    "by count": "SELECT epoch, x FROM epochs(bids, rows => 3, keep => 2)",
    "by object": "SELECT k, count(*) AS n FROM epochs(bids, by => k) GROUP BY k",
    "pairs": """SELECT b.x, a.x AS y FROM epochs(bids, 10, keep => 2, pairing => 'window') b
                LEFT JOIN epochs(asks, 10, keep => 2) a ON a.k = b.k""",
}
TIMES = range(1, 4 if os.environ.get("CI") else 2)
ROWS = [(10 * slide + 3 * i, i, "abcd"[slide % 4]) for slide in range(5) for i in range(4)]


def run(name: str, directory: Path, interrupter: Interrupter) -> list[object]:
    """Run a query in two engines, of which the first one is killed."""
    engine, query = opened(name, directory)
    feed(engine, query, 12, interrupter)
    assert query.statistics().results_waiting > 1
    kill(engine)
    engine, query = opened(name, directory)
    assert query.statistics().results_waiting > 1
    feed(engine, query, len(ROWS), interrupter)
    assert query.statistics().is_balanced
    found: list[object] = [(each.number, each.epoch, rows_of(each)) for each in query.results()]
    kill(engine)
    return found


def opened(name: str, directory: Path) -> tuple[Engine, ContinuousQuery]:
    engine = Engine(clock=ManualClock(), stopwatch=ManualClock(), directory=directory)
    make_streams(engine)
    return engine, engine.continuous_query(QUERIES[name], name="query", evaluation="increments")


def feed(engine: Engine, query: ContinuousQuery, end: int, interrupter: Interrupter) -> None:
    """Append rows from the positions on; evaluate after each batch until nothing is raised."""
    positions = query.positions
    for place in range(0, end, 4):
        for stream in sorted(query.streams):
            if rows := ROWS[max(place, positions[stream]) : place + 4]:
                append(engine, stream, *rows)
        interrupter.until_done(query.evaluate)


def kill(engine: Engine) -> None:
    """Leave everything as the end of the process does."""
    assert engine._records is not None
    engine._records.close()
    del engine._records._lock  # now, and not where the garbage collector is interrupted
    engine._duck.close()


@pytest.mark.parametrize("event", ["line", "c_call"])
@pytest.mark.parametrize("name", QUERIES)
def test_each_result_comes_once_wherever_a_query_is_interrupted(
    name: str, event: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query_records, "Disk", QuickDisk)
    respect_held_interrupts(monkeypatch)
    watcher = Interrupter(event)
    expected = run(name, tmp_path / "alone", watcher)
    assert len(expected) > 3
    for time in TIMES:
        often = Interrupter(event, lambda moment: moment.time == time)  # noqa: B023  # used here
        assert run(name, tmp_path / f"at {time}", often) == expected
        assert often.raised > 10
        reached = {Path(file).name for file, _, _ in often.seen}
        assert {"query_record.py", "record_keeper.py"} <= reached
    stride = max(1, len(watcher.seen) // 5)
    for number, last in enumerate([*watcher.seen.values()][1::stride]):
        once = Interrupter(event, lambda moment: moment == last)  # noqa: B023  # used here
        assert run(name, tmp_path / f"once {number}", once) == expected, f"interrupted at {last}"
        assert once.raised == 1
