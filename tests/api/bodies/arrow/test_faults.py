"""Faults found in whole columns are those that are found row by row."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.bodies import reasons
from api.bodies.arrow.faults import (
    cells_of,
    find_key_faults,
    find_value_faults,
    most_bytes,
    sizes,
)
from api.bodies.plain_values import fault_of
from api.bodies.reasons import Limits
from upstream import Key

LIMITS = Limits(value_bytes=60, key_bytes=4)

texts = st.text("ab\0é", max_size=3)
floats = st.sampled_from([0.0, 1.5, math.nan, math.inf, -math.inf])
members: list[tuple[pa.DataType, st.SearchStrategy[object]]] = [
    (pa.float64(), floats),
    (pa.float32(), floats),
    (pa.string(), texts),
    (pa.large_string(), texts),
    (pa.bool_(), st.booleans()),
    (pa.uint8(), st.integers(0, 255)),
]
Typed = tuple[pa.DataType, st.SearchStrategy[object]]


def nullable(values: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.none() | values


def lists(inner: Typed) -> st.SearchStrategy[Typed]:
    kind, values = inner
    of_any_length = st.lists(nullable(values), max_size=3)
    of_two = st.lists(nullable(values), min_size=2, max_size=2)
    return st.sampled_from(
        [
            (pa.list_(kind), of_any_length),
            (pa.large_list(kind), of_any_length),
            (pa.list_(kind, 2), of_two),
        ]
    )


def structs(inner: Typed, other: Typed) -> Typed:
    values = st.fixed_dictionaries({"x": nullable(inner[1]), "y": nullable(other[1])})
    return pa.struct({"x": inner[0], "y": other[0]}), values


typed = st.recursive(
    st.sampled_from(members),
    lambda inner: inner.flatmap(lists) | st.builds(structs, inner, inner),
    max_leaves=4,
)


@st.composite
def columns(draw: st.DrawFn) -> pa.Array:
    """Draw a column of any type, perhaps a slice of a longer one."""
    kind, values = draw(typed)
    rows = draw(st.lists(nullable(values), max_size=8))
    return pa.array(rows, kind, from_pandas=False).slice(draw(st.integers(0, 2)))


@given(columns())
def test_the_faults_of_values_are_those_of_each(column: pa.Array) -> None:
    found = find_value_faults(column, Limits())
    expected = [fault_of(value, Limits()) is not None for value in column.to_pylist()]
    assert np.any([fault.rows for fault in found], axis=0).tolist() == (
        expected if found else False
    )
    assert bool(found) == any(expected)


@given(columns())
def test_no_row_is_larger_than_the_bound(column: pa.Array) -> None:
    assert len(sizes(column)) == len(column)
    assert int(sizes(column).max(initial=0)) <= most_bytes(column)


@pytest.mark.parametrize(
    ("column", "bad"),
    [
        (["x" * 58, "x" * 59, None], [False, True, False]),
        ([[1.0] * 2, [1.0] * 3, None], [False, True, False]),
        ([["x" * 20] * 2, ["x" * 20] * 3, []], [False, True, False]),
        ([{"a": "x", "b": 1}, {"a": "x" * 40, "b": 1}, None], [False, True, False]),
    ],
    ids=["text", "numbers", "texts", "struct"],
)
def test_values_that_are_too_long_are_found(column: list[object], bad: list[bool]) -> None:
    (fault,) = find_value_faults(pa.array(column), LIMITS)
    assert fault.reason == reasons.too_long(LIMITS)
    assert fault.rows.tolist() == bad


def test_a_null_with_long_text_below_it_is_not_too_long() -> None:
    column = pa.array(["x" * 100, "a"])
    offsets, data = column.buffers()[1:]
    hidden = pa.Array.from_buffers(pa.string(), 2, [pa.py_buffer(b"\x02"), offsets, data])
    assert hidden.to_pylist() == [None, "a"]
    assert find_value_faults(hidden, LIMITS) == []


def test_a_zero_byte_that_no_string_uses_is_no_fault() -> None:
    assert find_value_faults(pa.array(["a\0", "b"]).slice(1), LIMITS) == []


KEY = reasons.bad_key(LIMITS)
NUL = f"key: {reasons.NUL}"


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (["a", "é" * 4, ""], {}),
        (["a", None, "b"], {1: KEY}),
        (["a", "é" * 5, "b\0"], {1: KEY, 2: NUL}),
        ([1, 2, None], {2: KEY}),
        (pa.array([1, 2**63 - 1, 2**63], pa.uint64()), {2: KEY}),
        (pa.array([], pa.string()), {}),
    ],
    ids=range(6),
)
@pytest.mark.parametrize("encoded", [False, True])
def test_the_faults_of_keys_are_those_of_each(
    keys: object, expected: dict[int, str], encoded: bool
) -> None:
    column = keys if isinstance(keys, pa.Array) else pa.array(keys)
    if encoded:
        column = column.dictionary_encode()
    found: dict[Key, str] = {}
    for fault in find_key_faults(column, LIMITS):
        found |= dict.fromkeys(np.flatnonzero(fault.rows).tolist(), fault.reason)
    assert found == expected


def test_a_null_in_a_dictionary_is_no_key() -> None:
    keys = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, None]), pa.array([None, "a"]))
    bad = np.any([fault.rows for fault in find_key_faults(keys, LIMITS)], axis=0)
    assert bad.tolist() == [True, False, True, True]


def test_bad_keys_that_no_row_has_are_no_fault() -> None:
    keys = pa.DictionaryArray.from_arrays(pa.array([1, 1]), pa.array(["a\0", "a", None, "abcde"]))
    assert find_key_faults(keys, LIMITS) == []


def test_without_a_dictionary_every_key_is_null() -> None:
    keys = pa.DictionaryArray.from_arrays(pa.array([None, None], pa.int8()), pa.array([], "string"))
    (fault,) = find_key_faults(keys, LIMITS)
    assert fault.rows.tolist() == [True, True]


def test_values_are_counted_at_every_level() -> None:
    assert cells_of(pa.array([1.0, 2.0])) == 2
    assert cells_of(pa.array([[1.0], [2.0, 3.0]])) == 2 + 3
    assert cells_of(pa.array([[[1], [2, 3]], [[]]])) == 2 + 3 + 3
    assert cells_of(pa.array([{"a": [1, 2], "b": 1}])) == 1 + (1 + 2) + 1
    assert cells_of(pa.nulls(4)) == 4
