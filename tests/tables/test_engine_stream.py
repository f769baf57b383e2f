"""The streams of an engine: stored once, read by queries, one-time queries and plans."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from threading import RLock

import pyarrow as pa
import pytest

from tests.interrupted import Held, interrupt_everywhere
from upstream import ManualClock, StreamTypeError, UnknownNameError
from upstream.rows.stream_definition import StreamDefinition
from upstream.tables import log, newest_rows
from upstream.tables.engine_stream import EngineStream, Streams

SCHEMA = pa.schema([("time", pa.timestamp("us")), ("k", pa.string()), ("n", pa.int64())])


def stream(name: str = "s", key: tuple[str, ...] = ("k",)) -> EngineStream:
    return EngineStream(StreamDefinition(name, SCHEMA, key, "time"), ManualClock(5.0), RLock())


def rows(*of: tuple[int, str, int]) -> pa.Table:
    return pa.Table.from_pylist(
        [dict(zip(SCHEMA.names, row, strict=True)) for row in of], schema=SCHEMA
    )


def test_rows_are_stored_once_with_their_arrival() -> None:
    entry = stream()
    one, other = entry.log.reader(), entry.log.reader()
    assert entry.append(rows((1, "a", 1), (2, "b", 2))) == 2
    [batch] = one.peek()
    [same] = other.peek()
    assert batch is same
    assert batch.arrival == 5.0


def test_rows_that_do_not_fit_are_not_stored() -> None:
    entry = stream()
    with pytest.raises(StreamTypeError):
        entry.append(rows((1, "a", 1)).drop_columns(["k"]))
    assert entry.log.rows == 0


def test_the_newest_rows_are_those_by_time() -> None:
    entry = stream()
    entry.append(rows((3, "a", 3), (2, "b", 2)))
    entry.append(rows((1, "a", 1), (4, "b", 4)))
    assert sorted(entry.scan()["n"].to_pylist()) == [3, 4]


def test_rows_that_were_read_are_not_kept() -> None:
    entry = stream()
    for number in range(10_000):
        entry.append(rows((number, "a", number)))
    assert len(entry.log.batches) <= 4_097
    assert entry.scan()["n"].to_pylist() == [9_999]
    assert entry.log.stored_rows == 0


def test_newest_rows_are_brought_up_to_date_when_asked_for_or_when_much_waits() -> None:
    """A query that lags keeps the log crowded, for which no append pays."""
    entry = stream()
    entry.log.reader()  # of a query that reads nothing
    for number in range(4_097):
        assert entry._newest.newest.statistics().came == 0
        entry.append(rows((number, "a", number)))
    assert entry._newest.newest.statistics().came == 4_097
    for number in range(4_096):
        entry.append(rows((number, "b", number)))
    assert entry.is_crowded()
    assert entry._newest.newest.statistics().came == 4_097
    entry.append(rows((1, "c", 1)))
    assert entry._newest.newest.statistics().came == 2 * 4_097
    assert entry.scan(["k"])["k"].to_pylist() == ["a", "b", "c"]


@pytest.mark.parametrize("event", ["line", "c_call"])
def test_an_exception_while_rows_are_read_loses_none_and_counts_none_twice(
    event: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not raised is where a lock is released, at which Python raises nothing either."""
    monkeypatch.setattr(newest_rows, "HeldInterrupt", Held)
    monkeypatch.setattr(log, "Lock", nullcontext)

    def make() -> EngineStream:
        entry = stream()
        entry.append(rows((1, "a", 1), (2, "b", 2)))
        entry.scan()
        entry.append(rows((3, "a", 3)))
        entry.append(rows((2, "b", 5), (1, "c", 4)))
        return entry

    def check(entry: EngineStream) -> None:
        assert entry.scan()["n"].to_pylist() == [3, 5, 4]
        assert entry._newest.newest.statistics().came == 5
        entry.append(rows((9, "a", 6)))
        assert entry.scan()["n"].to_pylist() == [5, 4, 6]
        assert entry.log.stored_rows == 0

    assert interrupt_everywhere(make, EngineStream._read, check, event=event) > 50


def run_together(actions: list[Callable[[], None]]) -> None:
    """Run each action in a thread of its own, and raise what one of them raised."""
    with ThreadPoolExecutor(len(actions)) as pool:
        for done in [pool.submit(action) for action in actions]:
            done.result()


def test_threads_append_while_others_scan() -> None:
    """What each thread appended last is the newest row of its key; nothing is lost or doubled."""
    entry, last = stream(), 6_000

    def append(key: str) -> None:
        for number in range(0, last, 3):
            entry.append(rows(*((number + i, key, number + i) for i in range(3))))

    def scan() -> None:
        newest = {"a": -1, "b": -1}
        while [*newest.values()] != [last - 1, last - 1]:
            for row in entry.scan(["k", "n"]).to_pylist():
                assert row["n"] >= newest[row["k"]]
                newest[row["k"]] = row["n"]

    run_together([scan, scan, partial(append, "a"), partial(append, "b")])
    statistics = entry._newest.newest.statistics()
    assert (statistics.came, statistics.late, statistics.kept) == (2 * last, 0, 2)


