"""Updates as callers give them, one by one or in columns, as rows to send."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias, TypeVar

import numpy as np

from upstream.columns import as_list, is_columnar, read_times
from upstream.errors import ColumnLengthError, ParameterError

from .answers import Key
from .encoding import Row
from .moments import Moment, seconds_of

GivenUpdate: TypeAlias = Sequence[object] | Mapping[str, object]
"""(key, value), (key, value, time), an `Update`, or a mapping with these as members."""

T = TypeVar("T")

_MEMBERS = ({"key", "value"}, {"key", "value", "time"})
_EXPECTED = '(key, value), (key, value, time), or {"key": ..., "value": ..., "time": ...}'


def rows_of(updates: Iterable[GivenUpdate]) -> Iterator[Row]:
    """Return rows of updates; ParameterError at the first that is none.

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
    """Yield rows of columns, which may be NumPy's; ColumnLengthError if they do not match."""
    lengths = {len(keys), len(values), len(keys) if times is None else len(times)}
    if len(lengths) > 1:
        raise ColumnLengthError(
            keys=len(keys), values=len(values), times=len(keys) if times is None else len(times)
        )
    moments = [None] * len(keys) if times is None else _seconds(times)
    return zip(_listed("keys", keys), moments, _listed("values", values), strict=True)


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
