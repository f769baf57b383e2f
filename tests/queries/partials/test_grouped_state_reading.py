"""Of a grouped state, only the groups may be read that lead an order, or that are looked up."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.queries.partials.grouped_state import GroupedState
from upstream.queries.partials.leading_places import LeadingPlaces
from upstream.queries.rewriting.split_query import Leading

from .contract import TUPLES
from .test_grouped_state import FORMS, SUM, Model

LED = pa.schema([("place", pa.string()), ("tuples", pa.int64()), ("amount", pa.decimal128(38, 0))])
LED_ROWS = st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(-3, 3)), min_size=1)


@given(st.lists(LED_ROWS, max_size=6), st.sampled_from(["tuples", "amount"]), st.booleans())
def test_the_first_rows_are_those_of_the_table(
    steps: list[list[tuple[str, int]]], column: str, is_least: bool
) -> None:
    state = GroupedState(("place",), (TUPLES, SUM), LED)
    places = LeadingPlaces(Leading(column, 2, is_least))
    for step in steps:
        totals: dict[str, int] = {}
        for place, value in step:
            totals[place] = totals.get(place, 0) + value
        columns = {"place": [*totals], "tuples": [*totals.values()], "amount": [*totals.values()]}
        change = state.update(pa.table(columns).cast(LED))
        assert change is not None
        change.apply()
        table = state.table()
        values = table[column].to_pylist()
        last = sorted(values, reverse=not is_least)[:2][-1]
        leads = [value <= last if is_least else value >= last for value in values]
        found = state.first(places)
        found.validate(full=True)
        assert found.equals(table.filter(pa.array(leads)))


@pytest.mark.parametrize(
    ("form", "amounts"),
    [
        pytest.param(pa.decimal128(38, 0), [Decimal(1), None, Decimal(3)], id="a NULL"),
        pytest.param(pa.decimal128(38, 0), [Decimal(1), Decimal(2**63), Decimal(3)], id="too wide"),
        pytest.param(pa.float64(), [1.0, 2.0, 3.0], id="doubles"),
    ],
)
def test_all_rows_are_returned_if_their_order_is_not_that_of_integers(
    form: pa.DataType, amounts: list[object]
) -> None:
    schema = pa.schema([("place", pa.string()), ("amount", form)])
    state = GroupedState(("place",), (SUM,), schema)
    change = state.update(pa.table({"place": [*"abc"], "amount": pa.array(amounts, form)}))
    assert change is not None
    change.apply()
    assert state.first(LeadingPlaces(Leading("amount", 1))).num_rows == 3


def test_rows_after_a_restore_are_those_of_the_new_groups() -> None:
    """The same places have other groups then."""
    states = [GroupedState(("place",), (TUPLES, SUM), LED) for _ in range(2)]
    for state, place in zip(states, "ab", strict=True):
        table = pa.table({"place": [place], "tuples": [1], "amount": [1]}).cast(LED)
        change = state.update(table)
        assert change is not None
        change.apply()
    state, other = states
    places, keys = LeadingPlaces(Leading("tuples", 1)), pa.table({"place": ["b"]})
    assert state.first(places)["place"].to_pylist() == ["a"]
    state.of_groups(keys)
    state.restore(other.save())
    assert state.first(places)["place"].to_pylist() == ["b"]
    assert state.of_groups(keys)["place"].to_pylist() == ["b"]


KEYS = st.lists(st.sampled_from([*"abcdxyz", None]), max_size=4, unique=True)


@given(st.lists(LED_ROWS, max_size=5), st.lists(KEYS, min_size=1, max_size=3))
def test_groups_are_looked_up_before_and_after_they_come(
    steps: list[list[tuple[str, int]]], wanted: list[list[str | None]]
) -> None:
    state = GroupedState(("place",), (TUPLES, SUM), LED)
    tables = [pa.table({"place": pa.array(keys, pa.string())}) for keys in wanted]
    for number, step in enumerate([[], *steps]):
        totals = dict(step)
        columns = {"place": [*totals], "tuples": [*totals.values()], "amount": [*totals.values()]}
        change = state.update(pa.table(columns, schema=None).cast(LED)) if totals else None
        if change is not None:
            change.apply()
        keys = tables[number % len(tables)]
        table, found = state.table(), state.of_groups(keys)
        if 2 * keys.num_rows <= table.num_rows:
            is_wanted = [place in keys["place"].to_pylist() for place in table["place"].to_pylist()]
            assert found.equals(table.filter(pa.array(is_wanted, pa.bool_())))
        else:
            assert found.equals(table)
        state._check()


def test_without_keys_all_groups_are_read() -> None:
    model = Model(*FORMS["one"])
    model.change([(("a",), 1), (("b",), 2), (("c",), 3)], 1)()
    assert model.state.of_groups(None).num_rows == 3
    model.change([(("b",), 2)], -1)()
    one = pa.table({"place": ["b"]})
    assert model.state.of_groups(one)["place"].to_pylist() == ["a", "c"]
