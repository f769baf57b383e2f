"""The command line: what it says of itself, and how it takes bad options."""

from __future__ import annotations

import json

import pytest

from .commands.command_line import USAGE_ERROR, invoke

COMMANDS = {
    "list": ["--json"],
    "figure": ["--out", "--seed", "--quick", "--jobs", "--fresh", "--json"],
    "all": ["--out", "--seed", "--quick", "--jobs", "--fresh", "--json"],
    "run": [
        *("--keys", "--trace", "--arrivals", "--load", "--policies", "--updates", "--seed"),
        *("--known-rates", "--cost-distribution", "--servers", "--capacity", "--loop"),
        *("--time", "--time-unit", "--key", "--plot", "--json"),
    ],
    "advise": [
        *("--trace", "--cost", "--policies", "--time", "--time-unit", "--key", "--plot", "--json"),
    ],
    "demo": ["--seconds", "--keys", "--theta", "--load", "--seed", "--json"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_help_lists_every_command_and_its_options(command: str) -> None:
    assert f" {command} " in invoke("--help").output
    output = invoke(command, "--help").output
    for option in [*COMMANDS[command], "--help"]:
        assert f" {option} " in output


def test_no_command_shows_the_help() -> None:
    assert "demo" in invoke().output


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *[("--seconds", value) for value in ("0", "-1", "nan", "inf", "601", "soon")],
        *[("--keys", value) for value in ("0", "-5", "1.5", "100001")],
        *[("--theta", value) for value in ("-0.1", "nan", "inf", "11")],
        *[("--load", value) for value in ("0", "-1", "nan", "inf", "1001")],
        *[("--seed", value) for value in ("-1", "x")],
    ],
)
def test_a_bad_option_is_named_and_nothing_runs(option: str, value: str) -> None:
    result = invoke("demo", option, value)
    assert result.exit_code == USAGE_ERROR
    assert option in result.output
    assert "Traceback" not in result.output


def test_the_options_reach_the_demo() -> None:
    options = {"--seconds": "0.05", "--keys": "7", "--theta": "0", "--load": "2", "--seed": "3"}
    result = invoke("demo", *(word for option in options.items() for word in option), "--json")
    assert result.exit_code == 0
    assert json.loads(result.output)["settings"] == {
        "keys": 7,
        "theta": 0.0,
        "load": 2.0,
        "seed": 3,
        "updates_per_second": 2_000.0,
        "seconds": 0.05,
    }
