"""A query with a sink that is interrupted anywhere gives each result once, with its number.

KeyboardInterrupt is raised at each line of the library, the sink's included, or at each call of C
code, when it is reached for the first time, and later also for the second. All files together must
be those of a query that is never interrupted.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.interrupted import Interrupter, respect_held_interrupts
from tests.queries.setting import append, make_streams
from tests.queries.sinks import files_in
from upstream import Engine, ManualClock, ParquetSink
from upstream.queries import Semantics

QUERIES: dict[str, tuple[str, Semantics]] = {
    "sums": ("SELECT k, sum(x) AS x FROM hop(bids, 20, 10) GROUP BY k", "append"),
    "epochs": ("SELECT epoch, sum(x) AS x FROM epochs(bids, 10, keep => 2) GROUP BY 1", "append"),
    "newest by row": ("SELECT k, x FROM bids", "update"),
    "row by row": ("SELECT k, x FROM bids", "append"),
}
TIMES = range(1, 4 if os.environ.get("CI") else 2)


def run(name: str, directory: Path, interrupter: Interrupter) -> dict[str, object]:
    """Run a query over a few batches, each evaluated until that is not interrupted."""
    clock = ManualClock()
    text, semantics = QUERIES[name]
    with Engine(clock=clock, stopwatch=ManualClock()) as engine:
        make_streams(engine)
        sink = ParquetSink(directory)
        query = engine.continuous_query(text, semantics, sink=sink, evaluation="increments")
        for slide in range(4):
            times = [10 * slide + 3 * i for i in range(4)]
            # No key comes twice in a row, so that news of a key that were given are seen again.
            append(engine, "bids", *[(t, t % 7, "abcd"[slide]) for t in times])
            clock.advance(1)
            interrupter.until_done(query.evaluate)
            assert query.committed == query.consumed == sink.committed
        counts = query.statistics()
        assert counts.is_balanced
        assert (counts.results_taken, counts.sink_failures) == (counts.results_due, 0)
    return {**files_in(directory)}


@pytest.mark.parametrize("event", ["line", "c_call"])
@pytest.mark.parametrize("name", QUERIES)
def test_a_sink_has_each_result_once_wherever_its_query_is_interrupted(
    name: str, event: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    respect_held_interrupts(monkeypatch)
    watcher = Interrupter(event)
    expected = run(name, tmp_path / "alone", watcher)
    assert list(expected) == [f"epoch-{number:012}.parquet" for number in range(len(expected))]
    assert len(expected) > 2
    for time in TIMES:
        often = Interrupter(event, lambda moment: moment.time == time)  # noqa: B023  # used here
        assert run(name, tmp_path / f"at {time}", often) == expected
        assert often.raised > 10
        reached = {Path(file).name for file, _, _ in often.seen}
        assert {"parquet_sink.py", "commit.py"} <= reached
        if event == "line":
            assert {"sink.py", "disk.py"} <= reached
    stride = max(1, len(watcher.seen) // 5)
    for number, last in enumerate([*watcher.seen.values()][1::stride]):
        once = Interrupter(event, lambda moment: moment == last)  # noqa: B023  # used here
        assert run(name, tmp_path / f"once {number}", once) == expected, f"interrupted at {last}"
        assert once.raised == 1
