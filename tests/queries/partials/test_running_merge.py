"""Which running merge is taken for what."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest

from upstream.database.duck import Duck
from upstream.queries.partials import running_merge
from upstream.queries.partials.chunk_tree import ChunkTree
from upstream.queries.partials.cumulative_merge import CumulativeMerge
from upstream.queries.partials.dense_merge import DenseMerge

from .contract import AMOUNT, GREATEST, TUPLES, rows_of

ROWS = pa.schema([("place", pa.string()), ("amount", pa.int64())])
PARTIALS = pa.schema(
    [("place", pa.string()), ("amount", pa.decimal128(38, 0)), ("greatest", pa.string())]
)


@pytest.fixture
def duck() -> Iterator[Duck]:
    duck = Duck()
    yield duck
    duck.close()


def test_rows_are_put_one_after_the_other_in_the_order_of_the_chunks(duck: Duck) -> None:
    merge = running_merge(None, (), ROWS, duck)
    for chunk in (1, 0, 2):
        merge.stage([(chunk, pa.table({"place": ["a"], "amount": [chunk]}, schema=ROWS))])
    merge.stage([(1, pa.table({"place": ["a"], "amount": [9]}, schema=ROWS))])
    assert merge.merged(0, 2)["amount"].to_pylist() == [0, 1, 9]


def test_rows_of_a_landmark_are_kept_as_they_are(duck: Duck) -> None:
    merge = running_merge(None, (), ROWS, duck, cumulative=True)
    for chunk in range(3):
        merge.stage([(chunk, pa.table({"place": ["a"], "amount": [1]}, schema=ROWS))])
        merge.advance(chunk, chunk + 1)
    assert merge.merged(2, 3)["amount"].to_pylist() == [1, 1, 1]


def test_a_landmark_is_merged_cumulatively(duck: Duck) -> None:
    merge = running_merge(("place",), (AMOUNT, GREATEST), PARTIALS, duck, cumulative=True)
    assert isinstance(merge, CumulativeMerge)


def test_texts_are_merged_by_a_tree(duck: Duck) -> None:
    merge = running_merge(("place",), (AMOUNT, GREATEST), PARTIALS, duck)
    assert isinstance(merge, ChunkTree)
    merge.stage(
        [(0, pa.table({"place": ["a"], "amount": [1], "greatest": ["x"]}, schema=PARTIALS))]
    )
    merge.stage(
        [(1, pa.table({"place": ["a"], "amount": [2], "greatest": ["y"]}, schema=PARTIALS))]
    )
    assert rows_of(merge.merged(0, 2)) == [("a", 3, "y")]


def test_numbers_are_merged_in_place(duck: Duck) -> None:
    schema = PARTIALS.set(2, pa.field("greatest", pa.timestamp("us")))
    assert isinstance(running_merge(("place",), (AMOUNT, GREATEST), schema, duck), DenseMerge)


def test_without_groups_the_merge_is_one_row_or_none(duck: Duck) -> None:
    schema = pa.schema([("amount", pa.decimal128(38, 0)), ("tuples", pa.int64())])
    merge = running_merge((), (AMOUNT, TUPLES), schema, duck)
    for chunk in range(3):
        merge.stage([(chunk, pa.table({"amount": [chunk], "tuples": [1]}, schema=schema))])
    assert rows_of(merge.merged(1, 3)) == [(3, 2)]
    assert rows_of(merge.merged(3, 4)) == []
