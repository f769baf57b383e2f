"""Sale conditions: codes in any place, and the lists that people use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets.errors import BadOptionError
from datasets.taq.conditions import (
    USUALLY_DROPPED,
    Conditions,
    chosen_conditions,
    parsed_conditions,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The usual filters of the monthly product, as they are listed.
NORMAL = ["", "@", "F", "@F", "C", "CF", "N", "NF", "R", "RF", "Q", "M", "O", "@O", "6", "@6"]
DROPPED = ["Z", "4", "@4", "C4", "N4", "R4", "T", "V", "U", "P", "W", "X"]
# Four places, blanks holding them or stripped, codes together.
DAILY_NORMAL = ["@   ", "    ", " F  ", " O  ", "O   ", "@F I", "F I", "@ I ", "E"]
DAILY_DROPPED = [" 4 B", "@4 I", "4 B", "@ T ", "@FTI", "FTI", "   X", "@  W", "RU I"]


def reasons(spark: SparkSession, conditions: Conditions, texts: list[str]) -> list[str | None]:
    from pyspark.sql import functions as F  # noqa: N812

    frame = spark.createDataFrame(pa.table({"text": texts}))
    rows = frame.select(conditions.reason(F.col("text")).alias("reason")).collect()
    return [row["reason"] for row in rows]


def test_the_usual_lists_hold_wherever_a_code_is(spark: SparkSession) -> None:
    kept, dropped = NORMAL + DAILY_NORMAL, DROPPED + DAILY_DROPPED
    found = reasons(spark, Conditions(), kept + dropped)
    assert found[: len(kept)] == [None] * len(kept)
    for text, reason in zip(dropped, found[len(kept) :], strict=True):
        codes = [code for code in USUALLY_DROPPED if code in text]
        assert reason == f"condition {codes[0]}", text


def test_a_condition_of_several_codes_is_dropped_if_all_are_there(spark: SparkSession) -> None:
    found = reasons(spark, Conditions(("@4", "I")), ["@", "4", " 4 @", "@4 I", "@ I "])
    assert found == [None, None, "condition @4", "condition @4", "condition I"]


def test_a_list_of_what_is_kept_drops_every_other_code(spark: SparkSession) -> None:
    conditions = Conditions((), kept=("@", "FO"))
    found = reasons(spark, conditions, ["", "    ", "@", "@F O", " F  ", "@ I ", "E"])
    assert found == [None] * 5 + ["other condition"] * 2


def test_what_is_kept_may_be_dropped_for_another_code(spark: SparkSession) -> None:
    found = reasons(spark, Conditions(("I",), kept=("@", "I")), ["@", "@ I ", "E I"])
    assert found == [None, "condition I", "condition I"]


def test_the_condition_of_a_quote_is_one_code(spark: SparkSession) -> None:
    dropped = Conditions(("1", "L"), is_whole=True)
    assert reasons(spark, dropped, ["12", "1", "L", " ", "R"]) == [
        *(None, "condition 1", "condition L", None, None)
    ]
    kept = Conditions((), kept=("12",), is_whole=True)
    assert reasons(spark, kept, ["12", "1", "2", ""]) == [
        *(None, "other condition", "other condition", None)
    ]
    assert reasons(spark, Conditions(()), ["4"]) == [None]


@given(st.lists(st.text("@ABCZ4", min_size=1, max_size=4), min_size=1, max_size=6))
def test_a_list_is_read_as_it_is_written_each_once(listed: list[str]) -> None:
    assert parsed_conditions("--conditions", " , ".join(listed)) == tuple(dict.fromkeys(listed))


@pytest.mark.parametrize("text", ["", ",", "@,", "ABCDE", "A B", "é", "A\tB"])
def test_what_is_no_list_of_conditions_is_refused(text: str) -> None:
    with pytest.raises(BadOptionError, match="--conditions"):
        parsed_conditions("--conditions", text)


def test_what_is_chosen_is_described() -> None:
    usual = chosen_conditions(is_trades=True, kept=None, dropped=None, is_all=False)
    assert usual.described() == "all but Z 4 T V U P W X"
    every = chosen_conditions(is_trades=True, kept=None, dropped=None, is_all=True)
    assert every.described() == "all"
    listed = chosen_conditions(is_trades=False, kept=["R"], dropped=None, is_all=False)
    assert listed.described() == "R, of all"
