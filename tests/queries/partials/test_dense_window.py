"""What is derived from partials, and let go of."""

from __future__ import annotations

from functools import partial

import pyarrow as pa
import pytest

from upstream.queries.chunks.ring import Ring
from upstream.queries.partials import dense_window
from upstream.queries.partials.dense_columns import DenseColumns, Part
from upstream.queries.partials.dense_window import DenseWindow

from .contract import LEAST, TUPLES, rows_of

SCHEMA = pa.schema([("place", pa.string()), ("tuples", pa.int64()), ("least", pa.float64())])


class Slides:
    """A window over chunks, each a part with a group of its own and one that all have."""

    def __init__(self) -> None:
        self.window = DenseWindow(partial(DenseColumns, ("place",), (TUPLES, LEAST), SCHEMA))
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
    assert slides.window.group_count == 2


def test_when_all_chunks_leave_at_once_their_groups_keep_their_places() -> None:
    slides = Slides()
    for chunk in range(3):
        slides.stage(chunk)
    slides.slide(0, 2)
    known = slides.window.places_known()
    assert slides.slide(2, 3) == [("all", 1, 2.0), ("of 2", 1, 2.0)]
    assert slides.window.places_known() == known


def test_groups_that_are_of_no_part_lose_their_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense_window, "_SPARE_PLACES", 0)
    slides = Slides()
    for chunk in range(50):
        slides.stage(chunk)
        slides.slide(chunk - 2, chunk + 1)
        slides.ring.forget(chunk - 2)
        assert slides.window.places_known() <= 2 * 4 + 3
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
    assert slides.slide(38, 40) == [("all", 2, 38.0), ("of 38", 1, 38.0), ("of 39", 1, 39.0)]


def test_only_sums_can_go_back() -> None:
    assert not Slides().window.can_go_back
    schema = SCHEMA.remove(2)
    window = DenseWindow(partial(DenseColumns, ("place",), (TUPLES,), schema))
    assert window.can_go_back
