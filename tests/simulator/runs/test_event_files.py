"""Event logs on disk: what is in the files, and what is there when a run is killed."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from simulator.errors import OptionError
from simulator.model.event_log import EventLog
from simulator.model.policy_run import PolicyRun
from simulator.runs import event_files
from simulator.runs.event_files import EventFiles, EventLogs
from simulator.workloads.sources import Poisson
from simulator.workloads.workload import zipf
from upstream.events import EventKind

RUN = PolicyRun(policy="index", workload=Poisson(zipf(20, 0.9)), cost=4.0, updates=300)
SETTING = {"load": 4.0}


@pytest.fixture(autouse=True)
def _small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_files, "EVENTS_PER_FILE", 100)


def described(folder: Path) -> dict[str, Any]:
    found = json.loads((folder / "run.json").read_text())
    assert isinstance(found, dict)
    return found


def rows_of(folder: Path) -> list[tuple[object, ...]]:
    """Return the rows of all files, in the order of their names."""
    rows: list[tuple[object, ...]] = []
    for path in sorted(folder.glob("events-*")):
        if path.suffix == ".parquet":
            rows += [tuple(row.values()) for row in pq.read_table(path).to_pylist()]
        else:
            with path.open(newline="") as file:
                for event, time, kind, key, number in list(csv.reader(file))[1:]:
                    rows.append((int(event), float(time), kind, key, int(number)))
    return rows


@pytest.mark.parametrize("file_format", ["parquet", "csv"])
def test_every_event_is_written_in_its_order(tmp_path: Path, file_format: str) -> None:
    log = EventLog()
    measured = RUN.measure(sink=log)
    folder = tmp_path / "logs" / "index-seed-1"
    files = EventFiles(folder, RUN, SETTING, format=file_format)
    for event in log:
        files.note(*event)
    files.finish(measured)
    assert rows_of(folder) == [
        (row, event.time, event.kind.name.lower(), str(event.key), event.number)
        for row, event in enumerate(log)
    ]
    assert len(list(folder.glob("events-*"))) == -(-len(log) // 100)
    assert not list(folder.glob(".*"))
    run = described(folder)
    assert (run["end"], run["events"]) == (measured.elapsed, len(log))
    assert run["integrated"]["queue_staleness"] == measured.queue.mean
    assert run["integrated"]["counters"]["superseded"] == measured.counted.superseded


def test_a_log_is_no_more_than_what_happened(tmp_path: Path) -> None:
    logs = EventLogs(tmp_path, "parquet", SETTING)
    assert logs.measure(RUN, on_progress=lambda _: None) == RUN.measure()
    assert described(tmp_path / "index-seed-1")["is_finished"]


def test_a_run_that_was_killed_leaves_whole_files_and_says_that_it_did_not_finish(
    tmp_path: Path,
) -> None:
    files = EventFiles(tmp_path / "log", RUN, SETTING)
    for number in range(250):
        files.note(float(number), EventKind.ARRIVAL, "key", number)
    assert len(rows_of(tmp_path / "log")) == 200
    run = described(tmp_path / "log")
    assert (run["is_finished"], run["end"], run["integrated"]) == (False, None, None)


def test_an_update_that_found_no_room_is_named_as_rejected() -> None:
    log = EventLog()
    measured = replace(RUN, policy="append", capacity=5).measure(sink=log)
    assert len(log.of_kind(EventKind.REJECTED)) == measured.counted.rejected > 100
    assert len(log.of_kind(EventKind.ARRIVAL)) == RUN.updates - measured.counted.rejected


@pytest.mark.parametrize(
    ("file_format", "named"), [("parquet", "index-seed-1"), ("json", "--events-format")]
)
def test_a_log_that_cannot_be_written_is_refused_before_anything_is_measured(
    tmp_path: Path, file_format: str, named: str
) -> None:
    (tmp_path / "index-seed-1").mkdir()
    with pytest.raises(OptionError, match=named):
        EventLogs(tmp_path, file_format, SETTING).check([RUN])
