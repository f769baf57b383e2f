"""Which windows of a query have had their results, and which come next.

A walk changes only in `due`. An evaluation uses a fork of the walk, and keeps the fork once the
answers are there. Until then the walk is unchanged.

The open window is the oldest one that has no answer and can still contain a row. Of windows without
rows, only the first after one with rows has an answer, unless all of them are requested: the others
would have the same answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from .grid import FOREVER

if TYPE_CHECKING:
    from .ring import Ring
    from .windows import Schedule, Spans

_BEFORE_ALL: Final = -FOREVER
_REVISIONS: Final = 1_000
"""With more revisions than this, those that can no longer be requested are removed."""


@dataclass(frozen=True, slots=True)
class Due:
    """A window that needs an answer: its end, and its chunks by input.

    `amended` is when the first late row arrived for it, if it was passed before.
    """

    end: int
    spans: Spans
    is_occupied: bool
    amended: float | None = None


class Walk:
    """Passes windows in the order of time. `occupied` are the chunks with rows, by input."""

    __slots__ = (
        "_amended",
        "_answers_empty",
        "_follows_rows",
        "_occupied",
        "_revisable",
        "_revisions",
        "_revisions_kept",
        "last",
        "open",
        "schedule",
        "spans",
    )

    def __init__(
        self,
        schedule: Schedule,
        occupied: Sequence[Ring[float]],
        *,
        answers_empty: bool = False,
        revisable: int = 0,
    ) -> None:
        self.schedule = schedule
        self._occupied = occupied
        self._answers_empty = answers_empty
        self._revisable = revisable
        """The number of passed windows that can be amended; each of them is counted."""
        self._follows_rows = False
        """Whether the window before the open one contains rows."""
        self._amended: dict[int, float] = {}
        """The passed windows that late rows have changed, and since when."""
        self._revisions: dict[int, int] = {}
        """The revisions of windows: the number of answers so far, minus one."""
        self._revisions_kept = _REVISIONS
        self.open: int | None = None
        """The end of the open window, once a row has arrived."""
        self.spans: Spans | None = None
        """The chunks of the open window, by input."""
        self.last: int | None = None
        """The end of the newest passed window with rows."""

    def forked(self, passed: int) -> Walk | None:
        """Return a copy of the walk that can go on by itself, if there is a window to pass."""
        if not self._amended and (self.open is None or self.open > passed):
            return None
        walk = Walk.__new__(Walk)
        walk.schedule, walk._occupied = self.schedule, self._occupied
        walk._answers_empty, walk._revisable = self._answers_empty, self._revisable
        walk._revisions, walk._revisions_kept = self._revisions, self._revisions_kept
        walk._amended = self._amended.copy() if self._amended else self._amended
        walk._follows_rows, walk.last = self._follows_rows, self.last
        walk.open, walk.spans = self.open, self.spans
        return walk

    def begin(self, passed: int | None) -> None:
        """Open the first window that can contain a row, if there is one yet."""
        if self.open is None and passed is not None:
            self._open(self._next(_BEFORE_ALL, passed))

    def is_occupied(self, spans: Spans) -> bool:
        """Tell whether a window contains a row."""
        return any(ring.has_any(*span) for ring, span in zip(self._occupied, spans, strict=True))

    def amend(self, number: int, chunk: int, moment: float) -> None:
        """Note that late rows have changed the passed windows with a chunk."""
        if self.open is not None:
            for end in self.schedule.ends_with(number, chunk):
                if end < self.open:
                    self._amended.setdefault(end, moment)

    def due(self, passed: int, keep: int) -> tuple[list[Due], int]:
        """Pass all windows that have ended, and return those that need an answer.

        After a long silence, return only the newest `keep`, and how many others there are.
        """
        found: list[Due] = []
        skipped = 0
        for end in sorted(end for end in self._amended if end <= passed):
            if self.last is None or end >= self.last:
                self.last = end
            moment = self._amended.pop(end)
            found.append(self._due(end, moment))
            found.extend(self._newly_followed(end, moment))
        while self.open is not None and self.spans is not None and self.open <= passed:
            end, is_occupied = self.open, self.is_occupied(self.spans)
            if is_occupied:
                self.last = end
            if is_occupied or self._follows_rows or self._answers_empty:
                found.append(Due(end, self.spans, is_occupied))
            self._follows_rows = is_occupied
            self._open(self.schedule.end_after(end) if is_occupied else self._next(end, passed))
            if self._answers_empty and not is_occupied:
                skipped += self._pass_empty(end, self.open, found, keep)
        return found, skipped

    def revision(self, end: int) -> int:
        """Return the revision of the newest answer for a window, from 0 on."""
        return self._revisions.get(end, 0)

    def count(self, ends: Sequence[int]) -> None:
        """Count answers for windows that late rows may still change."""
        revisions = self._revisions = self._revisions.copy() if ends else self._revisions
        for end in ends:
            revisions[end] = revisions.get(end, -1) + 1

    def due_from(self) -> int | None:
        """Return the end of the next window that needs an answer even if no row arrives."""
        if self.open is None:  # rows are there, and time has not passed for all inputs
            return self._first_occupied(_BEFORE_ALL)
        if self._follows_rows or self._answers_empty:
            return self.open
        first = self._first_occupied(self.open)
        return None if first is None else max(self.open, first)

    def forget(self, before: int) -> None:
        """Forget windows that end before this; they have no more answers."""
        if len(self._revisions) > self._revisions_kept:
            kept = {end: number for end, number in self._revisions.items() if end >= before}
            self._revisions = kept
            self._revisions_kept = max(_REVISIONS, 2 * len(kept))

    def _open(self, end: int) -> None:
        self.open, self.spans = end, self.schedule.at(end)

    def _due(self, end: int, amended: float | None = None) -> Due:
        spans = self.schedule.at(end)
        return Due(end, spans, self.is_occupied(spans), amended)

    def _pass_empty(self, end: int, following: int, found: list[Due], keep: int) -> int:
        """Add the empty windows between two ends; return how many are left out."""
        between = self.schedule.ends_between(end, following)
        left_out = max(0, between - max(keep, self._revisable))
        slide = self.schedule.windows[0].slide
        found.extend(self._due(end + number * slide) for number in range(left_out + 1, between + 1))
        return left_out

    def _newly_followed(self, end: int, moment: float) -> Iterator[Due]:
        """Yield the window after one that late rows changed, if it is empty and has no answer yet.

        If it is still open, it will have one.
        """
        after = self.schedule.end_after(end)
        if after == self.open:
            self._follows_rows = True
        elif after not in self._revisions and not (due := self._due(after, moment)).is_occupied:
            yield due

    def _next(self, end: int, passed: int) -> int:
        """Return the end of the oldest window after this one that contains a row, or still can."""
        following = _BEFORE_ALL if end == _BEFORE_ALL else self.schedule.end_after(end)
        first = self._first_occupied(following)
        is_open = min(
            self.schedule.end_covering(number, passed)
            for number in range(len(self.schedule.windows))
        )
        oldest = is_open if first is None else min(first, is_open)
        return max(following, oldest)

    def _first_occupied(self, end: int) -> int | None:
        """Return the end of the oldest window from this one on that contains a row, or None."""
        found = []
        for number, ring in enumerate(self._occupied):
            first = _BEFORE_ALL if end == _BEFORE_ALL else self.schedule.at(end)[number].first
            chunk = ring.first_from(first)
            if chunk is not None:
                found.append(self.schedule.end_covering(number, chunk))
        return min(found, default=None)
