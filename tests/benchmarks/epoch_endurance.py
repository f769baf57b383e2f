"""A standing query over many small epochs: whether its time and its memory stay flat.

    python -m tests.benchmarks.epoch_endurance QUERY EPOCHS

It prints JSON. Each query has a process of its own, so that memory shows what it takes.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from time import process_time
from typing import Final

import duckdb
import pyarrow as pa

from api.service_state import resident_bytes
from tests.benchmarks.packets import COLUMNS, HOSTS, ROUTERS, SHARED, Packets, hosts
from upstream import ContinuousQuery, Engine, ManualClock

ROOT: Final = Path(__file__).resolve().parents[2]
ROWS: Final = 200
BATCHES: Final = 2
JOINS: Final = 30_000
"""DuckDB grows with the first 25,000 hash joins in a database, by 40 MB, and then no more.

`duckdb_memory()` does not show it. So they are executed first, in the engine's database.
"""
PART: Final = 1_000
"""So many epochs are compared with so many others."""
READ_EVERY: Final = 500
"""A stream stores up to 4,096 batches until a one-time query reads it: one does, so often."""
_MINUTE: Final = "INTERVAL '60 seconds'"


@dataclass(frozen=True, slots=True)
class Case:
    """A query, how many rows its results have for each epoch, and how many may still come."""

    sql: str
    rows: float
    pending: int = 0


CASES: Final = {
    "the query over buffered chunks, one with 12": Case(
        "SELECT x.epoch AS minute, count(*) AS packets, avg(y.trt - x.trt) AS mean "
        f"FROM epochs(rt1, {_MINUTE}) AS x "
        f"JOIN epochs(rt2, {_MINUTE}, keep => 12) AS y ON x.pid = y.pid GROUP BY ALL",
        rows=1,
    ),
    "new pairs of 3 chunks with 3, left join": Case(
        "SELECT x.pid, x.trt AS seen, y.trt AS later "
        f"FROM epochs(rt1, {_MINUTE}, keep => 3) AS x "
        f"LEFT JOIN epochs(rt2, {_MINUTE}, keep => 3) AS y ON x.pid = y.pid",
        rows=ROWS,
        pending=2 * ROWS,
    ),
    "a chunk with a table": Case(
        "SELECT h.name, sum(x.bytes) AS bytes "
        f"FROM epochs(rt1, {_MINUTE}) AS x JOIN hosts AS h ON h.ip = x.from_ip GROUP BY ALL",
        rows=10,
    ),
    "an interval join": Case(
        "SELECT x.pid, y.trt - x.trt AS delta FROM rt1 AS x JOIN rt2 AS y "
        "ON x.pid = y.pid AND y.ts BETWEEN x.ts AND x.ts + INTERVAL '5 seconds'",
        rows=SHARED * ROWS,
        pending=ROWS,
    ),
}


@dataclass(frozen=True, slots=True)
class State:
    """What a process holds at some moment."""

    megabytes: float
    objects: int
    tables: int
    statements: int
    rows_held: int

    @classmethod
    def of(cls, engine: Engine, query: ContinuousQuery) -> State:
        """Count what there is once garbage is collected."""
        gc.collect()
        pa.default_memory_pool().release_unused()
        return cls(
            megabytes=resident_bytes() / 1e6,
            objects=len(gc.get_objects()),
            tables=_counted(engine, "tables"),
            statements=_counted(engine, "prepared_statements"),
            rows_held=query.statistics().rows_held,
        )


@dataclass(frozen=True, slots=True)
class Endurance:
    """The processor seconds of each epoch; what was held after the first part, and at the end."""

    seconds: list[float]
    making: list[float]
    """What making the rows of each epoch took, which is the same work each time."""
    early: State
    late: State

    @property
    def median(self) -> float:
        """The median of the last epochs."""
        return median(self.seconds[-PART:])

    @property
    def ratio(self) -> float:
        """The median of the last epochs by that of the second thousand."""
        return _ratio(self.seconds)

    @property
    def ratio_by_making(self) -> float:
        """The same by what making the rows took, so that a slow machine does not show."""
        return _ratio(self.seconds) / _ratio(self.making)

    @property
    def grown(self) -> float:
        """By how many megabytes the process grew after the first part."""
        return self.late.megabytes - self.early.megabytes


def _ratio(seconds: list[float]) -> float:
    return median(seconds[-PART:]) / median(seconds[PART : 2 * PART])


def measured(name: str, epochs: int) -> Endurance:
    """Let a query answer many epochs in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.epoch_endurance", name, str(epochs)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        check=False,
        capture_output=True,
        text=True,
    )
    assert not done.returncode, done.stderr
    found = json.loads(done.stdout)
    early, late = State(**found["early"]), State(**found["late"])
    return Endurance(found["seconds"], found["making"], early, late)


