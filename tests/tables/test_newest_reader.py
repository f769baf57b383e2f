"""Newest rows that follow a log, its deletions and the clock, against a dict of lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass, field

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.interrupted import Held, interrupt_everywhere
from upstream.rows.stream_definition import StreamDefinition
from upstream.tables import expiry_order, live_rows, log, newest_numbers, newest_rows
from upstream.tables.log import Log
from upstream.tables.newest_reader import NewestReader
from upstream.tables.newest_rows import NewestRows

SCHEMA = pa.schema({"time": pa.int64(), "k": pa.string(), "g": pa.string(), "id": pa.int64()})
STREAM = StreamDefinition("s", SCHEMA, ("k",), "time")

Row = tuple[int, str, str, int]


def table(rows: Iterable[Row]) -> pa.Table:
    return pa.Table.from_pylist(
        [dict(zip(SCHEMA.names, row, strict=True)) for row in rows], schema=SCHEMA
    )


def listed(rows: pa.Table) -> list[Row]:
    assert rows.schema == SCHEMA
    return [tuple(row.values()) for row in rows.to_pylist()]


def keys(*names: str) -> pa.Table:
    return pa.table({"k": pa.array(names, pa.string())})


class Setting:
    """A log, and newest rows that follow it."""

    def __init__(self, newest: NewestRows) -> None:
        self.log = Log()
        self.newest = newest
        self.reader = NewestReader(self.log.reader(follows_deletions=True), newest)
        self.count = 0

    def add(self, *rows: tuple[int, str, str], at: float = 0.0) -> list[Row]:
        """Log rows of a time, a key and a group, which get numbers."""
        full = [(*row, self.count + i) for i, row in enumerate(rows)]
        self.count += len(full)
        self.log.add(table(full), at)
        return full

    def ids(self, now: float = 0.0) -> list[int]:
        """Return the numbers of the newest rows."""
        self.reader.read(now)
        self.newest._check()
        ids: list[int] = self.newest.table()["id"].to_pylist()
        return ids


def setting(
    rows: int = 1, per: tuple[str, ...] | None = None, expire_after: float | None = None
) -> Setting:
    newest = NewestRows(STREAM, rows, per, expire_after=expire_after, follows_changes=True)
    return Setting(newest)


@pytest.mark.parametrize("rows", [1, 3])
def test_a_deletion_takes_all_rows_of_its_key_away_and_the_key_begins_anew(rows: int) -> None:
    of = setting(rows)
    of.add((5, "a", "x"), (6, "a", "x"), (5, "b", "x"))
    of.log.delete(keys("a", "unknown"), 0.0)
    assert of.ids() == [2]
    of.add((1, "a", "x"))
    assert of.ids() == [2, 3]
    counts = of.newest.statistics()
    assert (counts.late, counts.deleted, counts.kept) == (0, 1 if rows == 1 else 2, 2)


def test_rows_and_deletions_are_read_in_the_order_of_their_arrival() -> None:
    of = setting()
    of.add((1, "a", "x"))
    of.log.delete(keys("a"), 0.0)
    of.add((2, "a", "x"), (2, "b", "x"))
    of.log.delete(keys("b"), 0.0)
    of.log.delete(keys("b"), 0.0)
    assert of.reader.reader.waiting == 6
    assert of.reader.reader.waiting_rows == 3
    assert of.ids() == [1]
    assert of.reader.reader.waiting == 0
    assert (of.log.batches, of.log.deletions) == ([], [])


@pytest.mark.parametrize("rows", [1, 2])
def test_a_deleted_row_leaves_groups_of_other_columns_and_no_superseded_row_returns(
    rows: int,
) -> None:
    of = setting(rows, per=("g",))
    of.add((1, "a", "x"), (2, "b", "x"), (3, "c", "x"), (1, "c", "y"), (2, "a", "y"))
    of.log.delete(keys("c"), 0.0)
    assert of.ids() == ([4] if rows == 1 else [1, 4])
    of.add((0, "d", "x"))
    assert of.ids() == ([4, 5] if rows == 1 else [1, 4, 5])


def test_the_only_key_of_a_stream_without_a_key_is_deleted() -> None:
    keyless = StreamDefinition("s", SCHEMA, (), "time")
    for per in (None, ("g",)):
        of = Setting(NewestRows(keyless, 2, per))
        of.add((1, "a", "x"), (2, "b", "y"))
        of.log.delete(pa.table({}), 0.0)
        assert of.ids() == []
        of.add((1, "a", "x"))
        assert of.ids() == [2]


def test_a_group_leaves_when_nothing_has_arrived_for_it_for_so_long() -> None:
    of = setting(expire_after=10)
    of.add((1, "a", "x"), (1, "b", "x"), at=0.0)
    assert of.newest.first_due() is None
    assert of.ids(9.5) == [0, 1]
    assert of.newest.first_due() == 10.0
    of.add((0, "a", "x"), at=9.75)  # late, and yet it arrived
    assert of.ids(10.0) == [0]
    assert (of.reader.since, of.newest.first_due()) == (0.0, 19.75)
    of.reader.known()
    assert of.ids(19.5) == [0]
    assert of.reader.since is None
    assert of.ids(30.0) == []
    assert of.reader.since == 19.75
    assert of.newest.first_due() is None
    assert (of.newest.statistics().late, of.newest.statistics().expired) == (1, 2)


def test_a_row_that_arrives_after_its_group_was_due_begins_it_anew_however_late_it_is_read() -> (
    None
):
    of = setting(expire_after=10)
    of.add((9, "a", "x"), at=0.0)
    of.add((1, "a", "x"), at=10.0)
    assert of.ids(19.0) == [1]
    assert of.newest.statistics().expired == 1


def test_what_came_and_went_between_two_commits_is_no_change() -> None:
    of = setting()
    of.add((1, "a", "x"), (1, "b", "x"))
    of.ids()
    of.newest.forget_changes()
    of.add((2, "a", "x"))
    of.ids()
    of.add((3, "a", "x"), (3, "c", "x"))
    of.log.delete(keys("c"), 0.0)
    of.ids()
    for _ in range(2):
        changes = of.newest.changes()
        assert [row[3] for row in listed(changes.added)] == [3]
        assert [row[3] for row in listed(changes.removed)] == [0]
    of.newest.forget_changes()
    changes = of.newest.changes()
    assert (changes.added.num_rows, changes.removed.num_rows) == (0, 0)
    assert changes.removed.schema == SCHEMA


def test_groups_without_rows_are_forgotten() -> None:
    of = setting(expire_after=1)
    for number in range(4_000):
        of.add((0, f"k{number}", "x"), at=float(number))
        of.reader.read(float(number))
    assert of.ids(4_000.0) == []
    assert len(of.newest._codes) < 2_000
    assert len(of.newest._is_changed) < 5_000
    assert of.newest._expiry is not None
    assert len(of.newest._expiry._place) < 5_000
    assert len(of.newest._expiry._groups) < 5_000


def test_groups_have_other_numbers_after_others_were_forgotten() -> None:
    of = setting(2, expire_after=50)
    for number in range(3_000):
        of.add((0, f"k{number}", "x"), (0, "kept", "x"), at=float(number))
        of.reader.read(float(number))
    assert len(of.newest._codes) < 3_000
    ids = of.ids(2_999.0)
    assert {5_999, 5_997} < {*ids}
    assert of.newest.rows_of(of.newest.changed_groups())["id"].to_pylist() == ids
    of.newest.telling()()
    assert of.newest.changed_groups().size == 0
    assert of.newest.rows_of(of.newest.told_groups())["id"].to_pylist() == ids
    of.newest.forget_told()
    assert of.newest.told_groups().size == 0


# Random actions


@dataclass
class Model:
    """Lists of rows by group, brought up to date at once."""

    rows: int
    column: int
    expire_after: float | None
    groups: dict[str, list[Row]] = field(default_factory=dict)
    arrived: dict[str, float] = field(default_factory=dict)
    deleted: int = 0
    expired: int = 0

    def add(self, rows: list[Row], now: float) -> None:
        self.expire(now)
        for row in rows:
            name = row[1] if self.column == 1 else row[2]
            group = self.groups.setdefault(name, [])
            group.append(row)
            group.sort(key=lambda each: (each[0], each[3]))
            del group[: -self.rows]
            self.arrived[name] = now

    def delete(self, names: list[str]) -> None:
        for name, group in [*self.groups.items()]:
            left = [row for row in group if row[1] not in names]
            self.deleted += len(group) - len(left)
            self._keep(name, left)

    def expire(self, now: float) -> None:
        for name, group in [*self.groups.items()]:
            if self.expire_after is not None and self.arrived[name] + self.expire_after <= now:
                self.expired += len(group)
                self._keep(name, [])

    def _keep(self, name: str, rows: list[Row]) -> None:
        self.groups[name] = rows
        if not rows:
            del self.groups[name]

    def kept(self) -> list[Row]:
        """Return the rows in the order of arrival."""
        return sorted((row for group in self.groups.values() for row in group), key=lambda r: r[3])


NAMES = st.sampled_from(["a", "b", "c", "d", "e"])
ROWS = st.lists(st.tuples(st.integers(0, 9), NAMES, st.sampled_from(["x", "y"])), max_size=6)


class NewestMachine(RuleBasedStateMachine):
    """Newest rows that are read at some moments, beside a model that always is up to date."""

    @initialize(
        rows=st.sampled_from([1, 3]),
        column=st.sampled_from([1, 2]),
        expire_after=st.sampled_from([None, 3.0]),
        slack=st.sampled_from([0, 3]),
    )
    def begin(self, rows: int, column: int, expire_after: float | None, slack: int) -> None:
        self.patch = pytest.MonkeyPatch()
        for module in (expiry_order, live_rows, newest_numbers, newest_rows):
            self.patch.setattr(module, "_SLACK", slack)
        self.patch.setattr(expiry_order, "_AT_ONCE", 2)
        self.of = setting(rows, None if column == 1 else ("g",), expire_after)
        self.model = Model(rows, column, expire_after)
        self.now = 0.0
        self.known: Counter[Row] = Counter()

    def teardown(self) -> None:
        if hasattr(self, "patch"):
            self.patch.undo()

    @rule(rows=ROWS)
    def add(self, rows: list[tuple[int, str, str]]) -> None:
        self.model.add(self.of.add(*rows, at=self.now), self.now)

    @rule(names=st.lists(NAMES, min_size=1, max_size=3))
    def delete(self, names: list[str]) -> None:
        self.model.expire(self.now)
        self.model.delete(names)
        self.of.log.delete(keys(*names), self.now)

    @rule(seconds=st.integers(1, 4))
    def wait(self, seconds: int) -> None:
        self.now += seconds

    @rule()
    def read(self) -> None:
        self.of.reader.read(self.now)
        self.model.expire(self.now)
        due = self.of.newest.first_due()
        if self.model.expire_after is not None and self.model.groups:
            first = min(self.model.arrived[name] for name in self.model.groups)
            assert due == first + self.model.expire_after
        else:
            assert due is None

    @rule()
    def look(self) -> None:
        self.read()
        assert listed(self.of.newest.table()) == self.model.kept()

    @rule()
    def take_changes(self) -> None:
        self.read()
        changes = self.of.newest.changes()
        added, removed = Counter(listed(changes.added)), Counter(listed(changes.removed))
        after = Counter(self.model.kept())
        assert removed <= self.known
        assert not added & removed
        assert self.known + added - removed == after
        self.of.newest.forget_changes()
        self.known = after

    @invariant()
    def everything_is_counted(self) -> None:
        if not hasattr(self, "of"):
            return
        newest = self.of.newest
        newest._check()
        counts = newest.statistics()
        if not self.of.reader.reader.waiting and self.model.expire_after is None:
            assert counts.kept == len(self.model.kept())
            assert counts.deleted == self.model.deleted
        assert counts.came == newest.came


TestNewest = NewestMachine.TestCase


@given(
    st.lists(st.tuples(st.integers(0, 5), st.booleans(), NAMES), max_size=12),
    st.sampled_from([1, 3]),
)
def test_expired_and_deleted_rows_are_counted_whenever_they_are_read(
    events: list[tuple[int, bool, str]], rows: int
) -> None:
    often, once = setting(rows, expire_after=4), setting(rows, expire_after=4)
    model = Model(rows, 1, 4)
    now = 0.0
    for wait, is_deletion, name in events:
        now += wait
        model.expire(now)
        if is_deletion:
            model.delete([name])
        for of in (often, once):
            if is_deletion:
                of.log.delete(keys(name), now)
                continue
            added = of.add((int(now), name, "x"), at=now)
            if of is once:
                model.add(added, now)
        often.reader.read(now)
    for of in (often, once):
        of.reader.read(now)
        counts = of.newest.statistics()
        assert (counts.deleted, counts.expired) == (model.deleted, model.expired)
        assert listed(of.newest.table()) == model.kept()


# Interruption


@pytest.mark.parametrize("event", ["line", "c_call"])
@pytest.mark.parametrize(
    ("rows", "per"),
    [pytest.param(1, None, id="by key"), pytest.param(3, ("g",), id="by another column")],
)
def test_an_exception_anywhere_loses_nothing_and_reads_nothing_twice(
    rows: int, per: tuple[str, ...] | None, event: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not raised is where a lock is released, at which Python raises nothing either."""
    monkeypatch.setattr(newest_rows, "HeldInterrupt", Held)
    monkeypatch.setattr(log, "Lock", nullcontext)
    for module in (expiry_order, live_rows, newest_numbers, newest_rows):
        monkeypatch.setattr(module, "_SLACK", 0)

    def make() -> Setting:
        of = setting(rows, per, expire_after=10)
        of.add(*((i, f"k{i}", f"g{i}") for i in range(6)), at=0.0)
        of.add((7, "k1", "g1"), (8, "k1", "g2"), at=5.0)
        of.reader.read(5.0)
        of.newest.forget_changes()
        order = of.newest._expiry
        assert order is not None
        while order._end - order._start <= 12:  # then empty places are removed in the next batch
            of.add((0, "k0", "g0"), at=5.0)
            of.reader.read(5.0)
        of.add((0, "k0", "g0"), at=5.5)
        of.log.delete(keys("k2", "k1"), 6.0)
        of.add((1, "k1", "g1"), (9, "k7", "g3"), at=12.0)
        return of

    def seen(of: Setting) -> tuple[object, ...]:
        of.reader.read(13.0)
        of.newest._check()
        changes = of.newest.changes()
        state = of.newest.statistics(), of.newest.first_due(), of.reader.since
        return *state, *map(listed, (changes.added, changes.removed, of.newest.table()))

    expected = seen(make())

    def check(of: Setting) -> None:
        assert seen(of) == expected

    act: Callable[[Setting], None] = lambda of: of.reader.read(13.0)  # noqa: E731  # has a type
    assert interrupt_everywhere(make, act, check, event=event) > (150 if event == "line" else 60)
