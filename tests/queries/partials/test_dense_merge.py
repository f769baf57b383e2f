"""Columns of numbers that are changed in place as the window slides."""

from __future__ import annotations

import itertools
import math
from datetime import date
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlglot import exp

from upstream.database.duck import Duck
from upstream.database.failure import DatabaseError
from upstream.queries.partials.dense_merge import DenseMerge
from upstream.queries.partials.running_merge import RelationalMerge
from upstream.queries.rewriting.split_query import State, StateKind

from .contract import (
    GREATEST,
    TOTAL,
    TUPLES,
    CheckedMerge,
    Partials,
    PlainMerge,
    Row,
    SlidingMergeContract,
    rows_of,
)
from .test_kernels import sum_error


class TestDenseMerge(SlidingMergeContract):
    def make(self, partials: Partials) -> CheckedMerge:
        return dense(partials)

    def test_a_sum_too_large_for_64_bits_is_right_and_leaves_no_trace(self) -> None:
        merge = self.make(self.partials)
        for chunk, amount in enumerate([1, 2**70, 2**70, 3]):
            merge.stage([(chunk, self.one("a", amount))])
        seen = [self.totals(merge.merged(max(0, end - 2), end)) for end in (1, 2, 3, 4, 5)]
        assert seen == [{"a": 1}, {"a": 1 + 2**70}, {"a": 2**71}, {"a": 3 + 2**70}, {"a": 3}]

    def test_a_sum_that_overflows_fails_when_it_is_asked_for_and_not_after(self) -> None:
        merge = self.make(self.partials)
        for chunk in range(12):
            merge.stage([(min(chunk, 9), self.one("a", 10**38 - 1))])
        merge.advance(0, 10)
        with pytest.raises(DatabaseError):
            merge.merged(0, 10)
        merge.stage([(10, self.one("a", 1))])
        assert self.totals(merge.merged(10, 11)) == {"a": 1}
        merge._check()

    def test_groups_that_are_gone_are_forgotten(self) -> None:
        """Each chunk has groups of its own, 20,000 in all; at most 400 are in the window."""
        merge = self.make(self.partials)
        for chunk in range(200):
            rows = [(f"{chunk} {i}", Decimal(i), 1, None, None, None) for i in range(100)]
            merge.stage([(chunk, self.partials.table(rows))])
            merge.advance(chunk - 3, chunk + 1)
            merge.forget(chunk - 3)
            assert merge.merged(chunk - 3, chunk + 1).num_rows == 100 * min(chunk + 1, 4)
        assert isinstance(merge, DenseMerge)
        assert merge._window is not None
        assert len(merge._window._places) < 10_000
        assert self.totals(merge.merged(196, 200))["199 7"] == 7
        merge._check()

    def test_a_chunk_that_comes_behind_the_window_is_never_in_it(self) -> None:
        merge, plain = self.make(self.partials), self.plain()
        for first in range(24):
            chunks = {8: ["b"], 9: ["b"]} if first == 4 else {first + 5: ["b"]}
            if first == 4:
                chunks[2] = ["a"]
            elif first == 10:
                chunks[15] = ["a", "b"]
            for held in (merge, plain):
                held.advance(first, first + 6 if first >= 4 else first)
                for chunk, groups in chunks.items() if first >= 4 else ():
                    rows = [self.row(group, 100 - chunk) for group in groups]
                    held.stage([(chunk, self.partials.table(rows))])
            self.assert_same(merge, plain, plain.first, plain.end)
            merge._check()


DOUBLES = pa.schema([("place", pa.int64()), ("total", pa.float64())])


@pytest.fixture
def doubles(duck: Duck) -> Partials:
    return Partials(("place",), (TOTAL,), DOUBLES, duck)


def dense(partials: Partials) -> DenseMerge:
    merge = RelationalMerge(partials.groups, partials.states, partials.schema, partials.duck)
    return DenseMerge(partials.groups, partials.states, merge)


def test_doubles_do_not_drift_in_ten_thousand_slides(doubles: Partials) -> None:
    """Magnitudes are from 1e-8 to 1e16, of both signs; the sum is that of `math.fsum`."""
    merge, window = dense(doubles), 32
    random = np.random.default_rng(7)
    values = random.choice([-1.0, 1.0], 10_000) * 10.0 ** random.uniform(-8, 16, 10_000)
    partials = doubles.table([(0, value) for value in values.tolist()])
    for chunk in range(10_000):
        merge.stage([(chunk, partials.slice(chunk, 1))])
        merge.advance(chunk - window + 1, chunk + 1)
        merge.forget(chunk - window + 1)
        if chunk % 11 == 0:
            exact = math.fsum(values[max(0, chunk - window + 1) : chunk + 1])
            merged = merge.merged(chunk - window + 1, chunk + 1)
            assert merged["total"][0].as_py() == pytest.approx(exact, rel=1e-12, abs=0)


