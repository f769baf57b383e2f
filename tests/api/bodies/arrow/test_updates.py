"""Bodies of Arrow become columns, without the rows that are bad."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

from api.bodies import reasons
from api.bodies.arrow import updates
from api.bodies.arrow.updates import read_arrow
from api.bodies.batch import Batch
from api.bodies.errors import MalformedBodyError, UnsupportedColumnError
from api.bodies.reasons import Limits
from upstream import Stream

from ..arrow_streams import body_of, stream_of
from ..examples import NOW

LIMITS = Limits()
KEY = reasons.bad_key(LIMITS)


def read(body: bytes) -> Batch:
    return read_arrow(body, LIMITS, lambda: NOW)


def rows_of(batch: Batch) -> list[tuple[object, ...]]:
    """Return what a stream makes of a batch, each key having but one update."""
    stream = Stream()
    stream.enqueue_many(*batch.columns())
    return [(update.key, update.value) for update in stream.snapshot()]


def test_columns_are_not_decoded() -> None:
    batch = read(
        body_of(key=pa.array(["a", "b"]).dictionary_encode(), time=[1.0, 2.0], value=[1.5, 2.5])
    )
    assert isinstance(batch.keys, pa.DictionaryArray)
    assert isinstance(batch.values, pa.DoubleArray)
    assert np.asarray(batch.times).tolist() == [1.0, 2.0]
    assert (batch.rows, batch.is_single, batch.rejections, batch.indices) == (2, False, (), None)
    assert rows_of(batch) == [("a", 1.5), ("b", 2.5)]


def test_dictionaries_of_several_batches_become_one() -> None:
    batches = [
        pa.record_batch({"key": pa.array(keys).dictionary_encode(), "value": [1, 2]})
        for keys in (["a", "b"], ["c", "a"])
    ]
    batch = read(stream_of(*batches))
    assert isinstance(batch.keys, pa.DictionaryArray)
    assert sorted(rows_of(batch)) == [("a", 2), ("b", 2), ("c", 1)]


@pytest.mark.parametrize(
    "values",
    [
        [1, 2],
        [1.5, None],
        [True, False],
        ["x", "é"],
        [None, None],
        [[1, 2], []],
        [[[1.5]], None],
        [{"bid": 1.5, "sizes": [1]}, {"bid": None, "sizes": None}],
        pa.array([1.5, 2.5], pa.float32()),
        pa.array([2**64 - 1, 0], pa.uint64()),
        pa.array([[1, 2], [3, 4]], pa.list_(pa.int8(), 2)),
        pa.array(["x", "y"], pa.large_string()),
        pa.array(["x", None]).dictionary_encode(),
        pa.array([7, 7]).dictionary_encode(),
    ],
    ids=range(14),
)
def test_values_are_python_objects_in_the_end(values: pa.Array | list[object]) -> None:
    plain = values.to_pylist() if isinstance(values, pa.Array) else values
    batch = read(body_of(key=["a", "b"], value=values))
    assert [value for _, value in rows_of(batch)] == plain


def test_other_columns_become_objects() -> None:
    batch = read(
        body_of(key=[1, 2], bid=[1.5, None], side=pa.array(["buy", "sell"]).dictionary_encode())
    )
    assert rows_of(batch) == [(1, {"bid": 1.5, "side": "buy"}), (2, {"bid": None, "side": "sell"})]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ([["a", "b"], ["c"]], [("a", "b"), ("c",)]),
        ([[1, 2], [3]], [(1, 2), (3,)]),
        (pa.array([["a"], ["b"]], pa.large_list(pa.large_string())), [("a",), ("b",)]),
        (pa.array([1, 2], pa.uint8()), [1, 2]),
        (pa.array([-1, 2]).dictionary_encode(), [-1, 2]),
        (pa.DictionaryArray.from_arrays(pa.array([1, 0], "uint64"), ["a", "b"]), ["b", "a"]),
        (pa.array(["a", "b"], pa.large_string()), ["a", "b"]),
    ],
    ids=range(7),
)
def test_keys_are_strings_integers_or_lists_of_them(keys: object, expected: list[object]) -> None:
    assert [key for key, _ in rows_of(read(body_of(key=keys, value=[1, 2])))] == expected


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ([1.5, 2.5], [1.5, 2.5]),
        ([1, 2], [1.0, 2.0]),
        ([None, 2], [NOW, 2.0]),
        ([None, 2.5], [NOW, 2.5]),
        (pa.array([None, None], pa.float64()), [NOW, NOW]),
        (pa.array([1.5, None], pa.float32()), [1.5, NOW]),
        (pa.array([1_500, None], pa.timestamp("ms")), [1.5, NOW]),
        (pa.array([1_500_000_000, 2], pa.timestamp("ns", "UTC")), [1.5, 2e-9]),
    ],
    ids=range(8),
)
def test_times_are_float_seconds_and_missing_ones_the_servers(
    times: object, expected: list[float]
) -> None:
    batch = read(body_of(key=["a", "b"], value=[1, 2], time=times))
    assert np.asarray(batch.times).tolist() == expected
    assert not batch.rejections


def test_without_a_column_of_times_they_are_the_servers() -> None:
    assert read(body_of(key=["a"], value=[1])).times is None


def test_bad_rows_are_rejected_and_the_others_are_kept() -> None:
    batch = read(
        body_of(
            key=pa.array(["a", None, "b", "c", "d\0", "e", "f"]).dictionary_encode(),
            time=[1.0, 2.0, math.nan, 4.0, 5.0, -math.inf, None],
            value=[1.0, 2.0, 3.0, math.nan, 5.0, math.inf, 7.0],
        )
    )
    assert isinstance(batch.keys, pa.DictionaryArray)
    assert rows_of(batch) == [("a", 1.0), ("f", 7.0)]
    assert np.asarray(batch.times).tolist() == [1.0, NOW]
    assert (batch.rows, batch.indices) == (7, [0, 6])
    assert {rejection.index: rejection.reason for rejection in batch.rejections} == {
        1: KEY,
        2: reasons.TIME,
        3: reasons.NOT_JSON,
        4: f"key: {reasons.NUL}",
        5: reasons.TIME,
    }
    assert [rejection.index for rejection in batch.rejections] == [1, 2, 3, 4, 5]


def test_bad_composite_keys_are_rejected() -> None:
    keys = [["a"], None, [], ["b", None], ["c\0"], ["d"] * 17, ["e"]]
    batch = read(body_of(key=keys, value=list(range(7))))
    assert rows_of(batch) == [(("a",), 0), (("e",), 6)]
    assert [rejection.reason for rejection in batch.rejections] == [
        *(KEY, KEY, KEY, f"key: {reasons.NUL}", KEY)
    ]


def test_all_rows_may_be_bad() -> None:
    batch = read(body_of(key=["a", "b"], value=[math.nan, math.nan], time=[1, 2]))
    assert (len(batch.keys), batch.indices, len(batch.rejections)) == (0, [], 2)
    assert rows_of(batch) == []


def test_there_may_be_no_rows() -> None:
    for keys in (pa.array([], pa.string()), pa.array([], pa.list_(pa.string()))):
        batch = read(body_of(key=keys, value=pa.array([], pa.float64()), bid=pa.nulls(0)))
        assert (batch.rows, rows_of(batch)) == (0, [])


def test_a_dictionary_that_would_decode_to_too_much_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(updates, "MOST_DECODED_BYTES", 1_000)
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 9), pa.array(["x" * 100]))
    assert read(body_of(key=range(9), value=texts)).rows == 9
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 10), pa.array(["x" * 100]))
    with pytest.raises(UnsupportedColumnError, match="several requests") as raised:
        read(body_of(key=range(10), value=texts))
    assert raised.value.column == 1
    half = pa.DictionaryArray.from_arrays(pa.array([0] * 5), pa.array(["x" * 100]))
    assert read(body_of(key=range(5), bid=half)).rows == 5
    with pytest.raises(UnsupportedColumnError, match="several requests"):
        read(body_of(key=range(5), bid=half, ask=half))


def test_too_many_values_are_refused_whether_or_not_they_take_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(updates, "MOST_CELLS", 6)
    assert read(body_of(key=["a"], value=[[True] * 5])).rows == 1
    with pytest.raises(UnsupportedColumnError, match="more than 6 values"):
        read(body_of(key=["a"], value=[[True] * 6]))
    assert read(body_of(key=range(2), bid=pa.nulls(2), ask=pa.nulls(2))).rows == 2
    with pytest.raises(UnsupportedColumnError, match="more than 6 values"):
        read(body_of(key=range(2), bid=pa.nulls(2), ask=pa.nulls(2), size=pa.nulls(2)))


def test_a_body_that_is_not_a_stream_is_malformed() -> None:
    with pytest.raises(MalformedBodyError):
        read(b"[]")
