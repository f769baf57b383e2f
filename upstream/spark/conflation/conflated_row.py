"""The updates of one key in a part of a micro-batch, on their way to the key's bucket."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from upstream.updates import Key


class ConflatedRow(NamedTuple):
    """The updates of a key in a part of a micro-batch: the newest row, and the times of all.

    Updates that are older than one before them in the part are certainly late, and are only
    counted. The times of the others ascend; some may still be older than the newest known update.
    """

    key_hash: int
    key: Key
    payload: tuple[object, ...]
    """The newest row."""
    times: Sequence[float]
    positions: Sequence[int]
    """The positions of these updates in their part of the micro-batch."""
    partition: int = 0
    """The number of that part."""
    late: int = 0
    rejected: int = 0
    """How many rows have no key or no time; they are in a row of their own."""
    is_deletion: bool = False

    @classmethod
    def of(cls, key: Key, *payload: object, time: float, position: int = 0) -> ConflatedRow:
        """Return a row of a single update.

        >>> ConflatedRow.of("IBM", 24.0, time=1.0).times
        (1.0,)
        """
        return cls(hash(key), key, payload, (time,), (position,))
