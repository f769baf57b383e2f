"""Constants beside times: the range of units contains whatever DuckDB calculates."""

from __future__ import annotations

from fractions import Fraction

import pyarrow as pa
import pytest
from sqlglot import exp

from tests.queries.parsed import query_of, value_of
from upstream.database.duck import Duck
from upstream.database.failure import DatabaseError
from upstream.queries.rewriting.time_arithmetic import TimeArithmetic, are_of_one_kind
from upstream.queries.sql.lending import run_once
from upstream.rows.stream_definition import StreamDefinition

from .times import INSTANTS, INTERVALS, TIME_TYPES

EACH = [(kind, each) for kind in INTERVALS if kind != "float" for each in INTERVALS[kind]]


def definition(kind: str) -> StreamDefinition:
    return StreamDefinition("s", pa.schema([("time", TIME_TYPES[kind])]), (), "time")


@pytest.mark.parametrize("zone", ["Europe/Berlin", "Pacific/Apia"])
@pytest.mark.parametrize(("kind", "constant"), EACH)
def test_a_time_moves_by_no_more_than_the_range(
    duck: Duck, kind: str, constant: str, zone: str
) -> None:
    duck.run_as_written(f"SET TimeZone = '{zone}'", {})
    arithmetic = TimeArithmetic(definition(kind), duck)
    found = arithmetic.added(value_of(constant))
    assert found is not None
    rows = pa.table({"time": INSTANTS[kind]})
    try:
        moved = run_once(duck, query_of(f"SELECT time + {constant} AS time FROM t"), {"t": rows})
    except DatabaseError:
        assert kind == "date"
        assert not constant.startswith(("INTERVAL", "to_"))
        return
    pairs = zip(in_units(moved["time"], kind), in_units(rows["time"], kind), strict=True)
    units = [one - other for one, other in pairs]
    assert found.least - arithmetic.slack(1) <= min(units)
    assert max(units) <= found.most + arithmetic.slack(1)


def in_units(times: pa.ChunkedArray, kind: str) -> list[Fraction]:
    """Return times as they are, in the unit of a kind of column."""
    if pa.types.is_timestamp(times.type):
        per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[times.type.unit]
        scale = (definition(kind).units_per_second or 1) / Fraction(per_second)
        return [each * scale for each in times.cast(pa.int64()).to_pylist()]
    if pa.types.is_date32(times.type):
        times = times.cast(pa.int32())
    scale = definition(kind).units_per_second or Fraction(1)
    return [Fraction(each) * (scale if kind == "double" else 1) for each in times.to_pylist()]


@pytest.mark.parametrize(
    ("kind", "constant", "least", "most"),
    [
        ("us", "INTERVAL '1 month'", 30 * 86_400 * 10**6, 30 * 86_400 * 10**6),
        ("integer", "2.5", Fraction(5, 2), Fraction(5, 2)),
        ("double", "2.5", 2_500_000, 2_500_000),
        ("date", "2", 2, 2),
        ("zoned", "INTERVAL '5 s'", 0, 5 * 10**6),
        ("zoned", "INTERVAL '-5 s'", -5 * 10**6, 0),
        ("zoned", "INTERVAL '0 s'", 0, 0),
        ("zoned", "INTERVAL '2 days'", 22 * 3_600 * 10**6, 74 * 3_600 * 10**6),
        ("zoned", "INTERVAL '1 day'", 0, 50 * 3_600 * 10**6),
    ],
)
def test_a_difference_is_compared_as_duckdb_compares_it(
    shared_duck: Duck, kind: str, constant: str, least: Fraction, most: Fraction
) -> None:
    found = TimeArithmetic(definition(kind), shared_duck).difference(value_of(constant))
    assert found == (least, most)


@pytest.mark.parametrize(
    ("kind", "constant"),
    [
        ("us", "5"),
        ("us", "'5 seconds'"),
        ("us", "INTERVAL '5 seconds' / 2"),
        ("us", "now() - now()"),
        ("us", "INTERVAL '1000000 years'"),
        ("us", "CAST(NULL AS INTERVAL)"),
        ("integer", "INTERVAL '5 seconds'"),
        ("integer", "true"),
        ("integer", "1e0"),
        ("integer", "2000000000000000000"),
        ("integer", "random()"),
        ("integer", "(SELECT 1)"),
        ("double", "INTERVAL '5 seconds'"),
        ("double", "'nan'::DOUBLE"),
        ("float", "5"),
    ],
)
def test_what_is_no_constant_of_the_kind_is_unknown(
    shared_duck: Duck, kind: str, constant: str
) -> None:
    arithmetic = TimeArithmetic(definition(kind), shared_duck)
    assert arithmetic.added(value_of(constant)) is None
    assert arithmetic.difference(value_of(constant)) is None


def test_dates_differ_by_numbers_and_not_by_intervals(shared_duck: Duck) -> None:
    arithmetic = TimeArithmetic(definition("date"), shared_duck)
    interval = value_of("INTERVAL '36 hours'")
    assert arithmetic.added(interval) == (Fraction(3, 2), Fraction(3, 2))
    assert arithmetic.difference(interval) is None
    days = {"t": pa.table({"time": INSTANTS["date"]})}
    with pytest.raises(DatabaseError):
        run_once(shared_duck, query_of("SELECT time - time < INTERVAL '1 s' FROM t"), days)


def test_times_of_one_kind_have_one_unit_and_one_meaning() -> None:
    assert are_of_one_kind(map(definition, ["us", "us"]))
    for one, other in (("us", "ms"), ("us", "zoned"), ("us", "date"), ("us", "double")):
        assert not are_of_one_kind(map(definition, [one, other]))
    assert not are_of_one_kind(map(definition, ["integer", "double"]))
    assert not are_of_one_kind(map(definition, ["float", "double"]))


@pytest.mark.parametrize("name", ["+", "-", "*", "abs"])
def test_a_macro_with_the_name_of_an_operator_makes_times_unusual(duck: Duck, name: str) -> None:
    assert TimeArithmetic(definition("us"), duck).is_usual
    duck.run_as_written(f'CREATE MACRO "{name}"(a) AS a', {})
    assert not TimeArithmetic(definition("us"), duck).is_usual


def test_a_constant_is_evaluated_by_duckdb(shared_duck: Duck) -> None:
    arithmetic = TimeArithmetic(definition("integer"), shared_duck)
    assert arithmetic.added(value_of("(2 + 3) * -4")) == (Fraction(-20), Fraction(-20))
    assert arithmetic.added(exp.Literal.number(7)) == (Fraction(7), Fraction(7))
