"""Leases: what a consumer was handed waits again, unless it is delivered in time.

A lease that was granted under an idempotency key does not run out, since a retry is to get the same
answer; it is given back when that answer is forgotten.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import count

from upstream import Key, Update


@dataclass(slots=True)
class Lease:
    """One update in a consumer's hands."""

    name: str
    update: Update
    due: float
    """When it runs out, by the stream's clock."""


class Leases:
    """The leases of one queue. O(1) per lease.

    `give_back` is called with each update whose lease runs out.
    """

    __slots__ = ("_by_key", "_by_name", "_give_back", "_in_order", "_numbers", "_run", "seconds")

    def __init__(self, seconds: float, *, run: str, give_back: Callable[[Update], None]) -> None:
        self.seconds = seconds
        self._run = run
        self._give_back = give_back
        self._numbers = count(1)
        self._by_name: dict[str, Lease] = {}
        self._by_key: dict[Key, dict[str, Lease]] = {}
        self._in_order: deque[Lease] = deque()  # those that run out, which all last as long

    def grant(self, updates: Iterable[Update], *, now: float, expires: bool = True) -> list[str]:
        """Return a lease for each update."""
        names = []
        for update in updates:
            name = f"{self._run}-{next(self._numbers)}"
            lease = Lease(name, update, now + self.seconds if expires else math.inf)
            self._by_name[name] = lease
            self._by_key.setdefault(update.key, {})[name] = lease
            if expires:
                self._in_order.append(lease)
            names.append(name)
        return names

    def end(self, name: str) -> Update | None:
        """End a lease and return its update, None if there is no such lease (any more)."""
        lease = self._by_name.pop(name, None)
        if lease is None:
            return None
        of_key = self._by_key[lease.update.key]
        del of_key[name]
        if not of_key:
            del self._by_key[lease.update.key]
        return lease.update

    def of_key(self, key: Key) -> list[str]:
        """Return the leases of a key's updates, the oldest first."""
        return list(self._by_key.get(key, ()))

    def release(self, names: Iterable[str]) -> None:
        """Give back the updates of those leases that have not ended."""
        for name in names:
            update = self.end(name)
            if update is not None:
                self._give_back(update)

    def expire(self, now: float) -> int:
        """Give back what has run out, and return how many there were."""
        expired = 0
        while self._in_order and self._in_order[0].due <= now:
            lease = self._in_order.popleft()
            if self._by_name.get(lease.name) is lease:
                self.end(lease.name)
                self._give_back(lease.update)
                expired += 1
        return expired

    def next_due(self) -> float | None:
        """Return when the next lease runs out, None if none will."""
        in_order = self._in_order
        while in_order and in_order[0].name not in self._by_name:
            in_order.popleft()
        return in_order[0].due if in_order else None

    def __len__(self) -> int:
        return len(self._by_name)

    def __iter__(self) -> Iterator[Lease]:
        return iter(self._by_name.values())

    def _check(self) -> None:
        by_key = {name for leases in self._by_key.values() for name in leases}
        assert by_key == set(self._by_name)
        expiring = {lease.name for lease in self._by_name.values() if lease.due < math.inf}
        assert expiring <= {lease.name for lease in self._in_order}
        dues = [lease.due for lease in self._in_order]
        assert dues == sorted(dues), "a lease that would run out too late"
