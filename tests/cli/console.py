"""Run the command line within the tests' process, where nothing is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Final

import msgspec
from typer.testing import CliRunner, Result

from upstream.cli.command_line import app

REFUSED: Final = 1
USAGE_ERROR: Final = 2
UNREACHABLE: Final = 3

PROGRAM: Final = [sys.executable, "-W", "error", "-c", "from upstream.cli import main; main()"]
"""The console command, for tests that need a process of its own."""

_runner = CliRunner(env={"COLUMNS": "200", "NO_COLOR": "1", "UPSTREAM_URL": None})


def invoke(
    *arguments: str, url: str | None = None, said: str | bytes = "", env: Mapping[str, str] = {}
) -> Result:
    """Run a command and return what it came to; `said` is its standard input."""
    server = [] if url is None else ["--server", url]
    return _runner.invoke(app, [*server, *arguments], input=said, env=dict(env))


def output_of(*arguments: str, url: str, said: str | bytes = "") -> str:
    """Return the data that a command prints; it must go well."""
    result = invoke(*arguments, url=url, said=said)
    assert result.exit_code == 0, result.output
    return result.stdout


def json_of(*arguments: str, url: str, said: str | bytes = "") -> object:
    """Return the JSON that a command prints; it must go well."""
    return msgspec.json.decode(output_of(*arguments, url=url, said=said))


def lines_of(*arguments: str, url: str) -> list[object]:
    """Return the JSON of each line that a command prints; it must go well."""
    return [msgspec.json.decode(line) for line in output_of(*arguments, url=url).splitlines()]
