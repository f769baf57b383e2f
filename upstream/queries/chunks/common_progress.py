"""How far time has passed for several inputs together, if one that is idle delays nothing.

An input that was silent for `close_after` is idle. The others go on without it. When it comes back,
its progress is derived from its rows again, and rows behind what was passed without it are late. So
it is the greatest progress so far that counts, although an idle input itself may be far behind.

The answer depends on what arrived when, and never on when it is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nextafter
from typing import TYPE_CHECKING

from .grid import FOREVER

if TYPE_CHECKING:
    from .progress import Progress


class CommonProgress:
    """The progress of inputs that can be idle."""

    __slots__ = ("_before", "_high", "_known", "_progress")

    def __init__(self, progress: Sequence[Progress]) -> None:
        self._progress = progress
        self._high: int | None = None
        """The greatest time that has passed for all."""
        self._known = -inf
        """The moment for which that is known."""
        self._before: int | None = None
        """The time that had passed for all when the first batch of that moment arrived."""

    def passed(self, now: float) -> int | None:
        """Return the time that has passed for all inputs that are not idle; it never falls.

        What arrived by then must have been noted.
        """
        return self._high_at(now)

    def arrives(self, number: int, arrival: float) -> None:
        """Note that a batch of an input is about to be read; batches come in order of arrival.

        Its rows are late if they are behind what has passed without it. Batches that arrive at one
        moment, such as one batch for two inputs over one stream, are not behind one another.
        """
        each, idle = self._progress[number], self._progress[number].idle_from()
        if arrival != self._known:
            self._before = self._high = self._high_at(arrival)
            self._known = max(arrival, self._known)
        if self._before is not None and idle is not None:
            each.raise_to(self._before, since=min(idle, arrival))

    def passed_at(self, time: int, now: float) -> float:
        """Return the moment at which a time passed for all, which it has by now."""
        moments = []
        for each in self._progress:
            moment, idle = each.passed_at(time, now), each.idle_from()
            moments.append(moment if idle is None else min(moment, idle))
        return max(moments)

    def passes_at(self, time: int) -> float | None:
        """Return when a time will have passed without further rows, or None if it never will."""
        moments = [each.passes_at(time) for each in self._progress]
        moments += [each.idle_from() for each in self._progress]
        # what was idle before the newest batch arrived is not known any more
        for moment in sorted(max(moment, self._known) for moment in moments if moment is not None):
            passed = self._high_at(moment)
            if passed is not None and passed >= time:
                return moment
        return None

    def _high_at(self, now: float) -> int | None:
        """Return the greatest time that will have passed at a moment if no row comes until then.

        Between two moments at which inputs become idle, the time that passes does not fall. So the
        last instants before such moments are looked at.
        """
        turns = [each.idle_from() for each in self._progress]
        before = [nextafter(turn, -inf) for turn in turns if turn is not None]
        looked_at = [moment for moment in before if self._known < moment < now]
        found = [self._passed_without_idle(moment) for moment in (*looked_at, now)]
        return max((each for each in (self._high, *found) if each is not None), default=None)

    def _passed_without_idle(self, now: float) -> int | None:
        """Return the time that has passed for all inputs that are not idle at a moment."""
        passed = [each.would_pass(now) for each in self._progress]
        turns = [each.idle_from() for each in self._progress]
        awake = [
            time for time, turn in zip(passed, turns, strict=True) if turn is None or now < turn
        ]
        known = [time for time in awake or passed if time is not None]
        if len(known) < len(awake or passed):
            return None
        least = min(known)
        return None if least >= FOREVER else least
