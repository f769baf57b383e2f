"""Any thread may append and ask: what they get together is what one thread would have got."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import monotonic

import pyarrow as pa
import pytest

from upstream import ContinuousQuery, Engine, ManualClock, Result, StreamFullError
from upstream.tables import engine_stream

SECONDS = float(os.environ.get("THREADS_SECONDS", "5"))
"""How long the stress takes."""
TEXTS = {
    "sums": "SELECT k, sum(x) AS x, count(*) AS n FROM rows(ticks, 1000, 500) GROUP BY k",
    "totals": "SELECT k, sum(x) AS x, max(x) AS y FROM landmark(ticks) GROUP BY k",
    "each row": "SELECT k, x FROM ticks",
}
BATCH = 100


def ticks(engine: Engine) -> None:
    engine.sql("CREATE STREAM ticks (k TEXT, x BIGINT) KEY (k)")
    engine.sql("CREATE STREAM others (k TEXT, x BIGINT) KEY (k)")


def batch(writer: int, number: int) -> pa.Table:
    numbers = [(BATCH * number + i) * 2 + writer for i in range(BATCH)]
    return pa.table({"k": [f"k{x % 5}" for x in numbers], "x": numbers})


class Stress:
    """Two threads append and two ask, for some seconds; what each of them did is remembered."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.queries = {
            name: engine.continuous_query(text, keep=10**6) for name, text in TEXTS.items()
        }
        self.results: dict[str, list[Result]] = {name: [] for name in TEXTS}
        self.batches = Counter[int]()
        self._until = monotonic() + SECONDS
        self._taking = threading.Lock()

    def run(self) -> None:
        work: list[Callable[[], None]] = [
            lambda: self._append(0),
            lambda: self._append(1),
            self._take,
            self._ask,
        ]
        with ThreadPoolExecutor(len(work)) as pool:
            for done in [pool.submit(each) for each in work]:
                done.result()
        for name, query in self.queries.items():
            self.results[name] += query.results()

    def _append(self, writer: int) -> None:
        while monotonic() < self._until:
            self.engine.append("ticks", batch(writer, self.batches[writer]))
            self.batches[writer] += 1
            self.engine.sql(f"INSERT INTO others VALUES ('{writer}', {self.batches[writer]})")

    def _take(self) -> None:
        while monotonic() < self._until:
            for name, query in self.queries.items():
                self.results[name] += query.results()

    def _ask(self) -> None:
        while monotonic() < self._until:
            known = self.batches[0]
            self.engine.sql("SELECT k, x FROM ticks")
            newest = self.engine.sql("SELECT x FROM others WHERE k = '0'").to_pylist()
            assert not newest or newest[0]["x"] >= known - 1
            self.queries["totals"].ask()
            self.engine.run(0.01)
            query = self.engine.continuous_query("SELECT x FROM rows(ticks, 10)")
            self.engine.sql("SELECT count(*) FROM ticks")
            query.close()


def test_several_threads_get_the_same_results_as_one_thread() -> None:
    with Engine(clock=ManualClock()) as engine:
        ticks(engine)
        stress = Stress(engine)
        stress.run()
        written = [x for w, n in stress.batches.items() for b in range(n) for x in numbers(w, b)]
        assert len(written) > 1_000
        assert_as_by_one_thread(stress.results, written)
        counts = [query.statistics() for query in engine.queries]
        assert all(each.is_balanced and each.rows_read == len(written) for each in counts)
        newest = engine.sql("SELECT k, x FROM others ORDER BY k").to_pylist()
        assert newest == [{"k": str(w), "x": stress.batches[w]} for w in (0, 1)]


def numbers(writer: int, number: int) -> list[int]:
    found: list[int] = batch(writer, number)["x"].to_pylist()
    return found


