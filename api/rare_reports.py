"""Staleness reports for the monitor: the longer one takes, the more rarely it is made.

A report is made in one go, in the event loop that everybody shares, and takes some microseconds for
each key. So bounding its share of the time is not enough: of very many keys, even one report a
minute would be felt by everybody.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Final

from .entries import QueueEntry

Report = Mapping[str, object]
MakeReport = Callable[[QueueEntry], Report]

SHARE: Final = 0.1
"""The most that looking at queues may take of the time."""
NOTICED_SECONDS: Final = 0.02
"""A report that takes longer is noticed by others who use the service."""


class RareReports:
    """The last reports of queues.

    One that takes twice as long is made half as often; if it is noticed, a quarter as often. `now`
    tells the time, `busy` how much of it this thread has worked: what others take of a processor
    says nothing about a report.
    """

    __slots__ = ("_busy", "_last", "_make", "_now")

    def __init__(
        self,
        make: MakeReport,
        *,
        now: Callable[[], float],
        busy: Callable[[], float] = time.thread_time,
    ) -> None:
        self._make = make
        self._now = now
        self._busy = busy
        self._last: dict[QueueEntry, tuple[Report, float]] = {}

    def of(self, queue: QueueEntry) -> Report:
        """Return the queue's report, made again if it is due."""
        now = self._now()
        last, due_at = self._last.get(queue, ({}, now))
        if now < due_at:
            return last
        started = self._busy()
        made = self._make(queue)
        took = self._busy() - started
        wait = took / SHARE * max(took / NOTICED_SECONDS, 1.0)
        self._last[queue] = made, now + wait
        return made

    def forget_dropped(self) -> None:
        """Let go of the reports of queues that are no more."""
        self._last = {queue: last for queue, last in self._last.items() if not queue.is_dropped}
