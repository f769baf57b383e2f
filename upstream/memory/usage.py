"""How much memory is held, how much of it is needed, and the averages of both over time.

These are the measures of the report's Figures 16 and 17. *Average usage* is the space allocated.
*Average effective usage* is the part of it that is not dirty. The counts are constant between two
events, so each event adds a rectangle, and the averages are exact.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MemoryUsage:
    """The state of a memory at one moment, and the averages since its first event.

    Held locations are those that are allocated. Live locations are held and not dirty.
    """

    locations_live: int
    locations_held: int
    bytes_held: int
    """The size of the held locations, however much of them the values fill."""
    pages_in_use: int
    page_bytes_in_use: int
    average_usage_locations: float
    """The number of held locations, averaged over time."""
    average_usage_bytes: float
    """The bytes of the held locations, averaged over time."""
    average_page_usage_bytes: float
    """The bytes of the pages in use, averaged over time."""
    average_effective_usage: float
    """Live per held locations, averaged over the time with held locations; 1 before that."""


class UsageMeter:
    """Integrate the counts of a memory: held locations, dirty ones among them, pages in use.

    >>> meter = UsageMeter(location_bytes=64, page_bytes=4096)
    >>> meter.change(10.0, held=2, dirty=1, pages=1)
    >>> meter.change(12.0, held=0, dirty=0, pages=0)
    >>> usage = meter.usage(14.0)
    >>> usage.average_usage_locations, usage.average_effective_usage
    (1.0, 0.5)
    """

    __slots__ = (
        "_dirty",
        "_dirty_seconds",
        "_first",
        "_held",
        "_idle_seconds",
        "_last",
        "_location_bytes",
        "_location_seconds",
        "_page_bytes",
        "_page_seconds",
        "_pages",
        "_pages_since",
    )

    def __init__(self, *, location_bytes: int, page_bytes: int) -> None:
        self._location_bytes = location_bytes
        self._page_bytes = page_bytes
        self._held = 0
        self._dirty = 0
        self._pages = 0
        self._first: float | None = None
        self._last = 0.0
        self._pages_since = 0.0
        self._location_seconds = 0.0
        self._page_seconds = 0.0
        self._dirty_seconds = 0.0
        """The integral of dirty per held locations, which is 1 minus the effective usage."""
        self._idle_seconds = 0.0
        """The time without held locations."""

    def change(self, now: float, held: int, dirty: int, pages: int) -> None:
        """Add the time since the last event with the old counts, and store the new counts.

        An event may come with an earlier time than the last one, if its caller read the clock
        earlier. It then counts as of the last event's time.
        """
        now = max(now, self._last)
        elapsed = now - self._last
        if self._held:
            if elapsed:
                self._location_seconds += self._held * elapsed
                if self._dirty:
                    self._dirty_seconds += elapsed * self._dirty / self._held
        elif self._first is None:
            self._first = now
        else:
            self._idle_seconds += elapsed
        if pages != self._pages:
            self._page_seconds += self._pages * (now - self._pages_since)
            self._pages_since = now
            self._pages = pages
        self._held = held
        self._dirty = dirty
        self._last = now

    def usage(self, now: float) -> MemoryUsage:
        """Return the counts, and their averages until `now`; change nothing.

        If no time has passed, an average is the present value. A `now` before the last event counts
        as the time of that event.
        """
        held, pages = self._held, self._pages
        if self._first is None:
            first, tail = now, 0.0
        else:
            now = max(now, self._last)
            first, tail = self._first, now - self._last
        total = now - first
        dirty = self._dirty / held if held else 0.0
        dirty_seconds = self._dirty_seconds + dirty * tail
        held_seconds = total - self._idle_seconds - (0.0 if held else tail)
        locations = _mean(self._location_seconds + held * tail, total, held)
        page_seconds = self._page_seconds + pages * (now - self._pages_since)
        return MemoryUsage(
            locations_live=held - self._dirty,
            locations_held=held,
            bytes_held=held * self._location_bytes,
            pages_in_use=pages,
            page_bytes_in_use=pages * self._page_bytes,
            average_usage_locations=locations,
            average_usage_bytes=locations * self._location_bytes,
            average_page_usage_bytes=_mean(page_seconds, total, pages) * self._page_bytes,
            average_effective_usage=1.0 - _mean(dirty_seconds, held_seconds, dirty),
        )


def _mean(integral: float, seconds: float, instead: float) -> float:
    return integral / seconds if seconds > 0.0 else float(instead)
