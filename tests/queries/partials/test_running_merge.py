"""Which merge is used for which partials, and how several tables become one."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

from upstream.database.duck import Duck
from upstream.queries.partials.chunk_tree import ChunkTree
from upstream.queries.partials.cumulative_merge import CumulativeMerge
from upstream.queries.partials.dense_merge import DenseMerge
from upstream.queries.partials.growing_merge import GrowingMerge
from upstream.queries.partials.running_merge import (
    FirstRows,
    RelationalMerge,
    RowConcatenation,
    running_merge,
)

from ..parsed import query_of
from .contract import AMOUNT, GREATEST, TUPLES, rows_of

ROWS = pa.schema([("place", pa.string()), ("amount", pa.int64())])
PARTIALS = pa.schema(
    [("place", pa.string()), ("amount", pa.decimal128(38, 0)), ("greatest", pa.string())]
)


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


def test_rows_of_a_landmark_that_cannot_matter_any_more_are_dropped(duck: Duck) -> None:
    keep = query_of("SELECT * FROM partials ORDER BY amount DESC LIMIT 2")
    merge = running_merge(None, (), ROWS, duck, keep=keep, cumulative=True)
    for amount in (3, 1, 4, 2):
        merge.stage([(0, pa.table({"place": ["a"], "amount": [amount]}, schema=ROWS))])
    assert merge.merged(0, 1)["amount"].to_pylist() == [4, 3]
    assert merge.rows == 2
    assert "keeping the first rows" in merge.describe()
    merge.close()


def test_first_rows_have_the_schema_of_the_partials(duck: Duck) -> None:
    schema = pa.schema([("amount", pa.int32())])
    keep = FirstRows(query_of("SELECT amount + 1::BIGINT AS amount FROM partials"), schema, duck)
    table = pa.table({"amount": [1]}, schema=schema)
    assert keep([table, table]).equals(pa.table({"amount": [2, 2]}, schema=schema))
    assert keep([]).equals(schema.empty_table())


def test_a_landmark_is_merged_cumulatively(duck: Duck) -> None:
    merge = running_merge(("place",), (AMOUNT, GREATEST), PARTIALS, duck, cumulative=True)
    assert isinstance(merge, CumulativeMerge)


def test_numbers_of_a_landmark_grow_in_place(duck: Duck) -> None:
    schema = PARTIALS.set(2, pa.field("greatest", pa.timestamp("us")))
    merge = running_merge(("place",), (AMOUNT, GREATEST), schema, duck, cumulative=True)
    assert isinstance(merge, GrowingMerge)


@pytest.mark.parametrize("is_signed", [True, False])
def test_a_signed_landmark_forgets_what_is_zero(duck: Duck, *, is_signed: bool) -> None:
    schema = pa.schema([("place", pa.string()), ("amount", pa.decimal128(38, 0))])
    merge = running_merge(("place",), (AMOUNT,), schema, duck, cumulative=True, is_signed=is_signed)
    merge.advance(0, 1)
    for places, amounts in ((["a", "b"], [1, 2]), (["a", "c"], [-1, -3])):
        columns = {"place": places, "amount": list(map(Decimal, amounts))}
        merge.stage([(0, pa.table(columns, schema=schema))])
    left = {"b": 2, "c": -3} if is_signed else {"a": 0, "b": 2, "c": -3}
    table = merge.merged(0, 1)
    assert dict(zip(table["place"].to_pylist(), table["amount"].to_pylist(), strict=True)) == left
    assert merge.rows == len(left)
    merge.close()


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


SCHEMA = pa.schema([("of a price", pa.float64()), ("amount", pa.decimal128(38, 0))])


@pytest.fixture
def merge(duck: Duck) -> RelationalMerge:
    return RelationalMerge(("of a price",), (AMOUNT,), SCHEMA, duck)


def table(*rows: tuple[float | None, int | None]) -> pa.Table:
    prices, amounts = zip(*rows, strict=True)
    decimals = [None if amount is None else Decimal(amount) for amount in amounts]
    return pa.table({"of a price": prices, "amount": decimals}, schema=SCHEMA)


def test_null_is_a_group_of_its_own_and_nan_is_equal_to_itself(merge: RelationalMerge) -> None:
    nan = float("nan")
    merged = merge([table((None, 1), (nan, 2)), table((nan, 20), (1.0, 3)), table((None, 10))])
    assert rows_of(merged) == rows_of(table((None, 11), (nan, 22), (1.0, 3)))


def test_a_sum_is_null_only_if_all_of_it_is(merge: RelationalMerge) -> None:
    merged = merge([table((1.0, None), (2.0, None)), table((1.0, None), (2.0, 0))])
    assert rows_of(merged) == rows_of(table((1.0, None), (2.0, 0)))


def test_no_tables_are_merged_to_an_empty_one(merge: RelationalMerge) -> None:
    assert merge([]).schema.equals(SCHEMA)
    assert merge([]).num_rows == 0


def test_the_lent_name_is_given_back(duck: Duck) -> None:
    merge = RelationalMerge(("of a price",), (AMOUNT,), SCHEMA, duck)
    merge([table((1.0, 1), (1.0, 2))])
    views = "SELECT count(*) FROM duckdb_views() WHERE NOT internal"
    before = duck.rows(views)
    merge.close()
    assert before != duck.rows(views)


def test_large_tables_are_put_together_without_a_copy() -> None:
    schema = pa.schema([("x", pa.int64())])
    large = pa.table({"x": range(5_000)}, schema=schema)
    both = RowConcatenation(schema)([large, large])
    assert both["x"].num_chunks == 2
    assert both["x"].chunk(0).buffers()[1].address == large["x"].chunk(0).buffers()[1].address


def test_tiny_tables_are_copied_into_one_chunk() -> None:
    schema = pa.schema([("x", pa.int64())])
    tiny = pa.table({"x": [1]}, schema=schema)
    assert RowConcatenation(schema)([tiny] * 9)["x"].num_chunks == 1
