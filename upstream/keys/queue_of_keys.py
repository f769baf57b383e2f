"""The queue of keys (the report's QoK): a doubly linked list of waiting keys' places.

Everything is O(1) but `insert_by_wait`, which looks for the place of a key that was given back.
Such a key has waited longer than nearly all others, so the search starts at the head; it also
remembers the last key that it put in, so that any number given back in their order cost O(1) each.
"""

from __future__ import annotations

from collections.abc import Iterator

from .key_cell import KeyCell
from .place import NOBODY, Place


class QueueOfKeys:
    """A list of places whose head is to be served next.

    >>> line = QueueOfKeys()
    >>> place = Place(KeyCell("IBM", 0, time=0.0, arrival=0.0), NOBODY)
    >>> line.append(place)
    >>> line.head() is place
    True
    """

    __slots__ = ("end", "returned")

    def __init__(self) -> None:
        end = Place(KeyCell(None, -1, time=0.0, arrival=0.0), NOBODY)
        end.previous = end.next = end
        self.end = end
        """The list's own element between tail and head, which closes it to a ring."""
        self.returned: Place | None = None
        """The place that `insert_by_wait` put in last, or one before it; None if that is gone."""

    def head(self) -> Place | None:
        """Return the place to be served next, or None."""
        first = self.end.next
        return None if first is self.end else first

    def append(self, place: Place) -> None:
        """Put `place` at the tail."""
        end = self.end
        last = end.previous
        place.previous = last
        place.next = end
        last.next = place
        end.previous = place

    def prepend(self, place: Place) -> None:
        """Put `place` at the head."""
        self._insert_after(self.end, place)
        self.returned = None  # the head is no longer what waited longest

    def insert_by_wait(self, place: Place) -> None:
        """Put `place` behind the keys at the head that have waited as long as it or longer.

        Of keys that have waited as long, behind those whose `waiting_rank` is not greater.
        """
        since = place.waiting_since
        assert since is not None
        before = self.end
        hint = self.returned
        if hint is not None and _is_before(hint, since, place.waiting_rank):
            before = hint
        following = before.next
        while following is not self.end:
            if not _is_before(following, since, place.waiting_rank):
                break
            before = following
            following = before.next
        self._insert_after(before, place)
        self.returned = place

    def remove(self, place: Place) -> None:
        """Take `place` out."""
        before = place.previous
        after = place.next
        assert before is not place, "a key that is not in line"
        before.next = after
        after.previous = before
        place.previous = place.next = place
        if place is self.returned:
            self.returned = None if before is self.end else before

    def __del__(self) -> None:
        self.end.close()  # which is linked to itself

    def _insert_after(self, before: Place, place: Place) -> None:
        after = before.next
        place.previous = before
        place.next = after
        before.next = place
        after.previous = place

    def __iter__(self) -> Iterator[Place]:
        """Iterate from the head; the list must not change meanwhile."""
        place = self.end.next
        while place is not self.end:
            yield place
            place = place.next

    def _check(self) -> None:
        previous = self.end
        seen_hint = self.returned is None
        for place in self:
            assert place.previous is previous, "links that disagree"
            assert place.waiting_since is not None, "a key in line that does not wait"
            seen_hint = seen_hint or place is self.returned
            previous = place
        assert self.end.previous is previous, "a tail that is not the last"
        assert seen_hint, "a remembered place that is not in line"


def _is_before(other: Place, since: float, rank: int) -> bool:
    """Tell whether a key that waits stands before one that is put in, of equal ones it does."""
    waiting_since = other.waiting_since
    if waiting_since == since:
        return other.waiting_rank <= rank
    return waiting_since is not None and waiting_since < since
