"""The tuple that everything here is about: a new value for a key, at a time of its source.

An update is an immutable tuple rather than a frozen dataclass because one is made for every
dequeue, and a dataclass costs four times as much to make (DECISIONS.md).
"""

from __future__ import annotations

from collections.abc import Hashable
from enum import Enum
from typing import Final, NamedTuple

Key = Hashable
"""What an update is about: any value that can be hashed and equals itself."""


class Tombstone(Enum):
    """The type of :data:`TOMBSTONE`; an enumeration of one, so that it survives pickling."""

    TOMBSTONE = "tombstone"

    def __repr__(self) -> str:
        return "TOMBSTONE"


TOMBSTONE: Final = Tombstone.TOMBSTONE
"""The value that deletes a key: delivered like any other update, then the key is forgotten."""


class Update(NamedTuple):
    """One tuple of an update stream: `value` is what `key` became at `time`, in seconds.

    >>> Update("IBM", 24.0, 0.0)
    Update(key='IBM', value=24.0, time=0.0)
    """

    key: Key
    value: object
    time: float


class Outcome(Enum):
    """What became of one enqueued update."""

    WAITING = "waiting"
    """Its key did not wait, and waits now."""
    SUPERSEDED = "superseded"
    """Its key waited already; the value that waited was replaced by this newer one."""
    LATE = "late"
    """It is older than the newest update known for its key, and was dropped."""
    REJECTED = "rejected"
    """There was no room for its key."""
    OUTSIDE = "outside"
    """It is in no open window of a window queue, and was dropped."""
