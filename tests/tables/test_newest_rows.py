"""The newest rows of each group against a list per group."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.interrupted import Held, interrupt_everywhere
from tests.rows.test_group_codes import VALUES, comparable
from upstream.rows.stream_definition import StreamDefinition
from upstream.tables import live_rows, newest_numbers, newest_rows
from upstream.tables.newest_rows import NewestRows
from upstream.tables.row_blocks import BLOCK_ROWS

SCHEMA = pa.schema({"time": pa.int64(), "k": pa.string(), "g": pa.float64(), "id": pa.int64()})
STREAM = StreamDefinition("s", SCHEMA, ("k",), "time")
UNTIMED = StreamDefinition("s", SCHEMA, ("k",), None)

Row = tuple[int, str, float | None, int]


def taken_changes(newest: NewestRows) -> pa.Table:
    """Return the newest rows of the groups that changed since this was last asked."""
    rows = newest.rows_of(newest.changed_groups())
    newest.forget_changes()
    return rows


def table(rows: list[Row]) -> pa.Table:
    columns = [[row[i] for row in rows] for i in range(4)]
    return pa.Table.from_arrays(
        [pa.array(column, kind) for column, kind in zip(columns, SCHEMA.types, strict=True)],
        schema=SCHEMA,
    )


def quick(*rows: tuple[int, str]) -> pa.Table:
    """Return rows of a time and a key; the number of a row is its place."""
    return table([(time, key, None, i) for i, (time, key) in enumerate(rows)])


def listed(rows: pa.Table) -> list[Row]:
    assert rows.schema == SCHEMA
    return [tuple(row.values()) for row in rows.to_pylist()]


def times_and_keys(rows: pa.Table) -> list[tuple[int, str]]:
    return [(time, key) for time, key, _, _ in listed(rows)]


def test_the_later_arrival_wins_between_equal_times() -> None:
    newest = NewestRows(STREAM)
    newest.add(table([(1, "a", None, 0), (1, "a", None, 1)]))
    newest.add(table([(1, "a", None, 2)]))
    assert listed(newest.table()) == [(1, "a", None, 2)]
    assert newest.statistics().late == 0


def test_groups_may_be_of_other_columns_than_the_key() -> None:
    newest = NewestRows(STREAM, per=("g",))
    nan = float("nan")
    newest.add(table([(1, "a", nan, 0), (2, "b", nan, 1), (3, "c", None, 2), (4, "d", None, 3)]))
    newest.add(table([(5, "e", 0.0, 4), (6, "f", -0.0, 5)]))
    assert [row[3] for row in listed(newest.table())] == [1, 3, 5]
    both = NewestRows(STREAM, per=("k", "g"))
    both.add(table([(1, "a", 1.0, 0), (1, "a", 2.0, 1), (1, "a", 1.0, 2)]))
    assert [row[3] for row in listed(both.table())] == [1, 2]


def test_newest_rows_may_be_empty() -> None:
    newest = NewestRows(STREAM)
    assert listed(newest.table()) == listed(taken_changes(newest)) == []
    newest.add(quick())
    assert listed(newest.table()) == []
    assert newest.statistics().came == 0


def test_times_that_differ_by_less_than_a_float_can_hold_are_distinguished() -> None:
    newest = NewestRows(STREAM)
    newest.add(quick((2**61 + 1, "a"), (2**61, "b"), (2**61, "a"), (2**61 + 1, "b")))
    assert times_and_keys(newest.table()) == [(2**61 + 1, "a"), (2**61 + 1, "b")]


@dataclass
class Model:
    """Lists of rows by group; each row's rank is its time and then its arrival."""

    rows: int
    is_timed: bool
    is_keyed: bool = True
    groups: dict[str, list[tuple[int, int, Row]]] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)
    came: int = 0
    late: int = 0

    def key(self, row: Row) -> str:
        return row[1] if self.is_keyed else "all"

    def add(self, rows: list[Row]) -> None:
        full = {key: group[0][0] for key, group in self.groups.items() if len(group) == self.rows}
        for row in rows:
            self.came += 1
            key = self.key(row)
            group = self.groups.setdefault(key, [])
            time = row[0] if self.is_timed else 0
            if self.rows == 1:
                self.late += bool(group) and time < group[0][0]
            else:
                self.late += key in full and time < full[key]
            ranked = (time, self.came, row)
            group.append(ranked)
            group.sort(key=lambda each: each[:2])
            if len(group) > self.rows:
                dropped = group.pop(0)
                if dropped is ranked:
                    continue
            self.changed.add(key)

    def kept(self, keys: set[str]) -> list[Row]:
        ranked = [each for key in keys for each in self.groups[key]]
        return [row for _, _, row in sorted(ranked, key=lambda each: each[1])]


