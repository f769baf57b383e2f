"""The keys of a stream by last arrival, in one list that all queues share.

Each accepted update moves its key to the newest end. A FIFO update queue is a marker in this list.
The keys on the newer side of the marker have arrived since the queue passed them, and wait there in
FIFO order. So the order is kept once per stream and not once per queue. Expiry and forgetting also
use markers, because the oldest keys by arrival fall due first.
"""

from __future__ import annotations

from collections.abc import Iterator

from .key_cell import NOWHERE, KeyCell, Link


class Marker(Link):
    """The position of a reader. The reader has passed all keys on its older side."""

    __slots__ = ()


class ArrivalOrder:
    """A doubly linked list of key cells from the oldest last arrival to the newest.

    >>> order = ArrivalOrder()
    >>> cells = [KeyCell(key, index, time=0.0, arrival=0.0) for index, key in enumerate("AB")]
    >>> for cell in cells:
    ...     order.append(cell)
    >>> order.move_to_newest(cells[0])
    >>> [cell.key for cell in order]
    ['B', 'A']
    """

    __slots__ = ("end",)

    def __init__(self) -> None:
        end = Link()
        end.older = end.newer = end
        self.end = end
        """The list's own element between the newest and the oldest, which closes it to a ring."""

    def append(self, link: Link) -> None:
        """Put a cell or marker at the newest end."""
        newest = self.end.older
        self.insert_after(newest, link)

    def prepend(self, link: Link) -> None:
        """Put a cell or marker at the oldest end."""
        self.insert_after(self.end, link)

    def remove(self, link: Link) -> None:
        """Remove a cell or marker."""
        older = link.older
        newer = link.newer
        older.newer = newer
        newer.older = older
        link.older = link.newer = NOWHERE

    def move_to_newest(self, link: Link) -> None:
        """Move the cell of a key that has arrived again to the newest end."""
        end = self.end
        older = link.older
        newer = link.newer
        newest = end.older
        if newer is end:
            return
        older.newer = newer
        newer.older = older
        link.older = newest
        link.newer = end
        newest.newer = link
        end.older = link

    def next_cell(self, link: Link) -> KeyCell | None:
        """Return the first key on the newer side of `link`. O(markers in between)."""
        after = link.newer
        while after is not self.end:
            if isinstance(after, KeyCell):
                return after
            after = after.newer
        return None

    def move_past(self, marker: Marker, cell: KeyCell) -> None:
        """Move `marker` to the newer side of `cell`."""
        self.remove(marker)
        self.insert_after(cell, marker)

    def close(self) -> None:
        """Remove all elements, so that no reference cycle keeps them in memory. O(keys)."""
        link = self.end
        while link is not NOWHERE:
            following = link.newer
            link.older = link.newer = NOWHERE
            link = following

    def __del__(self) -> None:
        self.close()

    def insert_after(self, before: Link, link: Link) -> None:
        """Put a cell or marker on the newer side of `before`."""
        after = before.newer
        link.older = before
        link.newer = after
        before.newer = link
        after.older = link

    def __iter__(self) -> Iterator[KeyCell]:
        """Iterate over the cells from the oldest; the list must not change meanwhile."""
        link = self.end.newer
        while link is not self.end:
            if isinstance(link, KeyCell):
                yield link
            link = link.newer

    def _check(self) -> None:
        previous = self.end
        arrival = -float("inf")
        link = self.end.newer
        while link is not self.end:
            assert link.older is previous, "links that disagree"
            if isinstance(link, KeyCell):
                assert link.arrival >= arrival, "a key out of arrival order"
                arrival = link.arrival
            previous = link
            link = link.newer
        assert self.end.older is previous
