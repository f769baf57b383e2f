"""Whatever an engine is given, nothing but the library's own errors leaves it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import partial
from typing import Final

import numpy as np
import pyarrow as pa
import pytest

from upstream import ContinuousQuery, Engine, ManualClock, UpStreamError
from upstream.queries.choices import Semantics, Way

WAYS: Final[tuple[Way, ...]] = ("increments", "whole")
SEMANTICS: Final[tuple[Semantics, ...]] = ("append", "update")

DEEP = 10_000
STATEMENTS = [
    *("", " ", ";", ";;", "-- nothing", "/* nothing */", "/* not closed", "-- s\n;"),
    *("\0", "SELECT '\0'", "SELECT \0 FROM s", 'SELECT "\0" FROM s', "FROM s\0"),
    *("\ud800", "SELECT '\udfff' AS t FROM s", 'SELECT 1 AS "\ud800" FROM s', "FROM \udc00"),
    *("SELECT 1; SELECT 2", "SELECT n FROM s; DROP TABLE t", "'", '"', "$$", "`s`", "🦆", "ﬀ"),
    "SELECT " + "(" * DEEP + "1" + ")" * DEEP,
    "SELECT n FROM s WHERE " + "(" * DEEP + "n" + ")" * DEEP + " > 1",
    "SELECT " + "[" * DEEP + "1" + "]" * DEEP + " FROM s",
    "SELECT " + "-" * DEEP + "1 FROM s",
    "SELECT " + "NOT " * DEEP + "true FROM s",
    "SELECT " + "abs(" * DEEP + "n" + ")" * DEEP + " FROM s",
    "FROM " + "(FROM " * DEEP + "s" + ")" * DEEP,
    "SELECT n" + " + n" * 500 + " FROM s",
    "SELECT CASE WHEN " * 1_000 + "1",
    "(" * DEEP,
    "SELECT " + "9" * 5_000 + " FROM s",
    "SELECT 1e999999999 AS x FROM s",
    "SELECT -1e-999999999 AS x FROM s",
    "SELECT 99999999999999999999999999999999999999999::HUGEINT AS x FROM s",
    "SELECT n FROM s LIMIT 1e30",
    "SELECT n FROM s LIMIT -1",
    "SELECT sum(n) AS n FROM rows(s, 99999999999999999999, 1)",
    "SELECT sum(n) AS n FROM rows(s, -1, 0)",
    "SELECT sum(n) AS n FROM rows(s, NULL, NULL)",
    "SELECT sum(n) AS n FROM tumble(s, INTERVAL '99999999999 years')",
    "SELECT sum(n) AS n FROM tumble(s, INTERVAL 'x')",
    "SELECT sum(n) AS n FROM tumble(s, 1e308)",
    "SELECT sum(n) AS n FROM tumble(s, 0)",
    "SELECT sum(n) AS n FROM hop(s, 10, (SELECT 1))",
    "SELECT sum(n) AS n FROM hop()",
    "SELECT sum(n) AS n FROM landmark(landmark(s))",
    "SELECT max(union_value(a := n)) AS u FROM landmark(s)",
    "SELECT unnest(max({'a': time, 'b': n}), recursive := true) FROM landmark(s)",
    "SELECT unnest(max({'a': time, 'b': n}), recursive := true) FROM tumble(s, 10)",
    "SELECT max(union_value(a := n)) AS u FROM tumble(s, 10)",
    "SELECT n, n, n AS n FROM s",
    "SELECT sum(n) AS n, max(n) AS n FROM landmark(s)",
    "SELECT * EXCLUDE (k, time, n, note) FROM s",
    "SELECT COLUMNS('nothing') FROM s",
    "SELECT sum(sum(n)) FROM landmark(s)",
    "SELECT note::INT AS i FROM s",
    "SELECT error('mine') AS e FROM s",
    "SELECT error('\ud800') AS e FROM s",
    "SELECT getvariable('x') FROM s",
    "SELECT $1 FROM s",
    "SELECT ? FROM s",
    "SELECT n FROM s WHERE n = :x",
    "WITH RECURSIVE r AS (SELECT 1 UNION ALL SELECT 1 FROM r, s) SELECT * FROM r LIMIT 1",
    "WITH s AS (FROM s) SELECT sum(n) AS n FROM s",
    "SELECT n FROM s AT (VERSION => 1)",
    "SELECT * FROM s POSITIONAL JOIN landmark(s)",
    "FROM s PIVOT (sum(n) FOR k IN ('a'))",
    "PIVOT s ON k USING sum(n)",
    "UNPIVOT s ON n INTO NAME a VALUE b",
    "SELECT sum(n) OVER (ORDER BY time RANGE 1e400 PRECEDING) AS w FROM tumble(s, 10)",
    "CREATE STREAM",
    'CREATE STREAM "" ("" INT)',
    "CREATE STREAM s2 (n INT, N INT)",
    "CREATE STREAM s2 (n NOTHING(1, 2))",
    "CREATE STREAM s2 (n DECIMAL(99, 99))",
    "CREATE STREAM s2 (n INT) KEY (n) KEY (n) TIME (n) TIME (n)",
    "DROP STREAM nothing",
    "DROP TABLE s",
    "ALTER TABLE s ADD COLUMN x INT",
    "INSERT INTO s",
    "INSERT INTO s VALUES ()",
    "INSERT INTO s VALUES ('a', 1, 99999999999999999999999999, 'x')",
    "INSERT INTO s VALUES ('\ud800', 1, 1, '\0')",
    "INSERT INTO s SELECT * FROM s RETURNING *",
    "INSERT INTO s (k, k) VALUES ('a', 'b')",
    "UPDATE s SET n = 1",
    "DELETE FROM s",
    "BEGIN",
    "COMMIT",
    "EXECUTE nothing",
    "PREPARE p AS SELECT $1",
    "PRAGMA nothing",
    "SET nothing = 1",
    "INSTALL spatial",
    "LOAD '/nothing'",
    "ATTACH '/nothing/at/all.db'",
    "COPY s TO '/nothing/at/all.csv'",
    "SELECT * FROM '/nothing/at/all.parquet'",
    "USE nothing",
    "EXPLAIN EXPLAIN SELECT 1",
    "DESCRIBE nothing",
    "SHOW nothing",
]


class Odd:
    """A value that no column has a type for, and that cannot even be shown."""

    def __repr__(self) -> str:
        raise ValueError("odd")


VALUES: list[object] = [
    *(None, 1, "rows", b"rows", object(), Odd(), [], {}, (), set(), iter([])),
    *([1], [None], [[]], [{}], [{"k": "a"}, 1], {"n": 1}, {"n": object()}, {1: [1]}, {"": [1]}),
    [{"k": Odd(), "time": 1, "n": 1, "note": ""}],
    [{"k": "a", "time": 10**30, "n": 1, "note": ""}],
    [{"k": "a", "time": 1, "n": 10**30, "note": ""}],
    [{"k": "a", "time": float("nan"), "n": float("inf"), "note": ""}],
    [{"k": "\ud800", "time": 1, "n": 1, "note": "\0"}],
    [{"k": None, "time": None, "n": None, "note": None}],
    [{"k": [], "time": {}, "n": (), "note": dt.date(1, 1, 1)}],
    [{"k": "a", "time": Decimal("1e50"), "n": Decimal("nan"), "note": 1j}],
    {"k": ["a"], "time": [1, 2], "n": [], "note": ["x"]},
    {"k": ["a"], "time": [1], "n": [1], "note": ["x"], "\ud800": [1]},
    {"k": np.array([["a"]]), "time": np.array(1), "n": np.array([1j]), "note": np.array([])},
    pa.table({"k": pa.nulls(1), "time": [1], "n": [[1]], "note": [b"\xff"]}),
    pa.table([[1], [2]], names=["n", "n"]),
    pa.table({}),
    pa.schema([("n", pa.int64())]),
    np.zeros((2, 2)),
]

STANDING = [
    *("SELECT note::INT AS i FROM s", "SELECT error(note) AS e FROM s", "SELECT n + n AS n FROM s"),
    "SELECT sum(note::INT) AS i FROM tumble(s, 10)",
    "SELECT sum(n) AS n, sum(n * n) AS squares FROM hop(s, 20, 10)",
    "SELECT sum(n) AS n FROM landmark(s)",
    "SELECT k, max(n) AS n FROM rows(s, 2, 1) GROUP BY k HAVING max(n) > 1",
    "SELECT (SELECT n FROM tumble(s, 10)) AS one FROM tumble(s, 10)",
    "SELECT repeat(note, n) AS r FROM tumble(s, 10) ORDER BY note::INT",
    "SELECT a.n // b.n AS d FROM tumble(s, 10) a JOIN tumble(s, 10) b USING (k)",
    "SELECT sum(n) + (SELECT total FROM t) AS n FROM tumble(s, 10)",
    "SELECT make_timestamp(n) AS at, to_days(n::INT) AS d FROM tumble(s, 10)",
]
MOST, LEAST = 2**63 - 1, -(2**63)
ROWS = [
    {"k": k, "time": time, "n": n, "note": note}
    for time, (k, n, note) in enumerate(
        [
            *(("a", 0, ""), ("a", MOST, "x"), ("b", LEAST, "\0"), ("", None, None)),
            *(("b", MOST, "1"), ("b", MOST, "🦆"), ("c", LEAST, "1e999"), ("c", LEAST, "NaN")),
        ]
        * 5
    )
]


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(clock=ManualClock(), files=False) as engine:
        engine.sql("CREATE STREAM s (k TEXT, time BIGINT, n BIGINT, note TEXT) KEY (k) TIME (time)")
        engine.sql("CREATE TABLE t (total HUGEINT)")
        yield engine


def foreign(act: Callable[[], object]) -> str | None:
    """Return an error that is not of this library; None if there is none."""
    try:
        act()
    except UpStreamError as error:
        return None if str(error) else "an error without a message"
    except Exception as error:  # noqa: BLE001  # what must not leave
        return repr(error)[:200]
    return None


def found(what: str, act: Callable[[], object]) -> list[str]:
    error = foreign(act)
    return [] if error is None else [f"{what[:80]!a}: {error}"]


def test_no_statement_raises_a_foreign_error(engine: Engine) -> None:
    def stand(text: str, semantics: Semantics) -> None:
        with engine.continuous_query(text, semantics) as query:
            engine.append("s", ROWS[:20])
            read(query)

    faults = []
    for i, text in enumerate(STATEMENTS):
        how = SEMANTICS[i % 2]
        faults += found(text, partial(engine.sql, text))
        faults += found(text, partial(stand, text, how))
    assert faults == []
    assert engine.sql("SELECT count(*) AS n FROM t").to_pylist() == [{"n": 0}]


def test_no_appended_value_raises_a_foreign_error(engine: Engine) -> None:
    faults = []
    for i, value in enumerate(VALUES):
        faults += found(f"value {i}", partial(engine.append, "s", value))
    assert faults == []
    assert engine.append("s", ROWS) == len(ROWS)


def test_no_standing_query_raises_a_foreign_error(engine: Engine) -> None:
    faults = []
    for text in STANDING:
        for how in WAYS:
            with engine.continuous_query(text, evaluation=how) as query:
                for start in range(0, len(ROWS), 8):
                    engine.append("s", ROWS[start : start + 8])
                    faults += found(text, partial(read, query))
    assert faults == []


def read(query: ContinuousQuery) -> None:
    try:
        query.results()
    finally:
        query.ask()
