"""The keys of one queue: their places in it, and how stale they have been.

A place is in a column, at the number of its key in the stream, so finding it needs no second hash
table. A key counts from its first arrival at the queue. A forgotten key still counts with its
averages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..keys import KeyCell, Place
from ..staleness import StalenessSums

Mean = Callable[[StalenessSums, Place, float], float]

MEANS: dict[str, Mean] = {
    "queue": StalenessSums.queue_mean,
    "application": StalenessSums.application_mean,
}
"""The function that averages each kind of staleness, by the name of the kind."""


class QueuePlaces:
    """The places of the keys of one queue, and the staleness integrated so far.

    >>> places = QueuePlaces()
    >>> cell = KeyCell("IBM", 0, time=0.0, arrival=0.0)
    >>> places.find(cell) is None
    True
    """

    __slots__ = ("column", "forgotten", "sums")

    def __init__(self) -> None:
        self.column: list[Place | None] = []
        """The places by the numbers of their keys. The list stays the same object."""
        self.sums = StalenessSums()
        self.forgotten = 0
        """How many times a key was forgotten."""

    def find(self, cell: KeyCell) -> Place | None:
        """Return the key's place in this queue, or None."""
        column = self.column
        return column[cell.index] if cell.index < len(column) else None

    def has_arrived(self, cell: KeyCell) -> bool:
        """Tell whether the key has arrived here and is not forgotten."""
        place = self.find(cell)
        return place is not None and place.delivered_version >= 0

    def holds(self, cell: KeyCell) -> bool:
        """Tell whether an update of the key waits or is in process here."""
        place = self.find(cell)
        return place is not None and (place.in_process > 0 or place.waiting_since is not None)

    def put(self, cell: KeyCell, place: Place) -> None:
        """Give a key its place."""
        index = cell.index
        column = self.column
        if index >= len(column):
            column.extend([None] * (index + 1 + index // 8 - len(column)))
        assert column[index] is None, "the key already has a place in this queue"
        column[index] = place

    def reserve(self, rows: int) -> None:
        """Make room for exactly `rows` keys, because most are known when a queue begins."""
        assert not self.column, "the queue already has keys"
        self.column[:] = [None] * rows
        self.sums.reserve(rows)

    def retire(self, place: Place, now: float) -> None:
        """Stop counting a key, except for its averages."""
        if place.delivered_version >= 0:
            self.sums.retire(place, now)
            self.forgotten += 1

    def forget(self, place: Place, now: float) -> None:
        """Forget the key of a place. Its updates in process can still be delivered."""
        self.retire(place, now)
        place.delivered_version = place.version_before = Place.FORGOTTEN
        self.column[place.cell.index] = None

    def close(self, now: float) -> None:
        """Close the sums of all keys of a closed queue, and release the places."""
        for place in self.counted():
            self.sums.retire(place, now)
        for known in self.column:
            if known is not None:
                known.close()
        self.column.clear()
        self.sums.close()

    def counted(self) -> Iterator[Place]:
        """Iterate over the places of the keys that count."""
        return (
            place for place in self.column if place is not None and place.delivered_version >= 0
        )

    def mean(self, of: str, now: float) -> float:
        """Return staleness averaged over time and over keys, including forgotten ones. O(keys)."""
        mean = MEANS[of]
        total = self.sums.retired_means[of]
        count = self.sums.retired
        for place in self.counted():
            total += mean(self.sums, place, now)
            count += 1
        return total / count if count else 0.0

    def describe(self, now: float) -> str:
        """Return the mean staleness until `now` as text, for representations. O(keys)."""
        queue, application = (self.mean(of, now) for of in MEANS)
        return f"queue staleness {queue:.3g} s, application staleness {application:.3g} s"

    def _check(self) -> None:
        assert self.sums.counted == sum(1 for _ in self.counted())
