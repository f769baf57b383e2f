"""What a queue of windows knows about one key: its windows, and how stale the application is.

Windows have versions, and a newer window has a greater one. When a window is delivered, application
staleness falls to the first close of a newer window. So the closes to which it can fall are
remembered: one after the newest delivered window, and one after each committed window that may
still be delivered.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from typing import Generic, Protocol, TypeVar

from ...keys import NOBODY, KeyCell, Place
from ...staleness import StalenessSums
from ...windows import OpenWindows


class KeptWindows(Protocol):
    """The windows of one key that a queue holds."""

    windows: OpenWindows
    """The open windows."""

    @property
    def held_windows(self) -> int:
        """How many windows are held and may still be committed."""
        ...

    @property
    def held_tuples(self) -> int:
        """How many tuples have not left yet and are needed."""
        ...

    def drop_uncommitted(self) -> int:
        """Drop all windows that are not committed, for a forgotten key; return triggers."""
        ...

    def _check(self) -> None:
        """Assert every invariant."""
        ...


class KeyProgress(Protocol):
    """The progress of one key's windows, in which the kinds of queues differ."""

    def release(self) -> None:
        """Release the references that lead back to the key's place. This must not fail."""
        ...


Kept_co = TypeVar("Kept_co", bound=KeptWindows, covariant=True)
Progress_co = TypeVar("Progress_co", bound=KeyProgress, covariant=True)


class WindowPlace(Place, Generic[Kept_co, Progress_co]):
    """What a queue of windows knows about one key."""

    __slots__ = (
        "buffer",
        "closes",
        "committed_versions",
        "key_hash",
        "progress",
        "waiting_rank",
        "windows",
    )

    buffer: Kept_co
    windows: OpenWindows
    """The open windows in the buffer."""
    progress: Progress_co
    key_hash: int
    """The hash of its key, for the names of its windows."""
    closes: list[tuple[int, float]]
    """Version and arrival of the closes to which application staleness may fall, in order."""
    committed_versions: list[int]
    """The windows that may be delivered: committed, and neither delivered nor aborted. In order.
    If every window is served, each is in the list from its start."""

    def __init__(
        self, cell: KeyCell, buffer: Kept_co, progress: Progress_co, key_hash: int | None = None
    ) -> None:
        super().__init__(cell, NOBODY)
        self.key_hash = hash(cell.key) if key_hash is None else key_hash  # first: it may fail
        self.buffer = buffer
        self.windows = buffer.windows
        self.windows.place = self
        self.progress = progress
        self.closes = []
        self.committed_versions = []
        self.waiting_rank = 0

    def note_commit(self, version: int) -> None:
        """Note that a window may be delivered from now on."""
        insort(self.committed_versions, version)

    def note_close(self, version: int, arrival: float) -> None:
        """Note that a window was closed: the application is stale unless it has a newer one."""
        closes = self.closes
        if not closes:
            self.stale_since = arrival
            closes.append((version, arrival))
        else:
            committed = self.committed_versions
            following = bisect_left(committed, closes[-1][0])
            if following < len(committed) and committed[following] < version:
                closes.append((version, arrival))

    def note_end(self, version: int) -> None:
        """Note that a committed window was delivered or will never be."""
        committed = self.committed_versions
        del committed[bisect_left(committed, version)]

    def note_delivery(self, version: int, sums: StalenessSums, now: float) -> None:
        """Note that a window was delivered, and let application staleness fall."""
        self.note_end(version)
        if version <= self.delivered_version:
            return
        self.delivered_version = version
        closes = self.closes
        del closes[: bisect_right(closes, (version, math.inf))]
        sums.application_falls(self, closes[0][1] if closes else None, now)

    def close(self) -> None:
        """Release the references that lead back to the place, which is in no list any more."""
        super().close()
        self.windows.release()

    def close_unopened(self) -> None:
        """Close the place of a key that did not come in, unless it was forgotten and so closed."""
        if self.delivered_version != Place.FORGOTTEN:
            self.close()

    def release(self) -> None:
        """Release the references that lead back to the place; its queue and stream are gone."""
        super().release()
        self.windows.release()
        self.progress.release()

    def _check(self) -> None:
        """Assert every invariant."""
        assert self.closes == sorted(self.closes)
        assert self.stale_since == (self.closes[0][1] if self.closes else None)
        assert self.committed_versions == sorted(self.committed_versions)
        self.buffer._check()


AnyPlace = TypeVar("AnyPlace", bound="WindowPlace[KeptWindows, KeyProgress]")
