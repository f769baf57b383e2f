"""Leases: a dequeued update waits again unless it is delivered in time.

A lease that was granted under an idempotency key does not run out while a retry is possible, since
a retry gets the same answer. After that it is a lease like any other.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import count
from typing import Final

from upstream import Key, Update

SPARE_ENTRIES: Final = 64
"""How many entries of ended leases are kept before they are removed."""


@dataclass(slots=True)
class Lease:
    """The lease of one update."""

    name: str
    update: Update
    ends_at: float
    """When it runs out, by the stream's clock."""
    may_expire: bool


class Leases:
    """The leases of one queue. O(log leases) per lease.

    `give_back` is called with each update whose lease runs out. There are at most `most` leases.
    Beyond that the oldest end, since the queue counts their updates as delivered.
    """

    __slots__ = (
        "_by_key",
        "_by_name",
        "_dues",
        "_give_back",
        "_most",
        "_numbers",
        "_token",
        "seconds",
    )

    def __init__(self, seconds: float, *, give_back: Callable[[Update], None], most: int) -> None:
        self.seconds = seconds
        self._most = most
        # Names differ from those of earlier and later queues of the same name.
        self._token = secrets.token_hex(5)
        self._give_back = give_back
        self._numbers = count(1)
        self._by_name: dict[str, Lease] = {}
        self._by_key: dict[Key, dict[str, Lease]] = {}
        self._dues: list[tuple[float, str]] = []

    def grant(self, updates: Iterable[Update], *, now: float, expires: bool = True) -> list[str]:
        """Return a lease for each update."""
        names = []
        for update in updates:
            name = f"{self._token}-{next(self._numbers)}"
            lease = Lease(name, update, now + self.seconds, expires)
            self._by_name[name] = lease
            self._by_key.setdefault(update.key, {})[name] = lease
            if expires:
                heappush(self._dues, (lease.ends_at, name))
            names.append(name)
        while len(self._by_name) > self._most:
            self.end(next(iter(self._by_name)))
        return names

    def end(self, name: str) -> Update | None:
        """End a lease and return its update, or None if the lease is unknown or has ended."""
        lease = self._by_name.pop(name, None)
        if lease is None:
            return None
        of_key = self._by_key[lease.update.key]
        del of_key[name]
        if not of_key:
            del self._by_key[lease.update.key]
        if len(self._dues) > 2 * len(self._by_name) + SPARE_ENTRIES:
            self._dues = [entry for entry in self._dues if entry[1] in self._by_name]
            heapify(self._dues)
        return lease.update

    def of_key(self, key: Key) -> list[str]:
        """Return the leases of a key's updates, oldest first."""
        return list(self._by_key.get(key, ()))

    def let_expire(self, names: Iterable[str], now: float) -> None:
        """Let these leases run out `seconds` after they were granted, if they have not ended."""
        for name in names:
            lease = self._by_name.get(name)
            if lease is not None and not lease.may_expire:
                lease.may_expire = True
                heappush(self._dues, (max(lease.ends_at, now), name))

    def expire(self, now: float) -> int:
        """Give back the updates whose leases have run out, and return their number."""
        expired = 0
        while self._dues and self._dues[0][0] <= now:
            update = self.end(heappop(self._dues)[1])
            if update is not None:
                self._give_back(update)
                expired += 1
        return expired

    def next_due(self) -> float:
        """Return when the next lease runs out; infinity if none does."""
        while self._dues and self._dues[0][1] not in self._by_name:
            heappop(self._dues)
        return self._dues[0][0] if self._dues else math.inf

    def clear(self) -> None:
        """End all leases, since their queue is closed."""
        self._by_name.clear()
        self._by_key.clear()
        self._dues.clear()

    def __len__(self) -> int:
        return len(self._by_name)

    def __iter__(self) -> Iterator[Lease]:
        return iter(self._by_name.values())

    def _check(self) -> None:
        by_key = {name for leases in self._by_key.values() for name in leases}
        assert by_key == set(self._by_name)
        expiring = {lease.name for lease in self if lease.may_expire}
        assert expiring <= {name for _, name in self._dues}, "a lease that never runs out"
        assert len(self._dues) <= 2 * len(self) + SPARE_ENTRIES + 1, "too many that have ended"
