"""Names in statements: found regardless of case, as in DuckDB, and suggested for misspelt ones."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

_RESERVED = re.compile(
    r"(chunk|bounds|merged|lent|prepared)_\d+"
    r"|__(step|pair|row|place|epoch|window_start|window_end|[a-z]+_?\d+)",
    re.IGNORECASE,
)
"""Our own names, in the statements that queries are rewritten to."""
STEP = "__step"
"""The column with the number of the chunk that a row belongs to."""
PAIR = "__pair"
"""The column with the number of the pair that a row belongs to."""
ROW = "__row"
"""The column with the place of a row among those that are joined."""


def found(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that equals this one except for case."""
    return next((each for each in known if each.lower() == name.lower()), None)


def is_reserved(name: str) -> bool:
    """Tell whether a name is one that rewritten queries use."""
    return _RESERVED.fullmatch(name) is not None


def reserved(name: str) -> str:
    """Return why a reserved name is refused."""
    return f"the name {name} is reserved for rewritten queries"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint: the most similar of the existing names, or all if they are few."""
    by_lower = {each.lower(): each for each in known}
    if not by_lower:
        return ""
    close = get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    if close:
        return f"did you mean {by_lower[close[0]]}?"
    names = sorted(by_lower.values())
    shown = ", ".join(names[:_SHOWN])
    more = f", or {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"choose one of {shown}{more}"


_SHOWN = 10
