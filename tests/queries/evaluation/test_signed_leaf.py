"""Leaves of a view take rows away by their signs, and say so if the rows were not added."""

from __future__ import annotations

import os
from contextlib import suppress
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.interrupted import FOLDER, Interrupter, respect_held_interrupts
from upstream import Engine, ManualClock
from upstream.errors import QueryError
from upstream.queries.evaluation.signed_leaf import SignedLeaf
from upstream.queries.partials.growing_merge import GrowingMerge

from .signed_setting import NAMES, QUERIES, STREAM, leaves, state_is_sound

# What a column of signs means


@pytest.fixture
def engine(engine: Engine) -> Engine:
    engine.sql(f"CREATE STREAM s {STREAM}")
    engine.sql("CREATE STREAM t (g TEXT, x BIGINT) KEY (g)")
    engine.create_table("names", NAMES)
    return engine


SUMS = "SELECT g, sum(i) AS a, count(*) AS n FROM s GROUP BY g"


def view(engine: Engine, query: str = SUMS, options: str = "") -> None:
    engine.sql(f"CREATE VIEW v WITH (sign = 'op'{options}) AS {query}")


def feed(engine: Engine, *rows: tuple[str | None, int | None, int | None]) -> None:
    """Append rows of a group, a number and a sign."""
    groups, numbers, signs = zip(*rows, strict=True)
    table = {"g": groups, "i": pa.array(numbers, pa.int32()), "op": pa.array(signs, pa.int8())}
    engine.append("s", pa.table(table))


def answer(engine: Engine) -> list[tuple[object, ...]]:
    """Return the rows of the view as tuples, sorted."""
    return sorted((tuple(row.values()) for row in engine.sql("FROM v").to_pylist()), key=repr)


@pytest.mark.parametrize("query", QUERIES)
def test_the_rows_of_each_query_are_taken_away(engine: Engine, query: str) -> None:
    view(engine, query)
    assert state_is_sound(engine)
    assert "as rows arrive in " in engine.view("v").explain()
    assert ", added or taken away by op: " in engine.view("v").explain()


def test_a_row_is_taken_away_by_its_values(engine: Engine) -> None:
    view(engine)
    feed(engine, ("a", 1, 1), ("a", 2, 1), ("b", 5, 1))
    assert answer(engine) == [("a", 3, 2), ("b", 5, 1)]
    feed(engine, ("a", 2, -1), ("b", 5, -1), ("c", 7, 1))
    assert answer(engine) == [("a", 1, 1), ("c", 7, 1)]
    feed(engine, ("a", 1, -1), ("c", 7, -1))
    assert answer(engine) == []


def test_columns_that_the_query_does_not_read_need_not_be_equal(engine: Engine) -> None:
    view(engine)
    engine.append("s", {"g": ["a"], "i": [1], "note": ["first"], "op": [1]})
    engine.append("s", {"g": ["a"], "i": [1], "note": ["second"], "op": [-1]})
    assert answer(engine) == []


def test_a_sum_without_values_is_null_and_not_0(engine: Engine) -> None:
    view(engine)
    feed(engine, ("a", 3, 1), ("a", None, 1))
    assert answer(engine) == [("a", 3, 2)]
    feed(engine, ("a", 3, -1))
    assert answer(engine) == [("a", None, 1)]
    feed(engine, ("a", 0, 1))
    assert answer(engine) == [("a", 0, 2)]


def test_a_view_without_groups_has_one_row_when_all_rows_are_gone(engine: Engine) -> None:
    view(engine, "SELECT sum(i) AS a, count(*) AS n FROM s")
    assert answer(engine) == [(None, 0)]
    feed(engine, ("a", 3, 1), ("b", 4, 1))
    assert answer(engine) == [(7, 2)]
    feed(engine, ("b", 3, -1), ("a", 4, -1))
    assert answer(engine) == [(None, 0)]


def test_rows_of_other_streams_stay(engine: Engine) -> None:
    query = "SELECT p.g, n, m FROM (SELECT g, count(*) AS n FROM s GROUP BY g) AS p"
    view(engine, f"{query} JOIN (SELECT g, max(x) AS m FROM t GROUP BY g) AS q USING (g)")
    engine.append("t", {"g": ["a", "a", "b"], "x": [4, 2, 9]})
    feed(engine, ("a", 1, 1), ("a", 2, 1), ("b", 3, 1))
    assert answer(engine) == [("a", 2, 4), ("b", 1, 9)]
    feed(engine, ("b", 3, -1), ("a", 1, -1))
    assert answer(engine) == [("a", 1, 4)]


