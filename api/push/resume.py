"""Where a connection begins: with the next update, a snapshot, or where another one ended.

The id of a message is the run, which identifies the stream, and a sequence: a moment on the
stream's scale of arrivals, in microseconds. Every update that arrived before it, and is still the
newest of its key, was in that message or an earlier one. So a client that has these messages misses
no key if it continues with the keys whose newest update arrived since then.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from upstream import Key, Update

from .feed import QueueFeed
from .selection import Selection, SelectionError


@dataclass(frozen=True, slots=True)
class Beginning:
    """What a connection sends before the updates that are still to arrive."""

    snapshot: bool = False
    """Whether it sends the newest values."""
    since: float | None = None
    """Send only keys whose newest update arrived at this time or later. None means all keys."""
    deletions: tuple[Update, ...] = ()
    """Deletions of keys that the client may know."""
    is_reset: bool = False
    """Whether the client must forget its values."""


def beginning_of(selection: Selection, feed: QueueFeed) -> Beginning:
    """Return where a connection begins: with the newest values, unless it does not want them.

    A client that asks to resume gets what it may have missed. If that is no longer known, it gets a
    snapshot, and is told to forget its values. Streams that retain no values have neither.
    """
    keeps_values = feed.stream.stream.retain
    if selection.last_event_id is not None:
        return _resume(selection.last_event_id, feed, selection.is_wanted, keeps_values)
    if selection.snapshot and not keeps_values:
        raise SelectionError("snapshot", "false, since the stream does not retain values")
    return Beginning(snapshot=keeps_values and selection.snapshot is not False)


def _resume(
    last_event_id: str, feed: QueueFeed, is_wanted: Callable[[Key], bool], keeps_values: bool
) -> Beginning:
    stream = feed.stream
    since = arrival_of(last_event_id, run=stream.run, now=stream.stream.now())
    deletions = None if since is None else stream.deletions.since(since)
    if deletions is None or not keeps_values:
        return Beginning(snapshot=keeps_values, is_reset=True)
    wanted = tuple(deletion for deletion in deletions if is_wanted(deletion.key))
    return Beginning(snapshot=True, since=since, deletions=wanted)


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

    None if that is unknown: the id belongs to another run, or this run has not given it.

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
