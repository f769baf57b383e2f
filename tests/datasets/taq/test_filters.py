"""Filters and sale conditions: which rows are dropped, and for which reason first."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from datasets.errors import BadOptionError
from datasets.taq.filters import Conditions, Filters, chosen_conditions, parsed_conditions
from datasets.taq.formats import USUALLY_DROPPED, Format, Kind

HALF_PAST_NINE = 34_200 * 10**9
NAMES = ("key", "nanoseconds", "correction", "g127", "condition", "price")
GOOD = ("IBM", HALF_PAST_NINE, 0, 0, "@", 45.88)


def reasons(
    spark: SparkSession,
    filters: Filters,
    rows: list[tuple[object, ...]],
    format_: Format = Format.MONTHLY_TRADES,
) -> list[str | None]:
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


def test_each_filter_can_be_turned_off(spark: SparkSession) -> None:
    every = Filters(Conditions(()), corrections=None, is_any_g127=True, is_any_price=True)
    row = changed(correction=9, g127=1, condition="Z", price=0.0)
    assert reasons(spark, every, [row]) == [None]


def test_quotes_have_prices_of_zero_and_no_corrections(spark: SparkSession) -> None:
    row = changed(correction=9, g127=1, price=0.0)
    assert reasons(spark, Filters(), [row], Format.DAILY_QUOTES) == [None]


def test_the_filters_are_described() -> None:
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


# The usual filters of the monthly product, as they are listed.
NORMAL = ["", "@", "F", "@F", "C", "CF", "N", "NF", "R", "RF", "Q", "M", "O", "@O", "6", "@6"]
DROPPED = ["Z", "4", "@4", "C4", "N4", "R4", "T", "V", "U", "P", "W", "X"]
# Four places, blanks holding them or stripped, codes together.
DAILY_NORMAL = ["@   ", "    ", " F  ", " O  ", "O   ", "@F I", "F I", "@ I ", "E"]
DAILY_DROPPED = [" 4 B", "@4 I", "4 B", "@ T ", "@FTI", "FTI", "   X", "@  W", "RU I"]


def condition_reasons(
    spark: SparkSession, conditions: Conditions, texts: list[str]
) -> list[str | None]:
    frame = spark.createDataFrame(pa.table({"text": texts}))
    rows = frame.select(conditions.reason(F.col("text")).alias("reason")).collect()
    return [row["reason"] for row in rows]


def test_the_usual_lists_hold_wherever_a_code_is(spark: SparkSession) -> None:
    kept, dropped = NORMAL + DAILY_NORMAL, DROPPED + DAILY_DROPPED
    found = condition_reasons(spark, Conditions(), kept + dropped)
    assert found[: len(kept)] == [None] * len(kept)
    for text, reason in zip(dropped, found[len(kept) :], strict=True):
        codes = [code for code in USUALLY_DROPPED if code in text]
        assert reason == f"condition {codes[0]}", text


def test_a_condition_of_several_codes_is_dropped_if_all_are_there(spark: SparkSession) -> None:
    found = condition_reasons(spark, Conditions(("@4", "I")), ["@", "4", " 4 @", "@4 I", "@ I "])
    assert found == [None, None, "condition @4", "condition @4", "condition I"]


def test_a_list_of_kept_codes_drops_every_other_code(spark: SparkSession) -> None:
    conditions = Conditions((), kept=("@", "FO"))
    found = condition_reasons(spark, conditions, ["", "    ", "@", "@F O", " F  ", "@ I ", "E"])
    assert found == [None] * 5 + ["other condition"] * 2


def test_a_kept_condition_may_be_dropped_for_another_code(spark: SparkSession) -> None:
    found = condition_reasons(spark, Conditions(("I",), kept=("@", "I")), ["@", "@ I ", "E I"])
    assert found == [None, "condition I", "condition I"]


def test_the_condition_of_a_quote_is_one_code(spark: SparkSession) -> None:
    dropped = Conditions(("1", "L"), is_whole=True)
    assert condition_reasons(spark, dropped, ["12", "1", "L", " ", "R"]) == [
        *(None, "condition 1", "condition L", None, None)
    ]
    kept = Conditions((), kept=("12",), is_whole=True)
    assert condition_reasons(spark, kept, ["12", "1", "2", ""]) == [
        *(None, "other condition", "other condition", None)
    ]
    assert condition_reasons(spark, Conditions(()), ["4"]) == [None]


@given(st.lists(st.text("@ABCZ4", min_size=1, max_size=4), min_size=1, max_size=6))
def test_a_list_is_read_as_it_is_written_each_once(listed: list[str]) -> None:
    assert parsed_conditions("--conditions", " , ".join(listed)) == tuple(dict.fromkeys(listed))


@pytest.mark.parametrize("text", ["", ",", "@,", "ABCDE", "A B", "é", "A\tB"])
def test_an_invalid_list_of_conditions_is_refused(text: str) -> None:
    with pytest.raises(BadOptionError, match="--conditions"):
        parsed_conditions("--conditions", text)


def test_the_chosen_conditions_are_described() -> None:
    usual = chosen_conditions(is_trades=True, kept=None, dropped=None, is_all=False)
    assert usual.described() == "all but Z 4 T V U P W X"
    every = chosen_conditions(is_trades=True, kept=None, dropped=None, is_all=True)
    assert every.described() == "all"
    listed = chosen_conditions(is_trades=False, kept=["R"], dropped=None, is_all=False)
    assert listed.described() == "R, of all"
