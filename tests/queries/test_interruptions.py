"""A standing query that is interrupted anywhere continues where it was.

While a query is evaluated, KeyboardInterrupt is raised at each line of the library, or at each call
of C code (DuckDB's, NumPy's, Arrow's), when it is reached for the first time; in CI, also for the
second. One query is interrupted at all of these places, one after the other. Other queries are
interrupted once each, where some of the places are reached for the last time. Nothing is raised
where Ctrl-C is held back. All answers together must be those of a query that is never interrupted.
"""

from __future__ import annotations

import os
import signal

import pyarrow as pa
import pytest

from tests.interrupted import Interrupter, respect_held_interrupts
from tests.queries.setting import append, make_streams
from upstream import ContinuousQuery, Engine, ManualClock, Result
from upstream.database.prepared import Prepared
from upstream.queries import Semantics
from upstream.queries.chunks.cutter import Cut
from upstream.queries.chunks.reading import Input
from upstream.queries.evaluation import chosen_way
from upstream.tables.log import Batch

QUERIES = {
    "sums": "SELECT k, sum(x) AS x, avg(x) AS m FROM hop(bids, 20, 10) GROUP BY k",
    "extremes": "SELECT k, max(x) AS x, max(note) AS t FROM hop(bids, 30, 10) GROUP BY k",
    "rows": "SELECT k, x FROM hop(bids, 20, 10) ORDER BY x",
    "family": "SELECT k, avg(x) AS m, count(*) AS n FROM hop(bids, 20, 10) WHERE x > 1 GROUP BY k",
    "failing family": "SELECT avg(note::INT) AS n FROM hop(bids, 20, 10)",
    "counted rows": "SELECT count(*) AS n FROM rows(bids, 4, 2)",
    "join": """SELECT b.k, count(*) AS n, max(a.x) AS x FROM hop(bids, 20, 10) b
               JOIN hop(asks, 40, 20) a ON a.k = b.k GROUP BY b.k""",
    "update": "SELECT k, sum(x) AS x FROM tumble(bids, 10) GROUP BY k",
    "landmark": "SELECT k, sum(x) AS x, max(x) AS y FROM landmark(bids, 10) GROUP BY k",
    "first rows": """SELECT k, x FROM landmark(bids, 10)
                     QUALIFY row_number() OVER (PARTITION BY k ORDER BY x DESC, time) <= 2""",
    "everything": "SELECT k, sum(x) AS x FROM landmark(bids) GROUP BY k",
    "session": "SELECT k, count(*) AS n, window_end FROM session(bids, 6) GROUP BY k, window_end",
    "row by row": "SELECT k, x + 1 AS y FROM bids",
    "failing row by row": "SELECT note::INT AS n FROM bids",
    "newest": "SELECT k, x FROM latest(bids)",
    "newest by row": "SELECT k, x FROM bids",
    "newest and deleted": "SELECT k, x FROM latest(bids, rows => 2)",
    "newest by row and deleted": "SELECT k, x FROM bids",
    "expiring": """SELECT k, x FROM latest(bids, rows => 2, per => x,
                   expire_after => INTERVAL '2 seconds')""",
    "failing": "SELECT sum(note::INT) AS n FROM hop(bids, 20, 10)",
    "side table": "SELECT b.k, a.x FROM bids b JOIN latest(asks) a ON a.k = b.k",
    "side table and deleted": """SELECT b.k, a.x FROM bids b
        JOIN latest(asks, per => x, expire_after => INTERVAL '3 seconds') a ON a.k = b.k""",
    "interval": """SELECT b.k, b.x, b.note::INT // a.x AS y FROM bids b
                   LEFT JOIN asks a ON a.k = b.k AND a.time BETWEEN b.time - 8 AND b.time + 1""",
    "epochs": """SELECT b.epoch, b.k, count(*) AS n FROM epochs(bids, 10) b
                 JOIN epochs(asks, 10, keep => 3) a ON a.k = b.k GROUP BY ALL""",
    "new pairs": """SELECT b.k, b.x, a.note::INT AS y FROM epochs(bids, 10, keep => 2) b
                    LEFT JOIN epochs(asks, 10, keep => 2) a ON a.k = b.k AND a.x > b.x""",
    "punctuations": """SELECT epoch, window_start, x
                       FROM epochs(bids, punctuation => note::INT % 4 = 0, keep => 2)""",
    "objects": """SELECT b.epoch, b.window_end, b.x, a.x AS y
                  FROM epochs(bids, by => k, keep => 2) b
                  JOIN epochs(asks, by => k, keep => 2) a ON b.x < a.x""",
    "chain": "SELECT k, sum(x) AS x, count(*) AS n FROM hop(sums, 20, 10) GROUP BY k",
    "chain of news": "SELECT k, y + 1 AS y FROM seen",
    "chain with deletions": "SELECT k, x FROM latest(positive)",
}
FILLED = {
    "chain": [
        "CREATE STREAM sums KEY (k) AS SELECT k, sum(x) AS x FROM tumble(bids, 10) GROUP BY k"
    ],
    "chain with deletions": [
        """CREATE STREAM positive KEY (k) WITH (deletes = true) AS
           SELECT k, sum(x) AS x FROM tumble(bids, 5) GROUP BY k HAVING sum(x) > 4"""
    ],
    "chain of news": [
        "CREATE STREAM seen KEY (k) WITH (semantics = 'update') AS SELECT k, x AS y FROM bids"
    ],
}
"""What creates the streams that a query reads, if other queries fill them."""
BESIDE = {
    "family": [
        "SELECT k, avg(x) AS m FROM hop(bids, 20, 10) GROUP BY k",
        "SELECT k, sum(x) AS m FROM hop(bids, 20, 10) GROUP BY k HAVING sum(x) > 2",
    ],
    "failing family": ["SELECT sum(x) AS n FROM hop(bids, 20, 10) WHERE x < 3"],
}
"""Queries with which a query shares its windows."""
UPDATES = (
    *("newest", "newest by row", "newest and deleted", "newest by row and deleted", "expiring"),
    "update",
)
ROW_WISE = (
    *("row by row", "failing row by row", "side table", "side table and deleted"),
    *("chain of news", "interval"),
)
WAYS = {"sums": ("increments", "whole", "measured"), "join": ("increments", "whole", "measured")}
CASES = [(name, way) for name in QUERIES for way in WAYS.get(name, ("increments",))]
SLIDES = {"extremes": 5, "join": 5, "session": 2}
"""How many slides a query needs for all its lines to be reached, where four are not enough."""
LINES = int(os.environ.get("INTERRUPTED_LINES", "3" if os.environ.get("CI") else "2"))
"""At how many places, at their last time, a query is interrupted once; in `make differ` more."""
TIMES = range(1, 6 if LINES >= 100 else 3 if os.environ.get("CI") else 2)
"""For which times each place is reached when the query is interrupted there, one after another."""


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
    with Engine(clock=clock, stopwatch=ManualClock()) as engine, patch.context() as held:
        held.setattr(chosen_way, "MOST_JOINED_ROWS", 3)  # so that both ways are tried
        held.setattr(chosen_way, "_WINDOWS", 2)
        make_streams(engine)
        for text in FILLED.get(name, ()):
            engine.sql(text)
        lateness = {"sums": 15, "join": 15, "interval": 3}.get(name)
        semantics: Semantics = "update" if name in UPDATES else "append"
        query = engine.continuous_query(
            QUERIES[name],
            semantics,
            evaluation=way,  # type: ignore[arg-type]  # one of the ways
            allowed_lateness=lateness,
        )
        others = [
            engine.continuous_query(each, evaluation="increments") for each in BESIDE.get(name, ())
        ]
        respect_held_interrupts(held)
        answers: list[object] = []

        def evaluate_and_ask() -> None:
            query.evaluate()
            if name not in ROW_WISE:
                query.ask()

        for slide in range(SLIDES.get(name, 4)):
            feed(engine, name, slide)
            clock.advance(1)
            interrupter.until_done(evaluate_and_ask)
            answers += told(query)
            for other in others[: 1 + slide]:  # one of them lags behind
                answers += told(other)
        counts = query.statistics()
        assert counts.is_balanced
        check_fillers(engine, counts.rows_read)
        lost = counts.rows_late, counts.rows_failed, counts.rows_deleted, counts.rows_expired
        return [*answers, (*lost, counts.rows_read)]


