"""Read one number per key from the caller's data: lists, columns, or mappings by key.

The rates define the number of keys and their order. Costs and weights follow them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError

Key = TypeVar("Key")

Floats = NDArray[np.float64]
PerKey = Iterable[float] | Mapping[Key, float]

_EXPECTED = "a finite number, 0 or more"


def one_per_key(
    name: str, given: object, error: type[ParameterError], *, rates: object, size: int | None = None
) -> Floats:
    """Return the given numbers in the order of the rates.

    >>> from upstream.errors import CostError
    >>> one_per_key("cost", {"b": 2, "a": 1}, CostError, rates={"a": 5, "b": 5}).tolist()
    [1.0, 2.0]
    """
    if isinstance(given, Mapping):
        given = _in_order_of(rates, given, name)
    elif isinstance(rates, Mapping):
        raise ParameterError(name, type(given).__name__, "a mapping by key, like the rates")
    column = _as_floats(name, given, error)
    if size is not None and column.size != size:
        raise ParameterError(name, column.size, f"{size} numbers, one for each rate")
    wrong = np.flatnonzero(~(np.isfinite(column) & (column >= 0.0)))
    if wrong.size:
        row = int(wrong[0])
        label = list(rates)[row] if isinstance(rates, Mapping) else row
        raise error(f"{name}[{label!r}]", float(column[row]), _EXPECTED)
    return column


def same_for_all(name: str, given: object, error: type[ParameterError], *, size: int) -> Floats:
    """Return the given number once for each key.

    >>> from upstream.errors import CostError
    >>> same_for_all("cost", 0.5, CostError, size=2).tolist()
    [0.5, 0.5]
    """
    number = float(_as_floats(name, [given], error)[0])
    if not (np.isfinite(number) and number >= 0.0):
        raise error(name, given, _EXPECTED)
    return np.full(size, number)


def _in_order_of(rates: object, given: Mapping[object, object], name: str) -> list[object]:
    if not isinstance(rates, Mapping):
        raise ParameterError(name, "a mapping", "a sequence, like the rates")
    for key in rates:
        if key not in given:
            raise ParameterError(f"{name}[{key!r}]", None, "given, because the key has a rate")
    for key, number in given.items():
        if key not in rates:
            raise ParameterError(
                f"{name}[{key!r}]", number, "left out, because the key has no rate"
            )
    return [given[key] for key in rates]


def _as_floats(name: str, given: object, error: type[ParameterError]) -> Floats:
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise error(name, given, "a sequence or a mapping with one number per key")
    try:
        column = np.asarray(given if isinstance(given, np.ndarray) else list(given))
        if column.dtype.kind not in "biufO":
            raise TypeError
        column = column.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise error(name, type(given).__name__, "finite numbers, 0 or more, one per key") from None
    if column.ndim != 1:
        raise ParameterError(name, f"{column.ndim} dimensions", "numbers in one dimension")
    return column
