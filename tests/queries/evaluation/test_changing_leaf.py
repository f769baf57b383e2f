"""Leaves of a view follow rows that come and go, and are always what the query gives over them."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from decimal import Decimal
from math import inf, nan

import pyarrow as pa
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.interrupted import FOLDER, Interrupter, respect_held_interrupts
from tests.queries.differential.comparison import difference
from upstream import Engine, ManualClock
from upstream.errors import QueryError
from upstream.queries.evaluation import changing_leaf, ranked_state
from upstream.queries.evaluation.changing_leaf import ChangeableLeaf, PresentLeaf
from upstream.queries.evaluation.followed_state import FollowedGroups
from upstream.queries.results.emission import is_same_relation

from .followed_views import (
    DOUBLES,
    EXTREMES,
    FIRST_ROWS,
    FOLLOWED,
    NAMES,
    PRESENT,
    QUERIES,
    SCHEMA,
    STREAM,
    feed,
    leaves,
    many,
)
from .newest_model import Newest, Row

WINDOWS: dict[str, Callable[[], Newest]] = {
    "latest(s)": Newest,
    "latest(s, rows => 3)": lambda: Newest(rows=3),
    "latest(s, per => g)": lambda: Newest(per="g"),
    "latest(s, rows => 2, per => g)": lambda: Newest(rows=2, per="g"),
    "latest(s, expire_after => INTERVAL '4 seconds')": lambda: Newest(expire_after=4.0),
    "latest(s, rows => 2, per => g, expire_after => INTERVAL '3 seconds')": lambda: Newest(
        rows=2, per="g", expire_after=3.0
    ),
}


def text_of(query: str, window: str) -> str:
    return query.format(s=window, other="latest(s)", all="s")


# Random changes

ROW = st.fixed_dictionaries(
    {
        "time": st.integers(0, 9),
        "k": st.sampled_from("pqrs"),
        "g": st.sampled_from(["a", "b", "c", None]),
        "x": st.sampled_from([None, 0, 1, 5, -3, 2**62, 2**63 - 1, -(2**63)]),
        "i": st.none() | st.integers(-3, 3),
        "d": st.sampled_from([None, Decimal("1.25"), Decimal("-99999999.99"), Decimal(0)]),
        "h": st.sampled_from([None, Decimal(1), Decimal("9" * 38), Decimal("-" + "9" * 38)]),
        "b": st.sampled_from([None, True, False]),
        "note": st.sampled_from(["1", "2", "3", None, "x"]),
        "f": st.sampled_from([None, 0.0, -0.0, 1.5, -2.0, nan, inf, -inf, 1e300]),
        "day": st.none() | st.dates(date(2026, 1, 1), date(2026, 1, 4)),
    }
)


class FollowedViews(RuleBasedStateMachine):
    """Some views over a stream, and what their queries give over tables of the same rows."""

    def __init__(self) -> None:
        super().__init__()
        self.patch = pytest.MonkeyPatch()
        self.clock = ManualClock()
        self.engine = Engine(clock=self.clock)
        self.engine.sql(f"CREATE STREAM s {STREAM}")
        self.engine.create_table("names", NAMES)
        self.reference = Engine(clock=self.clock)
        self.reference.create_table("names", NAMES)
        self.all: list[Row] = []
        self.newest = Newest()
        self.views: list[tuple[str, str, Newest]] = []

    def teardown(self) -> None:
        self.patch.undo()
        self.engine.close()
        self.reference.close()

    @initialize(
        chosen=st.lists(
            st.tuples(st.sampled_from(QUERIES), st.sampled_from([*WINDOWS])),
            min_size=2,
            max_size=4,
        ),
        spare=st.integers(0, 2),
    )
    def create(self, chosen: list[tuple[str, str]], spare: int) -> None:
        self.patch.setattr(ranked_state, "SPARE", spare)
        self.patch.setattr(ranked_state, "SPARE_WITHOUT_GROUPS", spare)
        for number, (query, window) in enumerate(chosen):
            self.engine.sql(f"CREATE VIEW v{number} AS {text_of(query, window)}")
            self.views.append((f"v{number}", query, WINDOWS[window]()))

    @rule(rows=st.lists(ROW, min_size=1, max_size=5))
    def append(self, rows: list[Row]) -> None:
        self.engine.append("s", pa.Table.from_pylist(rows, schema=SCHEMA))
        self.all += rows
        for newest in self._all_newest():
            newest.add(rows, self.clock.now())

    @rule(keys=st.lists(st.sampled_from("pqrsz"), min_size=1, max_size=3))
    def delete(self, keys: list[str]) -> None:
        self.engine.delete("s", {"k": keys})
        self._delete(set(keys))

    @rule(condition=st.sampled_from(["i > 0", "g = 'a'", "b", "k < 'r'", "true"]))
    def delete_where(self, condition: str) -> None:
        keys = self.engine.sql(f"SELECT k FROM s WHERE {condition}")["k"].to_pylist()
        self.engine.sql(f"DELETE FROM s WHERE {condition}")
        self._delete(set(keys))

    def _delete(self, keys: set[object]) -> None:
        for newest in self._all_newest():
            newest.delete(lambda row: row["k"] in keys, self.clock.now())

    def _all_newest(self) -> list[Newest]:
        return [self.newest, *(newest for _, _, newest in self.views)]

    @rule(seconds=st.sampled_from([0.5, 1.0, 2.0, 5.0]))
    def wait(self, seconds: float) -> None:
        self.clock.advance(seconds)
        for newest in self._all_newest():
            newest.expire(self.clock.now())

    @rule(values=st.lists(st.integers(0, 3), min_size=1, max_size=3))
    def change_the_table(self, values: list[int]) -> None:
        changed = "UPDATE names SET v = v + {0}", "INSERT INTO names VALUES ('c', {0})"
        for engine in (self.engine, self.reference):
            for value in values:
                engine.sql(changed[value % 2].format(value))

    @rule()
    def read(self) -> None:
        for name, query, newest in self.views:
            expected = self._expected(query, newest)
            try:
                found = self.engine.sql(f"FROM {name}")
            except QueryError:
                assert expected is None, query
                continue
            assert expected is not None, f"{query} fails"
            assert difference(expected, found, is_ordered=False) == "", query

    def _expected(self, query: str, newest: Newest) -> pa.Table | None:
        """Return what a query gives over tables; None if it fails."""
        for name, rows in (
            ("present", newest.table()),
            ("other", self.newest.table()),
            ("every", self.all),
        ):
            self.reference.sql(f"DROP TABLE IF EXISTS {name}")
            self.reference.create_table(name, pa.Table.from_pylist(rows, schema=SCHEMA))
        try:
            return self.reference.sql(query.format(s="present", other="other", all="every"))
        except QueryError:
            return None

    @invariant()
    def states_are_sound(self) -> None:
        for name, _, _ in self.views:
            for leaf in leaves(self.engine, name):
                if isinstance(leaf, ChangeableLeaf) and leaf._built is not None:
                    leaf._state._check()


TestFollowedViews = FollowedViews.TestCase
TestFollowedViews.settings = settings(
    max_examples=max(6, settings().max_examples // 8), stateful_step_count=20
)


# Which leaves follow


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def engine(engine: Engine) -> Engine:
    engine.sql(f"CREATE STREAM s {STREAM}")
    engine.create_table("names", NAMES)
    return engine


@pytest.mark.parametrize("window", [*WINDOWS][::5])
@pytest.mark.parametrize("query", FOLLOWED + EXTREMES + DOUBLES + FIRST_ROWS)
def test_a_leaf_follows_rows_that_come_and_go(engine: Engine, query: str, window: str) -> None:
    engine.sql(f"CREATE VIEW v AS {text_of(query, window)}")
    assert any(isinstance(leaf, ChangeableLeaf) for leaf in leaves(engine))
    assert "as the newest rows of s change: " in engine.view("v").explain()


@pytest.mark.parametrize("query", [PRESENT[1], PRESENT[2], PRESENT[4]])
def test_another_leaf_does_not(engine: Engine, query: str) -> None:
    engine.sql(f"CREATE VIEW v AS {text_of(query, 'latest(s)')}")
    assert not any(isinstance(leaf, ChangeableLeaf) for leaf in leaves(engine))
    assert "when the view is read, over" in engine.view("v").explain() or not leaves(engine)


def test_a_leaf_beside_one_that_follows_is_evaluated_over_the_present_rows(engine: Engine) -> None:
    engine.sql(
        "CREATE VIEW v AS SELECT a, m FROM (SELECT sum(i) AS a FROM latest(s) AS p),"
        " (SELECT bit_xor(i) AS m FROM latest(s) AS q)"
    )
    assert {type(leaf) for leaf in leaves(engine)} == {ChangeableLeaf, PresentLeaf}
    feed(engine, {"time": 1, "k": "p", "i": 3}, {"time": 1, "k": "q", "i": 4})
    assert engine.sql("FROM v").to_pylist() == [{"a": 7, "m": 7}]
    feed(engine, {"time": 2, "k": "q", "i": 1})
    assert engine.sql("FROM v").to_pylist() == [{"a": 4, "m": 2}]


# What a change costs


@pytest.fixture
def partials(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of rows over which partials were computed."""
    counts: list[int] = []
    run = FollowedGroups._run

    def counted(self: FollowedGroups, rows: pa.Table) -> pa.Table:
        counts.append(rows.num_rows)
        return run(self, rows)

    monkeypatch.setattr(FollowedGroups, "_run", counted)
    return counts


