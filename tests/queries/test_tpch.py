"""TPC-H over streams: which queries stand by increments, with the results of one-time queries."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest

from upstream import Engine, ManualClock, UnboundedQueryError

from .differential.comparison import difference
from .tpch import COLUMNS, KEYS, QUERIES, RELATIONS, reads, tables, text

REFUSED = {("Q2", "partsupp"): "selects single rows: group them by"}
"""The queries that would keep all rows of a stream, and words of the reason."""
STREAMS = ("lineitem", "orders", "partsupp")
CASES = [(name, stream) for name in QUERIES for stream in STREAMS if reads(name, stream)]


def engine_with(stream: str, clock: ManualClock) -> Engine:
    """Return an engine in which one relation is a stream, and also a table called `truth`."""
    engine = Engine(clock=clock)
    for name in RELATIONS:
        if name != stream:
            engine.create_table(name, tables()[name])
    engine.sql(f"CREATE STREAM {stream} ({COLUMNS[stream]}) KEY ({KEYS[stream]})")
    engine.create_table("truth", tables()[stream].slice(0, 0))
    return engine


@pytest.mark.parametrize(("name", "stream"), [case for case in CASES if case[1] == "lineitem"])
def test_a_query_over_a_stream_gives_what_a_one_time_query_gives(
    name: str, stream: str, clock: ManualClock
) -> None:
    random = Random(f"{name} {stream}")
    count = tables()[stream].num_rows
    rows = tables()[stream].take(random.sample(range(count), count))
    ends = [0, *sorted(random.sample(range(1, count), 2)), count]
    found = 0
    with engine_with(stream, clock) as engine:
        query = engine.continuous_query(text(name, **{stream: f"landmark({stream})"}), emit="asked")
        for start, end in zip([0, *ends], ends, strict=False):
            batch = rows.slice(start, end - start)
            engine.append(stream, batch)
            engine.create_table(f"batch_{end}", batch)
            engine.sql(f"INSERT INTO truth FROM batch_{end}")
            result = query.ask()
            assert result is not None
            assert (result.error, result.rows_failed) == (None, 0)
            expected = engine.sql(text(name, **{stream: "truth"}))
            assert not difference(expected, result.table, is_ordered=False), name
            found = result.table.num_rows
        assert found > 0


@pytest.mark.parametrize(("name", "stream"), sorted(REFUSED))
def test_a_query_that_keeps_rows_is_refused_with_a_reason(
    name: str, stream: str, clock: ManualClock
) -> None:
    refused = pytest.raises(UnboundedQueryError, match=REFUSED[name, stream])
    with engine_with(stream, clock) as engine, refused:
        engine.continuous_query(text(name, **{stream: f"landmark({stream})"}))


def test_every_query_returns_rows(clock: ManualClock) -> None:
    with Engine(clock=clock) as engine:
        for name in RELATIONS:
            engine.create_table(name, tables()[name])
        for name in QUERIES:
            result = engine.sql(text(name))
            assert result is not None
            assert any(any(row.values()) for row in result.to_pylist()), name


@pytest.mark.slow
@pytest.mark.parametrize("stream", STREAMS)
def test_a_view_over_a_stream_is_what_its_query_returns_after_each_of_ten_batches(
    stream: str, clock: ManualClock
) -> None:
    rows = tables()[stream]
    names = [name for name, read in CASES if read == stream and (name, stream) not in REFUSED]
    ends = [i * rows.num_rows // 10 for i in range(11)]
    with engine_with(stream, clock) as engine:
        for name in names:
            engine.sql(f"CREATE VIEW view_{name} AS {text(name)}")
        for start, end in pairwise(ends):
            batch = rows.slice(start, end - start)
            engine.append(stream, batch)
            engine.create_table(f"batch_{end}", batch)
            engine.sql(f"INSERT INTO truth FROM batch_{end}")
            for name in names:
                expected = engine.sql(text(name, **{stream: "truth"}))
                found = engine.sql(f"FROM view_{name}")
                assert not difference(expected, found, is_ordered=False), name
