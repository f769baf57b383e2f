"""What a view reads is opened once, has a name in its query, and is closed again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pyarrow as pa
import pytest

from tests.queries.setting import append
from upstream import Engine
from upstream.queries.evaluation.view_sources import ViewSources
from upstream.queries.sql import read_query
from upstream.queries.sql.dialect import DIALECT

SUMS = "SELECT k, sum(x) AS n FROM bids GROUP BY k"
Open = Callable[[str], ViewSources]


@pytest.fixture
def undo() -> list[Callable[[], None]]:
    return []


@pytest.fixture
def opened(engine: Engine, undo: list[Callable[[], None]]) -> Iterator[Open]:
    engine.sql(f"CREATE VIEW sums AS {SUMS}")

    def sources(text: str) -> ViewSources:
        catalogue, duck = engine._catalogue, engine._duck
        definitions = {name: each.definition for name, each in catalogue.relations.items()}
        parsed = read_query(text, definitions, duck)
        return ViewSources(
            parsed, catalogue.streams, catalogue.views, duck=duck, clock=engine._clock, undo=undo
        )

    yield sources
    for each in reversed(undo):
        each()


def readers(engine: Engine, stream: str) -> int:
    return len(engine._catalogue.streams[stream].log._readers)


def lent(engine: Engine) -> list[tuple[str, ...]]:
    return engine._duck.rows("SELECT view_name FROM duckdb_views() WHERE NOT internal")


def test_a_stream_that_is_read_twice_is_one_chunk(opened: Open) -> None:
    sources = opened("SELECT count(*) FROM bids a, asks b, landmark(bids) c")
    assert sources.names == ["bids", "asks"]
    text = sources.with_newest_as_chunks().sql(DIALECT)
    assert [text.count(f"chunk_{i}") for i in range(3)] == [2, 1, 0]
    assert [*sources.chunks] == ["chunk_0", "chunk_1"]
    assert [window.stream for window in sources.windows] == ["bids", "asks"]


def test_newest_rows_become_chunks_after_those_of_streams(opened: Open) -> None:
    sources = opened(
        "SELECT count(*) FROM latest(bids) a, asks b, latest(bids) c, latest(bids, rows => 2) d"
    )
    assert sources.names == ["asks"]
    assert [window.rows for window in sources.newest] == [1, 2]
    text = sources.with_newest_as_chunks().sql(DIALECT)
    assert [text.count(f"chunk_{i}") for i in range(4)] == [1, 2, 1, 0]
    assert [window.stream for window in sources.windows] == ["asks", "bids", "bids"]
    assert len(sources.followed()) == 2


def test_a_query_may_read_fewer_columns_than_a_stream_has(engine: Engine) -> None:
    streams = engine._catalogue.streams
    whole = streams["bids"].definition
    some = replace(whole, schema=pa.schema([whole.schema.field("k")]))
    definitions = {"bids": some, "asks": streams["asks"].definition}
    parsed = read_query("SELECT 1 FROM bids, asks, latest(asks)", definitions, engine._duck)
    sources = ViewSources(
        parsed,
        streams,
        {},
        duck=engine._duck,
        clock=engine._clock,
        undo=[],
        definitions=definitions,
    )
    asks = streams["asks"].definition
    columns = [schema.names for schema in sources.chunks.values()]
    assert columns == [["k"], asks.schema.names, asks.schema.names]
    assert sources.definitions == [whole, asks, asks]


def test_newest_rows_that_are_not_followed_are_lent(opened: Open) -> None:
    sources = opened("SELECT count(*) FROM latest(bids) a, latest(bids) b, sums")
    query = sources.with_newest_as_tables()
    assert [*sources.chunks] == []
    assert sources.followed() == []
    names = [side.name for side in sources.sides]
    assert len(names) == 2
    assert sorted(query.sql(DIALECT).count(name) for name in names) == [1, 2]
    assert sources.changing == ["latest(bids)", "latest(bids)", "sums"]


def test_newest_rows_begin_with_those_that_there_are(engine: Engine, opened: Open) -> None:
    append(engine, "bids", (1, 5), (1, 7, "b"))
    by_key = "latest(bids) a, latest(bids, per => k, rows => 2) b"
    found = opened(f"SELECT count(*) FROM {by_key}, latest(bids, per => note) c").followed()
    for rows in found:
        rows.refresh(0.0)
    assert [rows.table().num_rows for rows in found] == [2, 2, 0]


def test_an_error_about_a_stream_is_placed_where_all_its_rows_are_read(opened: Open) -> None:
    sources = opened("SELECT count(*) FROM latest(bids) a, asks b, bids c")
    assert [sources.number_of(stream) for stream in ("bids", "asks")] == [2, 1]


def test_all_that_was_opened_is_closed_again(
    engine: Engine, opened: Open, undo: list[Callable[[], None]]
) -> None:
    before = readers(engine, "bids"), readers(engine, "asks"), lent(engine)
    sources = opened("SELECT count(*) FROM latest(bids) a, asks b, sums c")
    sources.with_newest_as_tables()
    undo.append(sources.reader("asks").close)
    assert readers(engine, "bids") == before[0] + 1
    assert readers(engine, "asks") == before[1] + 1
    assert len(lent(engine)) == len(before[2]) + 2
    while undo:
        undo.pop()()
    assert (readers(engine, "bids"), readers(engine, "asks"), lent(engine)) == before
