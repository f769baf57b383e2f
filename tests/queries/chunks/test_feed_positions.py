"""An input begins again so early that no row of a chunk is missing."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from upstream.queries.chunks.cutter import Cut
from upstream.queries.chunks.feed_positions import FeedPositions, FeedStart
from upstream.queries.chunks.ordinal_cuts import OpenChunk, OrdinalCut
from upstream.tables.log import Batch


def batch(first: int, rows: int) -> Batch:
    return Batch(pa.table({"x": [0] * rows}), 0.0, first, first + rows, 0)


def cut(*chunks: tuple[int, int], failed: int = 0, ordinal: bool = False) -> Cut:
    """Return pieces: chunks, each with how many rows."""
    pieces = [(chunk, pa.table({"x": [0] * rows})) for chunk, rows in chunks]
    left_out = ((chunks[0][0], failed),) if failed else ()
    ordinals = OrdinalCut(pieces, OpenChunk(), left_out) if ordinal else None
    return Cut(pieces, 0, ordinals=ordinals)


def test_a_chunk_by_time_begins_with_the_first_batch_that_has_rows_of_it_or_of_later_ones() -> None:
    feed = FeedPositions(FeedStart("s", 100))
    feed.took(batch(100, 3), cut((4, 3)))
    feed.took(batch(103, 5), cut((4, 2), (6, 3)))
    feed.took(batch(108, 2), cut((5, 2)))
    assert [feed.before(chunk, 110).position for chunk in (3, 4, 5, 6, 7)] == [
        *(100, 100, 103, 103, 110),
    ]
    feed.forget(6)
    assert feed.before(4, 110) == FeedStart("s", 103)


def test_a_chunk_by_time_begins_with_its_first_row_if_the_batch_is_in_order() -> None:
    feed = FeedPositions(FeedStart("s", 100))
    feed.took(batch(100, 5), replace(cut((4, 2), (6, 3)), is_in_order=True))
    feed.took(batch(105, 2), replace(cut((6, 1), (7, 1)), is_in_order=True))
    assert [feed.before(chunk, 107).position for chunk in (4, 5, 6, 7, 8)] == [
        *(100, 102, 102, 106, 107),
    ]


def test_a_chunk_in_the_order_of_arrival_begins_with_its_first_row() -> None:
    feed = FeedPositions(FeedStart("s", 100, 7))
    feed.took(batch(100, 5), cut((7, 2), (8, 3), ordinal=True))
    feed.took(batch(105, 4), cut((8, 1), (9, 3), ordinal=True))
    found = [feed.before(chunk, 109) for chunk in (5, 7, 8, 9, 12)]
    places = [(100, 7), (100, 7), (102, 8), (106, 9), (106, 9)]
    assert found == [FeedStart("s", *place) for place in places]
    feed.forget(8)
    assert feed.before(7, 109) == FeedStart("s", 102, 8)


def test_a_chunk_whose_first_row_is_not_known_is_begun_with_an_earlier_one() -> None:
    feed = FeedPositions(FeedStart("s", 0, 0))
    feed.took(batch(0, 3), cut((0, 2), (1, 1), ordinal=True))
    feed.took(batch(3, 4), cut((1, 1), (2, 2), failed=1, ordinal=True))
    feed.took(batch(7, 2), cut((2, 1), (3, 1), ordinal=True))
    assert [feed.before(chunk, 9) for chunk in (2, 3)] == [
        FeedStart("s", 2, 1),
        FeedStart("s", 8, 3),
    ]
