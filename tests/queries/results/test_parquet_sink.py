"""Results are Parquet files that appear complete, under their numbers, each once."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.queries.setting import append, make_streams
from tests.queries.sinks import FailingDisk, QuickDisk, files_in
from upstream import (
    Engine,
    ManualClock,
    ParameterError,
    ParquetSink,
    QueryError,
    QueryTypeError,
    Result,
    SinkError,
)

SUMS = "SELECT k, sum(x) AS x FROM tumble(bids, 10) GROUP BY k"


def result(value: int, epoch: int | None = None) -> Result:
    return Result(None, None, 0.0, pa.table({"x": [value]}), epoch=epoch)


def give(sink: ParquetSink, number: int, value: int, epoch: int | None = None) -> None:
    """Commit a result."""
    sink.stage(number, result(value, epoch))
    sink.seal(number)
    sink.commit(number)


def test_a_result_appears_when_it_is_committed(tmp_path: Path) -> None:
    sink = ParquetSink(tmp_path / "new" / "sums")
    directory = sink.path_of(0).parent
    sink.stage(12, result(1))
    sink.seal(12)
    assert (files_in(directory), sink.committed) == ({}, None)
    assert [each.name for each in directory.iterdir()] == [".epoch-000000000012.parquet"]
    sink.commit(12)
    assert files_in(directory) == {"epoch-000000000012.parquet": [(1,)]}
    assert len(list(directory.iterdir())) == 1
    assert (sink.committed, repr(sink)) == (12, f"<ParquetSink {str(directory)!r}, committed 12>")


def test_a_result_that_is_staged_again_replaces_the_one_before(tmp_path: Path) -> None:
    sink = ParquetSink(tmp_path)
    sink.stage(0, result(1))
    sink.seal(0)
    give(sink, 0, 2)
    assert files_in(tmp_path) == {"epoch-000000000000.parquet": [(2,)]}
    assert sink.repeats == 0


def test_a_repeat_of_a_committed_number_is_dropped_and_counted(tmp_path: Path) -> None:
    sink = ParquetSink(tmp_path)
    give(sink, 0, 1)
    give(sink, 1, 2)
    give(sink, 0, 3)
    give(sink, 1, 4)
    assert [*files_in(tmp_path).values()] == [[(1,)], [(2,)]]
    assert (sink.committed, sink.repeats, len(list(tmp_path.iterdir()))) == (1, 2, 2)


def test_a_sink_that_is_opened_again_knows_what_was_committed_and_hides_nothing(
    tmp_path: Path,
) -> None:
    before = ParquetSink(tmp_path)
    give(before, 0, 1, epoch=7)
    give(before, 1, 2, epoch=9)
    before.stage(2, result(3, epoch=10))
    before.seal(2)
    (tmp_path / ".kept").write_text("of somebody else")
    (tmp_path / "epoch-1.parquet").write_text("likewise")
    sink = ParquetSink(tmp_path)
    assert (sink.committed, sink.epoch) == (1, 9)
    left = {".kept", "epoch-1.parquet", "epoch-000000000000.parquet", "epoch-000000000001.parquet"}
    assert {path.name for path in tmp_path.iterdir()} == left
    with pytest.raises(ParameterError, match="that of a staged result"):
        sink.commit(2)
    give(sink, 2, 3)
    assert (sink.committed, sink.epoch) == (2, None)


def test_a_file_has_the_properties_of_its_result(tmp_path: Path) -> None:
    sink = ParquetSink(tmp_path)
    start, end = datetime(2026, 1, 2, tzinfo=UTC), datetime(2026, 1, 3, tzinfo=UTC)
    table = pa.table({"x": [1]}).replace_schema_metadata({"kept": "yes"})
    full = Result(start, end, 1.5, table, 2, "no sum", missed=3, rows_failed=4, epoch=5)
    sink.stage(0, full)
    sink.commit(0)
    give(sink, 1, 1)
    assert pq.read_schema(sink.path_of(0)).metadata == {
        b"kept": b"yes",
        b"upstream.number": b"0",
        b"upstream.epoch": b"5",
        b"upstream.window_start": b"2026-01-02 00:00:00+00:00",
        b"upstream.window_end": b"2026-01-03 00:00:00+00:00",
        b"upstream.revision": b"2",
        b"upstream.missed": b"3",
        b"upstream.rows_failed": b"4",
        b"upstream.error": b"no sum",
    }
    assert set(pq.read_schema(sink.path_of(1)).metadata) == {
        *(b"upstream.number", b"upstream.revision", b"upstream.missed", b"upstream.rows_failed")
    }


@pytest.mark.parametrize("step", ["write", "sync", "rename", "sync_names"])
def test_a_disk_that_fails_loses_no_result_and_shows_none_twice(tmp_path: Path, step: str) -> None:
    with Engine(clock=ManualClock()) as engine:
        make_streams(engine)
        disk = FailingDisk()
        query = engine.continuous_query(SUMS, sink=ParquetSink(tmp_path, disk=disk))
        append(engine, "bids", (1, 1), (11, 2), (21, 4))
        disk.fails.add(step)
        for _ in range(2):
            with pytest.raises(SinkError, match=f"no space for {step}"):
                query.evaluate()
            assert query.consumed is None
        assert len(files_in(tmp_path)) == (1 if step == "sync_names" else 0)
        disk.fails.clear()
        query.evaluate()
        assert [*files_in(tmp_path).values()] == [[("a", 1)], [("a", 2)]]
        assert (query.consumed, len(list(tmp_path.iterdir()))) == (1, 2)


def test_a_name_survives_before_its_number_counts_as_committed(tmp_path: Path) -> None:
    disk = FailingDisk()
    sink = ParquetSink(tmp_path, disk=disk)
    give(sink, 0, 1)
    assert disk.steps == ["write", "sync", "rename", "sync_names"]


def test_a_query_in_another_engine_goes_on_with_the_next_number(tmp_path: Path) -> None:
    for run in range(3):
        with Engine(clock=ManualClock()) as engine:
            make_streams(engine)
            query = engine.continuous_query(SUMS, sink=ParquetSink(tmp_path))
            before = 2 * run - 1 if run else None
            assert (query.committed, query.consumed) == (before, before)
            append(engine, "bids", (1, run), (11, run), (21, 0))
            query.evaluate()
    assert list(files_in(tmp_path)) == [f"epoch-{number:012}.parquet" for number in range(6)]
    assert [*files_in(tmp_path).values()] == [[("a", run)] for run in range(3) for _ in range(2)]


def test_files_that_are_damaged_or_of_another_writer_are_refused(tmp_path: Path) -> None:
    give(ParquetSink(tmp_path), 0, 1)
    path = tmp_path / "epoch-000000000000.parquet"
    content = path.read_bytes()
    for damaged in (b"", content[:-20], content[:4] + content[-4:]):
        path.write_bytes(damaged)
        with pytest.raises(QueryError, match=r"epoch-000000000000\.parquet is damaged"):
            ParquetSink(tmp_path)
    pq.write_table(pa.table({"x": [1]}), path)
    with pytest.raises(QueryError, match="not the file of result 0"):
        ParquetSink(tmp_path)
    with pytest.raises(ParameterError):
        ParquetSink(1)  # type: ignore[arg-type]  # that is the mistake


def test_a_staged_file_that_was_removed_is_an_error(tmp_path: Path) -> None:
    sink = ParquetSink(tmp_path)
    sink.stage(0, result(1))
    (tmp_path / ".epoch-000000000000.parquet").unlink()
    with pytest.raises(FileNotFoundError):
        sink.seal(0)
    with pytest.raises(FileNotFoundError):
        sink.commit(0)
    assert sink.committed is None


@pytest.mark.parametrize(
    ("item", "shown"),
    [
        ("max(INTERVAL (x) SECONDS)", "length: INTERVAL"),
        ("list(INTERVAL (x) SECONDS)", r"length: INTERVAL\[\]"),
        ("{'a': max(x), 'b': max(INTERVAL (x) DAYS)}", "length: STRUCT"),
    ],
)
def test_columns_without_a_type_in_parquet_are_refused_before_the_query_exists(
    tmp_path: Path, item: str, shown: str
) -> None:
    with Engine(clock=ManualClock()) as engine:
        make_streams(engine)
        sink = ParquetSink(tmp_path)
        text = f"SELECT max(k) AS k, {item} AS length FROM epochs(bids, 10)"
        with pytest.raises(QueryTypeError, match=f"cannot store the column {shown}") as caught:
            engine.continuous_query(text, sink=sink)
        assert "cast it to VARCHAR" in caught.value.hint
        assert not engine.queries
        query = engine.continuous_query(text.replace(item, f"({item})::VARCHAR"), sink=sink)
        append(engine, "bids", (1, 1), (11, 2))
        query.evaluate()
        assert sink.committed == 0


PAIRS = "SELECT count(*) AS n, sum(x) AS x, max(epoch) AS last FROM epochs(bids, 10, keep => 2)"


def epochs_in(directory: Path) -> list[tuple[str, object]]:
    """Return the epoch and the rows of each file."""
    found = files_in(directory).items()
    metadata = [pq.read_schema(directory / name).metadata for name, _ in found]
    epochs = [each[b"upstream.epoch"].decode() for each in metadata]
    return list(zip(epochs, [rows for _, rows in found], strict=True))


def feed_epochs(directory: Path, times: list[int], batch: int) -> None:
    """Let a query in a new engine read these rows, with their places as values."""
    with Engine(clock=ManualClock()) as engine:
        make_streams(engine)
        sink = ParquetSink(directory, disk=QuickDisk())
        query = engine.continuous_query(PAIRS, sink=sink)
        for first in range(0, len(times), batch):
            append(engine, "bids", *[(time, time) for time in times[first : first + batch]])
            query.evaluate()
        assert query.statistics().is_balanced


@given(
    gaps=st.lists(st.integers(0, 25), min_size=1, max_size=12),
    batch=st.integers(2, 7),
    stops=st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=2),
)
def test_a_feed_that_is_repeated_gives_no_epoch_twice(
    gaps: list[int], batch: int, stops: list[tuple[int, int]]
) -> None:
    times = np.cumsum(gaps).tolist()
    with TemporaryDirectory() as folder:
        whole, parts = Path(folder) / "whole", Path(folder) / "parts"
        feed_epochs(whole, times, batch)
        begin = 0
        for stop, back in stops:
            feed_epochs(parts, times[begin:stop], batch)
            epoch = ParquetSink(parts).epoch
            # The next epoch needs the rows of the newest one, so the feed goes back at least there.
            needed = 0 if epoch is None else int(np.searchsorted(times, 10 * epoch))
            begin = max(0, needed - back)
        feed_epochs(parts, times[begin:], batch)
        assert epochs_in(parts) == epochs_in(whole)
