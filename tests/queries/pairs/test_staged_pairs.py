"""Pairs wait until they are due, and rows without a partner come out with them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from upstream.queries.pairs.staged_pairs import FoundPairs, StagedPairs

SCHEMAS = {0: pa.schema([("a", pa.int64())]), 1: pa.schema([("b", pa.int64())])}


def found(*pairs: tuple[int, int, int], firsts: list[int] | None = None) -> FoundPairs:
    """Return pairs: the place, and a value of each row."""
    places, a, b = (list(each) for each in zip(*pairs, strict=True))
    tables = {0: pa.table({"a": a}), 1: pa.table({"b": b})}
    return FoundPairs(
        np.array(places), tables, None if firsts is None else np.array(firsts, np.int64)
    )


def rows(tables: dict[int, pa.Table]) -> list[list[list[object]]]:
    return [[list(row.values()) for row in tables[number].to_pylist()] for number in sorted(tables)]


def test_rows_of_a_pair_have_one_number_and_rows_alone_have_others() -> None:
    staged = StagedPairs(SCHEMAS)
    staged.stage(staged.together_with([], found((1, 10, 20), (1, 11, 21))))
    staged.leave_alone(0, [pa.table({"a": [12]})])
    staged.leave_alone(1, [pa.table({"b": [22, 23]})])
    assert rows(staged.ready(None)) == [
        [[10, 0], [11, 1], [12, 2]],
        [[20, 0], [21, 1], [22, 3], [23, 4]],
    ]
    assert staged.rows == 5
    staged.taken()
    assert staged.rows == 0
    assert rows(staged.ready(None)) == [[], []]


def test_pairs_with_later_places_stay() -> None:
    staged = StagedPairs(SCHEMAS)
    staged.stage([found((1, 10, 20), (3, 11, 21)), found((2, 12, 22))])
    assert rows(staged.ready(3)) == [[[10, 0], [12, 1]], [[20, 0], [22, 1]]]
    staged.taken()
    staged._check()
    assert staged.until == 3
    assert rows(staged.ready(4)) == [[[11, 0]], [[21, 0]]]


def test_small_parts_are_combined() -> None:
    staged = StagedPairs(SCHEMAS)
    for place in range(200):
        staged.stage(staged.together_with(staged.found, found((place, place, -place))))
        staged._check()
    assert len(staged.found) < 10
    tables = staged.ready(None)
    assert sorted(tables[0]["a"].to_pylist()) == [*range(200)]


def test_pairs_of_a_row_can_be_replaced() -> None:
    staged = StagedPairs(SCHEMAS)
    staged.stage([found((5, 10, 20), (5, 11, 21), firsts=[0, 1]), found((6, 12, 22), firsts=[2])])
    staged.stage(staged.without(np.array([0, 2])))
    assert rows(staged.ready(None)) == [[[11, 0]], [[21, 0]]]


def test_only_what_was_returned_is_taken() -> None:
    staged = StagedPairs(SCHEMAS)
    with pytest.raises(AssertionError):
        staged.taken()
    staged.ready(None)
    staged.leave_alone(0, [pa.table({"a": [1]})])
    with pytest.raises(AssertionError):
        staged.taken()
