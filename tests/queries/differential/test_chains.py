"""Chains of queries: each stream has what its SELECT gives over a table of the rows below.

A chain is evaluated at random moments, from any of its levels. In the end each stream must have
the rows that one-time SQL gives for each closed window over all rows of the level below.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.queries.setting import waiting
from upstream import ContinuousQuery, Engine, ManualClock

Row = tuple[str, int, int]
"""A key, a number, and a time."""


@dataclass(frozen=True)
class Level:
    """A query over a stream with the columns k, x and t: over windows, or row by row."""

    select: str
    size: int = 0
    slide: int = 0
    is_landmark: bool = False

    def standing(self, source: str) -> str:
        """Return the query over a stream."""
        window = source
        if self.is_landmark:
            window = f"landmark({source}, {self.slide})"
        elif self.size:
            window = f"hop({source}, {self.size}, {self.slide})"
        return self.select.format(window)

    @property
    def is_row_wise(self) -> bool:
        return not self.slide

    @property
    def time(self) -> str:
        """The name of the time column of the stream of its results."""
        return "t" if self.is_row_wise else "window_end"

    def create(self, name: str, source: str, time: str) -> str:
        """Return the statement that creates the stream of its results."""
        select = self.standing(source)
        if not self.is_row_wise:
            return f"CREATE STREAM {name} KEY (k) AS {select}"
        select = select.replace("SELECT ", f"SELECT {time} AS t, ", 1)
        return f"CREATE STREAM {name} KEY (k) TIME (t) AS {select}"

    def rows_over(self, engine: Engine, rows: Sequence[Row]) -> list[Row]:
        """Return what one-time SQL gives over a table of rows, for each closed window."""
        if not rows:
            return []
        keys, numbers, times = zip(*rows, strict=True)
        schema = pa.schema({"k": pa.string(), "x": pa.int64(), "t": pa.int64()})
        engine.sql("DROP TABLE IF EXISTS below")
        engine.create_table("below", pa.table([keys, numbers, times], schema=schema))
        if self.is_row_wise:
            text = self.select.format("below").replace("SELECT ", "SELECT t, ", 1)
            return rows_of(engine.sql(text))
        first = min(times) // self.slide * self.slide
        found: list[Row] = []
        seen = 0
        for end in range(first, max(times) + 1, self.slide):
            inside = f"t < {end}" + ("" if self.is_landmark else f" AND t >= {end - self.size}")
            answer = engine.sql(self.select.format(f"(SELECT * FROM below WHERE {inside})"))
            count = sum(time < end for time in times)
            if not self.is_landmark or count > seen:  # a landmark answers if a row has come
                found += [(k, x, end) for k, x in zip(*columns(answer, "k", "x"), strict=True)]
            seen = count
        return found


def columns(table: pa.Table, *names: str) -> list[list[object]]:
    return [table.column(name).to_pylist() for name in names]


def rows_of(table: pa.Table) -> list[Row]:
    """Return the rows of a stream, whose time is called t or window_end."""
    time = "t" if "t" in table.schema.names else "window_end"
    return [*zip(*columns(table, "k", "x", time), strict=True)]


AGGREGATES = ("sum(x)", "max(x)", "count(*)", "count(DISTINCT x)", "min(x) + max(x)")
sliding = st.builds(
    lambda aggregate, slide, times: Level(
        f"SELECT k, {aggregate} AS x FROM {{}} GROUP BY k", slide * times, slide
    ),
    st.sampled_from(AGGREGATES),
    st.sampled_from([2, 5, 10]),
    st.integers(1, 3),
)
landmarks = st.builds(
    lambda aggregate, slide: Level(
        f"SELECT k, {aggregate} AS x FROM {{}} GROUP BY k", slide=slide, is_landmark=True
    ),
    st.sampled_from(AGGREGATES[:3]),
    st.sampled_from([4, 10]),
)
row_wise = st.sampled_from(
    [Level("SELECT k, x + 1 AS x FROM {}"), Level("SELECT k, x FROM {} WHERE x % 2 = 0")]
)
having = st.builds(
    lambda slide: Level("SELECT k, sum(x) AS x FROM {} GROUP BY k HAVING sum(x) > 4", slide, slide),
    st.sampled_from([3, 10]),
)
chains = st.lists(st.one_of(sliding, landmarks, row_wise, having), min_size=2, max_size=3)

batches = st.lists(
    st.tuples(
        st.lists(
            st.tuples(st.sampled_from("abc"), st.integers(0, 9), st.integers(0, 6)), max_size=5
        ),
        st.integers(0, 40),
    ),
    max_size=8,
)
"""Rows, with how much later each is than the one before, and how to ask after they arrived."""

ASK: tuple[Callable[[Engine, ContinuousQuery], object], ...] = (
    lambda _engine, _query: None,
    lambda _engine, query: query.evaluate(),
    lambda engine, query: engine.sql(f"SELECT count(*) AS n FROM {query.into}"),
    lambda engine, _query: engine.run(60.0),
    lambda _engine, query: (query.is_due(), query.staleness(), query.cost()),
    lambda engine, query: engine.stream(query.name),
)


FEW = max(10, settings().max_examples // 4)
"""Each example runs a chain of queries."""


@settings(max_examples=FEW)
@given(chains, batches)
def test_each_stream_of_a_chain_has_what_its_query_gives_over_the_rows_below(
    chain: list[Level], arriving: list[tuple[list[Row], int]]
) -> None:
    with Engine(clock=ManualClock(), stopwatch=ManualClock()) as engine:
        engine.sql("CREATE STREAM s0 (k TEXT, x BIGINT, t BIGINT) KEY (k) TIME (t)")
        names = ["t", *(level.time for level in chain)]
        for number, level in enumerate(chain):
            engine.sql(level.create(f"s{number + 1}", f"s{number}", names[number]))
        time, below = 0, list[Row]()
        streams = [engine._catalogue.streams[f"s{number}"] for number in range(len(chain) + 1)]
        readers = [stream.log.reader() for stream in streams]
        for rows, how in arriving:
            for k, x, later in rows:
                time += later
                below.append((k, x, time))
            fresh = below[len(below) - len(rows) :]
            engine.append("s0", [{"k": k, "x": x, "t": t} for k, x, t in fresh])
            ask, at = ASK[how % len(ASK)], how // len(ASK) % len(chain)
            ask(engine, engine.query(f"s{at + 1}"))
        engine.sql(f"SELECT count(*) AS n FROM s{len(chain)}")  # brings all levels up to date
        for number, level in enumerate(chain):
            expected = level.rows_over(engine, below)
            reader = readers[number + 1]
            found = rows_of(waiting(reader)) if reader.waiting else []
            assert sorted(found) == sorted(expected), level
            newest = {k: (k, x, t) for k, x, t in found}
            assert sorted(rows_of(streams[number + 1].scan())) == sorted(newest.values())
            below = found


@settings(max_examples=FEW)
@given(st.one_of(sliding, having), batches)
def test_with_deletes_a_stream_is_the_result_for_the_newest_closed_window(
    level: Level, arriving: list[tuple[list[Row], int]]
) -> None:
    with Engine(clock=ManualClock(), stopwatch=ManualClock()) as engine:
        engine.sql("CREATE STREAM s0 (k TEXT, x BIGINT, t BIGINT) KEY (k) TIME (t)")
        create = level.create("s1", "s0", "t")
        engine.sql(create.replace(" AS SELECT", " WITH (deletes = true) AS SELECT", 1))
        engine.sql("CREATE VIEW newest AS SELECT k, x, window_end FROM latest(s1)")
        time, below = 0, list[Row]()
        for rows, how in arriving:
            for k, x, later in rows:
                time += later
                below.append((k, x, time))
            fresh = below[len(below) - len(rows) :]
            engine.append("s0", [{"k": k, "x": x, "t": t} for k, x, t in fresh])
            ASK[how % len(ASK)](engine, engine.query("s1"))
        end = time // level.slide * level.slide
        expected = [row for row in level.rows_over(engine, below) if row[2] == end]
        for name in ("s1", "newest"):
            assert sorted(rows_of(engine.sql(f"SELECT * FROM {name}"))) == sorted(expected)
