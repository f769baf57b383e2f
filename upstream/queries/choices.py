"""What is chosen for a standing query, and whether it can be meant."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Literal, get_args

from ..errors import ParameterError

Semantics = Literal["append", "update"]
"""Whether every result counts, or only the newest."""

Emit = Literal["slide", "changed", "asked"]
"""When results are given: at each slide, when they differ from the last, or when asked for only."""

Way = Literal["measured", "increments", "whole"]
"""How windows are evaluated: by increments, whole, or as is measured to be cheaper."""


OnError = Literal["skip", "fail"]
"""What becomes of a window in which the query fails on some rows."""


def check_name_of_choice(name: str, value: str, choices: object) -> None:
    """Refuse what is none of the names of a choice."""
    names: tuple[str, ...] = get_args(choices)
    if value not in names:
        raise ParameterError(name, value, "one of " + ", ".join(map(repr, names)))


def check_reader(*, keep: int, callback: object, weight: float) -> None:
    """Refuse who cannot take results."""
    if isinstance(keep, bool) or not isinstance(keep, int) or keep < 1:
        raise ParameterError("keep", keep, "a whole number, 1 or more")
    if callback is not None and not callable(callback):
        raise ParameterError("callback", callback, "a function of a result")
    if isinstance(weight, bool) or not isinstance(weight, int | float):
        raise ParameterError("weight", weight, "a number above zero")
    if not (weight > 0 and math.isfinite(weight)):
        raise ParameterError("weight", weight, "a finite number above zero")


def checked_seconds(name: str, value: float | timedelta | None) -> float | None:
    """Return a duration as a number, if there is one."""
    return None if value is None else seconds_of(name, value)


def seconds_of(name: str, value: float | timedelta) -> float:
    """Return a duration as a number; ParameterError if it is none.

    >>> seconds_of("seconds", timedelta(minutes=1))
    60.0
    """
    seconds = value.total_seconds() if isinstance(value, timedelta) else value
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise ParameterError(name, value, "a number of seconds, or a timedelta")
    if not (seconds >= 0 and math.isfinite(seconds)):
        raise ParameterError(name, value, "a finite number, zero or more")
    return seconds
