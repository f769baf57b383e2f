"""Ways to keep the answers of queries over a stream: views, and DuckDB's full evaluation.

Each is given the same tables, the same stream and the same queries, so each can be measured beside
the others. `chdb_views.py` has a third way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import thread_time
from typing import Protocol

import duckdb
import pyarrow as pa

from tests.benchmarks.tpch_rows import folder_of
from tests.queries.tpch import COLUMNS, RELATIONS, text
from upstream import Engine, ManualClock
from upstream.clock import Clock

Ask = Callable[[str], pa.Table]
"""Returns the result of a query, by its name."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Tables, each in a Parquet file, the columns of one stream, and queries over them by name."""

    tables: Mapping[str, Path]
    stream: str
    columns: str
    queries: Mapping[str, str]


def tpch(*names: str, scale: float) -> Setting:
    """Return queries of TPC-H with lineitem as the stream; the other relations are tables."""
    others = [relation for relation in RELATIONS if relation != "lineitem"]
    tables = {relation: folder_of(scale) / f"{relation}.parquet" for relation in others}
    queries = {name: text(name) for name in names}
    return Setting(tables, "lineitem", COLUMNS["lineitem"], queries)


class System(Protocol):
    """A way to keep the answers of queries over a stream."""

    clock: Callable[[], float]
    """The processor time of all that the system does."""

    def insert(self, batch: pa.Table) -> None:
        """Add rows, and do the work that is done when rows arrive."""

    def put(self, batch: pa.Table) -> None:
        """Add rows as one of several threads."""

    def ask(self, name: str) -> pa.Table:
        """Return the result of a query."""

    def reader(self) -> Ask:
        """Return what a thread of its own asks by: a whole statement."""

    def close(self) -> None:
        """Release everything."""


class Views:
    """Each query is a view over the stream, with these options if there are any."""

    clock = staticmethod(thread_time)

    def __init__(self, setting: Setting, *, options: str = "", clock: Clock | None = None) -> None:
        self.engine = Engine(clock=ManualClock() if clock is None else clock)
        for name, path in setting.tables.items():
            self.engine.create_table(name, path)
        # with a key, the stream would keep the newest row of each
        self.engine.sql(f"CREATE STREAM {setting.stream} ({setting.columns})")
        for name, query in setting.queries.items():
            self.engine.sql(f"CREATE VIEW {name} {options} AS {query}")
        self._stream = setting.stream
        self._views = {name: self.engine._catalogue.views[name] for name in setting.queries}

    def insert(self, batch: pa.Table) -> None:
        """Append a batch, and take it into the partials."""
        self.engine.append(self._stream, batch)
        for view in self._views.values():
            view.evaluate()

    def put(self, batch: pa.Table) -> None:
        """Append a batch; it is taken in when there are many rows, or by a reader."""
        self.engine.append(self._stream, batch)

    def ask(self, name: str) -> pa.Table:
        return self._views[name].table()

    def reader(self) -> Ask:
        return lambda name: self.engine.sql(f"SELECT * FROM {name}")

    def close(self) -> None:
        self.engine.close()


class Deferred:
    """Rows go into a table, and a query is evaluated in full whenever it is asked."""

    clock = staticmethod(thread_time)

    def __init__(self, setting: Setting) -> None:
        self.duck = duckdb.connect(config={"threads": 1})
        for name, path in setting.tables.items():
            self.duck.execute(f"CREATE TABLE {name} AS FROM '{path}'")
        self.duck.execute(f"CREATE TABLE {setting.stream} ({setting.columns})")
        self._stream = setting.stream
        self._queries = setting.queries

    def insert(self, batch: pa.Table) -> None:
        self.duck.register("batch", batch)
        self.duck.execute(f"INSERT INTO {self._stream} FROM batch")

    put = insert

    def ask(self, name: str) -> pa.Table:
        """Evaluate the query."""
        return _narrowed(self.duck.sql(self._queries[name]).to_arrow_table())

    def reader(self) -> Ask:
        cursor = self.duck.cursor()
        return lambda name: _narrowed(cursor.sql(self._queries[name]).to_arrow_table())

    def close(self) -> None:
        self.duck.close()


def _narrowed(answer: pa.Table) -> pa.Table:
    """Return an answer in which sums of integers are int64, as they are in views."""
    wide = pa.decimal128(38, 0)
    fields = [each.with_type(pa.int64()) if each.type == wide else each for each in answer.schema]
    return answer.cast(pa.schema(fields))


def seconds(system: System, work: Callable[[], object]) -> float:
    """Return the processor time that some work of a system took."""
    start = system.clock()
    work()
    return system.clock() - start
