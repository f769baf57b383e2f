"""Where windows start and end, as users see it."""

from __future__ import annotations

from datetime import date, datetime

import numpy as np

WindowBound = datetime | date | np.datetime64 | int | float | None
"""A time in the type of the time column, or None where there are no windows.

NumPy's datetime64 stands for what datetime cannot: nanoseconds, and years beyond 9999.
"""


def is_before(one: WindowBound, other: WindowBound) -> bool:
    """Tell whether a window ends before another of the same query; never where there are none."""
    if one is None or other is None:
        return False
    return bool(one < other)  # type: ignore[operator]  # both are of the one type of their query
