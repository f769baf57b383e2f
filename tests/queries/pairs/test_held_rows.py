"""Rows are held in the order of their places, and leave at the front (held_rows and reach)."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.queries.pairs.held_rows import ALONE, HeldRows, ReachedRows
from upstream.queries.pairs.reach import Reach

places = st.lists(st.integers(0, 9), min_size=1, max_size=9)
actions = st.lists(st.tuples(places, st.none() | st.integers(0, 10)), max_size=12)


def numbered(first: int, at: Sequence[int]) -> pa.Table:
    return pa.table({"n": range(first, first + len(at)), "place": pa.array(at, pa.int64())})


def add(held: HeldRows, rows: pa.Table, at: Sequence[int]) -> None:
    held.hold(held.with_piece(held.piece(rows, np.array(at, np.int64))))


def content(reached: ReachedRows) -> list[tuple[int, int]]:
    if not len(reached):
        return []
    rows = reached.take(np.arange(len(reached)))
    return [(row["n"], row["place"]) for row in rows.to_pylist()]


@given(actions=actions, span=st.tuples(st.integers(-1, 10), st.integers(-1, 10)))
def test_held_rows_are_those_that_came_and_did_not_leave(
    actions: list[tuple[list[int], int | None]], span: tuple[int, int]
) -> None:
    held = HeldRows(tracks=True, tells_apart=True)
    expected: list[tuple[int, int]] = []
    count = 0
    for at, before in actions:
        add(held, numbered(count, at), at)
        expected += enumerate(at, count)
        count += len(at)
        if before is not None:
            gone, kept = held.without(before)
            left = sorted(row for piece in gone for row in content(ReachedRows([piece])))
            assert left == sorted(row for row in expected if row[1] < before)
            held.keep(kept)
            expected = [row for row in expected if row[1] >= before]
        held._check()
        assert held.rows == len(expected)
    reached = held.between(*span)
    assert sorted(content(reached)) == sorted(
        row for row in expected if span[0] <= row[1] <= span[1]
    )
    assert [n for n, _ in content(reached)] == reached.numbers().tolist()
    assert [place for _, place in content(reached)] == reached.places.tolist()


@given(
    batches=st.lists(places, min_size=1, max_size=6),
    chosen=st.lists(st.integers(0, 1_000), max_size=12),
)
def test_rows_are_taken_from_several_pieces_in_any_order(
    batches: list[list[int]], chosen: list[int]
) -> None:
    pieces = [
        piece
        for number, at in enumerate(batches)
        for held in [HeldRows(tracks=True, tells_apart=False)]
        for piece in [held.piece(numbered(10 * number, sorted(at)), np.array(sorted(at)))]
    ]
    reached = ReachedRows(pieces)
    all_rows = content(reached)
    rows = np.array([each % len(reached) for each in chosen], np.int64)
    found = reached.take(rows)
    assert [(row["n"], row["place"]) for row in found.to_pylist()] == [all_rows[i] for i in rows]
    for piece, inside, which in reached.by_piece(rows):
        assert piece.places[inside].tolist() == reached.places[rows[which]].tolist()


def test_a_row_is_copied_a_few_times_and_there_are_few_pieces() -> None:
    held = HeldRows(tracks=False, tells_apart=False)
    for number in range(500):
        add(held, numbered(number, [number]), [number])
    reached = held.between(0, 500)
    assert len(reached) == 500
    assert len(reached.pieces) <= 10


def test_rows_that_leave_release_their_memory() -> None:
    held = HeldRows(tracks=False, tells_apart=False)
    at = list(range(1_000))
    add(held, pa.table({"t": ["x" * 1_000] * 1_000}), at)
    before = pa.total_allocated_bytes()
    held.keep(held.without(900)[1])
    assert held.between(0, 1_000).take(np.array([0])).num_rows == 1
    assert pa.total_allocated_bytes() < before / 2


def test_rows_of_one_piece_that_met_no_partner_are_found() -> None:
    held = HeldRows(tracks=True, tells_apart=False)
    add(held, numbered(0, [1, 2, 3]), [1, 2, 3])
    [piece] = held.between(2, 3).pieces
    assert piece.met is not None
    piece.met[0] = 7
    gone, kept = held.without(3)
    assert [each.alone().to_pylist() for each in gone] == [[{"n": 0, "place": 1}]]
    assert [each.met.tolist() for each in kept if each.met is not None] == [[ALONE]]


@pytest.mark.parametrize(
    "values",
    [
        pytest.param(pa.array(["a", None, "b"]), id="texts"),
        pytest.param(pa.array([[1], None, []]), id="lists"),
        pytest.param(pa.array([{"a": 1}, None, {"a": None}]), id="structs"),
        pytest.param(pa.array([Decimal("1.5"), None, Decimal("2.5")]), id="decimals"),
        pytest.param(pa.array(["a", None, "b"]).dictionary_encode(), id="dictionaries"),
        pytest.param(pa.array([[("a", 1)], None, []], pa.map_(pa.string(), pa.int64())), id="maps"),
        pytest.param(pa.array([None, None, None], pa.null()), id="nulls"),
    ],
)
def test_values_of_any_type_are_held(values: pa.Array[pa.Scalar[pa.DataType]]) -> None:
    held = HeldRows(tracks=False, tells_apart=False)
    for at in ([3, 1, 2], [2, 1, 3]):
        add(held, pa.table({"t": values}), at)
    found = held.between(1, 3).take(np.array([5, 0, 3, 3]))
    assert found.schema.field("t").type == values.type
    assert found.num_rows == 4


def test_chunks_meet_as_long_as_both_are_kept() -> None:
    reach = Reach.of_chunks({0: 3, 1: 2})
    assert reach.span(0, 1, 5, 5) == (4, 7)
    assert reach.span(1, 0, 5, 5) == (3, 6)
    pairs = {0: np.array([5, 5, 5, 5, 5]), 1: np.array([3, 4, 5, 7, 8])}
    meets = reach.meets(pairs)
    assert meets is not None
    assert meets.tolist() == [False, True, True, True, False]


def test_without_limits_all_places_meet() -> None:
    first, last = Reach().span(0, 1, 5, 5)
    assert first < -(1 << 62)
    assert last > 1 << 62
    assert Reach().meets({0: np.array([1]), 1: np.array([9])}) is None
