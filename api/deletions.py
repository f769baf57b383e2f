"""The recently deleted keys of a stream, for consumers that were disconnected.

A deleted key is forgotten once all queues have delivered its deletion. A consumer that resumes
later would keep the key for ever, so it is sent the deletions since then. The record is bounded. A
consumer that was disconnected for longer begins again with a snapshot.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from math import inf, nextafter

from upstream import TOMBSTONE, Key, Update

MOST_DELETIONS = 10_000


class Deletions:
    """The newest deletions by arrival. `is_gone` tells whether a key has no value now."""

    __slots__ = ("_complete_since", "_is_gone", "_most", "_newest")

    def __init__(
        self, *, start: float, is_gone: Callable[[Key], bool], most: int = MOST_DELETIONS
    ) -> None:
        self._complete_since = start
        self._is_gone = is_gone
        self._most = most
        self._newest: deque[tuple[float, Update]] = deque()

    def note(self, key: Key, *, time: float, arrival: float) -> None:
        """Note that `key` was deleted."""
        self._newest.append((arrival, Update(key, TOMBSTONE, time)))
        if len(self._newest) > self._most:
            self._complete_since = nextafter(self._newest.popleft()[0], inf)

    def since(self, arrival: float) -> list[Update] | None:
        """Return the deletions since `arrival` of keys that are gone, None if it is too long ago.

        A key that was deleted several times has its last deletion only. O(deletions).
        """
        if arrival < self._complete_since:
            return None
        last = {
            update.key: update
            for deleted_at, update in self._newest
            if deleted_at >= arrival and self._is_gone(update.key)
        }
        return list(last.values())

    def remembered(self, since: float) -> list[Update]:
        """Return the deletions since then of keys that are gone, as far back as the record goes."""
        return self.since(max(since, self._complete_since)) or []

    def close(self) -> None:
        """Release everything, since the stream is closed."""
        self._newest.clear()
        self._is_gone = bool  # the old function refers to the stream

    def __len__(self) -> int:
        return len(self._newest)