SUMS = "SELECT g, sum(i) AS a, count(*) AS n FROM latest(s) AS s GROUP BY g"


def test_a_change_costs_as_many_rows_as_came_and_went(engine: Engine, partials: list[int]) -> None:
    many(engine)
    engine.sql(f"CREATE VIEW v AS {SUMS}")
    engine.sql("FROM v")
    partials.clear()
    feed(engine, {"time": 2, "k": "7", "g": "b", "i": 5}, {"time": 2, "k": "new", "g": "b"})
    assert engine.sql("FROM v ORDER BY g").to_pylist() == [
        {"g": "a", "a": 999, "n": 999},
        {"g": "b", "a": 5, "n": 2},
    ]
    engine.delete("s", {"k": ["7", "8", "new"]})
    assert engine.sql("FROM v").to_pylist() == [{"g": "a", "a": 998, "n": 998}]
    assert sorted(partials) == [1, 2, 3]


def test_few_rows_are_read_anew_and_a_state_is_kept_of_many(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changing_leaf, "FEW", 50)
    monkeypatch.setattr(changing_leaf, "PER_CHANGE", 2)
    engine.sql("CREATE VIEW v AS SELECT g, sum(i) AS a FROM latest(s) GROUP BY g")
    [leaf] = leaves(engine)
    assert isinstance(leaf, ChangeableLeaf)
    many(engine, 40)
    engine.view("v").table()
    assert leaf.rows == 0
    many(engine, 100)
    engine.view("v").table()
    assert leaf.rows == 0  # most of them have just changed
    many(engine, 1)
    found = engine.view("v").table()
    assert leaf.rows > 0
    many(engine, 100)
    engine.view("v").table()
    assert leaf.rows > 0  # it is kept once it is there
    expected = engine.sql("SELECT g, sum(i) AS a FROM s GROUP BY g")
    assert found.num_rows == expected.num_rows
    assert is_same_relation(engine.view("v").table(), expected)


