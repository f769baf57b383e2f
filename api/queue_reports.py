"""The staleness reports of one queue: made at once for few keys, in parts for many keys.

A report of 100,000 keys takes half a second, which would block the event loop. So its rows are
gathered in parts, with a turn for other tasks in between, and a thread makes the report from them.
The next report begins when all this has taken at most a tenth of the time.
"""

from __future__ import annotations

import asyncio
import time
from typing import Final

from upstream import ClosedError, KeyStaleness

from .staleness_report import LibraryQueue, Report, gather, staleness_report

FEW_KEYS: Final = 2_000
"""Up to this many keys a report is made at once, which takes some milliseconds."""
ROWS_AT_ONCE: Final = 1_000
SHARE: Final = 0.1
"""The largest share of the time that the reports of one queue may take."""
MOST_STALEST: Final = 1_000


class QueueReports:
    """The reports of one queue."""

    __slots__ = ("_due_at", "_last", "_making", "_queue")

    def __init__(self, queue: LibraryQueue) -> None:
        self._queue = queue
        self._last: Report | None = None
        self._making: asyncio.Task[Report] | None = None
        self._due_at = 0.0

    def latest(self) -> Report | None:
        """Return the report. A queue of many keys has the last one, or None before the first.

        Needs a running event loop.
        """
        if self._queue.key_count <= FEW_KEYS:
            return staleness_report(gather(self._queue), stalest=MOST_STALEST)
        if self._making is None and time.monotonic() >= self._due_at:
            self._making = asyncio.create_task(self._make(), name="staleness report")
            self._making.add_done_callback(self._note_made)
        return self._last

    async def get(self) -> Report:
        """Return the report, and wait for the first one."""
        report = self.latest()
        if report is None:
            making = self._making
            assert making is not None
            try:
                report = await asyncio.shield(making)
            except asyncio.CancelledError:
                if making.cancelled():  # the report was cancelled, not this request
                    raise ClosedError("queue") from None
                raise
        return report

    def close(self) -> None:
        """Stop making reports."""
        if self._making is not None:
            self._making.cancel()

    async def _make(self) -> Report:
        started = time.monotonic()
        rows: list[KeyStaleness] = []
        for part in self._queue.key_staleness_in_parts(ROWS_AT_ONCE):
            rows += part
            await asyncio.sleep(0)
        gathered = gather(self._queue, rows)
        report = await asyncio.to_thread(staleness_report, gathered, stalest=MOST_STALEST)
        took = time.monotonic() - started
        self._due_at = time.monotonic() + took * (1 / SHARE - 1)
        return report

    def _note_made(self, making: asyncio.Task[Report]) -> None:
        self._making = None
        if not making.cancelled() and making.exception() is None:
            self._last = making.result()