@given(
    parts=st.lists(
        st.lists(
            st.one_of(
                st.none(),
                st.sampled_from([0.0, 1e300, -1e300, 1e16, -1e16, 1.0, 1e-300]),
                st.floats(-1e6, 1e6),
            ),
            min_size=2,
            max_size=2,
        ),
        max_size=24,
    ),
    size=st.integers(1, 7),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_sums_of_doubles_are_exact_but_for_a_rounding(
    doubles: Partials, parts: list[list[float | None]], size: int
) -> None:
    merge = dense(doubles)
    for chunk, values in enumerate(parts):
        merge.stage([(chunk, doubles.table(list(enumerate(values))))])
        merge.forget(chunk + 1 - size)
        table = merge.merged(chunk + 1 - size, chunk + 1)
        for place, found in zip(*table.to_pydict().values(), strict=True):
            inside = [part[place] for part in parts[max(0, chunk + 1 - size) : chunk + 1]]
            known = [value for value in inside if value is not None]
            assert (found is None) == (not known)
            if found is not None:
                exact = math.fsum(known)
                assert abs(found - exact) <= sum_error(known, exact)


@pytest.mark.parametrize(
    "values",
    [
        [math.inf, 1.0, -math.inf, 2.0, 3.0, 4.0],
        [math.nan, 1.0, 2.0, math.inf, 1.0, 1.0, 1.0],
        [1.7e308, 1.7e308, 1.0, 2.0, 3.0, 4.0],
        [1e308, 1e308, -1e308, -1e308, 1.0, 1.0, 1.0],
        [1e308, 1e308, -math.inf, 1.0, 1.0, 1.0],
        [-1.7e308, 1.7e308, -1.7e308, 1.7e308, 1.0],
        [-0.0, -0.0, -0.0, None, None, None, None],
    ],
    ids=str,
)
def test_infinities_and_overflow_are_those_of_a_sum_in_the_database(
    doubles: Partials, values: list[float | None]
) -> None:
    """Three chunks a window, each a row; the sum is asked for anew of the rows in each window."""
    merge = dense(doubles)
    for chunk, value in enumerate(values):
        merge.stage([(chunk, doubles.table([(0, value)]))])
        table = merge.merged(chunk - 2, chunk + 1)
        rows = [(0, value) for value in values[max(0, chunk - 2) : chunk + 1]]
        assert rows_of(table) == rows_of(doubles.merge([doubles.table(rows)]))
    merge._check()


def test_cancelling_values_leave_digits_that_a_sum_in_the_database_loses(doubles: Partials) -> None:
    merge = dense(doubles)
    tables = [doubles.table([(0, value)]) for value in (1e16, 1.0, -1e16)]
    for chunk, table in enumerate(tables):
        merge.stage([(chunk, table)])
    assert rows_of(merge.merged(0, 3)) == [(0, 1.0)]
    assert rows_of(doubles.merge(tables)) == [(0, 0.0)]


def test_small_doubles_are_right_after_a_large_one_has_left(doubles: Partials) -> None:
    merge = dense(doubles)
    merge.stage([(0, doubles.table([(0, 1e300), (1, float("nan")), (2, float("inf")), (3, 1e16)]))])
    small = [1e-8, 2e-8, 3e-8]
    for chunk, value in enumerate(small, start=1):
        merge.stage([(chunk, doubles.table([(place, value) for place in range(4)]))])
    large = rows_of(merge.merged(0, 4))
    assert large == [(0, 1e300), (1, "NaN"), (2, float("inf")), (3, 1e16)]
    assert rows_of(merge.merged(1, 4)) == [(place, math.fsum(small)) for place in range(4)]


def test_a_window_near_the_present_one_is_merged_by_sliding_there_and_back(duck: Duck) -> None:
    """A late row of a window that was emitted: it is asked for again, and the present one after."""
    schema = pa.schema([("place", pa.string()), ("tuples", pa.int64())])
    partials = Partials(("place",), (TUPLES,), schema, duck)
    merge = dense(partials)
    for chunk in range(40):
        merge.stage([(chunk, partials.table([("a", 1), (f"of {chunk}", 1)]))])
    present = rows_of(merge.merged(8, 40))
    merge.stage([(6, partials.table([("late", 5)]))])
    earlier = rows_of(merge.merged(6, 38))
    assert ("late", 5) in earlier
    assert ("of 6", 1) in earlier
    assert ("of 38", 1) not in earlier
    assert rows_of(merge.merged(8, 40)) == present
    merge._check()


def test_a_near_window_that_overflows_does_not_move_the_present_one(duck: Duck) -> None:
    schema = pa.schema([("place", pa.string()), ("tuples", pa.int64())])
    partials = Partials(("place",), (TUPLES,), schema, duck)
    merge = dense(partials)
    for chunk in range(40):
        merge.stage([(chunk, partials.table([("a", 2**63 - 1 if chunk == 3 else 1)]))])
    merge.advance(4, 40)
    with pytest.raises(DatabaseError):
        merge.merged(3, 39)
    assert rows_of(merge.merged(4, 40)) == [("a", 36)]
    merge._check()


def test_a_decimal_of_more_than_64_bits_can_be_the_greatest(duck: Duck) -> None:
    schema = pa.schema([("place", pa.string()), ("greatest", pa.decimal128(38, 0))])
    partials = Partials(("place",), (GREATEST,), schema, duck)
    merge = dense(partials)
    merge.advance(0, 3)
    for chunk, value in enumerate([2**63, 1, 2]):
        for _ in range(10):
            merge.stage([(chunk, partials.table([("a", Decimal(value))]))])
            merge._check()
    seen = []
    for first in range(3):
        seen += rows_of(merge.merged(first, 3))
        merge._check()
    assert seen == [("a", 2**63), ("a", 2), ("a", 2)]


@pytest.mark.parametrize("groups", [(), ("place",), ("place", "day")])
def test_any_number_of_group_columns_will_do(groups: tuple[str, ...], duck: Duck) -> None:
    types = {"place": pa.string(), "day": pa.date32()}
    schema = pa.schema([*((name, types[name]) for name in groups), ("tuples", pa.int64())])
    partials = Partials(groups, (TUPLES,), schema, duck)
    merge, plain = dense(partials), PlainMerge(partials)
    values = {"place": ("a", None), "day": (date(2026, 1, 1), None)}
    rows: list[Row] = list(itertools.product(*(values[name] for name in groups)))
    for chunk in range(20):
        table = partials.table([(*row, 1) for row in rows[: 1 + chunk % max(len(rows), 1)]])
        for held in (merge, plain):
            held.stage([(chunk, table)])
            held.advance(chunk - 2, chunk + 1)
        window = chunk - 2, chunk + 1
        assert rows_of(merge.merged(*window)) == rows_of(plain.merged(*window))
        merge._check()


MOMENTS = [("tuples", pa.int64()), ("mean", pa.float64()), ("squares", pa.float64())]


def squares_of(table: pa.Table, place: int) -> float:
    squares: float = table["squares"][table["place"].to_pylist().index(place)].as_py()
    return squares


def test_variances_slide_without_drift(duck: Duck) -> None:
    """Values of two groups about 1e9, whose squares would leave no digit of the variance."""
    schema = pa.schema([("place", pa.int64()), *MOMENTS])
    unused = tuple(exp.Sum(this=exp.column(name)) for name, _ in MOMENTS)
    names = tuple(name for name, _ in MOMENTS)
    partials = Partials(("place",), (State(StateKind.MOMENTS, names, unused),), schema, duck)
    merge, window = dense(partials), 9
    random = np.random.default_rng(11)
    values = 1e9 + random.normal(size=(300, 2, 5))
    for chunk, groups in enumerate(values):
        rows = [(i, group.size, group.mean(), group.var() * 5) for i, group in enumerate(groups)]
        merge.stage([(chunk, partials.table(rows[: 1 + chunk % 2]))])
        merge.advance(chunk - window + 1, chunk + 1)
        merge.forget(chunk - window + 1)
        held = values[max(0, chunk - window + 1) : chunk + 1]
        table = merge.merged(chunk - window + 1, chunk + 1)
        assert held[:, 0].var() * held[:, 0].size == pytest.approx(squares_of(table, 0), rel=1e-5)
    merge._check()
