"""Which columns can be merged in NumPy, and in which order they come back."""

from __future__ import annotations

import pyarrow as pa
import pytest

from upstream.queries.partials.dense_columns import DenseColumns, Part, can_be_dense
from upstream.queries.rewriting.split_query import StateKind
from upstream.rows.group_places import GroupPlaces

from .contract import AMOUNT, GREATEST, LEAST, TUPLES, state

SCHEMA = pa.schema(
    [
        *[("place", pa.string()), ("least", pa.float64()), ("tuples", pa.int64())],
        *[("greatest", pa.int64()), ("amount", pa.decimal128(38, 0))],
    ]
)
STATES = (LEAST, TUPLES, GREATEST, AMOUNT)


def test_sums_are_subtracted_and_other_states_stacked() -> None:
    columns = DenseColumns(("place",), STATES, SCHEMA)
    assert (len(columns.sums), len(columns.stacked)) == (2, 2)


def test_columns_come_back_in_the_order_of_the_schema() -> None:
    columns = DenseColumns(("place",), STATES, SCHEMA)
    places, tuples, amount = pa.array(["a"]), pa.array([1]), pa.array([2])
    least, greatest = pa.array([0.5]), pa.array([9])
    arrays = columns.in_order([places], [tuples, amount, least, greatest])
    assert arrays == [places, least, tuples, greatest, amount]


def test_a_partial_in_several_chunks_is_read_as_one() -> None:
    columns = DenseColumns(("place",), STATES, SCHEMA)
    table = pa.table(
        {"place": ["a"], "least": [1.0], "tuples": [1], "greatest": [1], "amount": [1]}
    )
    table = table.cast(SCHEMA)
    part = Part(pa.concat_tables([table, table]))
    columns.read(part, GroupPlaces(columns.group_types))
    assert part.places.size == part.stacked[0].arrays[0].size == part.sums[0].words.size == 2


def test_doubles_are_stacked_because_adding_and_subtracting_them_would_drift() -> None:
    schema = pa.schema([("place", pa.string()), ("total", pa.float64())])
    columns = DenseColumns(("place",), (state(StateKind.SUM, "total", "sum"),), schema)
    assert (len(columns.sums), len(columns.stacked)) == (0, 1)


@pytest.mark.parametrize(
    ("kind", "type_", "is_dense"),
    [
        (StateKind.SUM, pa.int64(), True),
        (StateKind.SUM, pa.float64(), True),
        (StateKind.SUM, pa.uint64(), False),
        (StateKind.MINIMUM, pa.timestamp("us"), True),
        (StateKind.MINIMUM, pa.string(), False),
        (StateKind.OTHER, pa.int64(), False),
    ],
    ids=str,
)
def test_what_has_no_arithmetic_in_numpy_is_not_dense(
    kind: StateKind, type_: pa.DataType, is_dense: bool
) -> None:
    schema = pa.schema([("place", pa.string()), ("x", type_)])
    assert can_be_dense(("place",), (state(kind, "x", "any_value"),), schema) is is_dense


def test_groups_that_cannot_have_places_are_not_dense() -> None:
    schema = pa.schema([("place", pa.list_(pa.string())), ("tuples", pa.int64())])
    assert not can_be_dense(("place",), (TUPLES,), schema)
