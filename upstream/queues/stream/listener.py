"""The calls of a stream to each of its queues. A queue calls its stream through a `Feed`.

Both are separate objects, so that their methods are not among the public methods of users. A queue
that is attached gets a `Beginning`. Everything that may fail is asked before.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar

from ...errors import ParameterError
from ...keys import KeyCell
from ...schedulers import Terms
from ...updates import Key
from ..log.shared_log import LogEntry

if TYPE_CHECKING:
    from .feed import Feed
    from .stream import Stream


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


class Listener(Protocol):
    """The part of a queue that its stream calls.

    Only `terms_for` and `settle` may fail. All other methods are called in the middle of a change.
    """

    @property
    def copies_values(self) -> bool:
        """Whether the queue takes over values and not only keys."""
        ...

    def terms_for(self, key: Key) -> Terms:
        """Return the options given for a new key; raise if they are invalid."""
        ...

    def welcome(self, cell: KeyCell, terms: Terms) -> None:
        """Note a new key; `terms` is what `terms_for` returned for it."""
        ...

    def take_over(self, cell: KeyCell, now: float) -> None:
        """Take over the newest update of a key, or its deletion, as if it had arrived now."""
        ...

    def settle(self) -> None:
        """Read the entries of the stream's log that the queue has not read."""
        ...

    def has_arrived(self, cell: KeyCell) -> bool:
        """Tell whether the key has arrived at the queue and is not forgotten, or may have."""
        ...

    def holds(self, cell: KeyCell) -> bool:
        """Tell whether an update of the key waits or is in process, or may be."""
        ...

    def forget_cell(self, cell: KeyCell, now: float) -> None:
        """Forget what the queue knows of the key. Waiting updates count as expired."""
        ...


Final_co = TypeVar("Final_co", covariant=True)
"""The final statistics, which a queue returns when it is detached."""


class Attachable(Protocol[Final_co]):
    """A queue that can be attached to a stream."""

    def _prepare_to_join(self, stream: Stream) -> Listener:
        """Return the queue's listener; raise if the queue cannot join. Change nothing."""
        ...

    def _join(self, stream: Stream, feed: Feed, beginning: Beginning) -> None:
        """Start to be fed."""
        ...

    def _leave(self) -> Final_co:
        """Stop being fed, release everything, and return the final statistics."""
        ...


def oldest_to_take_over(since: object, *, snapshot: bool) -> float | None:
    """Return the earliest arrival of a key to take over, or None to take over none."""
    if since is None:
        return -math.inf if snapshot else None
    if not snapshot:
        raise ParameterError("since", since, "given together with snapshot=True")
    if not isinstance(since, (int, float)) or math.isnan(since):
        raise ParameterError("since", since, "a time in seconds, like those of Stream.now()")
    return float(since)
