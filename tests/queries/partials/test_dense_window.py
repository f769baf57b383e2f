"""Columns that are derived from partials, and released before they change."""

from __future__ import annotations

import pyarrow as pa
import pytest

from upstream.queries.chunks.ring import Ring
from upstream.queries.partials import dense_window
from upstream.queries.partials.counted_columns import SubtractedSum
from upstream.queries.partials.dense_window import (
    DenseWindow,
    Part,
    can_be_dense,
    column_of,
)
from upstream.queries.partials.two_stacks import StackedState
from upstream.queries.rewriting.split_query import StateKind

from .contract import AMOUNT, GREATEST, LEAST, TUPLES, rows_of, state

SCHEMA = pa.schema([("place", pa.string()), ("tuples", pa.int64()), ("least", pa.float64())])


class Slides:
    """A window over chunks, each a part with a group of its own and one that all have."""

    def __init__(self) -> None:
        self.window = DenseWindow(("place",), (TUPLES, LEAST), SCHEMA)
        self.ring = Ring[Part]()
        self.bounds = (0, 0)

    def stage(self, chunk: int) -> None:
        rows = {"place": ["all", f"of {chunk}"], "tuples": [1, 1], "least": [chunk, chunk]}
        part = Part(pa.table(rows, schema=SCHEMA))
        self.window.read(part)
        self.ring.add(chunk, part)

    def slide(self, first: int, end: int) -> list[tuple[object, ...]]:
        self.window.slide(self.ring, self.bounds, (first, end))
        self.bounds = first, end
        self.window.merge(self.ring, self.bounds)
        self.window._check(self.ring, self.bounds)
        assert self.window.merged is not None
        return rows_of(self.window.merged)


def test_chunks_enter_and_leave() -> None:
    slides = Slides()
    for chunk in range(4):
        slides.stage(chunk)
    assert slides.slide(0, 2) == [("all", 2, 0.0), ("of 0", 1, 0.0), ("of 1", 1, 1.0)]
    assert slides.slide(1, 3) == [("all", 2, 1.0), ("of 1", 1, 1.0), ("of 2", 1, 2.0)]
    assert slides.slide(3, 4) == [("all", 1, 3.0), ("of 3", 1, 3.0)]
    assert slides.window.live.count == 2


def test_when_all_chunks_leave_at_once_their_groups_keep_their_places() -> None:
    slides = Slides()
    for chunk in range(3):
        slides.stage(chunk)
    slides.slide(0, 2)
    known = len(slides.window._places)
    assert slides.slide(2, 3) == [("all", 1, 2.0), ("of 2", 1, 2.0)]
    assert len(slides.window._places) == known


def test_groups_that_are_of_no_part_lose_their_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense_window, "_SPARE_PLACES", 0)
    slides = Slides()
    for chunk in range(50):
        slides.stage(chunk)
        slides.slide(chunk - 2, chunk + 1)
        slides.ring.forget(chunk - 2)
        assert len(slides.window._places) <= 4 * (4 + 2)  # 4 groups, and 2 that have just left
    assert slides.slide(49, 50) == [("all", 1, 49.0), ("of 49", 1, 49.0)]


def test_parts_that_wait_outside_of_the_window_keep_their_places(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dense_window, "_SPARE_PLACES", 0)
    slides = Slides()
    for chunk in range(40):
        slides.stage(chunk)
    for first in range(20):
        slides.slide(first, first + 2)
        assert len(slides.window._places) == 42
    assert slides.slide(38, 40) == [("all", 2, 38.0), ("of 38", 1, 38.0), ("of 39", 1, 39.0)]


def test_columns_come_back_in_the_order_of_the_schema() -> None:
    fields = [
        *[("least", pa.float64()), ("tuples", pa.int64()), ("place", pa.string())],
        *[("greatest", pa.int64()), ("amount", pa.decimal128(38, 0))],
    ]
    schema, ring = pa.schema(fields), Ring[Part]()
    window = DenseWindow(("place",), (TUPLES, AMOUNT, GREATEST, LEAST), schema)
    row = {"least": [0.5], "tuples": [1], "place": ["a"], "greatest": [9], "amount": [2]}
    part = Part(pa.table(row).cast(schema))
    window.read(part)
    ring.add(0, part)
    window.slide(ring, (0, 0), (0, 1))
    window.merge(ring, (0, 1))
    assert window.merged == part.table


def test_a_partial_in_several_chunks_is_read_as_one() -> None:
    window = DenseWindow(("place",), (TUPLES, LEAST), SCHEMA)
    tables = [
        pa.table({"place": [place], "tuples": [1], "least": [1.0]}, schema=SCHEMA) for place in "ab"
    ]
    part = Part(pa.concat_tables(tables))
    window.read(part)
    assert [part.places.size, *(values.arrays[0].size for values in part.values)] == [2, 2, 2]


@pytest.mark.parametrize(
    ("kind", "type_", "is_dense"),
    [
        (StateKind.SUM, pa.int64(), True),
        (StateKind.SUM, pa.float64(), True),
        (StateKind.SUM, pa.uint64(), False),
        (StateKind.MINIMUM, pa.timestamp("us"), True),
        (StateKind.MINIMUM, pa.string(), False),
        (StateKind.OTHER, pa.int64(), False),
    ],
    ids=str,
)
def test_types_without_arithmetic_in_numpy_are_not_dense(
    kind: StateKind, type_: pa.DataType, is_dense: bool
) -> None:
    schema = pa.schema([("place", pa.string()), ("x", type_)])
    assert can_be_dense(("place",), (state(kind, "x", "any_value"),), schema) is is_dense


def test_groups_that_cannot_have_places_are_not_dense() -> None:
    schema = pa.schema([("place", pa.list_(pa.string())), ("tuples", pa.int64())])
    assert not can_be_dense(("place",), (TUPLES,), schema)


def test_doubles_are_stacked_because_adding_and_subtracting_them_would_drift() -> None:
    schema = pa.schema([("total", pa.float64()), ("tuples", pa.int64())])
    assert isinstance(column_of(state(StateKind.SUM, "total", "sum"), schema), StackedState)
    assert isinstance(column_of(TUPLES, schema), SubtractedSum)
