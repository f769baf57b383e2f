"""The state of all groups, which grows in place and from which partials can be taken away."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.interrupted import interrupt_everywhere
from upstream.queries.partials import grouped_state
from upstream.queries.partials.grouped_state import CountColumns, GroupedState, subtracts
from upstream.queries.rewriting.split_query import State, StateKind

from .contract import GREATEST, LEAST, TOTAL, TUPLES
from .interruptions import FILES

Group = tuple[Any, ...]
Rows = list[tuple[Group, int | None]]
Form = tuple[tuple[str, ...], pa.Schema]

SUM = State(StateKind.SUM, ("amount",), ())
COUNTED = CountColumns("rows", {"amount": "amounts"})
SUMS = [pa.field("tuples", pa.int64()), pa.field("amount", pa.decimal128(38, 0))]
FORMS: dict[str, Form] = {
    "no groups": ((), pa.schema(SUMS)),
    "one": (("place",), pa.schema([pa.field("place", pa.string()), *SUMS])),
    "two": (
        ("place", "day"),
        pa.schema([SUMS[1], pa.field("day", pa.int32()), SUMS[0], pa.field("place", pa.string())]),
    ),
}


class Model:
    """The rows of each group, in the order in which the groups came."""

    def __init__(self, groups: tuple[str, ...], schema: pa.Schema) -> None:
        self.groups = groups
        self.schema = schema
        self.state = GroupedState(groups, (TUPLES, SUM), schema, COUNTED)
        self.rows: dict[Group, list[int | None]] = {}

    def partial(self, rows: Rows) -> pa.Table:
        """Return the partial of rows, as a GROUP BY would."""
        values: dict[Group, list[int | None]] = {}
        for group, value in rows:
            values.setdefault(group[: len(self.groups)], []).append(value)
        types = {
            **{name: self.schema.field(name).type for name in self.groups},
            "tuples": pa.int64(),
            "amount": pa.decimal128(38, 0),
            "rows": pa.int64(),
            "amounts": pa.int64(),
        }
        entries = []
        for group, found in values.items():
            known = [value for value in found if value is not None]
            amount = Decimal(sum(known)) if known else None
            sums = (len(found), amount, len(found), len(known))
            entries.append(dict(zip(types, (*group, *sums), strict=True)))
        return pa.Table.from_pylist(entries, schema=pa.schema(list(types.items())))

    def change(self, rows: Rows, sign: int) -> Callable[[], None]:
        """Compute a change, and return what applies it here and there."""
        change = self.state.update(self.partial(rows), sign)
        assert change is not None

        def apply() -> None:
            change.apply()
            for group, value in rows:
                values = self.rows.setdefault(group[: len(self.groups)], [])
                values.append(value) if sign > 0 else values.remove(value)
            self.rows = {group: values for group, values in self.rows.items() if values}

        return apply

    def expected(self) -> list[dict[str, Any]]:
        found = []
        for group, values in self.rows.items():
            known = [value for value in values if value is not None]
            amount = Decimal(sum(known)) if known else None
            row = dict(zip(self.groups, group, strict=True))
            row |= {"tuples": len(values), "amount": amount}
            found.append({name: row[name] for name in self.schema.names})
        return found

    def check(self) -> pa.Table:
        self.state._check()
        table = self.state.table()
        assert table.schema.equals(self.schema)
        table.validate(full=True)
        assert table.to_pylist() == self.expected()
        assert self.state.rows == len(self.rows)
        return table


GROUPS = st.tuples(st.sampled_from([None, "a", "b", "long enough to be cut"]), st.integers(0, 2))
VALUES = st.one_of(st.none(), st.integers(-9, 9), st.integers(-(10**30), 10**30))
ADDED = st.lists(st.tuples(GROUPS, VALUES), min_size=1, max_size=6)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "add", "take away", "take away", "discard", "restore", "read"]),
        ADDED,
        st.randoms(use_true_random=False),
    ),
    max_size=24,
)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("spare", [0, 4_096], ids=["compacted", "with empty places"])
def test_partials_that_are_added_and_taken_away_leave_the_rows_that_are_there(
    form: str, spare: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grouped_state, "_SPARE_PLACES", spare)

    @given(STEPS)
    def check(steps: list[tuple[str, Rows, Any]]) -> None:
        model = Model(*FORMS[form])
        seen: list[tuple[pa.Table, list[dict[str, Any]]]] = []
        for step, rows, random in steps:
            held = [(group, value) for group, values in model.rows.items() for value in values]
            taken = random.sample(held, random.randint(0, len(held)))
            if step == "add":
                model.change(rows, 1)()
            elif step == "take away":
                model.change(taken, -1)()
            elif step == "discard":
                model.change(rows, 1)
                model.change(taken, -1)
            elif step == "restore":
                saved, model.state = model.state.save(), Model(*FORMS[form]).state
                model.state.restore(saved)
            else:
                seen.append((model.check(), model.expected()))
            model.state._check()
        seen.append((model.check(), model.expected()))
        assert all(table.to_pylist() == expected for table, expected in seen)

    check()


def test_a_partial_of_changes_adds_and_takes_away_at_once() -> None:
    """An update replaces a row: its group loses one value and gets another, or another gets it."""
    groups, schema = FORMS["one"]
    state = GroupedState(groups, (TUPLES, SUM), schema, COUNTED)
    for place, tuples, amount, amounts in [
        (["a", "b"], [2, 1], [5, 7], [2, 1]),
        (["a", "b", "c"], [0, -1, 1], [3, -7, 7], [0, -1, 1]),
        (["d"], [0], [0], [0]),
    ]:
        columns = {"place": place, "tuples": tuples, "rows": tuples, "amounts": amounts}
        change = state.update(
            pa.table({**columns, "amount": pa.array(map(Decimal, amount), SUMS[1].type)})
        )
        assert change is not None
        change.apply()
        state._check()
    assert state.table().to_pylist() == [
        {"place": "a", "tuples": 2, "amount": 8},
        {"place": "c", "tuples": 1, "amount": 7},
    ]


SIGNED = st.lists(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.integers(-3, 3), st.integers(-(10**30), 10**30)),
        unique_by=lambda row: row[0],
        max_size=3,
    ),
    max_size=12,
)


@pytest.mark.parametrize("spare", [0, 4_096], ids=["compacted", "with empty places"])
def test_a_signed_state_is_the_sum_in_any_order_without_what_is_zero(
    spare: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grouped_state, "_SPARE_PLACES", spare)
    groups, schema = FORMS["one"]

    def new() -> GroupedState:
        return GroupedState(groups, (TUPLES, SUM), schema, is_signed=True)

    @given(SIGNED, st.integers(0, 12))
    def check(parts: list[list[tuple[str, int, int]]], saved_at: int) -> None:
        state = new()
        sums: dict[str, tuple[int, int]] = {}
        for number, rows in enumerate(parts):
            columns = zip(*rows, strict=True) if rows else ((), (), ())
            arrays = [
                pa.array(list(each), to) for each, to in zip(columns, schema.types, strict=True)
            ]
            change = state.update(pa.Table.from_arrays(arrays, schema=schema))
            assert change is not None
            change.apply()
            for place, tuples, amount in rows:
                old = sums.get(place, (0, 0))
                sums[place] = old[0] + tuples, old[1] + amount
            if number == saved_at:
                saved, state = state.save(), new()
                state.restore(saved)
            state._check()
            left = {place: both for place, both in sums.items() if any(both)}
            found = {row["place"]: row for row in state.table().to_pylist()}
            assert {k: (row["tuples"], row["amount"]) for k, row in found.items()} == left
            assert state.rows == len(left) == len(state.table())

    check()


def test_a_signed_state_is_restored_as_such_only() -> None:
    groups, schema = FORMS["one"]
    signed = GroupedState(groups, (TUPLES, SUM), schema, is_signed=True)
    plain = GroupedState(groups, (TUPLES, SUM), schema)
    for one, other in ((signed, plain), (plain, signed)):
        with pytest.raises(ValueError, match="for another query"):
            one.restore(other.save())
    with pytest.raises(AssertionError):
        GroupedState(("place",), (TUPLES, LEAST), LARGE, is_signed=True)


def test_rows_that_were_not_added_cannot_be_taken_away() -> None:
    model = Model(*FORMS["one"])
    model.change([(("a",), 1), (("b",), None)], 1)()
    unknown: list[Rows] = [[(("a",), 1)] * 2, [(("c",), 1)], [(("b",), 1)]]
    for rows in unknown:
        with pytest.raises(AssertionError, match="taken away than were added"):
            model.change(rows, -1)
    model.check()


def test_groups_that_are_gone_are_forgotten() -> None:
    """Each partial has groups of its own, 40,000 in all, of which at most 400 are there."""
    model = Model(*FORMS["one"])
    batches: list[Rows] = [[((f"{batch} {i}",), i) for i in range(400)] for batch in range(100)]
    for batch, rows in enumerate(batches):
        model.change(rows, 1)()
        if batch:
            model.change(batches[batch - 1], -1)()
    assert model.state._held.groups.size < 10_000
    assert len(model.state._held.groups._codes) < 10_000
    model.check()


def test_only_the_last_change_that_was_computed_can_be_applied() -> None:
    model = Model(*FORMS["one"])
    first, second = (model.change([((place,), 1)], 1) for place in "ab")
    with pytest.raises(AssertionError, match="another change"):
        first()
    second()
    with pytest.raises(AssertionError, match="another change"):
        second()
    model.rows = {("b",): [1]}
    model.check()
    third = model.change([(("c",), 1)], 1)
    model.state.restore(model.state.save())
    with pytest.raises(AssertionError, match="built again"):
        third()
    model.check()


def test_a_change_is_not_applied_after_a_null_was_seen_that_it_does_not_know() -> None:
    """With the first NULL, a column begins to count values; the change before has no counts."""
    schema = pa.schema([("place", pa.string()), ("amount", pa.int64())])
    state = GroupedState(("place",), (SUM,), schema)
    rows = [pa.table([["a"], pa.array([value], pa.int64())], schema=schema) for value in (1, None)]
    without, _ = (state.update(each) for each in rows)
    assert without is not None
    with pytest.raises(AssertionError, match="another change"):
        without.apply()
    again = state.update(rows[0])
    assert again is not None
    again.apply()
    assert state.table()["amount"].to_pylist() == [1]


def test_a_table_is_the_same_object_until_something_changes() -> None:
    model = Model(*FORMS["one"])
    model.change([(("a",), 1)], 1)()
    table = model.state.table()
    model.change([(("b",), 1)], 1)
    assert model.state.table() is table
    model.change([(("b",), 1)], 1)()
    assert model.state.table() is not table


DOUBLES = st.one_of(
    st.none(), st.floats(allow_nan=True), st.sampled_from([1e16, 1.0, -1e16, -0.0, 0.1])
)
LARGE = pa.schema(
    [
        *[("place", pa.int64()), ("tuples", pa.int64()), ("total", pa.float64())],
        *[("least", pa.float64()), ("greatest", pa.int64())],
        *[("n", pa.int64()), ("mean", pa.float64()), ("squares", pa.float64())],
    ]
)
MOMENTS = State(StateKind.MOMENTS, ("n", "mean", "squares"), ())
ROW = st.tuples(
    *(st.just(1), DOUBLES, DOUBLES, st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1))),
    *(st.integers(0, 9), st.floats(-1e6, 1e6), st.floats(0, 1e6)),
)


@given(st.lists(st.dictionaries(st.integers(0, 3), ROW, min_size=1), max_size=8), st.integers(0, 8))
def test_a_restored_state_goes_on_with_the_same_bits(
    parts: list[dict[int, Any]], after: int
) -> None:
    def new() -> GroupedState:
        return GroupedState(("place",), (TUPLES, TOTAL, LEAST, GREATEST, MOMENTS), LARGE)

    state, other = new(), new()
    for number, part in enumerate(parts):
        if number == after:
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, state.save().schema) as writer:
                writer.write_table(state.save(), max_chunksize=2)
            other = new()
            other.restore(pa.ipc.open_stream(sink.getvalue()).read_all())
        columns = zip(*((place, *row) for place, row in part.items()), strict=True)
        arrays = [pa.array(each, to.type) for each, to in zip(columns, LARGE, strict=True)]
        partial = pa.table(arrays, schema=LARGE)
        changes = [each.update(partial) for each in (state, other)]
        assert (changes[0] is None) == (changes[1] is None)
        for change in filter(None, changes):
            change.apply()
    if after >= len(parts):
        other.restore(state.save())
    for each in (state, other):
        each._check()
    for mine, others in zip(state.save().columns, other.save().columns, strict=True):
        assert mine.combine_chunks().buffers()[-1] == others.combine_chunks().buffers()[-1]
    assert str(state.table().to_pylist()) == str(other.table().to_pylist())


def test_a_restored_state_has_nothing_of_what_it_had_before() -> None:
    model, other = Model(*FORMS["one"]), Model(*FORMS["one"])
    model.change([(("a",), 1)], 1)()
    other.change([(("b",), None)], 1)()
    other.check()
    other.state.restore(model.state.save())
    other.rows = model.rows
    other.check()


@pytest.mark.parametrize("change", ["version", "states", "types", "counts"])
def test_what_was_saved_in_another_form_is_refused(
    change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Model(*FORMS["one"])
    model.change([(("a",), 1)], 1)()
    saved = model.state.save()
    groups, schema = FORMS["one"]
    states: tuple[State, ...] = (TUPLES, SUM)
    counted: CountColumns | None = COUNTED
    if change == "version":
        monkeypatch.setattr(grouped_state, "_VERSION", 2)
    elif change == "states":
        states = (SUM, TUPLES)
    elif change == "types":
        schema = schema.set(2, pa.field("amount", pa.decimal128(38, 1)))
    else:
        counted = None
    other = GroupedState(groups, states, schema, counted)
    for table in (saved, saved.replace_schema_metadata(None)):
        with pytest.raises(ValueError, match="saved by another version, or for another query"):
            other.restore(table)
    assert other.table().num_rows == 0


def test_sums_of_integers_and_decimals_have_an_inverse() -> None:
    states = (TUPLES, TOTAL, LEAST, GREATEST)
    assert [subtracts(each, LARGE) for each in states] == [True, False, False, False]
    assert subtracts(SUM, FORMS["one"][1])
    with pytest.raises(AssertionError):
        GroupedState(("place",), (TUPLES, LEAST), LARGE, COUNTED)


def test_after_an_exception_anywhere_an_update_is_made_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The update comes when most places are empty, and brings NULLs, new and old groups."""
    monkeypatch.setattr(grouped_state, "_SPARE_PLACES", 0)
    rows: Rows = [(("a",), None), (("f",), 5), (("g",), None), (("new",), 1)]

    def make() -> Model:
        model = Model(*FORMS["one"])
        many: Rows = [((place,), 1) for place in "abcdefgh"]
        model.change(many, 1)()
        model.change(many[:5], -1)()
        return model

    def update_and_read(model: Model) -> None:
        model.state.update(model.partial(rows))
        model.state.table()
        model.state.save()

    def check(model: Model) -> None:
        model.check()
        model.change(rows, 1)()
        model.check()

    for event in ("line", "c_call"):
        count = interrupt_everywhere(make, update_and_read, check, event=event, files=FILES)
        assert count > 100
