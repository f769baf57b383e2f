"""A short form for thousands of leases, because they are stored in the offsets of a query.

The service numbers leases as it grants them, so the leases of one answer are a prefix with
consecutive numbers. The short form is correct for other names too, only longer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

_NUMBERED = re.compile(r"(.*\D)(0|[1-9]\d{0,17})", re.DOTALL)


def to_ranges(leases: Iterable[str]) -> dict[str, int]:
    """Return the first name of each consecutive run, and the length of the run.

    >>> to_ranges(["5f1c-8", "5f1c-9", "5f1c-10", "other"])
    {'5f1c-8': 3, 'other': 1}
    """
    ranges: dict[str, int] = {}
    first, prefix, following = "", "", -1
    for lease in leases:
        if following >= 0 and lease == f"{prefix}{following}":
            ranges[first] += 1
            following += 1
        else:
            first = lease
            ranges[first] = 1
            prefix, number = _parts(lease)
            following = number + 1 if number >= 0 else -1
    return ranges


def from_ranges(ranges: Mapping[str, int]) -> Iterator[str]:
    """Yield the leases in the ranges.

    >>> list(from_ranges({"5f1c-8": 3, "other": 1}))
    ['5f1c-8', '5f1c-9', '5f1c-10', 'other']
    """
    for first, count in ranges.items():
        yield first
        prefix, number = _parts(first)
        assert count == 1 or number >= 0, "a name without a number begins no run"
        yield from (f"{prefix}{following}" for following in range(number + 1, number + count))


def _parts(lease: str) -> tuple[str, int]:
    """Return the prefix of a name and its number; the number is -1 if there is none."""
    found = _NUMBERED.fullmatch(lease)
    return ("", -1) if found is None else (found[1], int(found[2]))