BATCHES = st.lists(
    st.tuples(
        st.lists(st.tuples(st.integers(0, 12), st.sampled_from("abcd")), max_size=12),
        st.sampled_from(["nothing", "table", "changed"]),
        st.booleans(),
    ),
    max_size=8,
)


@pytest.mark.parametrize("is_timed", [True, False], ids=["by time", "by arrival"])
@pytest.mark.parametrize("rows", [1, 2, 5])
@pytest.mark.parametrize("is_keyed", [True, False], ids=["keys", "no key"])
@given(batches=BATCHES)
@settings(max_examples=100, deadline=None)
def test_newest_rows_are_those_of_a_list_per_group(
    is_keyed: bool,
    rows: int,
    is_timed: bool,
    batches: list[tuple[list[tuple[int, str]], str, bool]],
) -> None:
    newest = NewestRows(STREAM if is_timed else UNTIMED, rows, None if is_keyed else ())
    model = Model(rows, is_timed, is_keyed)
    for batch, then, is_ordered in batches:
        pairs = sorted(batch) if is_ordered else batch
        new: list[Row] = [(time, key, None, model.came + i) for i, (time, key) in enumerate(pairs)]
        newest.add(table(new))
        model.add(new)
        if then == "table":
            assert listed(newest.table()) == model.kept(set(model.groups))
        elif then == "changed":
            # In a batch a row may come and go, which changes nothing that is kept.
            taken = listed(taken_changes(newest))
            changed = {model.key(row) for row in taken}
            assert changed <= model.changed
            assert taken == model.kept(changed)
            model.changed.clear()
        statistics = newest.statistics()
        kept = sum(map(len, model.groups.values()))
        assert (statistics.came, statistics.kept) == (model.came, kept)
        assert statistics.late == model.late
        assert statistics.superseded == model.came - model.late - kept >= 0
    assert listed(newest.table()) == model.kept(set(model.groups))


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("expire_after", [None, 5.0])
@given(before=BATCHES, after=BATCHES)
def test_restored_rows_go_on_as_if_they_had_not_been_saved(
    rows: int,
    expire_after: float | None,
    before: list[tuple[list[tuple[int, str]], str, bool]],
    after: list[tuple[list[tuple[int, str]], str, bool]],
) -> None:
    never = NewestRows(STREAM, rows, expire_after=expire_after)
    restored = NewestRows(STREAM, rows, expire_after=expire_after)
    now = 0.0

    def step(newest: NewestRows, batch: list[tuple[int, str]], then: str) -> None:
        if expire_after is not None:
            newest.expire(now)
        newest.add(quick(*batch), np.full(len(batch), now))
        if then == "changed" and batch:
            newest.delete(pa.table({"k": [batch[0][1]]}))

    for batch, then, _ in before:
        now += len(batch)
        step(never, batch, then)
    restored.restore(never.saved())
    restored._check()
    for batch, then, _ in [([], "", True), *after]:
        now += len(batch)
        for newest in (never, restored):
            step(newest, batch, then)
        assert restored.first_due() == never.first_due()
        assert restored.table().equals(never.table())


@given(batches=st.lists(st.lists(st.tuples(st.integers(0, 9), st.sampled_from("ab")))))
def test_rows_that_come_one_by_one_change_what_a_batch_of_them_changes(
    batches: list[list[tuple[int, str]]],
) -> None:
    together, alone = NewestRows(STREAM), NewestRows(STREAM)
    for batch in batches:
        together.add(quick(*batch))
        for pair in batch:
            alone.add(quick(pair))
        assert times_and_keys(taken_changes(together)) == times_and_keys(taken_changes(alone))
    assert together.statistics() == alone.statistics()


@pytest.mark.parametrize("rows", [1, 3])
def test_memory_is_that_of_the_rows_that_are_kept(rows: int) -> None:
    newest = NewestRows(STREAM, rows)
    keys = pa.array([f"k{i}" for i in range(100)])
    for i in range(200):
        batch = {"time": [i] * 100, "k": keys, "g": [0.0] * 100, "id": [i] * 100}
        newest.add(pa.table(batch, schema=SCHEMA))
        newest._check()
        assert newest._live._stored.rows <= 2 * (100 * rows + 1024) + 100
    assert newest.table().num_rows == 100 * rows
    assert newest._live._stored.rows == 100 * rows


def many(groups: int) -> NewestRows:
    """Return newest rows of so many keys, of which each has come."""
    newest = NewestRows(STREAM)
    keys = [f"k{i}" for i in range(groups)]
    columns = {"time": np.zeros(groups, np.int64), "k": keys, "g": np.zeros(groups)}
    newest.add(pa.table(columns | {"id": np.arange(groups)}, schema=SCHEMA))
    return newest


