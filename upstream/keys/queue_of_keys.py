"""The queue of keys (the report's QoK): a doubly linked list of waiting keys' places.

Everything is O(1) except `insert_by_wait`, which inserts a key that was given back. Such a key has
waited longer than nearly all others, so the search starts at the head. The list also remembers the
last key that was inserted for each start of a wait, and starts at the nearest of these. So each key
that is given back costs O(log n), in any order and even if many keys began to wait together.
"""

from __future__ import annotations

from collections.abc import Iterator

from sortedcontainers import SortedDict

from .key_cell import KeyCell
from .place import NOBODY, Place

Wait = tuple[float, int]
"""When a key began to wait, and its rank among the keys that began to wait then."""


class _Returned:
    """The places that were inserted by their waits. The next search may start at one of them.

    All places from the head to a remembered one have waited at least as long as its key says.
    """

    __slots__ = ("_places", "_waits")

    def __init__(self) -> None:
        self._places: SortedDict[Wait, Place] = SortedDict()
        self._waits: dict[Place, Wait] = {}

    def before(self, wait: Wait) -> Place | None:
        """Return a place behind which a key with this wait belongs, or None if none is known."""
        at = self._places.bisect_right(wait)
        return self._places.peekitem(at - 1)[1] if at else None

    def note(self, wait: Wait, place: Place) -> None:
        """Remember the place of a key with this wait."""
        older = self._places.get(wait)
        if older is not None:
            del self._waits[older]
        self._places[wait] = place
        self._waits[place] = wait

    def forget(self, place: Place, before: Place | None) -> None:
        """Forget a place that is removed. `before` is the place before it, or None at the head."""
        wait = self._waits.pop(place, None)
        if wait is None:
            return
        if before is None or before in self._waits:  # which is found as well
            del self._places[wait]
        else:
            self._places[wait] = before
            self._waits[before] = wait

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[tuple[Wait, Place]]:
        return iter(self._places.items())


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
        self.returned: _Returned | None = None
        """The keys that `insert_by_wait` inserted, or None if none of them is in line."""

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
        self.returned = None  # the head is no longer the key that has waited longest

    def insert_by_wait(self, place: Place) -> None:
        """Insert `place` behind the keys at the head that have waited as long or longer.

        Among keys that have waited as long, those with a greater `waiting_rank` stay behind it.
        """
        since = place.waiting_since
        assert since is not None
        returned = self.returned
        if returned is None:
            returned = self.returned = _Returned()
        wait = since, place.waiting_rank
        before = returned.before(wait) or self.end
        following = before.next
        while following is not self.end:
            if not _is_before(following, since, place.waiting_rank):
                break
            before = following
            following = before.next
        self._insert_after(before, place)
        returned.note(wait, place)

    def remove(self, place: Place) -> None:
        """Remove `place`."""
        before = place.previous
        after = place.next
        assert before is not place, "a key that is not in line"
        before.next = after
        after.previous = before
        place.previous = place.next = place
        returned = self.returned
        if returned is not None:
            returned.forget(place, None if before is self.end else before)
            if not returned:
                self.returned = None

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
        places = list(self)
        for place in places:
            assert place.previous is previous, "links that disagree"
            assert place.waiting_since is not None, "a key in line that does not wait"
            previous = place
        assert self.end.previous is previous, "a tail that is not the last"
        for (since, rank), remembered in self.returned or ():
            longest = places[: places.index(remembered) + 1]
            assert all(_is_before(place, since, rank) for place in longest)


def _is_before(other: Place, since: float, rank: int) -> bool:
    """Tell whether a waiting key stands before an inserted one; equal ones do."""
    waiting_since = other.waiting_since
    if waiting_since == since:
        return other.waiting_rank <= rank
    return waiting_since is not None and waiting_since < since