def feed(engine: Engine, name: str, slide: int) -> None:
    """Append the batches of a slide, and delete keys if the query is about deletions."""
    for stream in ("bids", "asks"):
        times = [10 * slide + 3 * i - 9 * (i == 2) for i in range(4)]
        notes = ["x" if t % 5 == 1 else str(t) for t in times]
        rows = [(t, t % 7, "ab"[t % 2], n) for t, n in zip(times, notes, strict=True)]
        append(engine, stream, *rows)
        if name.endswith("deleted"):
            engine.delete(stream, {"k": ["ab"[slide % 2]]})
    if name == "expiring" and slide == 2:
        engine.delete("bids", {"k": ["a"]})


def check_fillers(engine: Engine, rows_read: int) -> None:
    """Check that the stream has each result once, and that its reader has read each row once."""
    for filler in engine.queries:
        if filler.into is not None:
            found = filler.statistics()
            assert found.is_balanced
            assert found.results_taken == found.results_due
            assert rows_read == found.rows_appended > 0


@pytest.mark.parametrize("event", ["line", "c_call"])
@pytest.mark.parametrize(("name", "way"), CASES)
def test_a_query_that_is_interrupted_everywhere_goes_on_where_it_was(
    name: str, way: str, event: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    watcher = Interrupter(event)
    expected = run(name, way, watcher, monkeypatch)
    assert len(expected) > 1
    for time in TIMES:
        often = Interrupter(event, lambda moment: moment.time == time)  # noqa: B023  # used here
        found = run(name, way, often, monkeypatch)
        assert often.raised > 10
        assert found == expected, f"interrupted at {often.raised} places at time {time}"
        assert len(watcher.seen.keys() - often.seen.keys()) < 20  # done together, as put off
    moments = list(watcher.seen.values())
    stride = max(1, len(moments) // LINES)
    for last in moments[hash_of(name) % stride :: stride]:
        once = Interrupter(event, lambda moment: moment == last)  # noqa: B023  # used here
        found = run(name, way, once, monkeypatch)
        assert once.raised == 1, last
        assert found == expected, f"interrupted at {last}"


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


SUMS = "SELECT sum(x) AS x FROM tumble(bids, 10)"


def interrupted_run(self: Prepared, **_: pa.Table) -> pa.Table:
    raise KeyboardInterrupt


def test_other_queries_are_not_interrupted_with_it(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    query, other = engine.continuous_query(SUMS), engine.continuous_query(SUMS)
    append(engine, "bids", (1, 1), (11, 2))
    with monkeypatch.context() as patch:
        patch.setattr(Prepared, "run", interrupted_run)
        with pytest.raises(KeyboardInterrupt):
            query.results()
    assert len(other.results()) == len(query.results()) == 1
    assert not query.is_due()


def test_a_query_that_was_interrupted_is_due(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[Result] = []
    query = engine.continuous_query(SUMS, callback=found.append)
    assert not query.is_due()
    append(engine, "bids", (1, 1), (11, 2))
    with monkeypatch.context() as patch:
        patch.setattr(Prepared, "run", interrupted_run)
        with pytest.raises(KeyboardInterrupt):
            engine.run(1.0)
    assert query.is_due()
    engine.run(1.0)
    assert len(found) == 1


def hash_of(text: str) -> int:
    """Return a number that is the same in each process."""
    return sum(map(ord, text))
