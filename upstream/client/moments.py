"""Times of updates as they are given, and as seconds."""

from __future__ import annotations

import datetime as dt
from typing import TypeAlias

import numpy as np

from upstream.columns import is_finite_time, read_times
from upstream.errors import ParameterError, TimeNotFiniteError

Moment: TypeAlias = float | dt.datetime | np.datetime64
"""A time: seconds, or a date and time, which is then counted in seconds since 1970 in UTC."""


def seconds_of(moment: object) -> float | None:
    """Return a time in seconds, None as None; TimeNotFiniteError or ParameterError if it is none.

    >>> seconds_of(1.5), seconds_of(dt.datetime(1970, 1, 1, 0, 1, tzinfo=dt.UTC))
    (1.5, 60.0)
    """
    if moment is None:
        return None
    if is_finite_time(moment):
        return moment if isinstance(moment, int) else float(moment)
    if isinstance(moment, dt.datetime) and moment.tzinfo is not None:
        return moment.timestamp()
    if isinstance(moment, np.datetime64):
        return float(read_times(np.array([moment]))[0])
    if isinstance(moment, int | float | np.floating):
        raise TimeNotFiniteError(moment)
    raise ParameterError(
        "a time", moment, "a number of seconds, a datetime with a time zone, or None"
    )
