"""Views beside the truth: the same query by DuckDB, over tables of all rows that came.

A view is created in an engine and, under the same name, in a plain database of DuckDB. There a
stream is a table of all its rows since it was made, and `newest_trades` stands for
`latest(trades)`. So one text in two databases says what a view over streams, tables and other views
has to return.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random

import duckdb
import pyarrow as pa

from upstream import ManualClock
from upstream.engine import Engine

from .comparison import difference, handed_out

Row = tuple[object, ...]
LATEST = re.compile(r"latest\((\w+)\)")
ABSOLUTE = 1e-9
STREAMS = {
    "trades": pa.schema(
        [
            ("time", pa.int64()),
            ("k", pa.string()),
            ("g", pa.int32()),
            ("x", pa.int64()),
            ("y", pa.float64()),
            ("note", pa.string()),
        ]
    ),
    "orders": pa.schema(
        [("time", pa.int64()), ("k", pa.string()), ("g", pa.int32()), ("lots", pa.int32())]
    ),
    "beats": pa.schema([("n", pa.int32()), ("k", pa.string())]),
}
"""The streams: the first two have the key k and a time, and the last has neither."""
TABLES = (
    "CREATE TABLE sectors (k TEXT, sector TEXT, weight INTEGER)",
    "INSERT INTO sectors VALUES ('a', 'tech', 2), ('b', 'food', 3), ('b', 'tech', NULL)",
    "CREATE TABLE rates (k TEXT, rate INTEGER)",
    "INSERT INTO rates VALUES ('a', 2), ('b', 3), ('c', 5), ('c', 7), (NULL, 11)",
)
"""Only `rates` may be read below a stream, since the rows of `sectors` change."""
CHANGES = (
    "INSERT INTO sectors VALUES ('c', 'food', 4)",
    "INSERT INTO sectors VALUES (NULL, NULL, NULL)",
    "UPDATE sectors SET weight = weight + 1 WHERE sector = 'tech'",
    "DELETE FROM sectors WHERE k = 'a'",
)
VIEWS = {
    "by_k": "SELECT k, sum(x) AS s, count(*) AS n FROM trades GROUP BY k",
    "by_lots": "SELECT k, g, max(lots) AS lots FROM orders GROUP BY k, g",
    "newest": "SELECT k, g, x FROM latest(trades) AS t",
}
"""Views that other views read."""


@dataclass(frozen=True, slots=True)
class Append:
    """Rows arrive in a stream."""

    stream: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """A statement changes the rows of an ordinary table."""

    text: str


Step = Append | Change


@cache
def shapes() -> dict[str, str]:
    """Return the queries of `view_shapes.sql` by name."""
    text = Path(__file__).with_name("view_shapes.sql").read_text(encoding="utf-8")
    _, *parts = text.split("\n\n")
    found = dict(part.removeprefix("-- ").split("\n", 1) for part in parts)
    assert len(found) == len(parts)
    return found


def random_step(random: Random) -> Step:
    """Return rows of a stream, some of them late, or a change of `sectors`."""
    stream = random.choice(["trades", "trades", "orders", "beats", ""])
    if not stream:
        return Change(random.choice(CHANGES))
    names = STREAMS[stream].names
    count = random.choice([0, 1, 2, 5, 9])
    return Append(stream, tuple(tuple(_value(random, n) for n in names) for _ in range(count)))


def _value(random: Random, column: str) -> object:
    if column == "time":
        return random.randint(0, 20)
    if column == "k":
        return random.choice(["a", "b", "c", "A"])
    if random.random() < 0.15:
        return None
    if column == "note":
        return random.choice(["p", "q", "P", "é"])
    if column == "y":
        return random.randint(-40, 80) / 4
    return random.randint(0, 2) if column == "g" else random.randint(-3, 9)


@dataclass
class Truth:
    """An engine with views, and a plain database with the same views over all rows."""

    engine: Engine = field(default_factory=lambda: Engine(clock=ManualClock()))
    plain: duckdb.DuckDBPyConnection = field(
        default_factory=lambda: duckdb.connect(config={"threads": 1})
    )
    newest: dict[str, dict[object, Row]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, schema in STREAMS.items():
            self.plain.register("rows_of_schema", schema.empty_table())
            self.plain.execute(f"CREATE TABLE {name} AS FROM rows_of_schema")
            self.plain.execute(f"CREATE TABLE newest_{name} AS FROM rows_of_schema")
            columns = ", ".join(f"{field.name} {self._type(field.type)}" for field in schema)
            clauses = "KEY (k) TIME (time)" if "time" in schema.names else ""
            self.engine.sql(f"CREATE STREAM {name} ({columns}) {clauses}")
            self.newest[name] = {}
        for statement in TABLES:
            self.take(Change(statement))

    def close(self) -> None:
        """Close both."""
        self.engine.close()
        self.plain.close()

    def create(self, name: str, query: str) -> None:
        """Create a view in both; raise QueryError if the engine refuses it."""
        self.engine.sql(f"CREATE VIEW {name} AS {query}")
        truth = LATEST.sub(r"newest_\1", query)
        self.plain.execute(f"CREATE VIEW {name} AS {truth}")

    def forget(self) -> None:
        """Forget all rows but the newest: views that are created now do not read the others."""
        for name in STREAMS:
            self.plain.execute(f"DELETE FROM {name}")

    def take(self, step: Step) -> None:
        """Let a step happen in both."""
        if isinstance(step, Change):
            self.engine.sql(step.text)
            self.plain.execute(step.text)
            return
        schema = STREAMS[step.stream]
        self.engine.append(step.stream, self._table(schema, step.rows))
        self._insert(step.stream, self._table(schema, step.rows))
        newest, has_times = self.newest[step.stream], "time" in schema.names
        for row in step.rows:
            key = row[1] if has_times else None
            if key in newest and has_times and _time(row) < _time(newest[key]):
                continue
            newest[key] = row
        self.plain.execute(f"DELETE FROM newest_{step.stream}")
        self._insert(f"newest_{step.stream}", self._table(schema, newest.values()))

    def differences(self, names: Sequence[str]) -> list[str]:
        """Compare views with the truth, and say how they differ."""
        found = []
        for name in names:
            expected = handed_out(self.plain.sql(f"FROM {name}"))
            given = self.engine.sql(f"SELECT * FROM {name}")
            told = difference(expected, given, is_ordered=False, absolute=ABSOLUTE)
            if told:
                found.append(f"{name}: {told}")
        return found

    def _insert(self, table: str, rows: pa.Table) -> None:
        self.plain.register("rows_of_step", rows)
        self.plain.execute(f"INSERT INTO {table} FROM rows_of_step")

    @staticmethod
    def _table(schema: pa.Schema, rows: Iterable[Row]) -> pa.Table:
        names = schema.names
        columns = list(zip(*rows, strict=True)) or [()] * len(names)
        return pa.table(dict(zip(names, columns, strict=True)), schema=schema)

    @staticmethod
    def _type(kind: pa.DataType) -> str:
        names = {"int64": "BIGINT", "int32": "INTEGER", "double": "DOUBLE", "string": "TEXT"}
        return names[str(kind)]


def _time(row: Row) -> int:
    """Return the time of a row, which is its first value."""
    assert isinstance(row[0], int)
    return row[0]
