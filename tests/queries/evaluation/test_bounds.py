"""Bounds of windows: as results have them, and as queries read them."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import pyarrow as pa
import pytest

from upstream.queries.chunks.grid import EvenGrid, MonthGrid
from upstream.queries.chunks.windows import Span
from upstream.queries.evaluation.bounds import Bounds

EPOCH = datetime(1970, 1, 1)
SECOND = 1_000_000


def instant(microseconds: int) -> datetime:
    return EPOCH + timedelta(microseconds=microseconds)


def of_type(kind: pa.DataType) -> pa.Schema:
    return pa.schema([("window_start", kind), ("window_end", kind)])


def test_a_window_of_several_inputs_is_from_the_earliest_start_to_the_latest_end() -> None:
    # chunks   |0 |1 |2 |3 |4 |
    #          [--------)
    #                [--)
    bounds = Bounds(EvenGrid(10, 3), int, {})
    assert bounds.of([Span(0, 3), Span(2, 3)]) == (3, 33)
    assert bounds.of([Span(0, 2), Span(1, 4)]) == (3, 43)
    assert bounds.tables([Span(0, 3)]) == {}


def test_bounds_are_of_the_type_of_the_axis() -> None:
    bounds = Bounds(EvenGrid(10 * SECOND), instant, {})
    assert bounds.of([Span(0, 2)]) == (EPOCH, EPOCH + timedelta(seconds=20))
    months = Bounds(MonthGrid(1, "D"), lambda day: date(1970, 1, 1) + timedelta(day), {})
    assert months.of([Span(1, 3)]) == (date(1970, 2, 1), date(1970, 4, 1))


@pytest.mark.parametrize(
    ("kind", "start", "end"),
    [
        pytest.param(pa.int64(), 10 * SECOND, 20 * SECOND, id="integer"),
        pytest.param(pa.float64(), 10.0, 20.0, id="float"),
        pytest.param(pa.timestamp("us"), instant(10 * SECOND), instant(20 * SECOND), id="time"),
    ],
)
def test_a_query_reads_the_bounds_of_the_inputs_it_names(
    kind: pa.DataType, start: object, end: object
) -> None:
    bounds = Bounds(EvenGrid(10 * SECOND), instant, {1: of_type(kind)})
    found = bounds.tables([Span(0, 9), Span(1, 2)])
    assert found.keys() == {"bounds_1"}
    assert found["bounds_1"].schema == of_type(kind)
    assert found["bounds_1"].to_pylist() == [{"window_start": start, "window_end": end}]


def test_without_a_window_a_query_reads_nulls() -> None:
    bounds = Bounds(EvenGrid(10), int, {0: of_type(pa.int64())})
    [table] = bounds.tables(None).values()
    assert table.to_pylist() == [{"window_start": None, "window_end": None}]
