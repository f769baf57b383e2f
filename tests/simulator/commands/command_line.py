"""Call the command line as a user does, without a process of its own."""

from __future__ import annotations

from typer.testing import CliRunner, Result

from simulator.cli import app

USAGE_ERROR = 2


def invoke(*arguments: str) -> Result:
    """Call `python -m simulator` with these arguments."""
    return CliRunner().invoke(app, arguments, env={"COLUMNS": "100", "NO_COLOR": "1"})


def assert_refused(result: Result, *words: str) -> None:
    """Check that a usage error says these words."""
    assert result.exit_code == USAGE_ERROR, result.output
    output = " ".join(result.output.replace("│", " ").split())
    for word in words:
        assert word in output
    assert "Traceback" not in output
