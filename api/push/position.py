"""Where a connection has got to: the ids of its messages, from which another one can resume.

An id is the run, which tells a stream from others of its name, and a sequence: a moment on the
stream's scale of arrivals, in microseconds. All that arrived before it and is still the newest of
its key was in that message or in one before. So whoever has these misses no key if it goes on with
the keys whose newest update arrived since then.
"""

from __future__ import annotations

import math
from typing import Final

TICKS_PER_SECOND: Final = 1_000_000
LONGEST_ID: Final = 128


def sequence_before(arrival: float) -> int:
    """Return the sequence of the last moment that is surely before `arrival`.

    >>> sequence_before(1.5)
    1499999
    """
    return max(math.floor(arrival * TICKS_PER_SECOND) - 1, 0)


def id_of(run: str, sequence: int) -> str:
    """Return the id of a message.

    >>> id_of("5eb63bbb", 1499999)
    '5eb63bbb-1499999'
    """
    return f"{run}-{sequence}"


def arrival_of(message_id: str, *, run: str, now: float) -> float | None:
    """Return since when a client that has this message may have missed something.

    None if that cannot be told: the id is of another run, or none that this one has given.

    >>> arrival_of("5eb63bbb-1499999", run="5eb63bbb", now=2.0)
    1.499999
    >>> arrival_of("5eb63bbb-1499999", run="cafe", now=2.0) is None
    True
    """
    its_run, _, digits = message_id.rpartition("-")
    if its_run != run or len(message_id) > LONGEST_ID or not _is_number(digits):
        return None
    arrival = int(digits) / TICKS_PER_SECOND
    return arrival if arrival <= now else None


def _is_number(digits: str) -> bool:
    return digits.isascii() and digits.isdecimal()
