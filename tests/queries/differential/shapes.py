"""Shapes of queries over one stream: incrementally, whole, and by DuckDB over the same rows.

Queries of a family stand side by side in one engine. Each result of each is compared with what
DuckDB answers directly over the rows of its window.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from random import Random

import duckdb
import pyarrow as pa

from upstream import ManualClock
from upstream.engine import Engine
from upstream.errors import UnboundedQueryError
from upstream.queries.choices import Way
from upstream.queries.continuous_query import ContinuousQuery
from upstream.queries.results.backlog import Result

from .comparison import difference, handed_out

WAYS: tuple[Way, ...] = ("increments", "whole")
LASTING = ("landmark(s)",)
"""Windows whose end is the newest time, and which have one way only."""
WINDOWS = ("hop(s, 2, 1)", *LASTING)
STEPS = 4


@dataclass(frozen=True)
class Family:
    """Templates of queries over a stream `s`, which each reads as {0}.

    `columns` defines the stream beside its `time`, and `rows` makes so many rows of a step.
    `setup` runs in the engine and in DuckDB. The `incremental` ones are to keep no rows and stand
    on a landmark; the `kept` ones need not.
    """

    columns: str
    rows: Callable[[Random, int], dict[str, pa.Array]]
    incremental: Sequence[str] = ()
    kept: Sequence[str] = ()
    setup: Sequence[str] = ()
    windows: Sequence[str] = WINDOWS


@dataclass
class Standing:
    """A query that stands, and what is wrong with its results."""

    template: str
    window: str
    way: Way
    query: ContinuousQuery
    results: list[Result] = field(default_factory=list)


def problems(family: Family) -> list[str]:
    """Return what differs between the ways, in words."""
    engine = Engine(clock=ManualClock())
    connection = duckdb.connect(config={"threads": 1})
    for statement in family.setup:
        engine.sql(statement)
        connection.execute(statement)
    engine.sql(f"CREATE STREAM s (time BIGINT, {family.columns}) TIME (time)")
    try:
        found: list[str] = []
        standing = list(_standing(engine, family, found))
        rows = _feed(engine, family, standing)
        return [*found, *_differences(standing, rows, connection)]
    finally:
        engine.close()
        connection.close()


def _standing(engine: Engine, family: Family, found: list[str]) -> Iterable[Standing]:
    for template in (*family.incremental, *family.kept):
        for window in family.windows:
            for way in WAYS if window not in LASTING else WAYS[:1]:
                try:
                    query = engine.continuous_query(template.format(window), evaluation=way)
                except UnboundedQueryError as error:
                    if template in family.incremental:
                        found.append(f"{template} is refused over {window}: {error}")
                    continue
                reasons = [
                    leaf.reason for leaf in query._evaluated._plan.split.leaves if leaf.reason
                ]
                if template in family.incremental and reasons:
                    found.append(f"{template} keeps rows over {window}: {reasons}")
                yield Standing(template, window, way, query)


def _feed(engine: Engine, family: Family, standing: Sequence[Standing]) -> pa.Table:
    """Let rows come, a step at a time, and take the results; return all rows."""
    random, tables = Random(1), []
    for step in range(STEPS):
        count = random.randint(1, 6)
        times = {"time": pa.array([step] * count, pa.int64())}
        tables.append(pa.table({**times, **family.rows(random, count)}))
        engine.append("s", tables[-1])
        for each in standing:
            each.results += each.query.results()
    return pa.concat_tables(tables)


def _differences(
    standing: Sequence[Standing], rows: pa.Table, connection: duckdb.DuckDBPyConnection
) -> Iterable[str]:
    expected: dict[tuple[str, int, int], pa.Table] = {}
    for each in standing:
        assert each.results, "there are results to compare"
        for result in each.results:
            start, end = result.window_start, result.window_end
            assert isinstance(start, int)
            assert isinstance(end, int)
            asked = (f"{each.template} over {each.window}", start, end)
            if asked not in expected:
                times = rows.column("time").to_numpy()
                last = end if each.window in LASTING else end - 1
                within = pa.array((times >= start) & (times <= last))
                connection.register("window_rows", rows.filter(within))
                query = each.template.format("window_rows AS s")
                expected[asked] = handed_out(connection.sql(query))
            told = result.error or difference(
                expected[asked], result.table, is_ordered="ORDER BY 1" in each.template
            )
            if told:
                yield f"{each.template} over {each.window}, {each.way}, {start} to {end}: {told}"
                break
