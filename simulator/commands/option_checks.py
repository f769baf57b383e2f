"""Checks of options that several commands share, and how a command line shows errors."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from upstream import UpStreamError


def positive(number: float) -> float:
    """Return a number that is finite and above zero; anything else is a usage error."""
    if not (math.isfinite(number) and number > 0):
        raise typer.BadParameter(f"{number:g} is not a finite number above zero.")
    return number


def not_negative(number: float) -> float:
    """Return a number that is finite and not below zero; anything else is a usage error."""
    if not (math.isfinite(number) and number >= 0):
        raise typer.BadParameter(f"{number:g} is not a finite number of zero or more.")
    return number


def plot_path(path: Path | None) -> Path | None:
    """Return the path of a plot; a usage error, before anything is measured, if it is not one."""
    if path is None:
        return None
    if path.suffix.lower() != ".png":
        raise typer.BadParameter(f"{path} does not end in .png.")
    if not path.parent.is_dir():
        raise typer.BadParameter(f"there is no folder {path.parent}.")
    return path


@contextmanager
def usage_errors() -> Iterator[None]:
    """Turn the simulator's own errors into usage errors, and print those of the system."""
    try:
        yield
    except UpStreamError as error:
        raise typer.BadParameter(str(error)) from error
    except BrokenPipeError:
        raise  # the reader of the output closed it; typer ends quietly
    except OSError as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(1) from error
