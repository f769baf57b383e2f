"""The windows of a query along its axis, and when each was closed.

A step is a basic window; the window of number w covers the steps from `w * per_slide`, `per_size`
of them.

    steps     |0 |1 |2 |3 |4 |5 |        per_slide = 1, per_size = 3
    window 0  [--------)
    window 1     [--------)
    window 2        [--------)
"""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass

from ..sql.window_clause import WindowClause


@dataclass(frozen=True, slots=True)
class Timeline:
    """The arithmetic of windows of one size and slide."""

    step: int
    per_slide: int
    per_size: int
    first: int | None = None
    """The number of the first window there can be, if there is one."""

    @classmethod
    def of(cls, clause: WindowClause, *, first: int | None = None) -> Timeline:
        """Return the timeline of a window function."""
        step = clause.step
        return cls(step, clause.slide // step, clause.size // step, first)

    def steps_of(self, window: int) -> tuple[int, int]:
        """Return the first step of a window, and the one after its last."""
        first = window * self.per_slide
        return first, first + self.per_size

    def end_of(self, window: int) -> int:
        """Return the time at which a window ends."""
        return self.steps_of(window)[1] * self.step

    def oldest_covering(self, step: int) -> int:
        """Return the oldest window that covers a step or, where none does, the next window."""
        window = -((self.per_size - 1 - step) // self.per_slide)
        return window if self.first is None else max(window, self.first)

    def newest_ended(self, passed: int) -> int | None:
        """Return the newest window that ends at this time or before, if there can be one."""
        window = (passed // self.step - self.per_size) // self.per_slide
        return None if self.first is not None and window < self.first else window

    def covering(self, step: int) -> range:
        """Return the windows that cover a step."""
        return range(self.oldest_covering(step), step // self.per_slide + 1)


class OccupiedSteps:
    """The steps that hold a row."""

    __slots__ = ("_known", "_steps")

    def __init__(self) -> None:
        self._steps: list[int] = []
        self._known: set[int] = set()

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._steps)

    def add(self, step: int) -> None:
        """Add a step. O(1) for the newest one."""
        if step not in self._known:
            self._known.add(step)
            insort(self._steps, step)

    def has_any(self, first: int, end: int) -> bool:
        """Tell whether any step in `[first, end)` holds a row. O(log steps)."""
        at = bisect_left(self._steps, first)
        return at < len(self._steps) and self._steps[at] < end

    def first_from(self, step: int) -> int | None:
        """Return the oldest occupied step that is not before this one. O(log steps)."""
        at = bisect_left(self._steps, step)
        return self._steps[at] if at < len(self._steps) else None

    def forget(self, before: int) -> None:
        """Forget steps below; those that leave are at the front."""
        at = bisect_left(self._steps, before)
        if at:
            self._known.difference_update(self._steps[:at])
            del self._steps[:at]


class ClosingLog:
    """When the time of an input first passed what: the moments at which windows were closed."""

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: list[tuple[int, float]] = []

    def note(self, passed: int, moment: float) -> None:
        """Note that time had passed up to `passed` by a moment."""
        if not self._entries or passed > self._entries[-1][0]:
            self._entries.append((passed, moment))

    def moment_of(self, end: int) -> float | None:
        """Return when time first passed `end`, if it has. O(log entries)."""
        at = bisect_left(self._entries, (end,))
        return self._entries[at][1] if at < len(self._entries) else None

    def forget(self, before: int) -> None:
        """Say that ends before this are not asked for any more."""
        at = min(bisect_left(self._entries, (before,)), len(self._entries) - 1)
        if at > 0:
            del self._entries[:at]
