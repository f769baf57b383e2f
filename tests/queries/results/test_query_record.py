"""A record is read as it was written, and a file that is anything else is refused."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from upstream import QueryError
from upstream.queries.chunks.feed_positions import FeedStart
from upstream.queries.results.answer import Answer
from upstream.queries.results.backlog import Made
from upstream.queries.results.query_record import QueryForm, QueryRecord, read_record
from upstream.rows.stream_times import WindowBound

PATH = Path("sums.record")
SCHEMA = pa.schema([("k", pa.dictionary(pa.int32(), pa.string())), ("x", pa.list_(pa.int64()))])
FORM = QueryForm("SELECT 'é'", {"semantics": "append"}, {"s": "(x int64)"}, SCHEMA)
STARTS = (FeedStart("s", 12), FeedStart("t", 5, 7), FeedStart("s", 9))
RECORD = QueryRecord("q", FORM, STARTS)


def rows(*keys: str) -> pa.Table:
    lists: list[list[int] | None] = [[1, 2], None]
    return pa.Table.from_pydict({"k": keys, "x": lists[: len(keys)]}, schema=SCHEMA)


def written(record: QueryRecord) -> QueryRecord:
    return read_record(PATH, bytes(record.content()))


def test_a_record_is_read_as_it_was_written() -> None:
    answers = [
        Answer(0, 10, 1.5, 0, rows("a", "b"), rows_failed=2, failure="no", epoch=3),
        Answer(10, 20, 2.5, 1, rows(), error="fails", epoch=4),
        Answer(20, 30, 3.5, 0, rows("c"), epoch=6),
    ]
    made = tuple(Made(7 + i, 9 + i, each) for i, each in enumerate(answers))
    record = replace(
        RECORD, made=10, epoch=6, consumed=6, waiting=made, expected=8, next_ordinal=12
    )
    found = written(record)
    assert replace(found, waiting=(), form=FORM) == replace(record, waiting=())
    assert found.form == FORM
    for was, now in zip(made, found.waiting, strict=True):
        assert now.answer.table.equals(was.answer.table)
        assert now.answer.table.schema.equals(SCHEMA)
        same = now.answer, was.answer
        now, was = (each._replace(answer=replace(each.answer, table=None)) for each in (now, was))
        assert now == was, same


@pytest.mark.parametrize(
    "bound",
    [
        pytest.param(None, id="none"),
        pytest.param(-5, id="int"),
        pytest.param(0.1, id="float"),
        pytest.param(datetime(2026, 1, 2, 3, 4, 5, 6), id="naive"),
        pytest.param(datetime(2026, 1, 2, tzinfo=UTC), id="aware"),
        pytest.param(date(2026, 1, 2), id="date"),
        pytest.param(np.datetime64(1, "ns"), id="nanoseconds"),
        pytest.param(np.datetime64(1 << 60, "us"), id="far"),
    ],
)
def test_bounds_of_every_type_are_read_as_they_were(bound: WindowBound) -> None:
    made = Made(0, 0, Answer(bound, bound, 0.0, 0, rows()))
    answer = written(replace(RECORD, waiting=(made,))).waiting[0].answer
    assert (answer.start, type(answer.end), repr(answer.end)) == (bound, type(bound), repr(bound))


def test_positions_are_the_least_of_a_stream() -> None:
    assert RECORD.positions == {"s": 9, "t": 5}


@pytest.mark.parametrize("place", [20, 90, 200, -1])
def test_a_file_that_was_changed_is_refused(place: int) -> None:
    content = bytearray(RECORD.content())
    content[place] ^= 1
    with pytest.raises(QueryError, match=r"sums\.record is damaged.*\n.*remove sums\.record"):
        read_record(PATH, bytes(content))


def test_a_file_that_was_cut_is_refused() -> None:
    content = bytes(RECORD.content())
    for length in (0, 10, 60, 100, len(content) - 1):
        with pytest.raises(QueryError, match=r"sums\.record (is|has)"):
            read_record(PATH, content[:length])


def test_a_file_of_another_version_or_kind_is_refused() -> None:
    content = bytes(RECORD.content())
    with pytest.raises(QueryError, match=r"has version 2; this version of the library reads"):
        read_record(PATH, content.replace(b"query 1 ", b"query 2 ", 1))
    with pytest.raises(QueryError, match="is not the record of a query"):
        read_record(PATH, b"UpStream view 1 \n")
