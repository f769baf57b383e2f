"""What the condition of an interval join says about times: never less than DuckDB lets through."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from tests.queries.parsed import query_of
from upstream.database.duck import Duck
from upstream.database.failure import DatabaseError
from upstream.queries.rewriting.interval_bounds import Band, band_of, closed
from upstream.queries.sql.lending import run_once
from upstream.queries.sql.trees import named
from upstream.rows.stream_definition import StreamDefinition

from .times import INSTANTS, INTERVALS, TIME_TYPES

SECOND = 1_000_000
DAY = 86_400 * SECOND


def pairs_of(condition: str, count: int) -> exp.Select:
    tables = ", ".join(f"chunk_{i} AS {'abc'[i]}" for i in range(count))
    query = query_of(f"SELECT 1 FROM {tables} WHERE {condition}")
    assert isinstance(query, exp.Select)
    return query


def definitions(time: pa.DataType, count: int = 2) -> dict[int, StreamDefinition]:
    schema = pa.schema([("time", time), ("k", pa.int64())])
    return {i: StreamDefinition(f"s{i}", schema, ("k",), "time") for i in range(count)}


def band(duck: Duck, condition: str, time: str = "us", *, count: int = 2) -> Band:
    return band_of(pairs_of(condition, count), definitions(TIME_TYPES[time], count), duck)


@pytest.mark.parametrize(
    ("condition", "newer_b", "newer_a"),
    [
        ("b.time BETWEEN a.time - INTERVAL '5 seconds' AND a.time", 0, 5 * SECOND),
        ("a.time BETWEEN b.time AND INTERVAL 5 SECONDS + b.time", 0, 5 * SECOND),
        ("b.time >= a.time AND b.time < a.time + to_seconds(2.5)", 2.5 * SECOND, 0),
        ("(a.time <= b.time) AND (a.time > (b.time) - INTERVAL '1' MINUTE)", 60 * SECOND, 0),
        ("a.time = b.time", 0, 0),
        ("a.time IS NOT DISTINCT FROM b.time", 0, 0),
        ("a.time + INTERVAL '2 seconds' = b.time - INTERVAL '1 second'", 3 * SECOND, -3 * SECOND),
        ("b.time - a.time BETWEEN INTERVAL '-1 day' AND 2 * INTERVAL '3 seconds'", 6e6, DAY),
        ("INTERVAL '1 month' >= b.time - a.time AND b.time >= a.time", 30 * DAY, 0),
        ("b.time BETWEEN a.time AND a.time + INTERVAL '1 month 1 day'", 32 * DAY, 0),
        ("b.time BETWEEN a.time + INTERVAL '1 month' AND a.time + INTERVAL '1 year'", 372 * DAY,
         -28 * DAY),
        ("b.time < a.time + to_seconds(9) AND b.time - a.time < to_seconds(7) AND a.time <= b.time",
         7 * SECOND, 0),
    ],
)  # fmt: skip
def test_comparisons_with_intervals_limit_how_much_newer_a_partner_is(
    shared_duck: Duck, condition: str, newer_b: float, newer_a: float
) -> None:
    found = band(shared_duck, condition)
    assert (dict(found.most), found.slack) == ({(0, 1): newer_b, (1, 0): newer_a}, 0)
    assert found.unlimited() is None


@pytest.mark.parametrize(
    ("time", "condition", "newer_b", "newer_a"),
    [
        ("integer", "abs(a.time - b.time) < 5", 5, 5),
        ("integer", "5 >= @(b.time - a.time)", 5, 5),
        ("integer", "b.time - a.time BETWEEN -2 AND 3.25", 4, 2),
        ("integer", "b.time BETWEEN a.time - 7 AND a.time - -2.5", 3, 7),
        ("date", "b.time BETWEEN a.time - 3 AND a.time + INTERVAL '36 hours'", 2, 3),
        ("date", "b.time - a.time BETWEEN -3 AND 2", 2, 3),
        ("s", "b.time BETWEEN a.time - INTERVAL '1500 ms' AND a.time", 0, 2),
        ("ms", "b.time BETWEEN a.time - INTERVAL '1500 ms' AND a.time", 0, 1500),
        ("zoned", "b.time BETWEEN a.time - INTERVAL '20 hours' AND a.time", 0, 20 * DAY / 24),
        ("zoned", "b.time BETWEEN a.time - INTERVAL '1 day' AND a.time", 0, 50 * DAY / 24),
        ("zoned", "a.time - b.time BETWEEN INTERVAL '0 s' AND INTERVAL '9 s'", 0, 9 * SECOND),
        ("zoned", "a.time - b.time BETWEEN INTERVAL '8 s' AND INTERVAL '1 day'", 0, 50 * DAY / 24),
    ],
)
def test_times_of_other_types_are_limited_in_their_unit(
    shared_duck: Duck, time: str, condition: str, newer_b: float, newer_a: float
) -> None:
    found = band(shared_duck, condition, time)
    assert dict(found.most) == {(0, 1): newer_b, (1, 0): newer_a}
    assert found.slack == 0


@pytest.mark.parametrize("time", ["double", "ns"])
def test_rounding_widens_the_band_unless_times_are_compared_as_they_are(
    shared_duck: Duck, time: str
) -> None:
    length = "5" if time == "double" else "INTERVAL '5 seconds'"
    rounded = band(shared_duck, f"b.time BETWEEN a.time AND a.time + {length}", time)
    assert rounded.slack > 0
    assert rounded.unlimited() is None
    assert band(shared_duck, "a.time = b.time", time) == Band(
        {0: "a", 1: "b"}, {(0, 1): 0, (1, 0): 0}
    )


@pytest.mark.parametrize(
    ("time", "condition"),
    [
        ("us", "a.k = b.k"),
        ("us", "a.time <> b.time"),
        ("us", "a.time < b.time OR a.k = b.k"),
        ("us", "NOT a.time < b.time"),
        ("us", "a.time < b.time + INTERVAL (b.k) SECONDS"),
        ("us", "a.time < b.time + (now() - now())"),
        ("us", "a.time < b.time + INTERVAL '1 second' * random()"),
        ("us", "date_trunc('day', a.time) <= b.time"),
        ("us", "a.time < TIMESTAMP '2024-01-01'"),
        ("us", "a.time < a.time + INTERVAL '5 seconds'"),
        ("us", "a.time < b.time + CAST(NULL AS INTERVAL)"),
        ("us", "(a.time - b.time) + INTERVAL '1 second' < INTERVAL '5 seconds'"),
        ("integer", "abs(a.time - b.time) > 5"),
        ("integer", "abs(a.time - 1 - b.time) < 5"),
        ("integer", "a.time < b.time + 1e0"),
        ("integer", "a.time < b.time + 0.12345678901"),
        ("integer", "a.time < b.time + 99999999999999999999"),
        ("double", "a.time < b.time + 1e300"),
        ("double", "a.time < b.time + 'infinity'::DOUBLE"),
        ("float", "a.time < b.time + 1"),
    ],
)
def test_what_is_not_understood_exactly_limits_nothing(
    shared_duck: Duck, time: str, condition: str
) -> None:
    found = band(shared_duck, condition, time)
    assert dict(found.most) == {}
    assert found.unlimited() == (0, 1)


def test_one_side_without_a_limit_is_named(shared_duck: Duck) -> None:
    assert band(shared_duck, "a.time <= b.time").unlimited() == (0, 1)
    assert band(shared_duck, "a.time >= b.time").unlimited() == (1, 0)


def test_three_inputs_are_limited_by_what_follows_from_the_conditions(shared_duck: Duck) -> None:
    text = "a.time <= b.time AND b.time <= c.time AND c.time - 10 <= a.time"
    found = band(shared_duck, text, "integer", count=3)
    assert {found.most[each] for each in [(1, 0), (2, 1), (2, 0)]} == {0}
    assert {found.most[each] for each in [(0, 1), (1, 2), (0, 2)]} == {10}
    text = "a.time <= b.time AND c.time - 10 <= a.time"
    assert band(shared_duck, text, "integer", count=3).unlimited() is not None


@pytest.mark.parametrize("name", ["+", "to_seconds"])
def test_a_macro_in_place_of_an_operator_or_a_function_is_not_relied_on(
    duck: Duck, name: str
) -> None:
    arguments = "(a, b)" if name == "+" else "(a)"
    text = f"CREATE MACRO \"{name}\"{arguments} AS INTERVAL '1 hour'"
    duck.run_as_written(text, {})
    found = band(duck, "a.time <= b.time AND b.time - to_seconds(5) <= a.time")
    assert found.unlimited() is not None


differences = st.dictionaries(
    st.sampled_from([*permutations(range(4), 2)]), st.integers(-20, 60), max_size=8
)


@given(differences, st.lists(st.integers(-40, 40), min_size=4, max_size=4))
def test_what_follows_from_limits_holds_for_all_times_that_meet_them(
    limits: dict[tuple[int, int], int], times: Sequence[int]
) -> None:
    def newer(pair: tuple[int, int]) -> int:
        return times[pair[1]] - times[pair[0]]

    # what does not hold is widened until it does
    wide = {pair: max(limit, newer(pair)) for pair, limit in limits.items()}
    found = closed(range(4), wide)
    assert all(newer(pair) <= limit for pair, limit in found.items())
    assert all(found[pair] <= limit for pair, limit in wide.items())
    assert closed(range(4), found) == found


COMPARISONS = (
    "{one}.time {sign} {constant} {operator} {other}.time",
    "{one}.time {operator} {other}.time {sign} {constant}",
    "{one}.time - {other}.time {operator} {constant}",
    "{constant} {operator} {other}.time - {one}.time",
    "abs({one}.time - {other}.time) {operator} {constant}",
    "{one}.time BETWEEN {other}.time - {constant} AND {other}.time + {constant}",
)
conditions = st.builds(
    lambda form, kind, operator, sign, swapped, which: (
        kind,
        form.format(
            one="ab"[swapped],
            other="ba"[swapped],
            operator=operator,
            sign=sign,
            constant=INTERVALS[kind][which % len(INTERVALS[kind])],
        ),
    ),
    st.sampled_from(COMPARISONS),
    st.sampled_from(sorted(INTERVALS)),
    st.sampled_from(["<", "<=", ">", ">=", "="]),
    st.sampled_from(["+", "-"]),
    st.booleans(),
    st.integers(0, 100),
)


@given(conditions)
def test_the_band_contains_every_pair_that_duckdb_lets_through(
    shared_duck: Duck, of_kind: tuple[str, str]
) -> None:
    kind, condition = of_kind
    found = band(shared_duck, condition, kind)
    rows = pa.table({"time": INSTANTS[kind], "k": range(len(INSTANTS[kind]))})
    query = pairs_of(condition, 2)
    items = [named(exp.column("k", table), table) for table in "ab"]
    query.set("expressions", items)
    try:
        met = run_once(shared_duck, query, {"chunk_0": rows, "chunk_1": rows})
    except DatabaseError:
        return  # such as abs() of an interval
    times = definitions(TIME_TYPES[kind])[0].times(rows)
    newer = times[met["b"].to_numpy()] - times[met["a"].to_numpy()]
    for pair, signed in (((0, 1), newer), ((1, 0), -newer)):
        if len(signed) and pair in found.most:
            assert signed.max() <= found.most[pair] + found.slack
