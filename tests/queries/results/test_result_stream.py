"""Results become rows of a stream, with the end of their window; keys that leave are deleted."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from threading import RLock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.queries.setting import waiting
from upstream import ManualClock
from upstream.queries.results.answer import Answer
from upstream.queries.results.result_stream import ResultStream
from upstream.rows.stream_definition import StreamDefinition
from upstream.rows.stream_times import WindowBound
from upstream.tables.engine_stream import EngineStream

RESULT = pa.schema([("k", pa.string()), ("n", pa.int64())])
Rows = Sequence[tuple[str | None, int]]
LATE = datetime(2026, 1, 2, 9, 30)  # as a TIMESTAMP is


class RecordingStream(EngineStream):
    """A stream that notes what is done to it."""

    __slots__ = ("done",)

    def append(self, data: pa.Table) -> int:
        self.done = [*getattr(self, "done", []), ("append", data.column("k").to_pylist())]
        return super().append(data)

    def delete(self, keys: pa.Table) -> None:
        self.done = [*getattr(self, "done", []), ("delete", keys.column("k").to_pylist())]


def stream_with(end: pa.DataType | None, schema: pa.Schema = RESULT) -> RecordingStream:
    """Return a stream for rows of a result, with a column for the end of a window."""
    time = None if end is None else "window_end"
    full = schema if end is None else schema.append(pa.field("window_end", end))
    return RecordingStream(StreamDefinition("s", full, ("k",), time), ManualClock(), RLock())


def filled(stream: EngineStream, *, deletes: bool = False) -> ResultStream:
    return ResultStream(stream, columns=2, deletes=deletes)


def answer(end: WindowBound, *rows: tuple[str | None, int], failed: int = 0) -> Answer:
    table = pa.Table.from_pylist([{"k": k, "n": n} for k, n in rows], schema=RESULT)
    return Answer(None, end, 0.0, 0, table, rows_failed=failed)


@pytest.mark.parametrize(
    ("kind", "end"),
    [
        pytest.param(pa.timestamp("us"), LATE, id="microseconds"),
        pytest.param(
            pa.timestamp("us", "Europe/Rome"), LATE.replace(tzinfo=UTC), id="with a time zone"
        ),
        pytest.param(pa.timestamp("ns"), np.datetime64(LATE, "ns"), id="nanoseconds"),
        pytest.param(pa.timestamp("s"), LATE, id="seconds"),
        pytest.param(pa.date32(), date(2026, 1, 3), id="days"),
        pytest.param(pa.int64(), 10, id="integers"),
        pytest.param(pa.float64(), 2.5, id="numbers of seconds"),
    ],
)
def test_rows_have_the_end_of_their_window_in_its_type(kind: pa.DataType, end: WindowBound) -> None:
    stream = stream_with(kind)
    reader = stream.log.reader()
    filled(stream).prepared([answer(end, ("a", 1), ("b", 2))])()
    rows = waiting(reader)
    assert rows.schema.field("window_end").type == kind
    assert rows.column("window_end").equals(pa.chunked_array([pa.array([end, end], kind)]))
    assert rows.select(["k", "n"]).to_pylist() == [{"k": "a", "n": 1}, {"k": "b", "n": 2}]


def test_nothing_is_stored_before_the_returned_function_is_called() -> None:
    stream = stream_with(pa.int64())
    results = filled(stream, deletes=True)
    results.prepared([answer(10, ("a", 1), (None, 2))])
    results.prepared([answer(10, ("b", 1))])
    assert (stream.log.rows, results.rows_appended, results.rows_refused) == (0, 0, 0)
    results.prepared([answer(10, ("b", 1))])()
    assert stream.done == [("append", ["b"])]


def test_rows_without_a_key_are_left_out_and_counted() -> None:
    stream = stream_with(pa.int64())
    results = filled(stream)
    results.prepared([answer(10, ("a", 1), (None, 2), ("b", 3)), answer(20, (None, 4))])()
    assert stream.scan().column("k").to_pylist() == ["a", "b"]
    assert (results.rows_appended, results.rows_refused) == (2, 2)
    assert results.error == "rows are left out in which k is NULL or NaN"


def test_a_key_that_is_not_a_number_is_left_out() -> None:
    schema = pa.schema([("k", pa.float64()), ("n", pa.int64())])
    stream = stream_with(None, schema)
    table = pa.table({"k": [1.0, float("nan"), None], "n": [1, 2, 3]}, schema=schema)
    results = filled(stream)
    results.prepared([Answer(None, None, 0.0, 0, table)])()
    assert stream.scan().to_pylist() == [{"k": 1.0, "n": 1}]
    assert results.rows_refused == 2


def test_rows_whose_time_is_out_of_range_are_left_out() -> None:
    schema = pa.schema([("k", pa.string()), ("n", pa.int64())])
    stream = EngineStream(StreamDefinition("s", schema, ("k",), "n"), ManualClock(), RLock())
    results = filled(stream)
    far = (1 << 63) - 1
    results.prepared([answer(None, ("a", far), ("b", 5), ("c", -far))])()
    assert stream.scan().to_pylist() == [{"k": "b", "n": 5}]
    assert results.rows_refused == 2
    assert results.error == f"the time {-far} is out of range"


def test_texts_of_an_enumeration_are_stored_as_texts() -> None:
    stream = stream_with(None)
    table = pa.table({"k": pa.array(["a", "b"]).dictionary_encode(), "n": [1, 2]})
    filled(stream).prepared([Answer(None, None, 0.0, 0, table)])()
    assert stream.scan().schema.equals(RESULT)
    assert stream.scan().column("k").to_pylist() == ["a", "b"]


def test_results_that_come_together_are_one_batch() -> None:
    stream = stream_with(pa.int64())
    reader = stream.log.reader()
    filled(stream).prepared([answer(10, ("a", 1)), answer(20), answer(30, ("a", 2), ("b", 3))])()
    [batch] = reader.peek()
    assert batch.rows.column("window_end").to_pylist() == [10, 30, 30]


# Deletions


def test_a_key_that_leaves_the_result_is_deleted_before_the_rows_that_come() -> None:
    stream = stream_with(pa.int64())
    results = filled(stream, deletes=True)
    results.prepared([answer(10, ("a", 1), ("b", 1)), answer(20, ("b", 2), ("c", 2))])()
    results.prepared([answer(30)])()
    results.prepared([answer(40, ("a", 4))])()
    assert stream.done == [
        ("append", ["a", "b"]),
        ("delete", ["a"]),
        ("append", ["b", "c"]),
        ("delete", ["b", "c"]),
        ("append", ["a"]),
    ]
    assert results.keys_deleted == 3


def test_without_deletes_a_key_stays() -> None:
    stream = stream_with(pa.int64())
    filled(stream).prepared([answer(10, ("a", 1)), answer(20)])()
    assert stream.done == [("append", ["a"])]


def test_a_key_that_a_failing_row_may_hide_is_not_deleted() -> None:
    stream = stream_with(pa.int64())
    results = filled(stream, deletes=True)
    results.prepared([answer(10, ("a", 1), ("b", 1)), answer(20, ("c", 2), failed=1)])()
    assert stream.done == [("append", ["a", "b", "c"])]
    results.prepared([answer(30, ("b", 3))])()
    assert stream.done[1:] == [("delete", ["a", "c"]), ("append", ["b"])]


def test_an_answer_that_is_an_error_deletes_nothing() -> None:
    stream = stream_with(pa.int64())
    results = filled(stream, deletes=True)
    failed = Answer(None, 20, 0.0, 0, RESULT.empty_table(), error="division by zero")
    results.prepared([answer(10, ("a", 1)), failed, answer(30, ("b", 3))])()
    assert stream.done == [("append", ["a"]), ("delete", ["a"]), ("append", ["b"])]


def test_a_key_whose_row_has_no_time_is_in_the_result_all_the_same() -> None:
    schema = pa.schema([("k", pa.string()), ("n", pa.int64())])
    stream = RecordingStream(StreamDefinition("s", schema, ("k",), "n"), ManualClock(), RLock())
    results = filled(stream, deletes=True)
    table = pa.table({"k": ["a", "b"], "n": [2, None]}, schema=schema)
    results.prepared([answer(None, ("a", 1), ("b", 1)), Answer(None, None, 0.0, 0, table)])()
    assert stream.done == [("append", ["a", "b", "a"])]


SNAPSHOTS = st.lists(
    st.tuples(st.dictionaries(st.sampled_from("abcde"), st.integers(0, 9)), st.booleans()),
    max_size=8,
)


@given(SNAPSHOTS)
def test_what_is_done_to_the_stream_makes_it_the_newest_snapshot(
    snapshots: list[tuple[dict[str, int], bool]],
) -> None:
    stream = stream_with(pa.int64())
    results = filled(stream, deletes=True)
    answers: list[Answer] = []
    for number, (snapshot, ends_the_evaluation) in enumerate(snapshots):
        answers.append(answer(number, *snapshot.items()))
        if ends_the_evaluation:
            results.prepared(answers)()
            answers = []
    results.prepared(answers)()
    present: set[str] = set()
    for what, keys in getattr(stream, "done", []):
        if what == "append":
            present |= set(keys)
        else:
            assert present >= set(keys)
            assert len(set(keys)) == len(keys)
            present -= set(keys)
    assert present == (set(snapshots[-1][0]) if snapshots else set())


def test_a_queue_that_refuses_rows_does_not_keep_the_next_ones_from_being_stored() -> None:
    class Refusing(RecordingStream):
        __slots__ = ()

        def append(self, data: pa.Table) -> int:
            super().append(data)
            raise ValueError("refused")

    stream = Refusing(stream_with(pa.int64()).definition, ManualClock(), RLock())
    results = filled(stream, deletes=True)
    with pytest.raises(ValueError, match="refused"):
        results.prepared([answer(10, ("a", 1)), answer(20, ("b", 2))])()
    assert stream.done == [("append", ["a"]), ("delete", ["a"]), ("append", ["b"])]


def test_what_is_done_with_results_is_described() -> None:
    results = filled(stream_with(pa.int64()), deletes=True)
    assert results.describe() == (
        "results are appended to the stream s (key k; time window_end; "
        "keys that leave the result are deleted)"
    )
    definition = StreamDefinition("t", RESULT, (), None)
    plain = ResultStream(EngineStream(definition, ManualClock(), RLock()), columns=2, deletes=False)
    assert plain.describe() == "results are appended to the stream t"


def test_the_end_of_a_window_beyond_python_is_stored() -> None:
    end = np.datetime64("20000-01-01", "us")
    stream = stream_with(pa.timestamp("us"))
    filled(stream).prepared([answer(end, ("a", 1))])()
    [value] = stream.scan().column("window_end").cast(pa.int64()).to_pylist()
    assert value == int((end - np.datetime64(0, "us")) / np.timedelta64(1, "us"))
    assert value > timedelta(days=365 * 18_000) / timedelta(microseconds=1)
