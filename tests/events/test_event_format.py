"""The format of event logs: what it says of itself, and the description of a run."""

from __future__ import annotations

import inspect
import json
import math

import pytest

from upstream.events import (
    COLUMNS,
    EventKind,
    Integrated,
    RunDescription,
    description_text,
    event_format,
    event_of,
)

ROW = {"event": "0", "time": "0.5", "kind": "arrival", "key": "IBM", "number": "3"}


def test_the_text_about_the_format_names_every_kind_column_and_member() -> None:
    text = inspect.getdoc(event_format) or ""
    for name in (*EventKind, *COLUMNS):
        assert f"| `{name}` |" in text
    rows = [row for row in text.splitlines() if row.startswith("|")]
    for name in (*RunDescription.__annotations__, *Integrated.__annotations__):
        assert any(f"`{name}`" in row for row in rows), name


def test_a_description_says_its_format_first() -> None:
    found = json.loads(description_text({"policy": "index", "seed": None}))
    assert list(found.items())[:2] == [("format", "upstream-events"), ("version", 1)]
    assert (found["policy"], found["seed"]) == ("index", None)


def test_a_number_that_json_does_not_have_is_our_mistake() -> None:
    with pytest.raises(ValueError, match="JSON"):
        description_text({"end": math.nan})


@pytest.mark.parametrize(
    "cells", [{"time": "soon"}, {"kind": "lost"}, {"number": "1.5"}, {"key": '{"complex":"1"}'}]
)
def test_a_cell_that_cannot_be_read_is_refused(cells: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"soon|lost|1\.5|complex"):
        event_of({**ROW, **cells})
