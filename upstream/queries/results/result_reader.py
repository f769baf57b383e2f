"""A standing query's place among the results of an evaluation.

Several standing queries can share an evaluation. Each takes every result once, at its own pace, and
has its own counts: `results_taken`, `results_skipped`, `results_dropped` and `results_waiting`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ...rows.stream_times import is_before
from .backlog import Result

if TYPE_CHECKING:
    from ...clock import Clock
    from .answer import Answer
    from .backlog import Backlog, Made, QueryStatistics

Callback = Callable[[Result], object]


class ResultReader:
    """Takes each result of a backlog once, for the caller or for a callback.

    `weight` says how much the staleness of these results matters.
    """

    __slots__ = (
        "_backlog",
        "_so",
        "callback",
        "callback_error",
        "callback_failures",
        "name",
        "weight",
    )

    def __init__(
        self, backlog: Backlog, name: str, *, weight: float = 1.0, callback: Callback | None = None
    ) -> None:
        self.name = name
        self.weight = weight
        self.callback = callback
        self.callback_failures = 0
        self.callback_error: str | None = None
        """The last error of the callback, unless a result had an error since."""
        consumed = backlog.newest
        self._so = backlog.made, backlog.next_ordinal, 0, 0, 0, 0.0, consumed
        """The number of the next result, and the ordinal from which on results are missed; how many
        were taken, skipped and lost, the sum of the staleness of those taken, and the number of the
        newest one taken. It is replaced as a whole, so an exception leaves it consistent."""
        self._backlog = backlog
        backlog.readers.append(self)

    # What waits

    @property
    def position(self) -> int:
        """The number of the next result, although it may have been dropped."""
        return self._so[0]

    @property
    def expected(self) -> int:
        """The ordinal from which on results are missed."""
        return self._so[1]

    @property
    def committed(self) -> int | None:
        """The number of the newest result that can be taken, or was."""
        return self._backlog.newest

    @property
    def consumed(self) -> int | None:
        """The number of the newest result that was taken."""
        return self._so[6]

    @property
    def next_waiting(self) -> int | None:
        """The number of the oldest result that waits; None if none does."""
        return max(self.position, self._backlog.first) if self.waiting else None

    @property
    def waiting(self) -> int:
        """How many results wait."""
        return self._backlog.made - max(self.position, self._backlog.first)

    def oldest(self) -> Answer | None:
        """Return the next result to be taken."""
        stored = self._backlog.stored
        place = max(0, self.position - self._backlog.first)
        return stored[place].answer if place < len(stored) else None

    def _waiting(self) -> list[Made]:
        """Return the results that wait, oldest first."""
        stored = self._backlog.stored
        if not stored:
            return []
        newest, position = stored[-1], self._so[0]
        if newest.number <= position:  # at most one waits, as usual
            return [newest] if newest.number == position else []
        return [made for made in stored if made.number >= position]

    def untaken(self) -> list[Made]:
        """Return the results that wait, oldest first; they can still be taken."""
        return self._waiting()

    def restore(self, waiting: Sequence[Made], *, expected: int, consumed: int | None) -> None:
        """Let results wait that were made before the process began.

        None was taken here. `expected` and `consumed` are those of the reader that did not take
        them.
        """
        position = waiting[0].number if waiting else self._backlog.made
        self._so = position, expected, 0, 0, 0, 0.0, consumed

    # Taking

    def take_all(self, now: float) -> list[Result]:
        """Take all results, oldest first."""
        waiting = self._waiting()
        return self._taken(waiting, now, waiting[-1], 0) if waiting else []

    def take(self, now: float) -> Result | None:
        """Take the oldest result."""
        waiting = self._waiting()
        return self._taken(waiting[:1], now, waiting[0], 0)[0] if waiting else None

    def take_newest(self, now: float) -> Result | None:
        """Take the result for the newest window; the others that wait are skipped."""
        waiting = self._waiting()
        if not waiting:
            return None
        newest = waiting[0]
        for made in waiting:
            if not is_before(made.answer.place, newest.answer.place):
                newest = made
        return self._taken([newest], now, waiting[-1], len(waiting) - 1)[0]

    def _taken(self, chosen: Sequence[Made], now: float, last: Made, skipped: int) -> list[Result]:
        """Take some results, skip a number of others, and pass all up to the last one."""
        position, expected, taken, before, lost, staleness_seconds, _ = self._so
        results: list[Result] = []
        for number, ordinal, answer in chosen:
            result = Result.of(answer, now, ordinal - expected, number)
            expected = ordinal + 1
            staleness_seconds += result.staleness
            results.append(result)
        count, end = len(results), last.number + 1
        lost += end - position - count - skipped
        self._so = end, expected, taken + count, before + skipped, lost, staleness_seconds, number
        for made in chosen:
            if made.answer.delivered is not None:
                made.answer.delivered()
        backlog = self._backlog
        backlog.takes += 1
        if backlog.takes >= len(backlog.readers):
            backlog.trim()
        return results

    def hand_out(self, clock: Clock) -> None:
        """Pass the results that wait to the callback, if there is one.

        An exception of the callback affects nothing else. It is counted.
        """
        while self.callback is not None:
            result = self.take(clock.now())
            if result is None:
                return
            try:
                self.callback(result)
            except Exception as error:  # noqa: BLE001  # whatever the user's function raises
                self.callback_failures += 1
                self.callback_error = repr(error)

    # Counts and end

    def counted(self, counts: QueryStatistics) -> QueryStatistics:
        """Return the counts of an evaluation with those of this reader."""
        position, _, taken, skipped, lost, staleness_seconds, _ = self._so
        lost += max(0, self._backlog.first - position)
        is_update = counts.semantics == "update"
        return replace(
            counts,
            name=self.name,
            results_taken=taken,
            results_skipped=counts.results_skipped + skipped + (lost if is_update else 0),
            results_dropped=counts.results_dropped + (0 if is_update else lost),
            results_waiting=self.waiting,
            staleness_seconds_mean=staleness_seconds / max(taken, 1),
            callback_failures=self.callback_failures,
            error=counts.error or self.callback_error,
        )

    def leave(self) -> None:
        """Receive no further results; those that wait can still be taken, by the caller."""
        shared = self._backlog
        self.callback = None
        self._backlog = shared.copied(self)
        shared.readers.remove(self)
        shared.trim()
