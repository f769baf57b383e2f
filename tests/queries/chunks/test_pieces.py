"""Pieces of rows are combined with their chunks, and separated again."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from upstream.queries.chunks.pieces import by_chunk, portions, with_chunks, with_their_chunks
from upstream.queries.sql.names import STEP

SCHEMA = pa.schema([("x", pa.int64())])


def rows(*numbers: int) -> pa.Table:
    return pa.table({"x": numbers}, SCHEMA)


def with_chunk_in_front(chunks: list[int]) -> pa.Table:
    return pa.table({STEP: pa.array(chunks, pa.int64()), "x": range(len(chunks))})


@given(sizes=st.lists(st.integers(1, 9), max_size=20), most=st.integers(1, 12))
def test_portions_are_as_large_as_they_may_be(sizes: list[int], most: int) -> None:
    pieces = [(chunk, rows(*range(size))) for chunk, size in enumerate(sizes)]
    found = list(portions(pieces, most))
    assert [piece for portion in found for piece in portion] == pieces
    counts = [sum(table.num_rows for _, table in portion) for portion in found]
    assert all(count <= most or len(each) == 1 for count, each in zip(counts, found, strict=True))
    for count, following in zip(counts, found[1:], strict=False):
        assert count + following[0][1].num_rows > most


@given(st.lists(st.integers(-3, 3), max_size=30))
def test_rows_are_separated_by_chunk_in_their_order(chunks: list[int]) -> None:
    table = with_chunk_in_front(chunks)
    expected = [
        (chunk, [i for i, each in enumerate(chunks) if each == chunk])
        for chunk in sorted({*chunks})
    ]
    without, with_them = list(by_chunk(table)), list(with_their_chunks(table))
    assert [(chunk, part["x"].to_pylist()) for chunk, part in without] == expected
    assert [(chunk, part["x"].to_pylist()) for chunk, part in with_them] == expected
    assert all(part.column_names == ["x"] for _, part in without)
    for chunk, part in with_them:
        assert part[STEP].to_pylist() == [chunk] * part.num_rows


def test_rows_in_the_order_of_their_chunks_are_not_copied() -> None:
    table = with_chunk_in_front([1, 1, 2])
    addresses = {part["x"].chunk(0).buffers()[1].address for _, part in (*by_chunk(table),)}
    assert addresses == {table["x"].chunk(0).buffers()[1].address}


def test_pieces_with_their_chunks_can_be_separated_again() -> None:
    pieces = [(2, rows(1, 2)), (5, rows(3))]
    table = with_chunks(pieces)
    assert table.column(STEP).to_pylist() == [2, 2, 5]
    again = by_chunk(table.select([STEP, "x"]))
    assert [(chunk, part["x"].to_pylist()) for chunk, part in again] == [(2, [1, 2]), (5, [3])]
