"""Leases by the thousand in a few words, since they go into the offsets of a query.

The service numbers leases as it grants them, so those of one answer are a prefix and consecutive
numbers. That is only used here, not relied upon: any other name stands for itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

_NUMBERED = re.compile(r"(.*\D)(0|[1-9]\d{0,17})", re.DOTALL)


def to_ranges(leases: Iterable[str]) -> dict[str, int]:
    """Return the first name of each run of consecutive ones, and how many there are in it.

    >>> to_ranges(["5f1c-8", "5f1c-9", "5f1c-10", "other"])
    {'5f1c-8': 3, 'other': 1}
    """
    ranges: dict[str, int] = {}
    first = following = None
    for lease in leases:
        if first is not None and lease == following:
            ranges[first] += 1
        else:
            first = lease
            ranges[first] = 1
        following = _next(lease)
    return ranges


def from_ranges(ranges: Mapping[str, int]) -> Iterator[str]:
    """Yield the leases that ranges stand for.

    >>> list(from_ranges({"5f1c-8": 3, "other": 1}))
    ['5f1c-8', '5f1c-9', '5f1c-10', 'other']
    """
    for first, count in ranges.items():
        lease: str | None = first
        for _ in range(count):
            assert lease is not None, "a name without a number begins no run"
            yield lease
            lease = _next(lease)


def _next(lease: str) -> str | None:
    """Return the name after this one, None if it has no number."""
    found = _NUMBERED.fullmatch(lease)
    return None if found is None else f"{found[1]}{int(found[2]) + 1}"
