"""`upstream bench`."""

from __future__ import annotations

from .console import json_of, output_of

SMALL = ["--updates", "200", "--batch", "50", "--keys", "20"]


def test_a_row_is_printed_for_each_way(service_url: str) -> None:
    lines = output_of("bench", *SMALL, "--connections", "2", url=service_url).splitlines()
    assert lines[0] == "20 keys, batches of 50, 2 connections"
    assert lines[3].split()[:2] == ["put", "200"]
    assert lines[4].split()[0] == "dequeue"


def test_the_result_may_be_json(service_url: str) -> None:
    result = json_of("bench", *SMALL, "--json", url=service_url)
    assert isinstance(result, dict)
    assert result["settings"] == {
        "updates": 200,
        "batch": 50,
        "keys": 20,
        "connections": 1,
        "seed": 1,
    }
    assert result["put"]["updates"] == 200
    assert result["put"]["updates_per_second"] > 0
    assert result["dequeue"]["updates"] >= 50
