"""Filters: which rows are dropped, and for which reason first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from datasets.taq.conditions import Conditions
from datasets.taq.filters import Filters
from datasets.taq.formats import Format, Kind

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HALF_PAST_NINE = 34_200 * 10**9
NAMES = ("key", "nanoseconds", "correction", "g127", "condition", "price")
GOOD = ("IBM", HALF_PAST_NINE, 0, 0, "@", 45.88)


def reasons(
    spark: SparkSession,
    filters: Filters,
    rows: list[tuple[object, ...]],
    format_: Format = Format.MONTHLY_TRADES,
) -> list[str | None]:
    from pyspark.sql import functions as F  # noqa: N812

    columns = dict(zip(NAMES, zip(*rows, strict=True), strict=True))
    frame = spark.createDataFrame(pa.table({name: list(each) for name, each in columns.items()}))
    row = {name: F.col(name) for name in frame.columns}
    found = frame.select(filters.reason(row, format_).alias("reason")).collect()
    return [each["reason"] for each in found]


def changed(**fields: object) -> tuple[object, ...]:
    return tuple(fields.get(name, value) for name, value in zip(NAMES, GOOD, strict=True))


def test_the_usual_filters_name_what_is_not_usual(spark: SparkSession) -> None:
    rows = [GOOD, changed(correction=2), changed(correction=10), changed(g127=40)]
    rows += [changed(condition="@4"), changed(price=0.0), changed(price=-1.0)]
    assert reasons(spark, Filters(), rows) == [
        *(None, None, "correction 10", "G127 not 0", "condition 4"),
        *("price not above 0", "price not above 0"),
    ]


def test_a_row_is_dropped_for_the_first_reason_only(spark: SparkSession) -> None:
    filters = Filters(symbols=("IBM",), from_second=34_200)
    row = changed(key="A", nanoseconds=0, correction=9, g127=1, condition="Z", price=0.0)
    rows = [row, ("IBM", *row[1:]), ("IBM", HALF_PAST_NINE, *row[2:])]
    rows += [changed(g127=1, condition="Z", price=0.0), changed(condition="Z", price=0.0)]
    assert reasons(spark, filters, rows) == [
        *("other symbol", "outside the hours", "correction 9", "G127 not 0", "condition Z")
    ]


def test_both_ends_of_the_hours_are_in(spark: SparkSession) -> None:
    filters = Filters(from_second=34_200, to_second=34_201)
    times = [HALF_PAST_NINE + more for more in (-1, 0, 10**9, 10**9 + 1)]
    found = reasons(spark, filters, [changed(nanoseconds=each) for each in times])
    assert found == ["outside the hours", None, None, "outside the hours"]


def test_filters_can_be_put_out_one_by_one(spark: SparkSession) -> None:
    every = Filters(Conditions(()), corrections=None, is_any_g127=True, is_any_price=True)
    row = changed(correction=9, g127=1, condition="Z", price=0.0)
    assert reasons(spark, every, [row]) == [None]


def test_quotes_have_prices_of_zero_and_no_corrections(spark: SparkSession) -> None:
    row = changed(correction=9, g127=1, price=0.0)
    assert reasons(spark, Filters(), [row], Format.DAILY_QUOTES) == [None]


def test_what_is_wanted_is_described() -> None:
    filters = Filters(symbols=("IBM", "BRK B"), from_second=34_200, to_second=57_600)
    assert filters.described(Kind.TRADES) == {
        "conditions kept": "all but Z 4 T V U P W X",
        "corrections kept": "0, 1, 2",
        "G127 kept": "0",
        "prices kept": "above 0",
        "symbols kept": "IBM, BRK B",
        "from": "09:30:00",
        "to": "16:00:00",
    }
    assert Filters(Conditions(())).described(Kind.QUOTES) == {"conditions kept": "all"}
