"""Checks of options, and errors as a command line shows them."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import typer

from simulator.commands.option_checks import not_negative, plot_path, positive, usage_errors
from simulator.errors import OptionError, TraceError
from upstream.errors import UnknownPolicyError


@pytest.mark.parametrize("number", [1e-300, 1.0, 1e300])
def test_numbers_above_zero_are_positive(number: float) -> None:
    assert positive(number) == not_negative(number) == number


def test_zero_is_not_positive_but_not_negative_either() -> None:
    assert not_negative(0.0) == 0.0
    with pytest.raises(typer.BadParameter, match="0 is not a finite number above zero"):
        positive(0.0)


@pytest.mark.parametrize("number", [-1.0, math.nan, math.inf, -math.inf])
def test_other_numbers_are_neither(number: float) -> None:
    for check in (positive, not_negative):
        with pytest.raises(typer.BadParameter, match="is not a finite number"):
            check(number)


@pytest.mark.parametrize(
    "error",
    [
        OptionError("--load", 0, "a number above 0"),
        TraceError(Path("x.csv"), "there is no key", row=3),
        UnknownPolicyError("lifo", ["fifo"]),
    ],
)
def test_an_error_of_ours_becomes_a_usage_error(error: Exception) -> None:
    with pytest.raises(typer.BadParameter) as caught, usage_errors():
        raise error
    assert str(caught.value) == str(error)


def test_an_error_of_the_system_ends_the_command(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as caught, usage_errors():
        raise PermissionError(13, "Permission denied", "x.csv")
    assert caught.value.exit_code == 1
    assert capfd.readouterr().err == "Error: [Errno 13] Permission denied: 'x.csv'\n"


def test_a_closed_pipe_is_not_reported_as_an_error() -> None:
    with pytest.raises(BrokenPipeError), usage_errors():
        raise BrokenPipeError


def test_a_plot_is_a_png_in_an_existing_folder(tmp_path: Path) -> None:
    assert plot_path(None) is None
    assert plot_path(tmp_path / "plot.PNG") == tmp_path / "plot.PNG"
    for path in (tmp_path / "plot.jpg", tmp_path / "plot", tmp_path / "folder" / "plot.png"):
        with pytest.raises(typer.BadParameter):
            plot_path(path)


def test_an_assertion_error_is_not_caught() -> None:
    with pytest.raises(AssertionError, match="ours"), usage_errors():
        raise AssertionError("ours")