def assert_as_by_one_thread(results: dict[str, list[Result]], written: list[int]) -> None:
    """Append all rows in the order in which they came in, and compare."""
    rows = pa.concat_tables([result.table for result in results["each row"]])
    assert sorted(rows["x"].to_pylist()) == sorted(written)
    with Engine(clock=ManualClock()) as engine:
        ticks(engine)
        queries = {name: engine.continuous_query(text, keep=10**6) for name, text in TEXTS.items()}
        for at in range(0, rows.num_rows, BATCH):
            engine.append("ticks", rows.slice(at, BATCH))
            queries["sums"].evaluate()
        assert windows(queries["sums"].results()) == windows(results["sums"])
        assert windows(queries["totals"].results())[-1] == windows(results["totals"])[-1]


def windows(results: list[Result]) -> list[object]:
    """Return results as values that can be compared; groups have no order."""
    return [
        (result.window_start, result.window_end, sorted(map(str, result.table.to_pylist())))
        for result in results
    ]


class Gate(ManualClock):
    """A clock that lets a thread wait in the middle of an evaluation."""

    def __init__(self) -> None:
        super().__init__()
        self.entered = threading.Event()
        self.open = threading.Event()
        self.open.set()

    def now(self) -> float:
        if not self.open.is_set():
            self.entered.set()
            assert self.open.wait(30)
        return super().now()


def in_evaluation(query: ContinuousQuery, gate: Gate, then: Callable[[], None]) -> list[Result]:
    """Do something while another thread is in the middle of an evaluation; return its results."""
    gate.open.clear()
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(query.results)
        try:
            assert gate.entered.wait(30)
            then()
        finally:
            gate.open.set()
        return asked.result()


def test_appending_does_not_wait_for_an_evaluation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gate = Gate()
    monkeypatch.setattr(engine_stream, "_BACKLOG_ROWS", 150)
    with Engine(clock=ManualClock(), stopwatch=gate) as engine:
        ticks(engine)
        query = engine.continuous_query("SELECT sum(x) AS x FROM rows(ticks, 100)")
        engine.append("ticks", batch(0, 0))

        def append() -> None:
            assert sum(engine.append("ticks", batch(0, n)) for n in (1, 2, 3)) == 3 * BATCH

        first = in_evaluation(query, gate, append)
        sums = [result.table["x"][0].as_py() for result in [*first, *query.results()]]
        assert sums == [sum(numbers(0, n)) for n in range(4)]


def test_a_stream_that_is_full_during_an_evaluation_refuses_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gate = Gate()
    monkeypatch.setattr(engine_stream, "_MOST_ROWS", 150)
    with Engine(clock=ManualClock(), stopwatch=gate) as engine:
        ticks(engine)
        query = engine.continuous_query("SELECT sum(x) AS x FROM rows(ticks, 100)")
        engine.append("ticks", batch(0, 0))

        def append() -> None:
            engine.append("ticks", batch(0, 1))
            with pytest.raises(StreamFullError, match="200 rows of ticks wait") as full:
                engine.append("ticks", batch(0, 2))
            assert (full.value.stream, full.value.rows) == ("ticks", 2 * BATCH)

        first = in_evaluation(query, gate, append)
        engine.sql("SELECT k FROM ticks")  # the newest rows are read as well
        engine.append("ticks", batch(0, 2))
        sums = [result.table["x"][0].as_py() for result in [*first, *query.results()]]
        assert sums == [sum(numbers(0, n)) for n in range(3)]


def test_a_callback_may_append_and_ask() -> None:
    with Engine(clock=ManualClock()) as engine:
        ticks(engine)
        seen: list[object] = []

        def callback(result: Result) -> None:
            engine.append("others", result.table)
            seen.append(engine.sql("SELECT count(*) AS n FROM others").to_pylist())

        engine.continuous_query("SELECT k, x FROM ticks WHERE x < 2", callback=callback)
        engine.append("ticks", batch(0, 0))
        engine.run(1.0)
        assert seen == [[{"n": 1}]]
