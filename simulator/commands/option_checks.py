"""Checks of options that several commands share, and errors as a command line shows them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

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
        raise typer.BadParameter(f"{number:g} is not a finite number, zero or more.")
    return number


@contextmanager
def usage_errors() -> Iterator[None]:
    """Show what the simulator refuses, and files that cannot be written, as usage errors."""
    try:
        yield
    except (UpStreamError, OSError) as error:
        raise typer.BadParameter(str(error)) from error
