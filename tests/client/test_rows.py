"""Updates as callers give them, as rows to send."""

from __future__ import annotations

import datetime as dt
import math

import numpy as np
import pyarrow as pa
import pytest

from upstream import ColumnLengthError, ParameterError, TimeNotFiniteError, Update
from upstream.client import Key
from upstream.client.encoding import Row
from upstream.client.rows import GivenUpdate, rows_of, rows_of_columns, seconds_of

DAY = 1_704_067_200.0
"""2024 began then."""


def rows(*columns: object) -> list[Row]:
    return list(rows_of_columns(*columns))  # type: ignore[arg-type]


def test_updates_are_pairs_triples_or_the_librarys() -> None:
    updates: list[GivenUpdate] = [("a", 1), ("b", 2, 3.5), Update("c", 4, 5.5), (("d", 1), 6, None)]
    assert list(rows_of(updates)) == [
        ("a", None, 1),
        ("b", 3.5, 2),
        ("c", 5.5, 4),
        (("d", 1), None, 6),
    ]


def test_updates_may_be_mappings_with_their_members() -> None:
    updates: list[GivenUpdate] = [
        {"key": "a", "value": {"x": 1}},
        {"key": "b", "value": 2, "time": 3.5},
    ]
    assert list(rows_of(updates)) == [("a", None, {"x": 1}), ("b", 3.5, 2)]


def test_keys_may_be_lists_or_numbers_of_numpy_as_in_a_single_update() -> None:
    assert list(rows_of([(["a", 1], 2), (np.int64(3), 4)])) == [(("a", 1), None, 2), (3, None, 4)]


@pytest.mark.parametrize(
    "update",
    [
        *(("a",), (), ("a", 1, 2.0, 3), (1.5, 1), (None, 1), ("a", 1, "t")),
        *("ab", "abc", b"ab", 7, None, iter([("a", 1)])),
        *({"a": 1, "b": 2}, {"key": "a"}, {"key": "a", "value": 1, "lease": "x"}, {}),
    ],
)
def test_anything_but_an_update_is_refused(update: tuple[object, ...]) -> None:
    with pytest.raises(ParameterError):
        list(rows_of([update]))


def test_a_mapping_of_keys_to_values_is_refused_with_a_hint() -> None:
    for mapping in ({"IBM": 24.0}, {"GM": 24.0}, {}):
        with pytest.raises(ParameterError, match=r"\.items\(\)"):
            rows_of(mapping)
    assert list(rows_of({"IBM": 24.0}.items())) == [("IBM", None, 24.0)]


@pytest.mark.parametrize("updates", ["ab", b"ab", 7, None])
def test_anything_but_a_list_of_updates_is_refused(updates: object) -> None:
    with pytest.raises(ParameterError, match="updates"):
        rows_of(updates)  # type: ignore[arg-type]


def test_columns_may_be_numpys_or_arrows() -> None:
    floats, integers = np.array([1.5, 2.5]), np.array([1, 2])
    assert rows(["a", "b"], floats, integers) == [("a", 1, 1.5), ("b", 2, 2.5)]
    assert rows(integers, ["x", "y"], None) == [(1, None, "x"), (2, None, "y")]
    assert rows(pa.array(["a"]), pa.array([1]), pa.array([2.5])) == [("a", 2.5, 1)]


@pytest.mark.parametrize("unit", ["D", "h", "s", "ms", "us", "ns"])
def test_times_of_numpy_are_seconds_whatever_their_unit(unit: str) -> None:
    times = np.array(["2024-01-01", "1969-12-31"], dtype=f"datetime64[{unit}]")
    assert rows(["a", "b"], [1, 2], times) == [("a", DAY, 1), ("b", -86_400.0, 2)]


def test_times_may_be_dates_with_a_zone() -> None:
    moment = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
    assert rows(["a"], [1], [moment]) == [("a", DAY, 1)]
    assert list(rows_of([("a", 1, moment)])) == [("a", DAY, 1)]


def test_columns_with_invalid_times_are_refused() -> None:
    with pytest.raises(TimeNotFiniteError):
        rows(["a"], [1], np.array(["NaT"], dtype="datetime64[s]"))
    with pytest.raises(TimeNotFiniteError):
        rows(["a"], [1], [float("nan")])


@pytest.mark.parametrize(
    "columns", [(["a"], [], None), ([], [1], None), (["a"], [1], []), (["a"], [1], [1.0, 2.0])]
)
def test_columns_of_different_lengths_are_refused(
    columns: tuple[list[Key], list[object], list[float] | None],
) -> None:
    with pytest.raises(ColumnLengthError):
        rows_of_columns(*columns)


@pytest.mark.parametrize(
    ("moment", "seconds"),
    [
        (None, None),
        (1_700_000_000, 1_700_000_000),
        (1.5, 1.5),
        (np.float32(0.5), 0.5),
        (np.int64(7), 7.0),
        (dt.datetime(1970, 1, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=1))), 0.0),
        (np.datetime64("1970-01-01T00:00:01.5"), 1.5),
    ],
)
def test_times_are_seconds_or_moments(moment: object, seconds: float | None) -> None:
    found = seconds_of(moment)
    assert found == seconds
    assert type(found) in {int, float, type(None)}


@pytest.mark.parametrize(
    "moment", [math.nan, math.inf, np.float64("nan"), np.datetime64("NaT", "s")]
)
def test_a_time_that_is_not_a_finite_number_is_refused(moment: object) -> None:
    with pytest.raises(TimeNotFiniteError):
        seconds_of(moment)


NAIVE = dt.datetime(2024, 1, 1, tzinfo=dt.UTC).replace(tzinfo=None)


@pytest.mark.parametrize("moment", ["now", NAIVE, NAIVE.date()])
def test_a_time_without_a_zone_and_anything_else_is_refused(moment: object) -> None:
    with pytest.raises(ParameterError, match="a datetime with a time zone"):
        seconds_of(moment)