def test_a_sum_without_values_is_null_and_not_0(engine: Engine) -> None:
    engine.sql("CREATE VIEW v AS SELECT g, sum(i) AS a FROM latest(s) AS s GROUP BY g")
    feed(engine, {"time": 1, "k": "p", "g": "a", "i": 3}, {"time": 1, "k": "q", "g": "a"})
    assert engine.sql("FROM v").to_pylist() == [{"g": "a", "a": 3}]
    feed(engine, {"time": 2, "k": "p", "g": "a"})
    assert engine.sql("FROM v").to_pylist() == [{"g": "a", "a": None}]
    engine.delete("s", {"k": ["p", "q"]})
    assert engine.sql("FROM v").to_pylist() == []


def test_a_count_of_conditions_that_are_all_null_is_null_as_in_duckdb(engine: Engine) -> None:
    engine.sql("CREATE VIEW v AS SELECT count_if(b) AS a FROM latest(s) AS s")
    feed(engine, {"time": 1, "k": "p", "b": True}, {"time": 1, "k": "q"})
    assert engine.sql("FROM v").to_pylist() == [{"a": 1}]
    feed(engine, {"time": 2, "k": "p"})
    alone = engine.sql("SELECT count_if(b) AS a FROM (VALUES (NULL::BOOLEAN)) AS t (b)")
    assert engine.sql("FROM v").to_pylist() == alone.to_pylist()


