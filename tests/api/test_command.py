"""The command line of the service."""

from __future__ import annotations

import re

import pytest
from typer.testing import CliRunner

from api import command
from api.settings import Settings

ANSI = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[Settings]:
    """Note with which settings the service would have been run."""
    settings: list[Settings] = []

    def serve(given: Settings) -> bool:
        settings.append(given)
        return given.port != 1

    monkeypatch.setattr(command, "serve", serve)
    monkeypatch.setattr(command, "configure", settings.count)
    return settings


def test_help_says_what_it_does_and_what_can_be_set() -> None:
    result = CliRunner().invoke(command.app, ["--help"])
    text = ANSI.sub("", result.output)
    assert result.exit_code == 0
    for expected in ("--host", "--port", "--no-demo", "UPSTREAM_", "127.0.0.1", "8000"):
        assert expected in text


def test_all_settings_can_be_listed(served: list[Settings]) -> None:
    result = CliRunner().invoke(command.app, ["--settings"])
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[:3] == [
        "UPSTREAM_HOST=127.0.0.1",
        "    Address to listen on; 0.0.0.0 is every IPv4 address of this machine.",
        "    Expected: an address or a host name",
    ]
    named = [line.partition("=")[0] for line in lines[::3]]
    assert named == [f"UPSTREAM_{name.upper()}" for name in Settings.model_fields]
    assert served == []


def test_options_go_before_the_environment(
    served: list[Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UPSTREAM_PORT", "9001")
    monkeypatch.setenv("UPSTREAM_HOST", "0.0.0.0")  # noqa: S104  # nothing listens here
    result = CliRunner().invoke(command.app, ["--port", "9002", "--no-demo"])
    assert result.exit_code == 0, result.output
    (settings,) = served
    assert (settings.host, settings.port, settings.demo) == ("0.0.0.0", 9002, False)  # noqa: S104


def test_a_bad_setting_is_named_and_nothing_runs(
    served: list[Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UPSTREAM_MAX_DEPTH", "deep")
    result = CliRunner().invoke(command.app, [])
    assert result.exit_code == 2
    assert "UPSTREAM_MAX_DEPTH" in result.stderr
    assert served == []


def test_a_service_that_did_not_start_is_an_error(served: list[Settings]) -> None:
    assert CliRunner().invoke(command.app, ["--port", "1"]).exit_code == 1
