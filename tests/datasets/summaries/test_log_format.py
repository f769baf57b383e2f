"""The format of event logs: what it says of itself, and that its writers keep to it."""

from __future__ import annotations

import inspect
from pathlib import Path

from api import event_files as of_service
from api import event_log
from datasets.summaries import log_format
from simulator.runs import event_files as of_simulator


def test_the_description_names_every_kind_column_and_member() -> None:
    text = inspect.getdoc(log_format) or ""
    for name in (*log_format.KINDS, *log_format.COLUMNS):
        assert f"| `{name}` |" in text
    for place in (Path(of_simulator.__file__), Path(event_log.__file__)):
        source = place.read_text(encoding="utf-8")
        for member in ("not_told", "integrated", "is_finished", "setting", "end"):
            assert f'"{member}"' in source
            assert f"`{member}`" in text


def test_both_writers_write_the_version_that_is_read() -> None:
    assert of_simulator.VERSION == of_service.VERSION == log_format.VERSION
    assert set(of_simulator.KINDS) <= set(log_format.KINDS)
    assert tuple(log_format.COLUMNS) == of_simulator.COLUMNS
