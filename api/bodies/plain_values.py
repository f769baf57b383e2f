"""Decoded values, and whether JSON can represent them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from types import NoneType
from typing import Final, cast

from . import reasons
from .reasons import Limits

_ALWAYS_GOOD: Final = frozenset((int, bool, NoneType))


def has_nul(value: object) -> bool:
    """Tell whether a string in a value contains NUL."""
    return any("\0" in part for level in _levels(value) for part in level if isinstance(part, str))


def fault_of(value: object, limits: Limits) -> str | None:
    """Return why JSON, within the limit of depth, cannot represent a value; None if it can."""
    for depth, level in enumerate(_levels(value)):
        for part in level:
            kind = type(part)
            if kind in _ALWAYS_GOOD:
                continue
            if isinstance(part, str):
                if "\0" in part:
                    return f"value: {reasons.NUL}"
            elif isinstance(part, float):
                if not math.isfinite(part):
                    return reasons.NOT_JSON
            elif kind is not list and not _is_object(part):
                return reasons.NOT_JSON
            elif depth >= limits.depth:
                return reasons.too_deep(limits)
    return None


def are_good(values: list[object]) -> bool:
    """Tell whether JSON can surely represent all of these values."""
    kinds = set(map(type, values))
    if kinds == {float}:
        # A sum is finite only if all its terms are. The reverse fails for huge terms only.
        return math.isfinite(sum(cast(list[float], values)))
    return kinds <= _ALWAYS_GOOD


def _is_object(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(name, str) for name in value)


def _levels(value: object) -> Iterator[list[object]]:
    """Yield the value, then its members, then theirs, without recursion, for any depth."""
    level = [value]
    while level:
        yield level
        inner: list[object] = []
        for part in level:
            if isinstance(part, list):
                inner += part
            elif isinstance(part, dict):
                inner += part
                inner += part.values()
        level = inner
