"""The merge of a landmark in columns that grow in place."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.interrupted import respect_held_interrupts
from upstream.database.duck import Duck
from upstream.database.failure import DatabaseError
from upstream.queries.partials import growing_merge
from upstream.queries.partials.grouped_state import GroupedState
from upstream.queries.partials.growing_merge import GrowingMerge
from upstream.queries.partials.leading_places import LeadingPlaces
from upstream.queries.partials.running_merge import RelationalMerge
from upstream.queries.rewriting.split_query import Leading

from .contract import (
    AMOUNT,
    TOTAL,
    TUPLES,
    CheckedMerge,
    CumulativeMergeContract,
    Partials,
    rows_of,
)


def growing(partials: Partials) -> GrowingMerge:
    merge = RelationalMerge(partials.groups, partials.states, partials.schema, partials.duck)
    return GrowingMerge(partials.groups, partials.states, merge)


class TestGrowingMerge(CumulativeMergeContract):
    def make(self, partials: Partials) -> CheckedMerge:
        return growing(partials)

    @pytest.fixture(autouse=True, params=[1, 10_000], ids=["at once", "when read"])
    def often(self, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(growing_merge, "_ROWS", request.param)
        respect_held_interrupts(monkeypatch)

    def test_what_does_not_fit_is_merged_by_the_database_from_then_on(self) -> None:
        merge = growing(self.partials)
        merge.advance(0, 1)
        for amount in (1, 10**37, 8 * 10**37, 3):
            merge.stage([(0, self.one("a", amount)), (1, self.one("a", 100))])
            merge.merged(0, 1)
        assert "GROUP BY" in merge.describe()
        assert self.totals(merge.merged(0, 1)) == {"a": 9 * 10**37 + 4}
        assert self.totals(merge.merged(0, 2)) == {"a": 9 * 10**37 + 404}
        assert merge.rows == 1
        merge._check()


AMOUNTS = pa.schema([("place", pa.string()), ("amount", pa.decimal128(38, 0))])
LARGE = st.integers(-9, 9).map(lambda number: number * 10**37)


@given(st.lists(st.tuples(st.sampled_from("ab"), LARGE), max_size=12), st.integers(1, 4))
@example([("a", 8 * 10**37), ("a", 10**37), ("a", -(10**37))], 1)
@example([("a", 9 * 10**37), ("a", 9 * 10**37)], 1)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_sum_near_the_limit_of_its_type_is_right_or_an_error(
    duck: Duck, parts: list[tuple[str, int]], read_after: int
) -> None:
    partials = Partials(("place",), (AMOUNT,), AMOUNTS, duck)
    merge = growing(partials)
    sums: dict[str, int] = {}
    has_been_large = False
    for number, (place, amount) in enumerate(parts, start=1):
        merge.stage([(0, partials.table([(place, Decimal(amount))]))])
        sums[place] = sums.get(place, 0) + amount
        largest = max(map(abs, sums.values()))
        has_been_large |= largest >= 10**38
        if number % read_after:
            continue
        try:
            found = rows_of(merge.merged(0, 1))
        except DatabaseError:
            assert has_been_large
        else:
            assert largest < 10**38
            assert found == sorted(sums.items())
        merge._check()
    merge.close()


def test_a_count_that_overflows_is_the_error_of_the_database(duck: Duck) -> None:
    schema = pa.schema([("place", pa.string()), ("tuples", pa.int64())])
    partials = Partials(("place",), (TUPLES,), schema, duck)
    merge = growing(partials)
    merge.stage([(0, partials.table([("a", 2**63 - 2)])), (0, partials.table([("a", 1)]))])
    assert rows_of(merge.merged(0, 1)) == [("a", 2**63 - 1)]
    assert "columns" in merge.describe()
    merge.stage([(0, partials.table([("a", 1)]))])
    with pytest.raises(DatabaseError):
        merge.merged(0, 1)
    merge.stage([(0, partials.table([("a", -2)]))])
    assert rows_of(merge.merged(0, 1)) == [("a", 2**63 - 2)]


def test_only_leading_rows_are_merged_until_the_database_merges(duck: Duck) -> None:
    partials = Partials(("place",), (AMOUNT,), AMOUNTS, duck)
    merge = RelationalMerge(partials.groups, partials.states, partials.schema, partials.duck)
    places = LeadingPlaces(Leading("amount", 1))
    growing = GrowingMerge(partials.groups, partials.states, merge)

    def read() -> list[tuple[object, ...]]:
        return rows_of(growing.read(0, 1, lambda state: state.first(places)))

    growing.stage([(0, partials.table([("a", Decimal(1)), ("b", Decimal(2))]))])
    assert read() == [("b", 2)]
    assert rows_of(growing.merged(0, 1)) == [("a", 1), ("b", 2)]
    assert growing.rows == 2
    assert growing.saved().num_rows == 2
    growing.stage([(0, partials.table([("a", Decimal(9 * 10**37))]))])
    assert read() == [("a", 9 * 10**37 + 1), ("b", 2)]
    assert len(rows_of(growing.merged(0, 1))) == 2
    growing.close()


def test_doubles_do_not_drift_however_many_partials_come(duck: Duck) -> None:
    schema = pa.schema([("place", pa.int64()), ("total", pa.float64())])
    partials = Partials(("place",), (TOTAL,), schema, duck)
    merge = growing(partials)
    for value in [1e16, *([1.0] * 1_000), -1e16]:
        merge.stage([(0, partials.table([(0, value)]))])
        merge.merged(0, 1)
    assert rows_of(merge.merged(0, 1)) == [(0, 1_000.0)]


def test_groups_that_are_the_same_in_arrow_only_are_merged_by_the_database(duck: Duck) -> None:
    """A partial has two rows of one group, as far as can be seen of times of different zones."""
    schema = pa.schema([("place", pa.time64("us")), ("tuples", pa.int64())])
    partials = Partials(("place",), (TUPLES,), schema, duck)
    merge = growing(partials)
    noon = 12 * 3_600 * 10**6
    merge.stage([(0, partials.table([(noon, 1), (0, 1), (noon, 1)]))])
    assert sorted(merge.merged(0, 1)["tuples"].to_pylist()) == [1, 2]


def test_many_small_partials_are_merged_before_they_are_taken_in(
    duck: Duck, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = pa.schema([("place", pa.int64()), ("tuples", pa.int64())])
    partials = Partials(("place",), (TUPLES,), schema, duck)
    merge = growing(partials)
    sizes: list[int] = []
    update = GroupedState.update

    def noted(state: GroupedState, partial: pa.Table) -> object:
        sizes.append(partial.num_rows)
        return update(state, partial)

    monkeypatch.setattr(GroupedState, "update", noted)
    for number in range(100):
        merge.stage([(number, partials.table([(number % 7, 1)]))])
        merge.settle()
    assert rows_of(merge.merged(0, 99))[0] == (0, 15)
    assert rows_of(merge.merged(0, 100))[1] == (1, 15)
    assert sizes == [7, 1]


def test_a_landmark_without_groups_is_one_row_or_none(duck: Duck) -> None:
    partials = Partials((), (TUPLES,), pa.schema([("tuples", pa.int64())]), duck)
    merge = growing(partials)
    assert merge.merged(0, 1).num_rows == 0
    for _ in range(3):
        merge.stage([(0, partials.table([(2,)]))])
    assert rows_of(merge.merged(0, 1)) == [(6,)]
    merge._check()
