"""Times of updates, as seconds."""

from __future__ import annotations

import datetime as dt
import math

import numpy as np
import pytest

from upstream import ParameterError, TimeNotFiniteError
from upstream.client.moments import seconds_of


@pytest.mark.parametrize(
    ("moment", "seconds"),
    [
        (None, None),
        (1_700_000_000, 1_700_000_000),
        (1.5, 1.5),
        (np.float32(0.5), 0.5),
        (np.int64(7), 7.0),
        (dt.datetime(1970, 1, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=1))), 0.0),
        (np.datetime64("1970-01-01T00:00:01.5"), 1.5),
    ],
)
def test_times_are_seconds_or_moments(moment: object, seconds: float | None) -> None:
    found = seconds_of(moment)
    assert found == seconds
    assert type(found) in {int, float, type(None)}


@pytest.mark.parametrize(
    "moment", [math.nan, math.inf, np.float64("nan"), np.datetime64("NaT", "s")]
)
def test_what_is_not_finite_is_refused(moment: object) -> None:
    with pytest.raises(TimeNotFiniteError):
        seconds_of(moment)


NAIVE = dt.datetime(2024, 1, 1, tzinfo=dt.UTC).replace(tzinfo=None)


@pytest.mark.parametrize("moment", ["now", NAIVE, NAIVE.date()])
def test_what_is_no_time_or_of_no_zone_is_refused(moment: object) -> None:
    with pytest.raises(ParameterError, match="a datetime with a time zone"):
        seconds_of(moment)
