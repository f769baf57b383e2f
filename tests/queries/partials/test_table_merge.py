"""How several tables of partials become one."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import pyarrow as pa
import pytest

from upstream.database.duck import Duck
from upstream.queries.partials.table_merge import RelationalMerge, RowConcatenation

from .contract import AMOUNT, rows_of

SCHEMA = pa.schema([("of a price", pa.float64()), ("amount", pa.decimal128(38, 0))])


@pytest.fixture
def duck() -> Iterator[Duck]:
    duck = Duck()
    yield duck
    duck.close()


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
