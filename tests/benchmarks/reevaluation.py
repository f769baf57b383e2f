"""What incremental evaluation is measured against: the whole window again at each slide.

This is the DataCell paper's DataCellR in its best forms: DuckDB over one piece of memory that holds
the window and is read where it lies, or over a table of its own; and polars over the former. The
statement is prepared once.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa

from tests.benchmarks.paper_queries import STREAMS, Query, Rows, draw

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


class Ring:
    """The newest rows of a stream, always in one piece.

    Behind the window there is room for as many rows again; only when it is used up are the rows
    moved to the front.
    """

    __slots__ = ("_columns", "_end", "_names", "_start", "_window")

    def __init__(self, window: int, like: pa.Table, room: int) -> None:
        self._names = like.column_names
        self._columns: list[NDArray[np.generic]] = [
            np.zeros(window + room, column.to_numpy().dtype) for column in like.columns
        ]
        self._window = window
        self._start = self._end = 0

    def append(self, rows: pa.Table) -> None:
        end = self._end + len(rows)
        if end > len(self._columns[0]):
            self._move_to_front(len(rows))
            end = self._end + len(rows)
        for column, new in zip(self._columns, rows.columns, strict=True):
            column[self._end : end] = new.to_numpy()
        self._end = end
        self._start = max(self._start, end - self._window)

    def _move_to_front(self, coming: int) -> None:
        start = max(self._start, self._end + coming - self._window)
        for column in self._columns:
            column[: self._end - start] = column[start : self._end].copy()
        self._start, self._end = 0, self._end - start

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return the window's columns, which are not copied."""
        columns = (column[self._start : self._end] for column in self._columns)
        return dict(zip(self._names, columns, strict=True))


class ByArrow:
    """DuckDB over memory that is lent to it."""

    __slots__ = ("_connection", "_lent", "_query", "_rings", "_run", "_window")

    def __init__(self, query: Query, *, threads: int = 1, most_rows: int | None = None) -> None:
        self._query = query
        self._window = most_rows or query.window
        self._rings: list[Ring] = []
        self._lent = [Lent() for _ in range(query.streams)]
        self._connection = duckdb.connect(config={"threads": threads})

    def fill(self, rows: Rows) -> None:
        room = min(max(self._window, 64 * self._query.step), 2_000_000)
        self._rings = [Ring(self._window, table, room) for table in rows]
        self.append(rows)
        for name, lent in zip(STREAMS, self._lent, strict=False):
            self._connection.register(name, lent)
        self._run = prepared(self._connection, self._query)

    def slide(self, rows: Rows) -> pa.Table:
        self.append(rows)
        return self._run()

    def append(self, rows: Rows) -> None:
        for ring, lent, new in zip(self._rings, self._lent, rows, strict=True):
            ring.append(new)
            lent.table = pa.table(ring.arrays())

    def close(self) -> None:
        self._connection.close()


class Lent:
    """What DuckDB reads under a stream's name."""

    __slots__ = ("table",)

    def __init__(self) -> None:
        self.table = pa.table({})

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


class ByTable:
    """DuckDB over tables of its own, from which old rows are deleted.

    Rows are numbered, since DuckDB gives others their `rowid` once enough of them are gone.
    """

    __slots__ = ("_connection", "_counts", "_new", "_query", "_run")

    def __init__(self, query: Query, *, threads: int = 1) -> None:
        self._query = query
        self._connection = duckdb.connect(config={"threads": threads})
        self._new = Lent()
        self._counts = [0] * query.streams

    def fill(self, rows: Rows) -> None:
        for number, (name, table) in enumerate(zip(STREAMS, rows, strict=False)):
            self._new.table = self._numbered(number, table)
            self._connection.register("filling", self._new)
            self._connection.execute(f"CREATE TABLE {name} AS FROM filling").fetchall()
        self._connection.register("coming", self._new)
        self._run = prepared(self._connection, self._query)

    def slide(self, rows: Rows) -> pa.Table:
        for number, (name, table) in enumerate(zip(STREAMS, rows, strict=False)):
            self._new.table = self._numbered(number, table)
            self._connection.execute(f"INSERT INTO {name} FROM coming").fetchall()
            oldest = self._counts[number] - self._query.window
            delete = f"DELETE FROM {name} WHERE number < {oldest}"
            self._connection.execute(delete).fetchall()
        return self._run()

    def close(self) -> None:
        self._connection.close()

    def _numbered(self, stream: int, rows: pa.Table) -> pa.Table:
        first = self._counts[stream]
        self._counts[stream] += len(rows)
        return rows.append_column("number", [np.arange(first, first + len(rows))])


def prepared(connection: duckdb.DuckDBPyConnection, query: Query) -> Callable[[], pa.Table]:
    """Prepare a query in SQL: nothing is faster, since only so is it planned no more than once."""
    connection.execute(f"PREPARE again AS {query.over_tables}").fetchall()
    [statement] = connection.extract_statements("EXECUTE again")

    def run() -> pa.Table:
        with warnings.catch_warnings():  # that it copies the result, which is small
            warnings.simplefilter("ignore")
            return connection.execute(statement).to_arrow_table()

    return run


class OneStep:
    """DuckDB over the rows of a slide alone: less than this no evaluation can do."""

    __slots__ = ("_connection", "_lent", "_run")

    def __init__(self, query: Query) -> None:
        self._connection = duckdb.connect(config={"threads": 1})
        self._lent = [Lent() for _ in range(query.streams)]
        for name, lent in zip(STREAMS, self._lent, strict=False):
            lent.table = draw(query, 0, seed=1)
            self._connection.register(name, lent)
        self._run = prepared(self._connection, query)

    def fill(self, rows: Rows) -> None:
        """Do nothing: what was before a step is of no concern to it."""

    def slide(self, rows: Rows) -> pa.Table:
        for lent, table in zip(self._lent, rows, strict=True):
            lent.table = table
        return self._run()

    def close(self) -> None:
        self._connection.close()


class ByPolars:
    """polars over the same memory, with as many threads as it likes."""

    __slots__ = ("_ask", "_query", "_rings")

    def __init__(self, query: Query) -> None:
        self._query = query
        self._ask = polars_of(query)
        self._rings: list[Ring] = []

    def fill(self, rows: Rows) -> None:
        self._rings = [Ring(self._query.window, table, 2_000_000) for table in rows]
        self._append(rows)

    def slide(self, rows: Rows) -> pa.Table:
        self._append(rows)
        frames = [pl.LazyFrame(ring.arrays()) for ring in self._rings]
        return self._ask(*frames).collect().to_arrow()

    def close(self) -> None:
        """Do nothing: polars has nothing to close."""

    def _append(self, rows: Rows) -> None:
        for ring, new in zip(self._rings, rows, strict=True):
            ring.append(new)


def polars_of(query: Query) -> Callable[..., pl.LazyFrame]:
    """Return Q1 or Q2 as polars asks it."""
    if query.streams == 2:
        return lambda one, two: one.join(two, on="x2").select(
            pl.col("x1").max().alias("greatest"), pl.col("x1_right").mean().alias("mean")
        )
    least = int(query.text.split("x1 > ")[1].split()[0])
    return lambda one: (
        one.filter(pl.col("x1") > least).group_by("x1").agg(pl.col("x2").sum().alias("total"))
    )
