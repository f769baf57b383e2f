"""Several threads append and read views at once: each answer is a prefix of what was appended."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import monotonic

import pyarrow as pa
import pytest

from upstream import Engine, ManualClock

SECONDS = float(os.environ.get("THREADS_SECONDS", "3"))
"""How long the stress takes."""
WRITERS = 2
VIEWS = {
    "totals": "SELECT k, sum(x) AS s, count(*) AS n, max(x) AS m FROM ticks GROUP BY k",
    "same": "SELECT k, sum(x) AS s, count(*) AS n, max(x) AS m FROM ticks GROUP BY k",
    "above": "SELECT k, s, n, m FROM totals",
    "joined": "SELECT k, s, n, m FROM totals JOIN names USING (k)",
    "twice": (
        "SELECT k, s, n, m FROM (SELECT k, sum(x) AS s FROM ticks GROUP BY k) AS a"
        " JOIN (SELECT k, count(*) AS n, max(x) AS m FROM ticks GROUP BY k) AS b USING (k)"
    ),
}
BATCH = 7


class Stress:
    """Writers append 1, 2, 3, … under a key of their own; readers check what views return."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.returned = [0] * WRITERS
        """How many rows of each writer had been appended when its last call returned."""
        self.answers = 0
        self._until = monotonic() + SECONDS

    def run(self) -> None:
        work: list[Callable[[], None]] = [partial(self._append, n) for n in range(WRITERS)]
        work += [lambda: self._read(list(VIEWS)), lambda: self._read(["totals"]), self._define]
        with ThreadPoolExecutor(len(work)) as pool:
            for done in [pool.submit(each) for each in work]:
                done.result()

    def _append(self, writer: int) -> None:
        first = 1
        while monotonic() < self._until:
            numbers = range(first, first + BATCH)
            if first % 3:
                rows = pa.table({"k": [str(writer)] * BATCH, "x": numbers})
                self.engine.append("ticks", rows)
            else:
                values = ", ".join(f"('{writer}', {n})" for n in numbers)
                self.engine.sql(f"INSERT INTO ticks VALUES {values}")
            first += BATCH
            self.returned[writer] = first - 1

    def _read(self, names: list[str]) -> None:
        seen = {name: [0] * WRITERS for name in names}
        while monotonic() < self._until:
            for name in names:
                before = list(self.returned)
                found = self.engine.sql(f"SELECT k, s, n, m FROM {name}").to_pylist()
                counts = [0] * WRITERS
                for row in found:
                    counts[int(row["k"])] = row["n"]
                    assert row["s"] == row["n"] * (row["n"] + 1) // 2
                    assert row["m"] == row["n"]
                    assert row["n"] % BATCH == 0
                pairs = zip(counts, before, seen[name], strict=True)
                assert all(count >= max(known, last) for count, known, last in pairs)
                seen[name] = counts
                self.answers += 1

    def _define(self) -> None:
        """Create, read, replace and drop another view meanwhile, and evaluate the first ones."""
        while monotonic() < self._until:
            self.engine.sql("CREATE VIEW brief AS SELECT count(*) AS n, max(x) AS m FROM ticks")
            for _ in range(3):
                [row] = self.engine.sql("FROM brief").to_pylist()
                assert row["n"] % BATCH == 0
            self.engine.sql("CREATE OR REPLACE VIEW brief AS SELECT sum(n)::BIGINT AS n FROM above")
            [row] = self.engine.sql("FROM brief").to_pylist()
            assert (row["n"] or 0) % BATCH == 0
            self.engine.sql("DROP VIEW brief")
            self.engine.view("joined").table()
            self.engine.view("totals").statistics()


def prepared(engine: Engine) -> None:
    engine.sql("CREATE STREAM ticks (k TEXT, x BIGINT) KEY (k)")
    engine.sql("CREATE TABLE names AS SELECT k FROM (VALUES ('0'), ('1')) AS v(k)")
    for name, query in VIEWS.items():
        engine.sql(f'CREATE VIEW "{name}" AS {query}')


@pytest.mark.slow
@pytest.mark.timeout(120 + SECONDS)
def test_each_answer_of_a_view_is_a_prefix_of_what_each_thread_appended() -> None:
    with Engine(clock=ManualClock()) as engine:
        prepared(engine)
        stress = Stress(engine)
        stress.run()
        assert stress.answers > 10
        rows = engine.sql("SELECT k, n FROM totals ORDER BY k").to_pylist()
        assert [row["n"] for row in rows] == stress.returned
        assert min(stress.returned) > 100
        counts = engine.view("totals").statistics()
        assert counts.rows_read == sum(stress.returned)
        assert counts.rows_held == WRITERS
        assert "shared with same" in engine.view("totals").explain()


def test_an_append_does_not_wait_for_a_view_that_is_read() -> None:
    with Engine(clock=ManualClock()) as engine:
        prepared(engine)
        engine.append("ticks", {"k": ["0"], "x": [1]})
        with engine._lock, ThreadPoolExecutor(1) as pool:  # as if a view were just read
            appended = pool.submit(engine.append, "ticks", {"k": ["0"], "x": [2]})
            assert appended.result(timeout=30) == 1
        assert engine.sql("SELECT s FROM totals").to_pylist() == [{"s": 3}]
