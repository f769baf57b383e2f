"""Standing queries of each kind, and what DuckDB and sqlglot do while they are planned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import duckdb
import pytest
from sqlglot.expressions import Expression
from sqlglot.generator import Generator
from sqlglot.parser import Parser

from tests.benchmarks.paper_queries import query_1, query_2, query_3
from upstream import Engine, ManualClock

DEFINITIONS = (
    "CREATE STREAM trades (time TIMESTAMP, symbol TEXT, price DOUBLE, size BIGINT) KEY (symbol)",
    "CREATE STREAM quotes (time TIMESTAMP, symbol TEXT, bid DOUBLE, ask DOUBLE) KEY (symbol)",
    "CREATE STREAM stream1 (x1 BIGINT, x2 BIGINT)",
    "CREATE STREAM stream2 (x1 BIGINT, x2 BIGINT)",
)
HOP = "hop(trades, INTERVAL '10 minutes', INTERVAL '1 minute')"
QUERIES = {
    "a group by": "SELECT symbol, avg(price) AS price"
    " FROM tumble(trades, INTERVAL '1 minute') GROUP BY symbol",
    "Q1": query_1().over_windows,
    "Q2": query_2().over_windows,
    "Q3": query_3().text.format("landmark(stream1)"),
    "row by row": "SELECT symbol, price * size AS value FROM trades WHERE price > 10",
    "a join": "SELECT t.symbol, t.price, q.bid FROM tumble(trades, INTERVAL '1 minute') t"
    " JOIN tumble(quotes, INTERVAL '1 minute') q USING (symbol)",
    "top five": f"SELECT symbol, price FROM {HOP} ORDER BY price DESC LIMIT 5",
    "a subquery": f"SELECT symbol, total FROM (SELECT symbol, sum(size) AS total FROM {HOP}"
    f" GROUP BY symbol) WHERE total > (SELECT avg(size) FROM {HOP})",
    "latest": "SELECT symbol, price FROM latest(trades) ORDER BY price",
}


def engine() -> Engine:
    """Return an engine with the streams of the queries."""
    made = Engine(clock=ManualClock())
    for definition in DEFINITIONS:
        made.sql(definition)
    return made


class _Counted:
    """A connection that counts what it is asked."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, calls: Counter[str]) -> None:
        self._connection = connection
        self._calls = calls

    def __getattr__(self, name: str) -> object:
        found = getattr(self._connection, name)
        if name not in ("execute", "sql"):
            self._calls[name] += 1
            return found  # as it is: DuckDB's warnings are about the caller

        def counted(statement: object, *given: object) -> object:
            words = str(getattr(statement, "query", statement)).split()
            self._calls[words[0].lower()] += 1
            return found(statement, *given)

        return counted


@contextmanager
def counting() -> Iterator[Counter[str]]:
    """Count what new databases are asked, by the first word, and trees by what sqlglot does."""
    calls: Counter[str] = Counter()
    connect = duckdb.connect

    def counted(kind: type, name: str) -> Callable[..., object]:
        original = getattr(kind, name)

        def call(self: object, *given: object, **named: object) -> object:
            calls[f"tree {name}"] += 1
            return original(self, *given, **named)

        return call

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(duckdb, "connect", lambda *a, **b: _Counted(connect(*a, **b), calls))
        for kind, name in ((Parser, "parse"), (Generator, "generate"), (Expression, "copy")):
            patch.setattr(kind, name, counted(kind, name))
        yield calls


def statements(calls: Counter[str]) -> int:
    """Return how many statements DuckDB was given."""
    return calls["select"] + calls["describe"] + calls["prepare"] + calls["extract_statements"]
