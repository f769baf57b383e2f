"""Files of a queue's events: whole ones, with a description beside them."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq

from api.event_files import EventFiles


def test_what_was_noted_is_in_the_next_file_and_the_numbers_go_on(tmp_path: Path) -> None:
    files = EventFiles(tmp_path / "q", {"name": "q"})
    files.note(1.5, "arrival", "IBM", 0)
    files.note(2.5, "dequeue", "IBM", 0)
    files.flush()
    files.note(3.5, "delivery", "IBM", 0)
    files.flush()
    files.flush()  # nothing to write
    first, second = sorted((tmp_path / "q").glob("events-*.parquet"))
    assert pq.read_table(first).to_pylist() == [
        {"event": 0, "time": 1.5, "kind": "arrival", "key": "IBM", "number": 0},
        {"event": 1, "time": 2.5, "kind": "dequeue", "key": "IBM", "number": 0},
    ]
    assert pq.read_table(second).column("event").to_pylist() == [2]
    assert (files.events, files.unwritten, files.has_unwritten) == (3, 0, False)


def test_a_description_is_added_to_and_never_half_there(tmp_path: Path) -> None:
    files = EventFiles(tmp_path / "q", {"name": "q"})
    files.describe({"end": 1.0, "is_finished": False})
    files.describe({"end": 2.0})
    found = json.loads((tmp_path / "q" / "run.json").read_text())
    assert (found["name"], found["end"], found["is_finished"]) == ("q", 2.0, False)
    assert (found["format"], found["version"]) == ("upstream-events", 1)
    assert [path.name for path in (tmp_path / "q").iterdir()] == ["run.json"]


def test_what_cannot_be_written_can_be_let_go(tmp_path: Path) -> None:
    files = EventFiles(tmp_path / "q", {})
    files.note(1.0, "arrival", "IBM", 0)
    files.drop()
    assert files.unwritten == files.events == 0
