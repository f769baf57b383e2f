"""States of a kernel at places."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from upstream.queries.partials.cells import PlacedPartial
from upstream.queries.partials.combined_state import CombinedState
from upstream.queries.partials.kernels import kernel_of
from upstream.queries.rewriting.split_query import StateKind

TYPES = {"x": pa.float64(), "n": pa.int64(), "d": pa.decimal128(38, 0), "t": pa.date32()}


class States:
    """A state of one column at the places from 0 on."""

    def __init__(self, kind: StateKind, name: str) -> None:
        kernel = kernel_of(kind, [TYPES[name]])
        assert kernel is not None
        self.state = CombinedState(kernel, [pa.field(name, TYPES[name])])
        self._name = name
        self._size = 0

    def add(self, *values: Any, sign: int = 1) -> bool:
        """Add to the places from 0 on; return False if that cannot be done here."""
        table = pa.table({self._name: pa.array(values, TYPES[self._name])})
        places = np.arange(len(values))
        size = max(self._size, len(values))
        writes = self.state.changed(PlacedPartial(table, places, self._size, size, sign))
        for cells, new in writes or ():
            cells.write(places, new)
        self._size = self._size if writes is None else size
        return writes is not None

    @property
    def values(self) -> list[Any]:
        column = self.state.columns(self._size)[self._name]
        assert column.type == TYPES[self._name]
        values: list[Any] = column.to_pylist()
        return values


def test_extremes_ignore_nulls_and_nan_is_the_greatest() -> None:
    least, greatest = States(StateKind.MINIMUM, "x"), States(StateKind.MAXIMUM, "x")
    for values in ([None, 1.0, None, math.nan], [None, -0.0, 2.0, 5.0], [None, 3.0, 1.0, math.nan]):
        assert least.add(*values)
        assert greatest.add(*values)
    assert least.values == [None, 0.0, 1.0, 5.0]
    assert str(greatest.values) == "[None, 3.0, 2.0, nan]"


@pytest.mark.parametrize("name", ["t", "d", "n"])
def test_the_greatest_of_no_values_is_null_in_every_type(name: str) -> None:
    states = States(StateKind.MAXIMUM, name)
    assert states.add(7)
    [seven] = states.values
    assert states.add(None, None, 7)
    assert states.values == [seven, None, seven]


def test_what_is_lost_by_rounding_is_added_at_last() -> None:
    states = States(StateKind.SUM, "x")
    for value in [1e16, *([1.0] * 9), -1e16]:
        assert states.add(value, -0.0)
    assert states.values == [9.0, 0.0]


@pytest.mark.parametrize("large", [2.0**1_000, -(2.0**1_001)])
def test_sums_that_may_overflow_change_nothing(large: float) -> None:
    states = States(StateKind.SUM, "x")
    assert states.add(math.inf)
    assert not states.add(large)
    assert not States(StateKind.SUM, "x").add(large)
    assert states.values == [math.inf]


def test_a_sum_that_has_become_large_is_not_merged_any_more() -> None:
    states = States(StateKind.SUM, "x")
    assert states.add(2.0**999)
    assert not states.add(2.0**999)


def test_a_decimal_of_more_than_64_bits_changes_nothing() -> None:
    states = States(StateKind.MAXIMUM, "d")
    assert states.add(Decimal(3))
    assert not states.add(Decimal(2**63))
    assert states.values == [3]


def test_nothing_is_taken_away() -> None:
    with pytest.raises(AssertionError, match="inverse"):
        States(StateKind.MAXIMUM, "x").add(1.0, sign=-1)
