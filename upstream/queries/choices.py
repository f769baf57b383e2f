"""The options of a standing query, and the check that they make sense."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final, Literal, get_args

from ..errors import ParameterError

Semantics = Literal["append", "update"]
"""Whether every result counts, or only the newest."""

Emit = Literal["slide", "changed", "asked"]
"""When results are given: at each slide, when they change, or only when they are asked for."""

Way = Literal["measured", "increments", "whole"]
"""How windows are evaluated: incrementally, in full, or in the way that is measured to be
cheaper."""


OnError = Literal["skip", "fail"]
"""What happens to a window in which the query fails on some rows."""


@dataclass(frozen=True, slots=True)
class Choices:
    """The user's options for a standing query, besides its text and name; times are in seconds.

    Raises ParameterError for a value that is not allowed.
    """

    semantics: Semantics = "append"
    evaluation: Way = "measured"
    emit: Emit = "slide"
    emit_every: float | None = None
    keep: int = 1_000
    allowed_lateness: float | None = None
    close_after: float | None = None
    on_error: OnError = "skip"
    weight: float = 1.0

    def __post_init__(self) -> None:
        """Refuse values that are not allowed."""
        for name, names in _NAMES.items():
            if getattr(self, name) not in get_args(names):
                expected = "one of " + ", ".join(map(repr, get_args(names)))
                raise ParameterError(name, getattr(self, name), expected)
        if isinstance(self.keep, bool) or not isinstance(self.keep, int) or self.keep < 1:
            raise ParameterError("keep", self.keep, "a whole number, 1 or more")
        if isinstance(self.weight, bool) or not isinstance(self.weight, int | float):
            raise ParameterError("weight", self.weight, "a number above zero")
        if not (self.weight > 0 and math.isfinite(self.weight)):
            raise ParameterError("weight", self.weight, "a finite number above zero")

    @property
    def of_evaluation(self) -> Choices:
        """The options that an evaluation depends on: all but the weight."""
        return replace(self, weight=1.0)

    @property
    def most_answers(self) -> int:
        """How many answers that are due at once can become results."""
        if self.emit == "asked":
            return 0
        return 1 if self.semantics == "update" or self.emit_every is not None else self.keep


_NAMES: Final = {"semantics": Semantics, "evaluation": Way, "emit": Emit, "on_error": OnError}
"""The options that are one of several names."""


def checked_seconds(name: str, value: float | timedelta | None) -> float | None:
    """Return a duration in seconds, or None if it is None."""
    return None if value is None else seconds_of(name, value)


def seconds_of(name: str, value: float | timedelta) -> float:
    """Return a duration in seconds; raise ParameterError if it is not one.

    >>> seconds_of("seconds", timedelta(minutes=1))
    60.0
    """
    seconds = value.total_seconds() if isinstance(value, timedelta) else value
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise ParameterError(name, value, "a number of seconds, or a timedelta")
    if not (seconds >= 0 and math.isfinite(seconds)):
        raise ParameterError(name, value, "a finite number, zero or more")
    return seconds
