"""Which decoded values JSON can represent."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given

from api.bodies import reasons
from api.bodies.plain_values import are_good, fault_of, has_nul
from api.bodies.reasons import Limits

from .examples import documents

LIMITS = Limits(depth=3)
UNSAYABLE = [
    math.nan,
    math.inf,
    -math.inf,
    b"",
    {1: 2},
    {b"a": 1},
    {None: 1},
    (1,),
    dt.datetime(2020, 1, 1, tzinfo=dt.UTC),
    msgspec.msgpack.Ext(1, b""),
]


@given(documents)
def test_values_that_json_can_represent_have_no_fault(value: object) -> None:
    assert fault_of(value, Limits()) is None
    assert not has_nul(value)


@pytest.mark.parametrize("value", UNSAYABLE)
@pytest.mark.parametrize("wrap", [lambda value: value, lambda value: [1, {"a": value}]])
def test_a_part_that_json_cannot_represent_is_a_fault_wherever_it_is(
    value: object, wrap: Callable[[object], object]
) -> None:
    assert fault_of(wrap(value), LIMITS) == reasons.NOT_JSON
    assert not are_good([1, wrap(value)])


@pytest.mark.parametrize("value", ["\0", ["a", "b\0"], {"\0": 1}, {"a": [{"b": "\0"}]}])
def test_nul_is_found_wherever_it_is(value: object) -> None:
    assert has_nul(value)
    assert fault_of(value, LIMITS) == f"value: {reasons.NUL}"
    assert not are_good([value])


def test_depth_counts_lists_and_maps() -> None:
    assert fault_of([{"a": [1]}], LIMITS) is None
    assert fault_of([{"a": [[]]}], LIMITS) == reasons.too_deep(LIMITS)
    deep: object = 1
    for _ in range(100_000):
        deep = [deep]
    assert fault_of(deep, LIMITS) == reasons.too_deep(LIMITS)


@pytest.mark.parametrize("values", [[], [1, True, None, 2**64 - 1], [1.5, -0.0]])
def test_scalars_of_good_kinds_are_good_at_a_glance(values: list[object]) -> None:
    assert are_good(values)


@pytest.mark.parametrize("values", [[1.5, math.nan], [math.inf, -math.inf], [1e308, 1e308], [[]]])
def test_values_that_may_be_bad_are_not_good_at_a_glance(values: list[object]) -> None:
    assert not are_good(values)