def endured(case: Case, epochs: int) -> Endurance:
    """Let a query answer many epochs, and take its results."""
    packets = Packets(ROWS)
    with Engine(clock=ManualClock()) as engine:
        for router in ROUTERS:
            engine.sql(f"CREATE STREAM {router} ({COLUMNS}) TIME (ts)")
        names = [f"host {number % 10}" for number in range(HOSTS)]
        engine.create_table("hosts", pa.table({"ip": hosts(), "name": names}))
        with engine._duck._connection.cursor() as duck:
            run = _join_of_tables(duck)
            for _ in range(JOINS):
                run()
        query = engine.continuous_query(case.sql)
        seconds, making, rows, states = [], [], 0, []
        for number in range(epochs):
            begin = process_time()
            batches = list(_batches(packets, number))
            start = process_time()
            making.append(start - begin)
            for router, batch in batches:
                engine.append(router, batch)
                for result in query.results():
                    assert result.error is None, result.error
                    rows += result.table.num_rows
            seconds.append(process_time() - start)
            if (number + 1) % READ_EVERY == 0:
                for router in ROUTERS:
                    engine.sql(f"SELECT count(*) FROM {router}")
            if number + 1 in (PART, epochs):
                states.append(State.of(engine, query))
        least = case.rows * (epochs - 1) - case.pending
        assert least <= rows <= case.rows * epochs, f"{rows} rows in {epochs} epochs"
    return Endurance(seconds, making, *states)


def grown_by_joins(statements: int) -> Iterator[tuple[int, float]]:
    """Yield by how much DuckDB alone grows with joins of two small tables."""
    with duckdb.connect(config={"threads": 1}) as duck:
        run = _join_of_tables(duck)
        before = resident_bytes()
        for number in range(1, statements + 1):
            run()
            if number % (5 * PART) == 0:
                yield number, (resident_bytes() - before) / 1e6


def _join_of_tables(duck: duckdb.DuckDBPyConnection) -> Callable[[], None]:
    """Return what executes a prepared join."""
    duck.execute("CREATE TEMP TABLE one AS SELECT i AS k FROM range(1000) AS t(i)")
    duck.execute("CREATE TEMP TABLE two AS SELECT i * 7 AS k, i AS x FROM range(40) AS t(i)")
    duck.execute("PREPARE joined AS SELECT x FROM one JOIN two USING (k)")
    [statement] = duck.extract_statements("EXECUTE joined")

    def run() -> None:
        assert len(duck.execute(statement).fetchall()) == 40

    return run


def _batches(packets: Packets, number: int) -> Iterator[tuple[str, pa.Table]]:
    """Return an epoch in batches, the routers in turn."""
    size = ROWS // BATCHES
    for at in range(0, ROWS, size):
        for router, rows in zip(ROUTERS, packets.epoch(number), strict=True):
            yield router, rows.slice(at, size)


def _counted(engine: Engine, what: str) -> int:
    """Return how many tables or the like the database of an engine has."""
    duck = engine._duck._connection
    [(count,)] = duck.cursor().execute(f"SELECT count(*) FROM duckdb_{what}()").fetchall()
    return int(count)


def main() -> None:
    """Measure one query here, and print what it took."""
    name, epochs = sys.argv[1], int(sys.argv[2])
    print(json.dumps(asdict(endured(CASES[name], epochs))))


if __name__ == "__main__":
    main()
