"""The state of a key: its newest update, the start of its wait, and its update rate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from operator import attrgetter

from upstream.statistics import DEFAULT_FORGETTING, expected_rate, folded_interval

StoredKey = tuple[object, ...]
"""The fields of a `KeyState` in their order; the first is the hash of its key."""


@dataclass(slots=True)
class KeyState:
    """A key of a bucket. Times of the trigger are in whole milliseconds, so that sums are exact."""

    key_hash: int = 0
    time: float = 0.0
    """The time of the newest update at its source."""
    payload: tuple[object, ...] | None = None
    """The row of the newest update while it waits."""
    is_deletion: bool = False
    version: int = 0
    """How many updates were accepted."""
    arrival: int = 0
    """When the newest update was accepted."""
    first_arrival: int = 0
    waiting_since: int | None = None
    version_before: int = 0
    """The version before the current wait."""
    place: int = 0
    """The place of its entry in the waiting line; entries with other places are outdated."""
    doubled_staleness: int = 0
    """Twice the integral of its staleness over its waits that have ended."""
    interval: float = 0.0
    """The mean time between arrivals, estimated at `seen_arrival` with `seen_version`."""
    seen_version: int = 1
    seen_arrival: int = 0

    def stored(self) -> StoredKey:
        """Return the fields."""
        return _FIELDS(self)

    def observe_rate(self) -> float | None:
        """Update the estimate with the arrivals since the last call, and return the rate.

        This is the estimate of `upstream.statistics.EstimatedRates`.
        """
        mean = self.interval
        intervals = self.version - self.seen_version
        elapsed = self.arrival / 1000 - self.seen_arrival / 1000
        if intervals > 0 and elapsed > 0:
            mean = folded_interval(mean, intervals, elapsed, self.version, DEFAULT_FORGETTING)
        if mean != self.interval or self.arrival > self.seen_arrival:
            self.interval = mean
            self.seen_version = self.version
            self.seen_arrival = self.arrival
        return expected_rate(mean, self.seen_version, DEFAULT_FORGETTING)

    def mean_staleness_seconds(self, now: int) -> float:
        """Return the mean queue staleness, since the first arrival, of a key that does not wait."""
        lifetime = now - self.first_arrival
        return self.doubled_staleness / (2000 * lifetime) if lifetime else 0.0


_FIELDS: Callable[[KeyState], StoredKey] = attrgetter(*(each.name for each in fields(KeyState)))


def restored(stored: StoredKey) -> KeyState:
    """Return the state with these fields.

    >>> state = KeyState(time=1.5, version=3)
    >>> restored(state.stored()) == state
    True
    """
    return KeyState(*stored)  # type: ignore[arg-type]  # what `stored` returned


def hash_of(stored: StoredKey) -> int:
    """Return the hash of the key from the fields of its state."""
    key_hash = stored[0]
    assert isinstance(key_hash, int)
    return key_hash