def test_many_rows_are_taken_in_before_the_view_is_read(engine: Engine) -> None:
    view(engine, "SELECT g, count(DISTINCT i) AS n, sum(i) AS a FROM s GROUP BY g")
    count = 20_000
    for sign in (1, -1, 1):
        numbers = pa.array(range(count), pa.int32())
        signs = pa.array([sign] * count, pa.int8())
        engine.append("s", pa.table({"g": ["a"] * count, "i": numbers, "op": signs}))
        assert engine.view("v").statistics().rows_waiting == 0
        assert state_is_sound(engine)
    assert answer(engine) == [("a", count, count * (count - 1) // 2)]


def test_groups_that_are_gone_are_forgotten(engine: Engine) -> None:
    view(engine)
    for batch in range(60):
        rows = [(f"{batch} {i}", i, 1) for i in range(400)]
        feed(engine, *rows)
        feed(engine, *((group, i, -1) for group, i, _ in rows))
        answer(engine)
    [leaf] = leaves(engine)
    assert isinstance(leaf, SignedLeaf)
    assert leaf.rows == 0
    assert isinstance(leaf._merge, GrowingMerge)
    assert leaf._merge._state._held.groups.size < 10_000


def test_a_sum_that_was_too_large_is_an_error_until_it_fits(engine: Engine) -> None:
    view(engine, "SELECT sum(x) AS a FROM s")
    most = 2**63 - 1
    engine.append("s", {"x": [most, 1], "op": [1, 1]})
    with pytest.raises(QueryError, match="does not fit in 64 bits"):
        answer(engine)
    engine.append("s", {"x": [most], "op": [-1]})
    assert answer(engine) == [(1,)]


def test_a_state_that_duckdb_merges_is_right_or_an_error() -> None:
    """Decimals of 38 digits do not fit the columns that grow in place."""
    with Engine(clock=ManualClock()) as engine:
        engine.sql("CREATE STREAM s (g TEXT, h DECIMAL(38, 0), op TINYINT)")
        engine.sql("CREATE VIEW v WITH (sign = 'op') AS SELECT g, sum(h) AS a FROM s GROUP BY g")

        def append(*rows: tuple[str, int, int]) -> None:
            groups, numbers, signs = zip(*rows, strict=True)
            engine.append("s", {"g": groups, "h": list(map(Decimal, numbers)), "op": signs})

        append(("a", 9 * 10**37, 1), ("b", 1, 1))
        append(("a", 1, 1), ("b", 1, -1))
        assert answer(engine) == [("a", Decimal(9 * 10**37 + 1))]
        [leaf] = leaves(engine)
        assert isinstance(leaf, SignedLeaf)
        assert isinstance(leaf._merge, GrowingMerge)
        assert leaf._merge._overflowed is not None
        append(("a", 9 * 10**37, -1), ("b", 4, -1))
        with pytest.raises(QueryError, match="have not been added, for g = 'b'"):
            answer(engine)
        append(("b", 4, 1))
        assert answer(engine) == [("a", Decimal(1))]


# Rows that were not added


@pytest.mark.parametrize(
    ("query", "rows", "place"),
    [
        (SUMS, [("b", 1, -1)], "for g = 'b'"),
        (SUMS, [(None, 1, -1)], "for g = NULL"),
        (SUMS, [("it's", 1, -1), ("c", 1, -1)], "for g = 'it''s' and 1 more group"),
        (SUMS, [("a", 9, -1)], "for g = 'a'"),
        (SUMS, [("a", None, -1)], "for g = 'a'"),
        ("SELECT count(*) AS n FROM s", [("a", 1, -1), ("a", 1, -1)], "have not been added"),
        ("SELECT g, sum(i) AS a FROM s GROUP BY g", [("a", 9, -1)], "for g = 'a'"),
        ("SELECT g, count(i) AS a FROM s GROUP BY g", [("a", None, -1)], "for g = 'a'"),
        (
            "SELECT g, count(DISTINCT i) AS n FROM s GROUP BY g",
            [("a", 9, -1)],
            "for g = 'a' and i = '9'",
        ),
        ("SELECT g || '!' AS k, sum(i) AS a FROM s GROUP BY k", [("b", 9, -1)], "g || '!' = 'b!'"),
    ],
)
def test_rows_that_were_not_added_are_an_error_until_they_are(
    engine: Engine, query: str, rows: list[tuple[str | None, int | None, int | None]], place: str
) -> None:
    view(engine, query)
    feed(engine, ("a", 1, 1))
    before = answer(engine)
    feed(engine, *rows)
    for _ in range(2):
        with pytest.raises(QueryError, match="taken away by op = -1 that have not") as caught:
            answer(engine)
        assert place in str(caught.value)
        assert "__" not in str(caught.value)
    assert engine.view("v").statistics().rows_failed == 0
    feed(engine, *((group, number, 1) for group, number, _ in rows))
    assert answer(engine) == before


def test_a_group_whose_rows_are_balanced_by_others_is_not_forgotten(engine: Engine) -> None:
    """As many rows were added as taken away, but other ones: the sum is still needed."""
    view(engine)
    feed(engine, ("a", 5, 1), ("a", 3, -1))
    with pytest.raises(QueryError, match="g = 'a'"):
        answer(engine)
    feed(engine, ("a", 3, 1))
    assert answer(engine) == [("a", 5, 1)]
    feed(engine, ("a", 5, -1))
    assert answer(engine) == []


def test_a_long_value_is_cut_in_the_error(engine: Engine) -> None:
    view(engine)
    feed(engine, ("x" * 1_000, 1, -1))
    with pytest.raises(QueryError, match=r"g = 'x+…'") as caught:
        answer(engine)
    assert len(caught.value.reason) < 250


# Rows that fail


@pytest.mark.parametrize("sign", [0, None, 2, -128])
def test_another_sign_is_an_error_or_left_out_and_counted(engine: Engine, sign: int | None) -> None:
    view(engine)
    engine.sql(f"CREATE VIEW w WITH (sign = 'op', on_error = 'skip') AS {SUMS}")
    feed(engine, ("a", 1, 1), ("a", 2, sign), ("a", 4, 1))
    value = "NULL" if sign is None else sign
    with pytest.raises(QueryError, match=f"1 row fails: op is {value} in a row; it must be 1") as e:
        answer(engine)
    assert e.value.hint == "create the view WITH (on_error = 'skip') to leave out rows that fail"
    assert engine.sql("FROM w").to_pylist() == [{"g": "a", "a": 5, "n": 2}]
    assert engine.view("w").statistics().rows_failed == 1


def test_a_row_that_fails_in_several_leaves_counts_once(engine: Engine) -> None:
    query = "SELECT (SELECT sum(i) FROM s) AS a, (SELECT sum(note::INT) FROM s WHERE g = 'a') AS b"
    view(engine, query, ", on_error = 'skip'")
    assert len(leaves(engine)) == 2
    rows = {"g": ["a"] * 5, "i": [1, 2, 4, 8, 16], "note": ["1", "x", "2", "3", "x"]}
    engine.append("s", {**rows, "op": [0, 1, -1, 1, 1]})
    engine.append("s", {**rows, "op": [1, -1, 1, 3, -1]})
    assert answer(engine) == [(9, 4)]
    assert engine.view("v").statistics().rows_failed == 6


@given(st.lists(st.tuples(st.sampled_from(["1", "2", "x"]), st.sampled_from([1, -1, 0]))))
@settings(max_examples=max(5, settings().max_examples // 5))
def test_the_rows_that_fail_are_counted(rows: list[tuple[str, int]]) -> None:
    with Engine(clock=ManualClock()) as engine:
        engine.sql("CREATE STREAM s (note TEXT, op TINYINT)")
        view(
            engine, "SELECT note::INT AS a, count(*) AS n FROM s GROUP BY 1", ", on_error = 'skip'"
        )
        if not rows:
            return
        notes, signs = zip(*rows, strict=True)
        engine.append("s", {"note": notes, "op": signs})
        with suppress(QueryError):
            answer(engine)
        failing = sum(note == "x" or not sign for note, sign in rows)
        assert engine.view("v").statistics().rows_failed == failing


# Interruptions

PLACES = 2 * int(os.environ.get("INTERRUPTED_LINES", "4" if os.environ.get("CI") else "2"))
"""At about how many moments a view is interrupted once."""
FILES = tuple(
    f"{FOLDER}/queries/{name}"
    for name in (
        *("evaluation/signed_leaf", "evaluation/view", "evaluation/increments"),
        *("partials/growing_merge", "partials/grouped_state"),
    )
)


def changed_twice(engine: Engine) -> None:
    """Create a view, and let rows come, go and fail after it was read."""
    engine.sql(f"CREATE STREAM s {STREAM}")
    view(engine, options=", on_error = 'skip'")
    feed(engine, ("a", 1, 1), ("a", 2, 1), ("b", 5, 1))
    answer(engine)
    feed(engine, ("a", 2, -1), ("b", 5, -1), ("c", 7, 1), ("c", 7, 0))


RIGHT = [("a", 1, 1), ("c", 7, 1)]


@pytest.mark.parametrize(("event", "least"), [("line", 100), ("c_call", 3)])
def test_an_interrupt_anywhere_loses_no_row_and_counts_none_twice(
    event: str, least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    respect_held_interrupts(monkeypatch)
    with Engine(clock=ManualClock()) as engine:
        changed_twice(engine)
        watcher = Interrupter(event, files=FILES)
        with watcher.watching():
            assert answer(engine) == RIGHT
    assert watcher.count > least
    for number in range(0, watcher.count, max(1, watcher.count // PLACES)):
        with Engine(clock=ManualClock()) as engine:
            changed_twice(engine)
            once = interrupter_at(event, number)
            with suppress(KeyboardInterrupt), once.watching():
                answer(engine)
            assert once.raised == 1
            assert answer(engine) == RIGHT
            assert engine.view("v").statistics().rows_failed == 1
            assert state_is_sound(engine)


def interrupter_at(event: str, number: int) -> Interrupter:
    """Return what interrupts once, at the moment of this number."""
    return Interrupter(event, lambda moment: moment.number == number, files=FILES)
