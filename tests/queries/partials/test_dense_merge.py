"""Columns of numbers that are changed in place as the window slides."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from datetime import date
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from sqlglot import exp

from upstream.database.duck import Duck
from upstream.database.failure import DatabaseError
from upstream.queries.partials.dense_columns import DenseColumns
from upstream.queries.partials.dense_merge import DenseMerge
from upstream.queries.partials.table_merge import RelationalMerge
from upstream.queries.rewriting.split_query import State, StateKind

from .contract import (
    GREATEST,
    TUPLES,
    CheckedMerge,
    Partials,
    PlainMerge,
    Row,
    SlidingMergeContract,
    rows_of,
    sum_of,
)


class TestDenseMerge(SlidingMergeContract):
    def make(self, partials: Partials) -> CheckedMerge:
        return dense(partials)

    def test_a_sum_too_large_for_64_bits_is_right_and_leaves_no_trace(self) -> None:
        merge = self.make(self.partials)
        for step, amount in enumerate([1, 2**70, 2**70, 3]):
            merge.stage(step, self.one("a", amount))
        seen = []
        for end in (1, 2, 3, 4, 5):
            merge.advance(max(0, end - 2), end)
            seen.append(self.totals(merge.merged()))
        assert seen == [{"a": 1}, {"a": 1 + 2**70}, {"a": 2**71}, {"a": 3 + 2**70}, {"a": 3}]

    def test_a_sum_that_overflows_fails_when_it_is_asked_for_and_not_after(self) -> None:
        merge = self.make(self.partials)
        for step in range(12):
            merge.stage(min(step, 9), self.one("a", 10**38 - 1))
        merge.advance(0, 10)
        with pytest.raises(DatabaseError):
            merge.merged()
        merge.stage(10, self.one("a", 1))
        merge.advance(10, 11)
        assert self.totals(merge.merged()) == {"a": 1}
        merge._check()

    def test_groups_that_are_gone_are_forgotten(self) -> None:
        """Each step has groups of its own, 20,000 in all; at most 400 are in the window."""
        merge = self.make(self.partials)
        for step in range(200):
            rows = [(f"{step} {i}", Decimal(i), 1, None, None) for i in range(100)]
            merge.stage(step, self.partials.table(rows))
            merge.advance(step - 3, step + 1)
            merge.forget(step - 3)
            assert merge.merged().num_rows == 100 * min(step + 1, 4)
        assert isinstance(merge, DenseMerge)
        assert merge.places_known() < 10_000
        assert self.totals(merge.merged())["199 7"] == 7
        merge._check()


DOUBLES = pa.schema([("place", pa.int64()), ("total", pa.float64())])
TOTAL = sum_of("total", "DOUBLE")


@pytest.fixture
def doubles() -> Iterator[Partials]:
    duck = Duck()
    yield Partials(("place",), (TOTAL,), DOUBLES, duck)
    duck.close()


def dense(partials: Partials) -> DenseMerge:
    merge = RelationalMerge(partials.groups, partials.states, partials.schema, partials.duck)
    return DenseMerge(DenseColumns(partials.groups, partials.states, partials.schema), merge)


def test_doubles_do_not_drift_in_ten_thousand_slides(doubles: Partials) -> None:
    """Magnitudes are from 1e-8 to 1e16, of both signs; the sum is that of `math.fsum`."""
    merge, window = dense(doubles), 32
    random = np.random.default_rng(7)
    values = random.choice([-1.0, 1.0], 10_000) * 10.0 ** random.uniform(-8, 16, 10_000)
    partials = doubles.table([(0, value) for value in values.tolist()])
    for step in range(10_000):
        merge.stage(step, partials.slice(step, 1))
        merge.advance(step - window + 1, step + 1)
        merge.forget(step - window + 1)
        if step % 11 == 0:
            exact = math.fsum(values[max(0, step - window + 1) : step + 1])
            assert merge.merged()["total"][0].as_py() == pytest.approx(exact, rel=1e-12, abs=0)


def test_small_doubles_are_right_after_a_large_one_has_left(doubles: Partials) -> None:
    merge = dense(doubles)
    merge.stage(0, doubles.table([(0, 1e300), (1, float("nan")), (2, float("inf")), (3, 1e16)]))
    small = [1e-8, 2e-8, 3e-8]
    for step, value in enumerate(small, start=1):
        merge.stage(step, doubles.table([(place, value) for place in range(4)]))
    merge.advance(0, 4)
    large = rows_of(merge.merged())
    merge.advance(1, 4)
    assert large == [(0, 1e300), (1, "NaN"), (2, float("inf")), (3, 1e16)]
    assert rows_of(merge.merged()) == [(place, math.fsum(small)) for place in range(4)]


def test_a_window_near_the_present_one_is_merged_by_sliding_there_and_back() -> None:
    """A late row of a window that was emitted: it is asked for again, and the present one after."""
    duck = Duck()
    schema = pa.schema([("place", pa.string()), ("tuples", pa.int64())])
    partials = Partials(("place",), (TUPLES,), schema, duck)
    merge = dense(partials)
    for step in range(40):
        merge.stage(step, partials.table([("a", 1), (f"of {step}", 1)]))
    merge.advance(8, 40)
    present = rows_of(merge.merged())
    merge.stage(6, partials.table([("late", 5)]))
    earlier = rows_of(merge.merged_of(6, 38))
    assert ("late", 5) in earlier
    assert ("of 6", 1) in earlier
    assert ("of 38", 1) not in earlier
    assert rows_of(merge.merged()) == present
    merge._check()
    duck.close()


def test_a_near_window_that_overflows_does_not_move_the_present_one() -> None:
    duck = Duck()
    schema = pa.schema([("place", pa.string()), ("tuples", pa.int64())])
    partials = Partials(("place",), (TUPLES,), schema, duck)
    merge = dense(partials)
    for step in range(40):
        merge.stage(step, partials.table([("a", 2**63 - 1 if step == 3 else 1)]))
    merge.advance(4, 40)
    with pytest.raises(DatabaseError):
        merge.merged_of(3, 39)
    assert rows_of(merge.merged()) == [("a", 36)]
    merge._check()
    duck.close()


def test_a_decimal_of_more_than_64_bits_can_be_the_greatest() -> None:
    duck = Duck()
    schema = pa.schema([("place", pa.string()), ("greatest", pa.decimal128(38, 0))])
    partials = Partials(("place",), (GREATEST,), schema, duck)
    merge = dense(partials)
    merge.advance(0, 3)
    for step, value in enumerate([2**63, 1, 2]):
        for _ in range(10):
            merge.stage(step, partials.table([("a", Decimal(value))]))
            merge._check()
    seen = []
    for first in range(3):
        merge.advance(first, 3)
        seen += rows_of(merge.merged())
        merge._check()
    assert seen == [("a", 2**63), ("a", 2), ("a", 2)]
    duck.close()


@pytest.mark.parametrize("groups", [(), ("place",), ("place", "day")])
def test_any_number_of_group_columns_will_do(groups: tuple[str, ...]) -> None:
    duck = Duck()
    types = {"place": pa.string(), "day": pa.date32()}
    schema = pa.schema([*((name, types[name]) for name in groups), ("tuples", pa.int64())])
    partials = Partials(groups, (TUPLES,), schema, duck)
    merge, plain = dense(partials), PlainMerge(partials)
    values = {"place": ("a", None), "day": (date(2026, 1, 1), None)}
    rows: list[Row] = list(itertools.product(*(values[name] for name in groups)))
    for step in range(20):
        table = partials.table([(*row, 1) for row in rows[: 1 + step % max(len(rows), 1)]])
        for held in (merge, plain):
            held.stage(step, table)
            held.advance(step - 2, step + 1)
        assert rows_of(merge.merged()) == rows_of(plain.merged())
        merge._check()
    duck.close()


MOMENTS = [("tuples", pa.int64()), ("mean", pa.float64()), ("squares", pa.float64())]


def squares_of(merge: DenseMerge, place: int) -> float:
    table = merge.merged()
    squares: float = table["squares"][table["place"].to_pylist().index(place)].as_py()
    return squares


def test_variances_slide_without_drift() -> None:
    """Values of two groups about 1e9, whose squares would leave no digit of the variance."""
    duck = Duck()
    schema = pa.schema([("place", pa.int64()), *MOMENTS])
    unused = tuple(exp.Sum(this=exp.column(name)) for name, _ in MOMENTS)
    names = tuple(name for name, _ in MOMENTS)
    partials = Partials(("place",), (State(StateKind.MOMENTS, names, unused),), schema, duck)
    merge, window = dense(partials), 9
    random = np.random.default_rng(11)
    values = 1e9 + random.normal(size=(300, 2, 5))
    for step, groups in enumerate(values):
        rows = [(i, group.size, group.mean(), group.var() * 5) for i, group in enumerate(groups)]
        merge.stage(step, partials.table(rows[: 1 + step % 2]))
        merge.advance(step - window + 1, step + 1)
        merge.forget(step - window + 1)
        held = values[max(0, step - window + 1) : step + 1]
        assert held[:, 0].var() * held[:, 0].size == pytest.approx(squares_of(merge, 0), rel=1e-5)
    merge._check()
    duck.close()
