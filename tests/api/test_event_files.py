"""The files of a queue's events appear when complete, with a description beside them."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq

from api.event_files import EventFiles
from upstream.events import EventKind


def test_noted_events_are_in_the_next_file_and_the_numbers_continue(tmp_path: Path) -> None:
    files = EventFiles(tmp_path / "q", {"name": "q"})
    files.events.note(1.5, EventKind.ARRIVAL, "IBM", 0)
    files.events.note(2.5, EventKind.DEQUEUE, "IBM", 0)
    files.flush()
    files.events.note(3.5, EventKind.DELIVERY, "IBM", 0)
    files.flush()
    files.flush()  # nothing to write
    first, second = sorted((tmp_path / "q").glob("events-*.parquet"))
    assert pq.read_table(first).to_pylist() == [
        {"event": 0, "time": 1.5, "kind": "arrival", "key": "IBM", "number": 0},
        {"event": 1, "time": 2.5, "kind": "dequeue", "key": "IBM", "number": 0},
    ]
    assert pq.read_table(second).column("event").to_pylist() == [2]
    assert (files.events.written, len(files.events)) == (3, 0)


def test_a_description_is_added_to_and_never_half_there(tmp_path: Path) -> None:
    files = EventFiles(tmp_path / "q", {"name": "q"})
    files.describe({"end": 1.0, "is_finished": False})
    files.describe({"end": 2.0})
    found = json.loads((tmp_path / "q" / "run.json").read_text())
    assert (found["name"], found["end"], found["is_finished"]) == ("q", 2.0, False)
    assert (found["format"], found["version"]) == ("upstream-events", 1)
    assert [path.name for path in (tmp_path / "q").iterdir()] == ["run.json"]