def test_a_batch_touches_only_its_own_groups() -> None:
    newest = many(20_000)
    taken_changes(newest)
    first = newest._live._stored._blocks[0]
    for i in range(100):
        newest.add(quick((i, "k7")))
        assert times_and_keys(taken_changes(newest)) == [(i, "k7")]
    assert newest._live._stored._blocks[0] is first, "the rows of the other groups were not copied"


def addresses(rows: pa.Table) -> set[int]:
    return {chunk.buffers()[1].address for chunk in rows["id"].chunks}


def test_asking_copies_only_the_blocks_in_which_rows_were_superseded() -> None:
    newest = many(10 * BLOCK_ROWS)
    before = addresses(newest.table())
    assert len(before) == 10
    for i in range(20):
        newest.add(quick((i, "k7")))
        after = addresses(newest.table())
        assert len(before & after) >= 9, "one block lost a row, and the new row is in another"
        assert len(after) <= 12
    assert newest.table() is newest.table()
    newest._check()


@pytest.mark.parametrize("type_", sorted({*VALUES} - {pa.string_view()}, key=str), ids=str)
@pytest.mark.parametrize("rows", [1, 2])
def test_groups_may_be_of_any_type_that_is_not_nested(type_: pa.DataType, rows: int) -> None:
    schema = pa.schema([("v", type_), ("id", pa.int64())])
    definition = StreamDefinition("s", schema, (), None)

    @given(st.lists(st.lists(st.one_of(st.none(), VALUES[type_]), max_size=6), max_size=4))
    @settings(max_examples=25, deadline=None)
    def check(batches: list[list[object]]) -> None:
        newest = NewestRows(definition, rows, per=("v",))
        model: dict[object, list[int]] = {}
        for number, values in enumerate(batches):
            ids = [100 * number + i for i in range(len(values))]
            batch = pa.table([pa.array(values, type_), ids], schema=schema)
            newest.add(batch)
            for value, each in zip(batch["v"].to_pylist(), ids, strict=True):
                model[comparable(value)] = [*model.get(comparable(value), []), each][-rows:]
        expected = sorted(each for group in model.values() for each in group)
        assert newest.table()["id"].to_pylist() == expected

    check()


PREPARED = [
    quick(*((i % 7, f"k{i % 50}") for i in range(120))),
    quick(*((i % 11, f"k{i % 70}") for i in range(90))),
]
DISORDERED = quick(*((30 - i % 13, f"k{i % 90}") for i in range(150)))
ORDERED = quick(*((20 + i, f"k{i % 60} which is longer than others") for i in range(100)))


@pytest.mark.parametrize("event", ["line", "c_call"])
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize(
    ("definition", "batch"),
    [
        pytest.param(STREAM, DISORDERED, id="in any order"),
        pytest.param(STREAM, ORDERED, id="new keys"),
        pytest.param(UNTIMED, DISORDERED, id="without a time"),
    ],
)
def test_an_exception_anywhere_in_add_leaves_everything_as_it_was(
    definition: StreamDefinition,
    batch: pa.Table,
    rows: int,
    event: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is swapped in at the end is all or nothing: Ctrl-C is held back there."""
    monkeypatch.setattr(newest_rows, "HeldInterrupt", Held)
    for module in (newest_rows, newest_numbers, live_rows):
        monkeypatch.setattr(module, "_SLACK", 0)
    groups = np.arange(40)

    def make() -> NewestRows:
        newest = NewestRows(definition, rows)
        for prepared in PREPARED:
            newest.add(prepared)
        return newest

    def seen(newest: NewestRows) -> tuple[object, ...]:
        newest._check()
        rows_of = newest.rows_of(groups).to_pylist()
        return newest.statistics(), rows_of, listed(newest.table())

    def added(newest: NewestRows) -> tuple[object, ...]:
        newest.add(batch)
        return *seen(newest), listed(taken_changes(newest))

    before, after = seen(make()), added(make())

    def check(newest: NewestRows) -> None:
        assert seen(newest) == before
        assert added(newest) == after

    moments = interrupt_everywhere(make, lambda newest: newest.add(batch), check, event=event)
    assert moments > (100 if event == "line" else 40)


@pytest.mark.parametrize("event", ["line", "c_call"])
def test_an_exception_anywhere_in_table_loses_no_row(
    event: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(newest_rows, "HeldInterrupt", Held)

    def make() -> NewestRows:
        newest = NewestRows(STREAM)
        for prepared in PREPARED:
            newest.add(prepared)
        return newest

    expected = listed(make().table())

    def check(newest: NewestRows) -> None:
        assert listed(newest.table()) == expected
        newest._check()

    assert interrupt_everywhere(make, NewestRows.table, check, event=event) > 3
