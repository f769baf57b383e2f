"""Rows of epochs have the columns that a query names, and results the bounds of their epochs."""

from __future__ import annotations

import pyarrow as pa
import pytest

from upstream.queries.chunks.chunk_times import ChunkTimes
from upstream.queries.chunks.grid import EvenGrid
from upstream.queries.chunks.windows import Span
from upstream.queries.evaluation.epoch_columns import EpochBounds, EpochColumns
from upstream.rows.stream_definition import StreamDefinition

PLAIN = pa.schema([("time", pa.int64())])
DEFINITION = StreamDefinition("s", PLAIN, (), "time")
NAMES = ("__epoch", "__window_start", "__window_end")
GRID = EvenGrid(10, origin=3)


def schema(*names: str) -> pa.Schema:
    return pa.schema([*PLAIN, *((name, pa.int64()) for name in names)])


def rows(*times: int) -> pa.Table:
    return pa.table({"time": times}, PLAIN)


def in_order(*names: str) -> tuple[EpochColumns, ChunkTimes]:
    """Return the columns of chunks that are not cut by time, and the times of these chunks."""
    times = ChunkTimes(DEFINITION)
    return EpochColumns(schema(*names), names, EvenGrid(1), times), times


def come(columns: EpochColumns, times: ChunkTimes, chunk: int, *values: int) -> pa.Table:
    """Return marked rows of a chunk, and note their times."""
    times.took(times.of([(chunk, rows(*values))], 0.0))
    return columns.marked(chunk, rows(*values))


def test_rows_of_epochs_by_time_have_the_bounds_of_the_grid_at_once() -> None:
    columns = EpochColumns(schema(*NAMES), NAMES, GRID, None)
    assert not columns.are_late
    marked = columns.marked(2, rows(24, 25))
    assert marked.schema == schema(*NAMES)
    assert marked.to_pylist()[0] == {"time": 24, **dict(zip(NAMES, (2, 23, 33), strict=True))}
    assert columns.completed(marked) is marked


def test_rows_have_only_the_columns_that_the_query_names() -> None:
    columns = EpochColumns(schema("__window_end"), ["__window_end"], GRID, None)
    assert columns.marked(0, rows(4)).to_pylist() == [{"time": 4, "__window_end": 13}]


def test_rows_of_chunks_in_the_order_of_arrival_get_their_bounds_when_these_are_known() -> None:
    columns, times = in_order(*NAMES)
    assert columns.are_late
    parts = [come(columns, times, 4, 7, 2), come(columns, times, 5, 9), come(columns, times, 4, 3)]
    completed = columns.completed(pa.concat_tables(parts))
    assert completed.schema == schema(*NAMES)
    assert [tuple(row.values()) for row in completed.to_pylist()] == [
        *((7, 4, 7, 3), (2, 4, 7, 3)),  # the first and the last row, not the least and the greatest
        (9, 5, 9, 9),
        (3, 4, 7, 3),
    ]


@pytest.mark.parametrize("names", [("__window_start",), ("__window_end", "__epoch")], ids=str)
def test_completed_rows_have_the_columns_of_the_query_in_its_order(names: tuple[str, ...]) -> None:
    columns, times = in_order(*names)
    assert columns.completed(come(columns, times, 1, 5)).schema == schema(*names)
    assert columns.completed(rows().slice(0, 0)).schema == schema(*names)  # no rows came


def test_the_number_alone_is_known_at_once() -> None:
    columns, times = in_order("__epoch")
    assert not columns.are_late
    assert come(columns, times, 3, 5).to_pylist() == [{"time": 5, "__epoch": 3}]


def test_an_epoch_by_time_has_the_bounds_of_its_newest_chunk() -> None:
    bounds = EpochBounds(GRID, int, [])
    spans = (Span(0, 4), Span(3, 4))
    assert (bounds.epoch(spans), bounds.of(spans)) == (3, (33, 43))
    assert bounds.tables(spans) == {}


def test_an_epoch_in_the_order_of_arrival_has_the_times_of_its_newest_chunks() -> None:
    one, other = ChunkTimes(DEFINITION), ChunkTimes(DEFINITION)
    one.took(one.of([(3, rows(5, 9)), (4, rows(20))], 0.0))
    other.took(other.of([(3, rows(4, 6))], 0.0))
    bounds = EpochBounds(EvenGrid(1), int, [one, other])
    found = [bounds.of((Span(0, end), Span(end - 1, end))) for end in (4, 5, 6)]
    assert found == [(4, 9), (20, 20), (None, None)]
