"""Rows are found under their numbers, in few tables, until they are let go."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from upstream.tables.row_store import RowStore

SCHEMA = pa.schema({"v": pa.int64(), "t": pa.string()})


def rows(values: list[int]) -> pa.Table:
    return pa.table({"v": values, "t": [str(value) for value in values]}, schema=SCHEMA)


def taken(store: RowStore, numbers: list[int]) -> list[int]:
    table = store.take(np.array(numbers, dtype=np.int64))
    assert table.schema == SCHEMA
    values: list[int] = table["v"].to_pylist()
    assert table["t"].to_pylist() == [str(value) for value in values]
    return values


def test_rows_have_the_numbers_in_which_they_came() -> None:
    store = RowStore(SCHEMA)
    store.add(rows([10, 11]))
    store.add(rows([]))
    store.add(rows([12]))
    assert store.rows == 3
    assert taken(store, [0, 2]) == [10, 12]
    assert taken(store, []) == []


def test_what_is_compacted_is_numbered_anew() -> None:
    store = RowStore(SCHEMA)
    store.add(rows([10, 11, 12]))
    store.add(rows([13]))
    kept = store.compact(np.array([1, 3]))
    assert kept["v"].to_pylist() == [11, 13]
    store.add(rows([14]))
    assert taken(store, [0, 1, 2]) == [11, 13, 14]


def test_an_empty_store_has_a_schema() -> None:
    store = RowStore(SCHEMA)
    assert store.compact(np.array([], dtype=np.int64)).schema == SCHEMA
    store.add(rows([1]))
    assert store.compact(np.array([], dtype=np.int64)).equals(SCHEMA.empty_table())
    assert store.rows == 0


def test_there_are_few_tables_however_small_the_batches_are() -> None:
    store = RowStore(SCHEMA)
    for value in range(5_000):
        store.add(rows([value]))
    assert len(store._tables) <= 14
    assert taken(store, list(range(0, 5_000, 7))) == list(range(0, 5_000, 7))


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 2**20)), max_size=20))
def test_a_store_is_a_list(actions: list[tuple[int, int]]) -> None:
    store, model = RowStore(SCHEMA), list[int]()
    for count, mask in actions:
        if mask % 3 == 0:
            numbers = [i for i in range(len(model)) if mask >> i % 20 & 1]
            model = [model[i] for i in numbers]
            kept = store.compact(np.array(numbers, dtype=np.int64))
            assert kept["v"].to_pylist() == model
        new = list(range(mask, mask + count))
        store.add(rows(new))
        model += new
        assert store.rows == len(model)
        some = [i for i in range(len(model)) if mask >> i % 20 & 1]
        assert taken(store, some) == [model[i] for i in some]