def test_a_view_without_groups_has_one_row_when_all_keys_are_deleted(engine: Engine) -> None:
    engine.sql("CREATE VIEW v AS SELECT sum(i) AS a, count(*) AS n FROM latest(s) AS s")
    many(engine, 3)
    assert engine.sql("FROM v").to_pylist() == [{"a": 3, "n": 3}]
    engine.sql("DELETE FROM s")
    assert engine.sql("FROM v").to_pylist() == [{"a": None, "n": 0}]


# What cannot be followed


def test_all_rows_meet_a_table_again_when_it_has_changed(
    engine: Engine, partials: list[int]
) -> None:
    engine.sql(
        "CREATE VIEW v AS SELECT sum(i * v) AS a FROM latest(s) AS s JOIN names ON names.g = s.g"
    )
    many(engine, 10)
    assert engine.sql("FROM v").to_pylist() == [{"a": 10}]
    partials.clear()
    engine.sql("UPDATE names SET v = 3 WHERE g = 'a'")
    feed(engine, {"time": 2, "k": "7", "g": "a", "i": 5})
    assert engine.sql("FROM v").to_pylist() == [{"a": 42}]
    assert partials == [10]


def test_a_cast_that_fails_is_an_error_until_a_newer_row_puts_it_right(engine: Engine) -> None:
    engine.sql("CREATE VIEW v AS SELECT sum(note::INT) AS a FROM latest(s) AS s")
    many(engine, 3)
    assert engine.sql("FROM v").to_pylist() == [{"a": 3}]
    for time in (2, 4):
        feed(engine, {"time": time, "k": "1", "note": "x"})
        with pytest.raises(QueryError, match="'x'"):
            engine.sql("FROM v")
        with pytest.raises(QueryError, match="'x'"):
            engine.sql("FROM v")
        feed(engine, {"time": time + 1, "k": "1", "note": "5"})
        assert engine.sql("FROM v").to_pylist() == [{"a": 7}]
    feed(engine, {"time": 6, "k": "2", "note": "x"})
    with pytest.raises(QueryError, match="'x'"):
        engine.sql("FROM v")
    engine.delete("s", {"k": ["2"]})
    assert engine.sql("FROM v").to_pylist() == [{"a": 6}]


@pytest.mark.parametrize(
    ("column", "most"), [("x", 2**63 - 1), ("h", 10**38 - 1)], ids=["BIGINT", "DECIMAL"]
)
def test_a_sum_that_was_too_large_is_right_again(engine: Engine, column: str, most: int) -> None:
    def follow(key: str, time: int, value: int) -> None:
        feed(engine, {"time": time, "k": key, column: Decimal(value) if column == "h" else value})

    engine.sql(f"CREATE VIEW v AS SELECT sum({column}) AS a FROM latest(s) AS s")
    follow("p", 1, most)
    assert engine.sql("FROM v").to_pylist() == [{"a": most}]
    follow("q", 1, 1)
    with pytest.raises(QueryError):
        engine.sql("FROM v")
    follow("p", 2, 5)
    assert engine.sql("FROM v").to_pylist() == [{"a": 6}]
    follow("p", 3, -most)
    assert engine.sql("FROM v").to_pylist() == [{"a": 1 - most}]


