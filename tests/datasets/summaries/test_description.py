"""Descriptions of runs, and what is wrong with some."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from datasets.errors import BadFileError
from datasets.summaries.description import Description, Integrated, read_description

LEAST = {"format": "upstream-events", "version": 1}


def read(tmp_path: Path, given: object) -> Description:
    path = tmp_path / "run.json"
    path.write_text(given if isinstance(given, str) else json.dumps(given))
    return read_description(path)


def test_only_format_and_version_are_needed(tmp_path: Path) -> None:
    found = read(tmp_path, LEAST)
    assert found == Description(name=tmp_path.name, policy=tmp_path.name, not_told=found.not_told)
    assert found.why_not("queue") == ()


def test_every_member_is_read(tmp_path: Path) -> None:
    more = {
        "policy": "index",
        "name": "dashboard",
        "seed": 3,
        "setting": {"b": 1, "a": 2},
        "unit": "h",
        "start": 1.0,
        "end": 2,
        "events": 7,
        "is_finished": False,
        "processing_cost": 0.5,
        "servers": 2,
        "waiting_per_key": "many",
        "not_told": {"queue": ["why"]},
        "integrated": {
            "queue_staleness": 1.5,
            "application_staleness": 2.5,
            "keys": 4,
            "counters": {"shed": 1},
        },
    }
    found = read(tmp_path, LEAST | more)
    assert (found.name, found.policy, found.seed, found.unit) == ("dashboard", "index", 3, "h")
    assert found.setting == '{"a": 2, "b": 1}'
    assert (found.start, found.end, found.events, found.is_finished) == (1.0, 2.0, 7, False)
    assert (found.processing_cost, found.servers, found.waiting_per_key) == (0.5, 2, "many")
    assert (found.why_not("queue"), found.why_not("application")) == (("why",), ())
    assert found.integrated == Integrated(1.5, 2.5, 4, {"shed": 1})


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("{", "line 1: is not JSON"),
        ("[1]", "it is not a JSON object"),
        ({}, "`format` is not 'upstream-events'"),
        (LEAST | {"version": 2}, "format version 2 is not supported; expected 1"),
        ({"format": "upstream-events"}, "version None"),
        (LEAST | {"seed": "x"}, '`seed` is "x", not a whole number, zero or more'),
        (LEAST | {"seed": True}, "`seed` is true"),
        (LEAST | {"end": "late"}, '`end` is "late", not a finite number'),
        (LEAST | {"end": float("inf")}, "`end` is Infinity"),
        (LEAST | {"processing_cost": -1}, "`processing_cost` is -1, not a finite number, zero or"),
        (LEAST | {"policy": 3}, "`policy` is 3, not a string"),
        (LEAST | {"waiting_per_key": "some"}, "not one or many or either"),
        (LEAST | {"not_told": {"queue": "x"}}, "`not_told.queue` is"),
        (LEAST | {"not_told": []}, "`not_told` is [], not an object"),
        (LEAST | {"integrated": {"counters": {"late": 1.5}}}, "`integrated.counters.late` is 1.5"),
        (LEAST | {"start": 2.0, "end": 1.0}, "`end` is before `start`"),
    ],
)
def test_an_invalid_member_is_named(tmp_path: Path, given: object, reason: str) -> None:
    with pytest.raises(BadFileError) as error:
        read(tmp_path, given)
    assert str(tmp_path / "run.json") in str(error.value)
    assert reason in str(error.value)
