"""Headers of files of events; how they are read is seen where they are summarised."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from datasets.errors import BadFileError
from datasets.summaries.event_files import COLUMNS, KINDS, check_header, read_events
from datasets.summaries.runs import Assumed, find_runs
from simulator.model.policy_run import PolicyRun
from simulator.runs.event_files import EventFiles
from simulator.workloads.recorded import Recorded
from tests.events.test_key_texts import ODD_KEYS
from upstream.events import COLUMNS as ARROW_TYPES
from upstream.events import EventKind, key_of, key_text

from .logged_runs import Served, write_log, write_rows

ROWS = [(0, 0.5, "arrival", "k", 0)]


def test_every_column_has_a_type_of_spark_and_every_kind_is_known() -> None:
    assert list(COLUMNS) == list(ARROW_TYPES)
    assert set(COLUMNS.values()) == {"bigint", "double", "string"}
    assert set(KINDS) == set(EventKind)


def test_further_columns_and_another_order_are_fine(tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    path.write_text("kind,source_time,event,number,key,time\n")
    assert set(check_header(path)) == {*COLUMNS, "source_time"}
    write_rows(tmp_path / "events.parquet", ROWS)
    assert check_header(tmp_path / "events.parquet") == tuple(COLUMNS)


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    path.write_text("event,time,kind,key\n")
    reason = "events.csv, line 1: there is no column number; it has event, time, kind, key"
    with pytest.raises(BadFileError, match=reason):
        check_header(path)
    path.write_text("")
    with pytest.raises(BadFileError, match="no column event; it has none"):
        check_header(path)
    path.write_bytes(b"\xff\xfe\n")
    with pytest.raises(BadFileError, match="UTF-8"):
        check_header(path)
    parquet = tmp_path / "events.parquet"
    pq.write_table(pa.table({"event": [1]}), parquet)
    with pytest.raises(BadFileError, match=r"events.parquet: there is no column time"):
        check_header(parquet)


def test_a_parquet_file_that_is_cut_off_is_named(tmp_path: Path) -> None:
    path = tmp_path / "events.parquet"
    write_rows(path, ROWS)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(BadFileError, match=r"events.parquet: is not a complete") as error:
        check_header(path)
    assert "\n" not in str(error.value)


def test_a_column_of_another_type_is_named(tmp_path: Path) -> None:
    path = tmp_path / "events.parquet"
    columns = {"event": [0], "time": [1], "kind": ["arrival"], "key": ["k"], "number": [0]}
    pq.write_table(pa.table(columns), path)
    with pytest.raises(BadFileError, match="the column time is int64, and should be double"):
        check_header(path)


def test_runs_are_told_apart_by_paths_with_dots_and_links_in_them(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [(0.0, "arrival", "k", 0)]
    (tmp_path / "far" / "work").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "far" / "work")
    write_log(tmp_path / "far" / "results", rows)
    write_log(tmp_path / "near", rows * 2)
    monkeypatch.chdir(tmp_path / "far")
    places = [tmp_path / "link" / ".." / "results", Path("../near")]
    events = read_events(spark, find_runs(places, Assumed()))
    assert sorted(row.run for row in events.collect()) == [0, 1, 1]


def keys_in_summary(spark: SparkSession, folder: Path) -> list[str]:
    """Return the keys of all arrivals, in the order of arrival, as summaries read them."""
    events = read_events(spark, find_runs([folder], Assumed())).where("kind = 'arrival'")
    return [row["key"] for row in events.orderBy("event").collect()]


def test_the_same_updates_have_the_same_keys_whether_simulated_or_served(
    spark: SparkSession, tmp_path: Path
) -> None:
    updates = [key for key in ODD_KEYS for _ in range(2)]
    keys = list(range(len(updates)))
    workload = Recorded(updates, times=[float(number) for number in keys], codes=keys)
    run = PolicyRun(policy="fifo", workload=workload, cost=0.5, updates=len(updates))
    for file_format in ("csv", "parquet"):
        files = EventFiles(tmp_path / file_format, run, {}, format=file_format)
        files.finish(run.measure(sink=files))
    served = Served.at(tmp_path / "service")
    served.queue("q")
    for key in updates:
        served.stream.take_in_one(key, 1)
    served.service.finish()
    for folder in (tmp_path / "csv", tmp_path / "parquet", tmp_path / "service"):
        found = keys_in_summary(spark, folder)
        assert found == [key_text(key) for key in updates], folder
        assert [key_of(text) for text in found] == updates, folder
