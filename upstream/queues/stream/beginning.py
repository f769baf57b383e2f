"""What a queue gets when it is attached to a stream. Everything that may fail is asked before."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...errors import ParameterError
from ...keys import KeyCell
from ...schedulers import Terms
from ..log.shared_log import LogEntry


@dataclass(frozen=True, slots=True)
class Beginning:
    """What a queue is told and takes over when it joins a stream."""

    now: float = 0.0
    since: float | None = None
    """The queue takes over the newest values that arrived at or after this time, if any."""
    terms: Mapping[KeyCell, Terms] = field(default_factory=dict)
    """The result of the queue's `terms_for` for each key of the stream."""
    entries: Sequence[LogEntry] = ()
    """The values to take over, for queues that need more than the keys."""


def oldest_to_take_over(since: object, *, snapshot: bool) -> float | None:
    """Return the earliest arrival of a key to take over, or None to take over none."""
    if since is None:
        return -math.inf if snapshot else None
    if not snapshot:
        raise ParameterError("since", since, "given together with snapshot=True")
    if not isinstance(since, (int, float)) or math.isnan(since):
        raise ParameterError("since", since, "a time in seconds, like those of Stream.now()")
    return float(since)
