"""What a micro-batch has of one key, as it comes to the bucket of the key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from upstream.updates import Key


class ConflatedRow(NamedTuple):
    """The updates of a key in a part of a micro-batch: the newest, and the times of those before.

    Updates that are older than one before them in the part are late whatever is known of the key,
    and only counted. Of the others, whose times ascend, some may be older than what is known.
    """

    key_hash: int
    key: Key
    payload: tuple[object, ...]
    """The newest row."""
    times: Sequence[float]
    positions: Sequence[int]
    """Where these updates are in their part of the micro-batch."""
    partition: int = 0
    """Which part that is."""
    late: int = 0
    rejected: int = 0
    """Rows with no key, or with no time; they have a row to themselves."""
    is_deletion: bool = False

    @classmethod
    def of(cls, key: Key, *payload: object, time: float, position: int = 0) -> ConflatedRow:
        """Return a row of a single update.

        >>> ConflatedRow.of("IBM", 24.0, time=1.0).times
        (1.0,)
        """
        return cls(hash(key), key, payload, (time,), (position,))
