"""Engines with views that are saved and restored, and answers in a form that is easy to compare."""

from __future__ import annotations

import gc
from contextlib import ExitStack
from pathlib import Path

import pyarrow as pa

from upstream import ContinuousView, Engine, ManualClock
from upstream.errors import QueryError

SUMS = "SELECT k, sum(x) AS n FROM bids GROUP BY k"
VIEWS = {
    "sums": "SELECT k, sum(x) AS n, count(*) AS c, max(x) AS m FROM bids GROUP BY k",
    "totals": "SELECT count(*) AS c, sum(f) AS s, min(note) AS n FROM bids",
    "floats": "SELECT k, sum(f) AS s, avg(f) AS a, stddev_pop(f) AS d FROM bids GROUP BY k",
    "texts": "SELECT k, min(note) AS s, max(note) AS m, arg_max(note, x) a FROM bids GROUP BY k",
    "different": "SELECT k, count(DISTINCT x) AS n FROM bids GROUP BY k",
    "best": "SELECT k, x, note FROM bids"
    " QUALIFY row_number() OVER (PARTITION BY k ORDER BY x DESC, note, f) <= 2",
    "newest": "SELECT k, sum(x) AS n, sum(f) AS s FROM latest(bids) GROUP BY k",
    "runs": "SELECT note, sum(x) AS n FROM latest(bids, rows => 2, per => note) GROUP BY note",
    "expiring": "SELECT count(*) AS c, sum(x) AS n"
    " FROM latest(bids, rows => 2, expire_after => INTERVAL '5 seconds')",
    "joined": "SELECT k, sum(x * v) AS n FROM bids JOIN names USING (k) GROUP BY k",
    "streams": "SELECT k, n, m FROM (SELECT k, sum(x) AS n FROM bids GROUP BY k)"
    " JOIN (SELECT k, max(x) AS m FROM asks GROUP BY k) USING (k)",
    "roads": "SELECT k, l.x, n FROM latest(bids) l"
    " JOIN (SELECT k, sum(x) AS n FROM bids GROUP BY k) USING (k)",
    "casts": "SELECT k, sum(note::INT) AS n FROM bids GROUP BY k",
}
SCHEMA = pa.schema(
    {"k": pa.string(), "x": pa.int64(), "f": pa.float64(), "note": pa.string()}.items()
)


def made(stack: ExitStack, at: float = 0.0) -> Engine:
    """Return an engine with two streams and a table."""
    engine = stack.enter_context(Engine(clock=ManualClock(at)))
    for name in ("bids", "asks"):
        engine.sql(f"CREATE STREAM {name} (k TEXT, x BIGINT, f DOUBLE, note TEXT) KEY (k)")
    engine.sql("CREATE TABLE names AS SELECT chr(97 + range::INT) AS k, range AS v FROM range(3)")
    return engine


def feed(engine: Engine, *rows: tuple[object, ...], stream: str = "bids") -> None:
    """Append rows of a key, a number and more."""
    if not rows:
        return
    full = [(*row, *(1, 0.0, "1")[len(row) - 1 :]) for row in rows]
    columns = zip(zip(*full, strict=True), SCHEMA.types, strict=True)
    arrays = [pa.array(column, kind) for column, kind in columns]
    engine.append(stream, pa.Table.from_arrays(arrays, schema=SCHEMA))


def answer(engine: Engine, name: str = "v") -> list[str] | str:
    """Return the rows of a view exactly, in any order, or the reason why it has none."""
    try:
        return sorted(map(repr, engine.view(name).table().to_pylist()))
    except QueryError as error:
        return error.reason


def saved(engine: Engine, path: Path, query: str = SUMS) -> ContinuousView:
    """Create the view `v`, feed it, and save it."""
    engine.sql(f"CREATE VIEW v AS {query}")
    feed(engine, ("a", 1), ("b", 2))
    engine.view("v").save(path / "v")
    return engine.view("v")


def lent(engine: Engine) -> tuple[int, int, int]:
    """Return how many tables are lent, how many are our own, and the readers of streams."""
    gc.collect()
    engine._duck._relations.sweep()
    views = engine._duck.rows("SELECT view_name FROM duckdb_views() WHERE NOT internal")
    own = engine._duck.rows(
        "SELECT table_name FROM duckdb_tables() WHERE starts_with(table_name, '__')"
    )
    logs = [entry.log for entry in engine._catalogue.streams.values()]
    return len(views), len(own), sum(len(log._readers) for log in logs)
