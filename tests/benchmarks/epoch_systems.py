"""Ways to answer a query once for each epoch: the engine, and what it is measured beside.

All are given the same rows: `arrive` before the cut, and with `cut` the row that ends the epoch,
which is the first one of the next. The paper's baseline is one-time queries on temporary tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import duckdb
import polars as pl
import pyarrow as pa

from tests.benchmarks.packets import COLUMNS, MINUTE, ROUTERS
from upstream import ContinuousQuery, Engine, ManualClock

Means = dict[int, float]
"""The answer of an epoch: minutes, of which there is one, and the mean of each."""


@dataclass(frozen=True, slots=True)
class EpochQuery:
    """A query of the paper over one router or both: standing, and asked of tables of one chunk."""

    name: str
    routers: int
    standing: str
    once: str
    needed: str
    """The columns that it reads besides the time."""


QC: Final = EpochQuery(
    "Qc",
    routers=2,
    standing=(
        "SELECT x.epoch AS minute, avg(y.trt - x.trt) AS mean "
        f"FROM epochs(rt1, INTERVAL '{MINUTE} seconds') AS x "
        f"JOIN epochs(rt2, INTERVAL '{MINUTE} seconds') AS y ON x.pid = y.pid GROUP BY ALL"
    ),
    once=(
        f"SELECT floor(epoch(x.ts) / {MINUTE}) AS minute, avg(y.trt - x.trt) AS mean "
        "FROM rt1 AS x JOIN rt2 AS y ON x.pid = y.pid GROUP BY ALL"
    ),
    needed="pid, trt",
)
QD: Final = EpochQuery(
    "Qd",
    routers=1,
    standing=(
        "SELECT x.epoch AS minute, avg(bytes) AS mean "
        f"FROM epochs(rt1, INTERVAL '{MINUTE} seconds') AS x GROUP BY ALL"
    ),
    once=f"SELECT floor(epoch(ts) / {MINUTE}) AS minute, avg(bytes) AS mean FROM rt1 GROUP BY ALL",
    needed="bytes",
)


class System(Protocol):
    """Answers a query epoch by epoch."""

    def received(self, rows: pa.Table) -> Any:
        """Return rows in the form in which they arrive here; this takes no time."""

    def arrive(self, router: int, rows: Any) -> None:
        """Take in rows of the present epoch."""

    def ahead(self, first: Any) -> None:
        """Take in a row of the next epoch, from a router that is not the last to get there."""

    def cut(self, first: Any) -> Means:
        """Take in the row of the last router that ends the epoch, and return the answer."""

    def at_once(self, chunks: Sequence[Any], first: Sequence[Any]) -> Means:
        """Take in all rows of each router and the row that cuts, and return the answer."""

    def start(self, first: Sequence[Any]) -> None:
        """Begin the next epoch, whose first rows `ahead` and `cut` were given."""

    def close(self) -> None:
        """Release everything."""


class Standing:
    """The engine with one standing query, which is evaluated after each batch."""

    def __init__(self, query: EpochQuery, sql: str | None = None) -> None:
        self.engine = Engine(clock=ManualClock())
        for router in ROUTERS[: query.routers]:
            self.engine.sql(f"CREATE STREAM {router} ({COLUMNS}) TIME (ts)")
        self.query: ContinuousQuery = self.engine.continuous_query(sql or query.standing)
        self._last = ROUTERS[query.routers - 1]

    def received(self, rows: pa.Table) -> pa.Table:
        return rows

    def arrive(self, router: int, rows: pa.Table) -> None:
        self.engine.append(ROUTERS[router], rows)
        self.engine.run(1)

    def ahead(self, first: pa.Table) -> None:
        self.arrive(0, first)

    def cut(self, first: pa.Table) -> Means:
        self.engine.append(self._last, first)
        [result] = self.query.results()
        assert result.error is None, result.error
        return means(result.table)

    def at_once(self, chunks: Sequence[pa.Table], first: Sequence[pa.Table]) -> Means:
        *others, (last, cut) = zip(chunks, first, strict=True)
        for each in others:
            self.arrive(0, pa.concat_tables(each))
        return self.cut(pa.concat_tables([last, cut]))

    def start(self, first: Sequence[pa.Table]) -> None:
        """Do nothing: it has these rows."""

    def close(self) -> None:
        self.engine.close()


class Chunkwise(Protocol):
    """Answers a query over the rows that it was given since it started."""

    def received(self, rows: pa.Table) -> Any:
        """Return rows in the form in which they arrive here."""

    def arrive(self, router: int, rows: Any) -> None:
        """Take in rows of the present epoch."""

    def answer(self) -> Means:
        """Return the answer."""

    def start(self, first: Sequence[Any]) -> None:
        """Begin the next epoch with the first row of each router."""


class Told:
    """Something that is told when an epoch ends, and need not find out."""

    def __init__(self, chunks: Chunkwise) -> None:
        self._chunks = chunks
        self.received = chunks.received
        self.arrive = chunks.arrive
        self.start = chunks.start

    def ahead(self, first: object) -> None:
        """Do nothing: `start` has the row too."""

    def cut(self, first: object) -> Means:
        return self._chunks.answer()

    def at_once(self, chunks: Sequence[Any], first: Sequence[Any]) -> Means:
        for router, rows in enumerate(chunks):
            self.arrive(router, rows)
        return self._chunks.answer()

    def close(self) -> None:
        """Do nothing: all of it goes with the object."""


class TemporaryTables:
    """DuckDB with one thread: per epoch a temporary table for each chunk, a query, and DROP.

    All of it is done after the cut: CREATE TEMP TABLE with the whole chunk, the query and DROP.
    With `narrow`, the tables have only the columns that the query needs.
    """

    def __init__(self, query: EpochQuery, *, narrow: bool = False) -> None:
        self._duck = duckdb.connect(config={"threads": 1})
        self._query = query
        self._columns = f"{query.needed}, ts" if narrow else "*"
        self._chunks: list[list[pa.Table]] = [[] for _ in range(query.routers)]

    def received(self, rows: pa.Table) -> pa.Table:
        return rows

    def arrive(self, router: int, rows: pa.Table) -> None:
        self._chunks[router].append(rows)

    def answer(self) -> Means:
        for router, chunk in zip(ROUTERS, self._chunks, strict=False):
            self._duck.register("chunk", pa.concat_tables(chunk))
            create = f"CREATE TEMP TABLE {router} AS SELECT {self._columns} FROM chunk"
            self._duck.execute(create).fetchall()
        answer = means(self._duck.sql(self._query.once).to_arrow_table())
        for router, _ in zip(ROUTERS, self._chunks, strict=False):
            self._duck.execute(f"DROP TABLE {router}").fetchall()
        return answer

    def start(self, first: Sequence[pa.Table]) -> None:
        self._chunks = [[rows] for rows in first]


class FilledTables:
    """The same, with rows inserted as they arrive: only the query is left to do after the cut."""

    def __init__(self, query: EpochQuery) -> None:
        self._duck = duckdb.connect(config={"threads": 1})
        self._query = query
        self._create()

    def received(self, rows: pa.Table) -> pa.Table:
        return rows

    def arrive(self, router: int, rows: pa.Table) -> None:
        self._duck.register("chunk", rows)
        self._duck.execute(f"INSERT INTO {ROUTERS[router]} FROM chunk").fetchall()

    def answer(self) -> Means:
        return means(self._duck.sql(self._query.once).to_arrow_table())

    def start(self, first: Sequence[pa.Table]) -> None:
        for router in ROUTERS[: self._query.routers]:
            self._duck.execute(f"DROP TABLE {router}").fetchall()
        self._create()
        for number, rows in enumerate(first):
            self.arrive(number, rows)

    def _create(self) -> None:
        for router in ROUTERS[: self._query.routers]:
            self._duck.execute(f"CREATE TEMP TABLE {router} ({COLUMNS})").fetchall()


class Polars:
    """A polars join of both chunks after the cut, by as many threads as it likes."""

    def __init__(self) -> None:
        self._chunks: list[list[pl.DataFrame]] = [[], []]

    def received(self, rows: pa.Table) -> pl.DataFrame:
        found = pl.from_arrow(rows)
        assert isinstance(found, pl.DataFrame)
        return found

    def arrive(self, router: int, rows: pl.DataFrame) -> None:
        self._chunks[router].append(rows)

    def answer(self) -> Means:
        one, two = (pl.concat(chunk).lazy() for chunk in self._chunks)
        minute = (pl.col("ts").dt.epoch("s") // MINUTE).alias("minute")
        mean = (pl.col("trt_right") - pl.col("trt")).mean().alias("mean")
        found = one.join(two, on="pid").group_by(minute).agg(mean).collect()
        return dict(found.iter_rows())

    def start(self, first: Sequence[pl.DataFrame]) -> None:
        self._chunks = [[rows] for rows in first]


def means(table: pa.Table) -> Means:
    """Return the answer of an epoch by minute."""
    minutes, values = (column.to_pylist() for column in table.columns)
    return {int(minute): value for minute, value in zip(minutes, values, strict=True)}
