"""Rows keep their numbers when others are added or left out, and blocks are shared."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.tables import row_blocks
from upstream.tables.row_blocks import BLOCK_ROWS, RowBlocks

SCHEMA = pa.schema({"v": pa.int64(), "t": pa.string()})


def rows(values: list[int]) -> pa.Table:
    return pa.table({"v": values, "t": [str(value) for value in values]}, schema=SCHEMA)


def values_of(table: pa.Table) -> list[int]:
    assert table.schema == SCHEMA
    values: list[int] = table["v"].to_pylist()
    assert table["t"].to_pylist() == [str(value) for value in values]
    return values


def numbers(*of: int) -> row_blocks.Integers:
    return np.array(of, np.int64)


def with_all(blocks: RowBlocks, values: list[int], first: int) -> RowBlocks:
    return blocks.with_rows(rows(values), np.arange(len(values)), first)


def test_rows_are_taken_by_their_numbers() -> None:
    blocks = with_all(RowBlocks(SCHEMA), [10, 11], 0)
    blocks = blocks.with_rows(rows([12, 13, 14]), numbers(0, 2), 2)
    assert values_of(blocks.table()) == [10, 11, 12, 14]
    assert values_of(blocks.take(numbers(1, 3))) == [11, 14]
    left = blocks.without(numbers(0, 2))
    assert values_of(left.table()) == [11, 14]
    assert values_of(left.take(numbers(3))) == [14]
    assert values_of(blocks.table()) == [10, 11, 12, 14], "the old blocks are as they were"


def test_an_empty_result_has_a_schema() -> None:
    blocks = RowBlocks(SCHEMA)
    assert values_of(blocks.table()) == values_of(blocks.take(numbers())) == []
    blocks = with_all(blocks, [], 0)
    assert blocks.rows == 0
    blocks = with_all(blocks, [1], 0).without(numbers(0))
    assert values_of(blocks.table()) == []
    blocks._check()


def test_there_are_few_blocks_however_small_the_batches_are() -> None:
    blocks = RowBlocks(SCHEMA)
    for value in range(5_000):
        blocks = with_all(blocks, [value], value)
    assert len(blocks._blocks) <= 14
    blocks._check()


def test_many_rows_are_cut_into_blocks_that_do_not_hold_one_another() -> None:
    count = 3 * BLOCK_ROWS + 5
    blocks = with_all(RowBlocks(SCHEMA), list(range(count)), 0)
    assert len(blocks._blocks) == 4
    assert {block.rows["v"].chunk(0).offset for block in blocks._blocks} == {0}
    assert len({block.rows["v"].chunk(0).buffers()[1].address for block in blocks._blocks}) == 4
    assert blocks.table()["v"].to_pylist() == list(range(count))


@pytest.mark.parametrize("left_out", [1, 100], ids=["few", "many"])
def test_only_blocks_that_lose_rows_are_copied(left_out: int) -> None:
    blocks = with_all(RowBlocks(SCHEMA), list(range(4 * BLOCK_ROWS)), 0)
    left = blocks.without(np.arange(BLOCK_ROWS, BLOCK_ROWS + left_out))
    is_same = [one is other for one, other in zip(blocks._blocks, left._blocks, strict=True)]
    assert is_same == [True, False, True, True]
    left._check()


def test_blocks_that_became_short_are_merged() -> None:
    count = 8 * BLOCK_ROWS
    blocks = with_all(RowBlocks(SCHEMA), list(range(count)), 0)
    gone = np.flatnonzero(np.arange(count) % 5)
    left = blocks.without(gone)
    assert len(left._blocks) <= 4
    assert left.table()["v"].to_pylist() == list(range(0, count, 5))
    left._check()


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 7), st.booleans()), max_size=20))
def test_blocks_are_a_dict_by_number(actions: list[tuple[int, int, bool]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_blocks, "BLOCK_ROWS", 16)
        patch.setattr(row_blocks, "_FEW", 2)
        blocks, model, added = RowBlocks(SCHEMA), dict[int, int](), 0
        for count, step, is_left_out in actions:
            if is_left_out:
                gone = [*model][::step]
                blocks = blocks.without(numbers(*gone))
                model = {number: value for number, value in model.items() if number not in gone}
            values = list(range(count, 3 * count))
            chosen = np.arange(0, len(values), step)
            blocks = blocks.with_rows(rows(values), chosen, added)
            model |= {added + i: values[place] for i, place in enumerate(chosen.tolist())}
            added += chosen.size
            some = [*model][::step]
            assert values_of(blocks.take(numbers(*some))) == [model[number] for number in some]
            assert values_of(blocks.table()) == [*model.values()]
            blocks._check()
