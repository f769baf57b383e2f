"""How the page shows staleness reports, keys, and the memory of the process."""

from __future__ import annotations

import resource
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar

from upstream import Key

from .key_patterns import text_of

State = dict[str, object]
Point = TypeVar("Point")

STALEST_KEYS: Final = 10
RANKS: Final = 60
LONGEST_KEY_TEXT: Final = 120

_RANK_COLUMNS: Final = ("rank", "rate", "queue_staleness", "application_staleness")


def shown_report(report: Mapping[str, object]) -> State:
    """Return a staleness report as it is shown: keys as text, ranks as rows of numbers."""
    worst, stalest, ranks = report["worst_key"], report["stalest_keys"], report["ranks"]
    assert isinstance(stalest, list)
    assert isinstance(ranks, list)
    return dict(report) | {
        "worst_key": None if worst is None else shown_key(worst),
        "stalest_keys": [row | {"key": shown_key(row["key"])} for row in stalest[:STALEST_KEYS]],
        "ranks": [[rank[column] for column in _RANK_COLUMNS] for rank in thinned(ranks, RANKS)],
    }


def thinned(points: Sequence[Point], most: int) -> list[Point]:
    """Return at most so many of the points, evenly spaced, with the first and the last.

    >>> thinned("abcdefg", 4)
    ['a', 'c', 'e', 'g']
    """
    if len(points) <= most:
        return list(points)
    step = (len(points) - 1) / (most - 1)
    return [points[round(step * index)] for index in range(most)]


def shown_key(key: Key) -> str:
    """Return a key as people read it, cut where it is longer than they would.

    >>> shown_key("IBM"), shown_key(("IBM", 7))
    ('IBM', '["IBM",7]')
    """
    text = text_of(key)
    return text if len(text) <= LONGEST_KEY_TEXT else text[: LONGEST_KEY_TEXT - 1] + "…"


def resident_bytes() -> int:
    """Return the memory that this process occupies; where that cannot be told, its peak."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        # In kilobytes but on macOS, which has no /proc either.
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return pages * resource.getpagesize()
