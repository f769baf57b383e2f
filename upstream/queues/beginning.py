"""With what a queue begins when it is attached to a stream: all that may fail is asked before."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..errors import ParameterError
from ..keys import KeyCell
from ..schedulers import Terms
from .shared_log import LogEntry

if TYPE_CHECKING:
    from .stream import Stream


@dataclass(frozen=True, slots=True)
class Beginning:
    """What a queue is told, and takes over, when it joins a stream."""

    now: float = 0.0
    since: float | None = None
    """It takes over the newest values that arrived at or after this moment; None for none."""
    terms: Mapping[KeyCell, Terms] = field(default_factory=dict)
    """What the queue has answered to `admit` for each key of the stream."""
    entries: Sequence[LogEntry] = ()
    """The values to take over, for queues that need more than the keys."""


def newest_entries(stream: Stream, since: float) -> list[LogEntry]:
    """Return the newest values that arrived at or after `since`, as they arrived. O(keys)."""
    return [entry_of(stream, cell) for cell in stream.newest_cells(since)]


def entry_of(stream: Stream, cell: KeyCell) -> LogEntry:
    """Return the newest update of a key as the log would have it."""
    value = stream.values.load(cell)
    return LogEntry(cell, value, time=cell.time, arrival=cell.arrival, version=cell.version)


def oldest_to_take_over(since: object, *, snapshot: bool) -> float | None:
    """Return from which arrival on keys are taken over, None if none are."""
    if since is None:
        return -math.inf if snapshot else None
    if not snapshot:
        raise ParameterError("since", since, "given together with snapshot=True")
    if not isinstance(since, (int, float)) or math.isnan(since):
        raise ParameterError("since", since, "a time in seconds, as Stream.now() tells it")
    return float(since)
