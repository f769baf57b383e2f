"""The pace of consumers that dequeue without leases: how long they need for an update.

Their updates count as delivered at once, so the time to delivery says nothing. But a consumer that
got as many updates as it asked for, while more waited, asks again when it is done.
"""

from __future__ import annotations

FORGETTING = 0.05
"""The weight of the newest update. About the last 20 updates count."""


class ConsumerPace:
    """Measures the seconds per update, over all consumers of one queue.

    >>> pace = ConsumerPace()
    >>> pace.answered(10, more_waits=True, now=0.0)
    >>> pace.asked(now=5.0)
    >>> pace.seconds()
    0.5
    """

    __slots__ = ("_answered_at", "_cost", "_pending", "_samples")

    def __init__(self) -> None:
        self._pending = 0
        self._answered_at = 0.0
        self._samples = 0
        self._cost: float | None = None

    def answered(self, updates: int, *, more_waits: bool, now: float) -> None:
        """Note that a consumer got this many updates."""
        if not more_waits:
            self._pending = 0  # it may ask again late because nothing waited
            return
        if self._pending == 0:
            self._answered_at = now
        self._pending += updates

    def asked(self, now: float) -> None:
        """Note that a consumer asks again, and so has processed what it had."""
        updates = self._pending
        if not updates or now <= self._answered_at:
            return
        self._pending = 0
        seconds = (now - self._answered_at) / updates
        share = max(updates / (self._samples + updates), 1 - (1 - FORGETTING) ** updates)
        self._samples += updates
        before = seconds if self._cost is None else self._cost
        self._cost = before + share * (seconds - before)

    def seconds(self) -> float | None:
        """Return the seconds per update, or None if they are not known yet."""
        return self._cost