def test_a_wide_sum_is_exact_beyond_64_bits(engine: Engine) -> None:
    engine.sql("CREATE VIEW v AS SELECT sum(x)::DECIMAL(38, 0) AS a FROM latest(s) AS s")
    feed(engine, *({"time": 1, "k": k, "x": 2**63 - 1} for k in "pqr"))
    assert engine.sql("FROM v").to_pylist() == [{"a": Decimal(3 * (2**63 - 1))}]
    feed(engine, {"time": 2, "k": "p", "x": -(2**63)})
    assert engine.sql("FROM v").to_pylist() == [{"a": Decimal(2**63 - 2)}]


# Interruptions

PLACES = 2 * int(os.environ.get("INTERRUPTED_LINES", "4" if os.environ.get("CI") else "2"))
"""At about how many moments a view is interrupted once."""
FILES = tuple(
    f"{FOLDER}/queries/{name}"
    for name in (
        *("evaluation/changing_leaf", "evaluation/followed_rows", "evaluation/view"),
        *("evaluation/increments", "partials/grouped_state", "evaluation/followed_state"),
        *("evaluation/ranked_state", "evaluation/row_states", "evaluation/double_state"),
        *("partials/ranked_rows", "partials/double_sums"),
    )
)


def changed_twice(engine: Engine) -> None:
    """Create a view, and let rows come, go and expire after it was read."""
    window = "latest(s, expire_after => INTERVAL '9 seconds')"
    engine.sql(f"CREATE STREAM s {STREAM}")
    select = "SELECT g, sum(i) AS a, count(*) AS n, max(i) AS m, sum(i / 2) AS f"
    engine.sql(f"CREATE VIEW v AS {select} FROM {window} GROUP BY g")
    many(engine, 5)
    engine.sql("FROM v")
    feed(engine, {"time": 2, "k": "1", "g": "b", "i": 7}, {"time": 2, "k": "new", "g": "b"})
    engine.delete("s", {"k": ["2"]})


RIGHT = [
    {"g": "a", "a": 3, "n": 3, "m": 1, "f": 1.5},
    {"g": "b", "a": 7, "n": 2, "m": 7, "f": 3.5},
]


@pytest.mark.parametrize(("event", "least"), [("line", 100), ("c_call", 3)])
def test_an_interrupt_anywhere_loses_no_change_and_counts_none_twice(
    event: str, least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    respect_held_interrupts(monkeypatch)
    watcher = Interrupter(event, files=FILES)
    with Engine(clock=ManualClock()) as engine:
        changed_twice(engine)
        with watcher.watching():
            engine.view("v").table()
    assert watcher.count >= least
    for number in range(0, watcher.count, max(1, watcher.count // PLACES)):
        once = interrupter_at(event, number)
        with Engine(clock=ManualClock()) as engine:
            changed_twice(engine)
            with suppress(KeyboardInterrupt), once.watching():
                engine.view("v").table()
            assert once.raised == 1
            assert sorted(engine.view("v").table().to_pylist(), key=repr) == RIGHT
            feed(engine, {"time": 3, "k": "new", "g": "a", "i": 1})
            found = engine.sql(
                "SELECT sum(a)::INT AS a, sum(n)::INT AS n, sum(m)::INT AS m, sum(f) AS f FROM v"
            ).to_pylist()
            assert found == [{"a": 11, "n": 5, "m": 8, "f": 5.5}]


def interrupter_at(event: str, number: int) -> Interrupter:
    """Return what interrupts once, at the moment of this number."""
    return Interrupter(event, lambda moment: moment.number == number, files=FILES)
