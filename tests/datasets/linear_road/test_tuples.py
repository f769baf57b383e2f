"""The tuples by the benchmark's schema: which fields each type uses, and how many there are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from datasets.linear_road.tuples import (
    ACCOUNT_BALANCE,
    DAILY_EXPENDITURE,
    FIELDS,
    NAMES,
    POSITION_REPORT,
    TRAVEL_TIME,
    Columns,
    record_batches,
)

from .driven import CROWDED, drive, of_type

USED = {
    POSITION_REPORT: "speed expressway lane direction segment position",
    ACCOUNT_BALANCE: "query",
    DAILY_EXPENDITURE: "expressway query day",
    TRAVEL_TIME: "expressway query from_segment to_segment day_of_week minute_of_day",
}
RANGES = {
    "day": (1, 69),
    "from_segment": (0, 99),
    "to_segment": (0, 99),
    "day_of_week": (1, 7),
    "minute_of_day": (1, 1440),
}


def requests() -> Columns:
    return of_type(drive(CROWDED), ACCOUNT_BALANCE, DAILY_EXPENDITURE, TRAVEL_TIME)


def test_the_fields_are_the_15_of_the_benchmark() -> None:
    assert " ".join(field.of_benchmark for field in FIELDS) == (
        "Time VID Type Spd XWay Lane Dir Seg Pos QID Sinit Send DOW TOD Day"
    )
    assert NAMES[:2] == ("time", "key")


@pytest.mark.parametrize("of", USED)
def test_a_type_uses_its_fields_and_the_others_are_minus_1(of: int) -> None:
    columns = of_type(drive(CROWDED), of)
    used = {"time", "key", "type", *USED[of].split()}
    assert len(columns["time"]) > 100
    assert all((columns[name] >= 0).all() for name in used)
    assert all((columns[name] == -1).all() for name in set(NAMES) - used)


@pytest.mark.parametrize("name", RANGES)
def test_requests_ask_about_the_whole_range(name: str) -> None:
    asked = requests()[name]
    asked = asked[asked >= 0]
    low, high = RANGES[name]
    assert low <= asked.min() <= low + (high - low) // 20
    assert high - (high - low) // 20 <= asked.max() <= high


def test_requests_come_with_reports_and_have_numbers_of_their_own() -> None:
    asked, reports = requests(), of_type(drive(CROWDED), POSITION_REPORT)
    reported = set(zip(reports["key"].tolist(), reports["time"].tolist(), strict=True))
    asking = list(zip(asked["key"].tolist(), asked["time"].tolist(), strict=True))
    assert set(asking) <= reported
    assert len(set(asking)) == len(asking)
    assert len(np.unique(asked["query"])) == len(asked["query"])


def test_the_shares_of_requests_are_those_of_the_benchmark() -> None:
    """Each count is within five standard deviations of what it is expected to be."""
    types = drive(CROWDED)["type"]
    reports = int((types == POSITION_REPORT).sum())
    shares = {ACCOUNT_BALANCE: 0.5, DAILY_EXPENDITURE: 0.1, TRAVEL_TIME: 0.4}
    for of, share in shares.items():
        expected = reports * CROWDED.requests * share
        assert abs(int((types == of).sum()) - expected) < 5 * expected**0.5


def test_without_travel_times_all_other_tuples_are_the_same() -> None:
    run = replace(CROWDED, minutes=3)
    everything, fewer = drive(run), drive(replace(run, has_travel_times=False))
    kept = of_type(everything, POSITION_REPORT, ACCOUNT_BALANCE, DAILY_EXPENDITURE)
    assert all((kept[name] == fewer[name]).all() for name in NAMES)
    assert len(everything["type"]) > len(fewer["type"])


def test_batches_have_the_types_of_the_schema() -> None:
    run = replace(CROWDED, minutes=1)
    units = pa.RecordBatch.from_pydict({"id": [0, 1]})
    batches = list(record_batches(run, iter([units])))
    types = {field.name: str(field.type) for field in batches[0].schema}
    assert types == {
        **dict.fromkeys(NAMES, "int32"),
        "time": "double",
        "key": "int64",
    }
    assert len(batches) == 2 * run.beats
