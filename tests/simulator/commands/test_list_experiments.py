"""`list`: what can be measured."""

from __future__ import annotations

import json

from simulator.experiments.registry import EXPERIMENTS

from .command_line import invoke


def test_every_experiment_is_listed() -> None:
    result = invoke("list")
    assert result.exit_code == 0
    for each in EXPERIMENTS.values():
        assert (f"figure {each.name} " if each.is_figure else each.name) in result.output


def test_the_list_is_json_if_wanted() -> None:
    found = json.loads(invoke("list", "--json").stdout)
    assert [each["name"] for each in found] == list(EXPERIMENTS)
    assert all(each["title"] and each["claim"] for each in found)
