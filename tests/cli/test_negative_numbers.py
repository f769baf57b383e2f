"""Numbers below zero as arguments."""

from __future__ import annotations

import pytest
import typer
from typer.testing import CliRunner

from upstream.cli.negative_numbers import NegativeNumbersCommand

app = typer.Typer()


@app.command(cls=NegativeNumbersCommand)
def show(key: str, value: str = typer.Argument("none"), *, time: float = 0.0) -> None:
    """Print the arguments."""
    typer.echo(f"{key} {value} {time}")


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["k", "-5"], "k -5 0.0"),
        (["-1", "-2.5e-3"], "-1 -2.5e-3 0.0"),
        (["k", "-5", "--time", "-7"], "k -5 -7.0"),
        (["--", "--k", "-5"], "--k -5 0.0"),
        (["k", "-"], "k - 0.0"),
    ],
)
def test_a_number_below_zero_is_an_argument(arguments: list[str], shown: str) -> None:
    assert CliRunner().invoke(app, arguments).stdout == f"{shown}\n"


@pytest.mark.parametrize("arguments", [["k", "--nonsense"], ["-5", "--nonsense"], ["-5", "-x"]])
def test_an_option_that_does_not_exist_is_refused(arguments: list[str]) -> None:
    result = CliRunner().invoke(app, arguments, env={"COLUMNS": "200"})
    assert result.exit_code == 2
    assert "No such option" in result.stderr