def test_threads_delete_while_others_append_and_scan() -> None:
    entry, last = stream(), 3_000

    def append(key: str) -> None:
        for number in range(last):
            entry.append(rows((number, key, number)))

    def delete() -> None:
        for number in range(last):
            entry.delete(rows((0, "ab"[number % 2], 0)).select(["k"]))

    def scan() -> None:
        for _ in range(200):
            assert entry.scan().num_rows <= 2

    run_together([partial(append, "a"), partial(append, "b"), delete, scan, scan])
    entry.scan()
    counts = entry._newest.newest.statistics()
    assert counts.came == 2 * last
    assert counts.came == counts.superseded + counts.late + counts.deleted + counts.kept
    assert (entry._newest.newest.deletions, entry.log.deletions) == (last, [])
    entry.delete(rows((0, "a", 0), (0, "b", 0)).select(["k"]))
    assert entry.scan().num_rows == 0


def test_to_append_does_not_wait_for_a_scan() -> None:
    entry = stream()
    with entry._newest_lock:
        for number in range(5_000):
            entry.append(rows((number, "a", number)))
    assert len(entry.log.batches) == 5_000
    assert entry.scan()["n"].to_pylist() == [4_999]


def test_plans_read_rows_as_updates_in_seconds() -> None:
    entry = stream()
    entry.append(rows((1_500_000, "a", 1)))
    updates = entry.for_plans()
    assert entry.for_plans() is updates
    entry.append(rows((2_500_000, "b", 2)))
    assert {(each.key, each.time) for each in updates.snapshot()} == {("a", 1.5), ("b", 2.5)}
    newest = updates.read("b")
    assert newest is not None
    assert isinstance(newest.value, dict)
    assert newest.value["n"] == 2


def test_plans_hear_that_the_only_key_of_a_stream_is_deleted() -> None:
    entry = stream(key=())
    updates = entry.for_plans()
    entry.append(rows((1_500_000, "a", 1)))
    assert updates.newest_time(None) == 1.5
    entry.delete(rows().select([]))
    assert updates.newest_time(None) is None
    assert entry.scan().num_rows == 0


def test_deletions_that_are_not_read_make_a_stream_crowded_and_are_read_then() -> None:
    entry = stream()
    reader = entry.log.reader(follows_deletions=True)
    entry.append(rows((1, "a", 1)))
    for _ in range(4_096):
        entry.delete(rows((1, "a", 1)).select(["k"]))
    assert entry.is_crowded()
    assert entry._newest.newest.statistics().deleted == 1
    assert reader.waiting == 4_097
    reader.take(1, 4_096)
    entry.scan()
    assert (entry.log.deletions, entry.log.stored_rows) == ([], 0)
    assert not entry.is_crowded()


def test_punctuations_that_are_not_read_make_a_stream_crowded() -> None:
    entry = stream()
    entry.punctuate()
    assert entry.log.stored_rows == 0
    reader = entry.log.reader(follows_punctuations=True)
    for _ in range(4_096):
        entry.punctuate()
    assert not entry.is_crowded()
    entry.punctuate()
    assert entry.is_crowded()
    reader.take(0, punctuations=4_097)
    assert (entry.log.punctuations, entry.is_crowded()) == ([], False)


def test_no_key_is_no_deletion() -> None:
    entry = stream()
    entry.delete(rows().select(["k"]))
    assert entry.log.deleted == 0


def test_another_reader_follows_from_the_same_place() -> None:
    entry = stream()
    entry.append(rows((1, "a", 1), (1, "b", 2)))
    newest, reader = entry.newest_and_reader()
    assert newest["n"].to_pylist() == [1, 2]
    entry.delete(rows((1, "a", 1)).select(["k"]))
    entry.append(rows((2, "c", 3)))
    assert [type(each).__name__ for each in reader.peek_all()] == ["Deletion", "Batch"]


def test_a_key_of_several_columns_is_a_tuple() -> None:
    entry = stream(key=("k", "n"))
    entry.append(rows((1, "a", 1)))
    assert [update.key for update in entry.for_plans().snapshot()] == [("a", 1)]


def test_a_closed_stream_lets_go_what_it_had() -> None:
    entry = stream()
    entry.append(rows((1, "a", 1)))
    entry.close()
    assert entry.log.stored_rows == 0


def test_a_stream_is_found_in_any_case_and_keeps_the_name_of_its_definition() -> None:
    streams = Streams()
    trades = stream("Trades")
    streams.add(trades)
    assert (streams.found("TRADES"), streams.found("Trades")) == ("Trades", "Trades")
    assert streams.named("trades") is streams["Trades"] is trades
    assert streams.found("quotes") is None
    with pytest.raises(UnknownNameError):
        streams.named("quotes")


def test_what_is_looked_at_stays_as_it_was_while_streams_come_and_go() -> None:
    streams = Streams()
    streams.add(stream("a"))
    names = iter(streams)
    streams.add(stream("b"))
    assert streams.remove("a").definition.name == "a"
    assert list(names) == ["a"]
    assert list(streams) == ["b"]
    assert list(streams.definitions()) == ["b"]
