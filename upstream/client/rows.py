"""Updates as the caller gives them, one by one or in columns, as rows that can be encoded."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias, TypeVar

import numpy as np

from upstream.columns import as_list, is_columnar, is_finite_time, read_times
from upstream.errors import ColumnLengthError, ParameterError, TimeNotFiniteError

from .answers import Key
from .encoding import Row

Moment: TypeAlias = float | dt.datetime | np.datetime64
"""A time: seconds, or a date and time, which is sent as seconds since 1970 in UTC."""

GivenUpdate: TypeAlias = Sequence[object] | Mapping[str, object]
"""(key, value), (key, value, time), an `Update`, or a mapping with these members."""

T = TypeVar("T")

_MEMBERS = ({"key", "value"}, {"key", "value", "time"})
_EXPECTED = '(key, value), (key, value, time), or {"key": ..., "value": ..., "time": ...}'


def rows_of(updates: Iterable[GivenUpdate]) -> Iterator[Row]:
    """Yield rows of updates; ParameterError at the first item that is not an update.

    >>> list(rows_of([("a", 1), ("b", 2, 0.5), {"key": "c", "value": 3}]))
    [('a', None, 1), ('b', 0.5, 2), ('c', None, 3)]
    """
    if isinstance(updates, Mapping):
        raise ParameterError(
            "updates", updates, "a list of updates; call .items() for a mapping of keys to values"
        )
    if isinstance(updates, str | bytes) or not isinstance(updates, Iterable):
        raise ParameterError("updates", updates, f"a list of updates, each {_EXPECTED}")
    return map(_row_of, updates)


def rows_of_columns(
    keys: Sequence[Key], values: Sequence[object], times: Sequence[Moment] | None
) -> Iterator[Row]:
    """Yield rows of columns, which may be NumPy arrays; ColumnLengthError if lengths differ."""
    lengths = {len(keys), len(values), len(keys) if times is None else len(times)}
    if len(lengths) > 1:
        raise ColumnLengthError(
            keys=len(keys), values=len(values), times=len(keys) if times is None else len(times)
        )
    moments = [None] * len(keys) if times is None else _seconds(times)
    return zip(_listed("keys", keys), moments, _listed("values", values), strict=True)


def seconds_of(moment: object) -> float | None:
    """Return a time in seconds, and None for None.

    Raises TimeNotFiniteError for a number or date that is not finite, and ParameterError for
    anything else that is not a time.

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


def _row_of(update: GivenUpdate) -> Row:
    if isinstance(update, tuple | list):
        if len(update) == 2:
            return _row(update[0], update[1], None)
        if len(update) == 3:
            return _row(*update)
    elif isinstance(update, Mapping):
        if set(update) in _MEMBERS:
            return _row(update["key"], update["value"], update.get("time"))
    elif isinstance(update, Sequence) and not isinstance(update, str | bytes):
        return _row_of(tuple(update))
    raise ParameterError("an update", update, _EXPECTED)


def _row(key: object, value: object, time: object) -> Row:
    if isinstance(key, list):
        key = tuple(key)
    elif isinstance(key, np.generic):
        key = key.item()
    if not isinstance(key, str | int | tuple):
        raise ParameterError("a key", key, "a string, an integer, or a tuple of them")
    return key, seconds_of(time), value


def _seconds(times: Sequence[Moment]) -> Iterable[float | None]:
    if is_columnar(times):
        seconds: list[float] = read_times(times).tolist()
        return seconds
    return map(seconds_of, times)


def _listed(name: str, column: Sequence[T]) -> Sequence[T]:
    return as_list(name, column) if is_columnar(column) else column  # type: ignore[return-value]
