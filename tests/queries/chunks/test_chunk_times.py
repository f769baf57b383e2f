"""The times of the first and the last row of a chunk, as in a list of all rows."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from upstream.queries.chunks.chunk_times import ChunkTimes
from upstream.queries.chunks.cutter import Piece
from upstream.rows.stream_definition import StreamDefinition

SCHEMA = pa.schema([("time", pa.timestamp("us")), ("x", pa.int64())])


def times_of(time: str | None) -> ChunkTimes:
    return ChunkTimes(StreamDefinition("s", SCHEMA, (), time))


def rows(*times: int) -> pa.Table:
    return pa.table({"time": times, "x": times}, SCHEMA)


def note(of: ChunkTimes, pieces: list[Piece], arrival: float = 0.0) -> None:
    of.took(of.of(pieces, arrival))


batches = st.lists(
    st.dictionaries(st.integers(0, 3), st.lists(st.integers(-9, 9), min_size=1), max_size=3),
    max_size=5,
)


@given(batches=batches)
def test_the_bounds_are_the_times_of_the_first_and_the_last_row(
    batches: list[dict[int, list[int]]],
) -> None:
    of = times_of("time")
    expected: dict[int, list[int]] = {}
    for batch in batches:
        note(of, [(chunk, rows(*times)) for chunk, times in sorted(batch.items())])
        for chunk, times in batch.items():
            expected.setdefault(chunk, []).extend(times)
    for chunk in range(5):
        times = expected.get(chunk, [])
        assert of.bounds(chunk) == ((times[0], times[-1]) if times else None)


def test_without_a_time_the_bounds_are_arrivals_in_microseconds() -> None:
    of = times_of(None)
    note(of, [(0, rows(7)), (1, rows(8, 9))], 1.5)
    note(of, [(1, rows(3))], 2.0)
    assert of.bounds(0) == (1_500_000, 1_500_000)
    assert of.bounds(1) == (1_500_000, 2_000_000)


def test_nothing_is_noted_before_it_is_taken() -> None:
    of = times_of("time")
    assert of.of([(0, rows(1, 2)), (2, rows(3))], 0.0) == [(0, (1, 2)), (2, (3, 3))]
    assert of.bounds(0) is of.bounds(2) is None


def test_times_of_earlier_chunks_are_forgotten() -> None:
    of = times_of("time")
    note(of, [(0, rows(1)), (1, rows(2)), (2, rows(3))])
    of.forget(2)
    assert [of.bounds(chunk) for chunk in range(3)] == [None, None, (3, 3)]
