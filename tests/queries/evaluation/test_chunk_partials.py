"""Rows of chunks become partials; short chunks are evaluated together."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pytest

from upstream.database.duck import Duck
from upstream.database.failure import DatabaseError
from upstream.queries.chunks.cutter import Piece
from upstream.queries.chunks.pieces import with_chunks
from upstream.queries.evaluation import chunk_partials
from upstream.queries.evaluation.chunk_partials import ChunkPartials
from upstream.queries.results.failing_rows import FailedRows
from upstream.queries.rewriting.split import split
from upstream.queries.sql.window_clause import Axis, WindowClause, WindowKind

from ..parsed import query_of

NOTES = pa.schema([("k", pa.string()), ("note", pa.string())])
WINDOW = WindowClause(WindowKind.TUMBLE, "s", Axis.SOURCE, 10, 10)


@pytest.fixture
def partials(duck: Duck) -> ChunkPartials:
    """Sums texts as numbers."""
    text = "SELECT k, sum(CAST(note AS INT)) AS x FROM chunk_0 GROUP BY k"
    [leaf] = split(query_of(text), (WINDOW,), {"chunk_0": NOTES}, duck).leaves
    return ChunkPartials(leaf, NOTES, duck)


def rows(*notes: str) -> pa.Table:
    return pa.table({"k": ["a"] * len(notes), "note": notes}, NOTES)


def sums(pieces: Sequence[Piece]) -> list[tuple[int, int]]:
    return [(chunk, int(table.column(1)[0].as_py())) for chunk, table in pieces]


def test_each_chunk_has_a_partial(partials: ChunkPartials) -> None:
    pieces = [(0, rows("1", "2")), (3, rows("4"))]
    assert sorted(sums(partials.of(pieces, FailedRows(0)))) == [(0, 3), (3, 4)]


def test_short_chunks_are_evaluated_together_and_long_ones_alone(
    partials: ChunkPartials, monkeypatch: pytest.MonkeyPatch
) -> None:
    together: list[list[int]] = []

    def noted(pieces: Sequence[Piece]) -> pa.Table:
        together.append([chunk for chunk, _ in pieces])
        return with_chunks(pieces)

    monkeypatch.setattr(chunk_partials, "with_chunks", noted)
    pieces = [(0, rows("1")), (1, rows(*["2"] * 4_096)), (2, rows("3")), (3, rows("4"))]
    assert sorted(sums(partials.of(pieces, None))) == [(0, 1), (1, 8_192), (2, 3), (3, 4)]
    assert together == [[0, 2, 3]]


@pytest.mark.parametrize("count", [1, 3])
def test_a_bad_row_is_left_out_of_its_chunk_and_no_other(
    partials: ChunkPartials, count: int
) -> None:
    failed = FailedRows(0)
    pieces = [(i, rows("1", "bad", "2") if i == 0 else rows("4")) for i in range(count)]
    found = dict.fromkeys(range(count), 0)
    for chunk, total in sums(partials.of(pieces, failed)):
        found[chunk] += total
    assert found == {i: 3 if i == 0 else 4 for i in range(count)}
    assert failed.rows == {(0, 1)}
    assert failed.error is not None
    assert "bad" in failed.error


@pytest.mark.parametrize("count", [1, 3])
def test_a_bad_row_is_an_error_if_it_cannot_be_noted(partials: ChunkPartials, count: int) -> None:
    with pytest.raises(DatabaseError, match="bad"):
        partials.of([(i, rows("1", "bad")) for i in range(count)], None)


def test_partials_can_be_made_after_their_statements_were_released(
    partials: ChunkPartials,
) -> None:
    assert sums(partials.of([(0, rows("1"))], None)) == [(0, 1)]
    partials.close()
    assert sums(partials.of([(0, rows("1"))], None)) == [(0, 1)]
