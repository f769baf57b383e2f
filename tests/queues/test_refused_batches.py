"""A bad batch gives an error that says what is bad, and nothing else at all."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

from upstream import Key, ManualClock, StalenessIndexScheduler, UpdateQueue
from upstream.errors import (
    ColumnLengthError,
    ColumnTypeError,
    KeyNotHashableError,
    TimeNotFiniteError,
    UpStreamError,
    ValueNotEncodableError,
    ValueTooLargeError,
)

from .batches import ColumnOf, object_array
from .systems import Setup, System


def used_system(setup: Setup) -> System:
    """Return a system in which keys A to C have arrived, and A was dequeued."""
    system = setup.make()
    for key, value in (("A", b"1"), ("B", b"2"), ("C", b"3")):
        system.clock.advance(1)
        system.stream.enqueue(key, value, 10.0)
    system.dequeue(1)
    system.clock.advance(1)
    return system


def assert_refused(
    error: type[UpStreamError],
    keys: object,
    values: object,
    times: object,
    *,
    has_pool: bool = False,
    row: int | None = None,
) -> None:
    """Assert that a batch raises `error`, and that nothing can be seen of it afterwards."""
    for policies in (("fifo",), ("in-place",), ("index with weights", "linecutting")):
        is_shared = len(policies) > 1
        setup = Setup(policies, is_shared, False, None, None, has_pool, False, None)
        system, untouched = used_system(setup), used_system(setup)
        with pytest.raises(error) as raised:
            system.stream.enqueue_many(keys, values, times)  # type: ignore[arg-type]
        if row is not None:
            assert getattr(raised.value, "row", None) == row
        assert system.state() == untouched.state()
        assert len(system.stream) == len(untouched.stream) == 3
        system.check()
        assert system.dequeue(9) == untouched.dequeue(9)


NAN = math.nan


@pytest.mark.parametrize(
    "keys",
    [
        ["A", [], "D"],
        ["A", NAN, "D"],
        ["A", ("B", {}), "D"],
        [1.0, NAN, 2.0],
        np.array([1.0, NAN, 2.0]),
        pa.array([1.0, NAN, 2.0]),
        pa.array([2.0, NAN, 2.0]).dictionary_encode(),
        pa.array([[1], [2], [3]]),
        pa.array([{"a": 1}] * 3),
    ],
)
def test_a_key_that_cannot_be_looked_up_is_refused(keys: object) -> None:
    first = 0 if isinstance(keys, pa.Array) and pa.types.is_nested(keys.type) else 1
    assert_refused(KeyNotHashableError, keys, [1, 2, 3], [1, 2, 3], row=first)


@pytest.mark.parametrize("row", [0, 1, 2])
@pytest.mark.parametrize("bad", [NAN, math.inf, -math.inf, None, "1", 10**400, 1j, b"1", [1]])
@pytest.mark.parametrize("column", ["list", "tuple", "objects"])
@pytest.mark.parametrize(
    "keys", [["A", "D", "E"], pa.array(["A", "D", "E"])], ids=["list", "Arrow"]
)
def test_a_time_that_is_not_a_finite_number_is_refused(
    keys: object, column: str, bad: object, row: int
) -> None:
    times: list[object] = [20.0, 21, 22.0]
    times[row] = bad
    kinds: dict[str, ColumnOf] = {"list": list, "tuple": tuple, "objects": object_array}
    assert_refused(TimeNotFiniteError, keys, [1, 2, 3], kinds[column](times), row=row)


@pytest.mark.parametrize("bad", [NAN, math.inf, -math.inf])
@pytest.mark.parametrize("make", [np.array, pa.array])
def test_a_float_that_is_not_finite_is_refused_in_any_array(
    make: Callable[[list[float]], object], bad: float
) -> None:
    assert_refused(TimeNotFiniteError, ["A", "D"], [1, 2], make([20.0, bad]), row=1)


def test_integers_that_no_float_can_hold_are_refused_even_if_their_sum_is_zero() -> None:
    assert_refused(TimeNotFiniteError, ["A", "D"], [1, 2], [10**400, -(10**400)], row=0)


def test_a_missing_timestamp_is_refused() -> None:
    times = np.array(["2026-01-01", "NaT"], dtype="datetime64[ms]")
    assert_refused(TimeNotFiniteError, ["A", "D"], [1, 2], times, row=1)


@pytest.mark.parametrize(
    ("keys", "values", "times"),
    [
        (["A", "B"], [1], [1, 2]),
        (["A", "B"], [1, 2], [1]),
        (["A"], [1, 2], [1, 2]),
        (np.array(["A", "B"]), np.array([1]), None),
        (pa.array(["A"]), pa.array([1, 2]), pa.array([1.0, 2.0])),
        ([], [1], []),
    ],
)
def test_columns_of_different_lengths_are_refused(
    keys: object, values: object, times: object
) -> None:
    assert_refused(ColumnLengthError, keys, values, times)


NO_COLUMNS: list[object] = [
    "AB",
    b"AB",
    bytearray(b"AB"),
    {"A": 1, "B": 2},
    {"A", "B"},
    frozenset("AB"),
    7,
    iter(["A", "B"]),
    np.array([["A"], ["B"]]),
    np.array("AB"),
    np.ma.array([1, 2], mask=[False, True]),
    pa.scalar("AB"),
    pa.table({"a": ["A", "B"]}),
    pa.record_batch({"a": ["A", "B"]}),
]


@pytest.mark.parametrize("column", NO_COLUMNS, ids=lambda column: type(column).__name__)
@pytest.mark.parametrize("keys", [["A", "B"], pa.array(["A", "B"])], ids=["list", "Arrow"])
def test_an_object_that_is_not_a_column_is_refused(keys: object, column: object) -> None:
    assert_refused(ColumnTypeError, column, [1, 2], [1, 2])
    assert_refused(ColumnTypeError, keys, column, [1, 2])
    assert_refused(ColumnTypeError, keys, [1, 2], column)


def test_none_is_no_column_of_keys_or_values() -> None:
    assert_refused(ColumnTypeError, None, [1, 2], [1, 2])
    assert_refused(ColumnTypeError, ["A", "B"], None, [1, 2])


@pytest.mark.parametrize(
    "keys",
    [
        pa.array(["A", None]),
        pa.array(["A", None]).dictionary_encode(),
        pa.array([1, None]),
        pa.array([1.0, None]),
        pa.nulls(2),
        pa.chunked_array([["A"], [None]]),
        pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["A", None])),
        pa.RunEndEncodedArray.from_arrays(pa.array([1, 2], pa.int32()), pa.array(["A", None])),
    ],
)
def test_a_null_among_arrow_keys_is_refused(keys: object) -> None:
    assert_refused(ColumnTypeError, keys, [1, 2], [1, 2])


@pytest.mark.parametrize(
    "times",
    [
        pa.array([1.0, None]),
        pa.array([1, None], type=pa.timestamp("us")),
        pa.chunked_array([[1.0], [None]]),
        pa.array([1, 2], type=pa.date32()),
        pa.array([1, 2], type=pa.duration("s")),
        pa.array([True, False]),
        np.array([True, False]),
        np.array(["1", "2"]),
        np.array([1j, 2]),
        np.array([1, 2], dtype="timedelta64[s]"),
    ],
)
def test_an_array_of_what_are_no_times_is_refused(times: object) -> None:
    assert_refused(ColumnTypeError, ["A", "D"], [1, 2], times)
    assert_refused(ColumnTypeError, pa.array(["A", "D"]), [1, 2], times)


def test_values_that_python_cannot_hold_are_refused() -> None:
    values = pa.array([2**62, 2**62], type=pa.timestamp("us"))  # in the year 146,000
    assert_refused(ColumnTypeError, ["A", "D"], values, [20, 20])
    assert_refused(ColumnTypeError, pa.array(["A", "D"]), values, [20, 20])


def test_a_value_that_cannot_be_encoded_is_refused() -> None:
    values = [b"x", "text", b"y"]
    assert_refused(ValueNotEncodableError, ["D", "A", "E"], values, None, has_pool=True, row=1)


def test_a_value_that_can_never_fit_the_pool_is_refused() -> None:
    values = [b"x", b"y" * 49, b"z"]
    assert_refused(ValueTooLargeError, ["D", "A", "E"], values, None, has_pool=True)


def test_keys_that_no_row_has_are_neither_known_nor_asked_for_their_weight() -> None:
    asked: list[Key] = []

    def weight(key: Key) -> float:
        asked.append(key)
        return 1.0

    queue = UpdateQueue(StalenessIndexScheduler(weight=weight), clock=ManualClock())
    for keys in (["A", "B", "C"], ["A", "B", "C", None, "D", "E", "F"]):
        column = pa.DictionaryArray.from_arrays(pa.array([1, 1, 1]), pa.array(keys))
        queue.enqueue_many(column, [1, 2, 3])
    assert set(asked) == {"B"}
    assert len(queue) == len(queue.stream) == 1
