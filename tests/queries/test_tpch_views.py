"""TPC-H as views: each query that reads a stream is maintained, and equals a one-time query.

    lineitem as the stream    all 17 queries that read it
    orders as the stream      all 12
    partsupp as the stream    4 of 5; Q2 returns single rows of the stream, and is refused

The other relations are tables. Q1 to Q22 are all among these.
"""

from __future__ import annotations

import pytest

from upstream import Engine, ManualClock, UnboundedQueryError

from .differential.comparison import difference
from .tpch import COLUMNS, KEYS, QUERIES, RELATIONS, reads, tables, text

BATCHES = 10
REFUSED = {("partsupp", "Q2")}
STREAMS = ("lineitem", "orders", "partsupp")


def queries_over(stream: str) -> list[str]:
    return [name for name in QUERIES if reads(name, stream) and (stream, name) not in REFUSED]


def engine_with(stream: str, clock: ManualClock) -> Engine:
    """Return an engine in which one relation is a stream, and also a table called `truth`."""
    engine = Engine(clock=clock)
    for name in RELATIONS:
        if name != stream:
            engine.create_table(name, tables()[name])
    engine.sql(f"CREATE STREAM {stream} ({COLUMNS[stream]}) KEY ({KEYS[stream]})")
    engine.create_table("truth", tables()[stream].slice(0, 0))
    return engine


def test_every_query_of_tpch_is_a_view_over_some_stream() -> None:
    assert {name for stream in STREAMS for name in queries_over(stream)} == set(QUERIES) - {"Q2"}


@pytest.mark.parametrize("stream", STREAMS)
def test_views_equal_one_time_queries_after_each_batch(stream: str, clock: ManualClock) -> None:
    rows = tables()[stream]
    size = -(-rows.num_rows // BATCHES)
    names = queries_over(stream)
    with engine_with(stream, clock) as engine:
        for name in names:
            engine.sql(f"CREATE VIEW {name} AS {text(name)}")
            assert "as rows arrive in" in engine.view(name).explain()
        for number in range(BATCHES):
            batch = rows.slice(number * size, size)
            engine.append(stream, batch)
            engine.create_table(f"batch_{number}", batch)
            engine.sql(f"INSERT INTO truth FROM batch_{number}")
            for name in names:
                expected = engine.sql(text(name, **{stream: "truth"}))
                found = engine.sql(f"FROM {name}")
                assert not difference(expected, found, is_ordered=False), (name, number)
        assert all(engine.view(name).table().num_rows for name in names)


def test_a_query_that_returns_single_rows_of_the_stream_is_refused(clock: ManualClock) -> None:
    refused = pytest.raises(UnboundedQueryError, match="selects single rows: group them by")
    with engine_with("partsupp", clock) as engine, refused:
        engine.sql(f"CREATE VIEW q2 AS {text('Q2')}")
