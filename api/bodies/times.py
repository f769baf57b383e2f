"""The times of updates, of which some may be left to the server."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, cast

from upstream.columns import FiniteTimes

Now: TypeAlias = Callable[[], float]


def filled(times: list[float | None], now: Now) -> FiniteTimes | None:
    """Return times in which the missing ones are `now`, or None if all are missing.

    Those that are there are finite floats already.
    """
    given = cast(list[float], times)
    try:
        sum(given)  # the quickest way to see that none is missing
    except TypeError:
        if not any(time is not None for time in times):
            return None
        moment = now()
        return FiniteTimes(moment if time is None else time for time in times)
    return FiniteTimes(given)
