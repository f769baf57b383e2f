"""Evaluation of a join of streams whose condition limits how far apart joined rows are in time.

As rows come, each pair is found once, by a `TrackedJoin`. A row is held until no further row can
meet it: until each other stream has passed the newest time that a partner could have. How far a
stream has come is taken from all its rows, before any condition, and from its silence. So what is
held depends on the length of the band, and not on the time that has passed.

The rows of the pairs that were found are then what the query runs over (`rewriting.paired`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ...held_interrupt import HeldInterrupt
from ...tables.appended import Lead
from ..chunks.grid import FOREVER
from ..chunks.reading import MOST_AHEAD
from ..results.answer import Answer, Answers, Counts, Description

if TYPE_CHECKING:
    from ..chunks.ordered_reading import OrderedReading
    from ..pairs.tracked_join import TrackedJoin
    from ..results.failing_rows import FailingRows
    from ..rewriting.interval_bounds import Band
    from .over_pairs import OverPairs

_ROWS: Final = 32_768
"""Rows are joined in portions of this size: rows that are close in time meet few others. About so
many are read before those that are no longer needed are evicted."""


class IntervalEvaluation:
    """Evaluate a join of streams over pairs of rows."""

    __slots__ = (
        "_band",
        "_due",
        "_failed",
        "_failing",
        "_join",
        "_leads",
        "_over_pairs",
        "_preserved",
        "_reading",
        "_since",
    )

    def __init__(
        self,
        reading: OrderedReading,
        join: TrackedJoin,
        *,
        band: Band,
        preserved: tuple[int, ...],
        over_pairs: OverPairs,
        failing: FailingRows,
    ) -> None:
        self._reading = reading
        self._join = join
        self._band = band
        self._preserved = preserved
        self._over_pairs = over_pairs
        self._failing = failing
        self._failed = 0
        """How many of the pairs that failed have been reported."""
        self._leads: tuple[Lead, ...] = ()
        self._since: float | None = None
        """When the first row arrived that was fed since the last answer."""
        self._due: float | None = None
        """When the clock alone makes an answer due, as of the last evaluation."""

    def take_in(self, now: float) -> None:
        """Read what waits, find its pairs, and evict what can meet no further row."""
        self._feed()  # what was read and then interrupted
        held_back = self._read(now)
        for number, each in enumerate(self._reading.inputs):
            each.reader.is_paused = number in held_back
        self._leads = tuple(Lead(self._rows_ahead(i)) for i in range(len(self._reading.inputs)))

    def answers(self, now: float, keep: int) -> Answers:
        """Give one answer for the pairs that were found, and rows that have no partner."""
        failed, error = self._failing.count, self._failing.error
        table, found = self._over_pairs.sparing(self._join.ready(None))
        left_out = failed - self._failed + found.rows_failed
        due = next((each for each in (self._since, self._due) if each is not None), now)
        answer = Answer(None, None, min(due, now), 0, table, None, left_out, found.error or error)
        is_news = table.num_rows or left_out

        def commit() -> None:
            self._join.taken()
            self._failing.count_more(found.rows_failed, found.error)
            self._failing.forget([FOREVER] * len(self._reading.inputs))
            self._failed = failed + found.rows_failed
            self._since = None

        return Answers([answer] if is_news else [], 0, commit)

    def current(self, now: float) -> Answer | None:
        """Return None, because pairs are not kept."""
        return None

    def due_at(self) -> float | None:
        """Return when the clock alone lets a row leave that has no partner, or None."""
        preserved = self._preserved if self._reading.passes_by_clock else ()
        moments = [self._leaves_at(number) for number in preserved]
        self._due = min((moment for moment in moments if moment is not None), default=None)
        return self._due

    def leads(self) -> tuple[Lead, ...]:
        """Return how far each stream is ahead of the others."""
        return self._leads

    def counts(self) -> Counts:
        """Return what became of rows so far."""
        waiting = sum(
            piece.rows.num_rows for each in self._reading.inputs for piece in each.waiting
        )
        late = ((each.definition.name, each.late) for each in self._reading.inputs)
        return Counts.of_late(late, held=self._join.rows + waiting)

    def describe(self) -> Description:
        """Describe how the query is evaluated, what is held, and until when."""
        inputs = self._reading.inputs
        lines = [self._join.describe()]
        for number, other in self._band.most:
            partner = f"{self._band.names[other]} that are {self._newer(number, other)}"
            lines.append(f"{self._band.names[number]} waits for rows of {partner}")
        late = [
            f"{each.late} of {self._band.names[number]}"
            for number, each in enumerate(inputs)
            if each.late
        ]
        held = self._join.rows
        lines.append("1 row is held" if held == 1 else f"{held} rows are held")
        if late:
            lines.append(f"late rows were dropped: {', '.join(late)}")
        return Description("\n".join(lines))

    def close(self) -> None:
        """Release its statements and relations in DuckDB."""
        self._over_pairs.close()
        self._join.close()

    # Reading

    def _read(self, now: float) -> frozenset[int]:
        """Read what can be read, and return the inputs of which no more is read for now."""
        while True:
            held_back = self._too_far_ahead()
            moment = self._reading.read(_ROWS, held_back)
            self._feed()
            self._evict(now if moment is None else moment)
            if moment is None and self._too_far_ahead() >= held_back:
                return held_back

    def _feed(self) -> None:
        """Find the pairs of the rows that were read, input by input."""
        for number, each in enumerate(self._reading.inputs):
            while each.waiting:
                piece, left = each.portion(_ROWS)
                take = self._join.feed(number, piece.rows, piece.times)
                since = piece.arrival if self._since is None else min(piece.arrival, self._since)
                with HeldInterrupt():
                    take()
                    each.waiting, self._since = left, since

    def _evict(self, moment: float) -> None:
        """Evict the rows that no row can meet that comes after a moment."""
        self._reading.advance(moment)
        for number in range(len(self._reading.inputs)):
            ends = [self._needed_from(number, other) for other in self._others(number)]
            known = [end for end in ends if end is not None]
            if len(known) == len(ends):
                self._join.evict(number, max(min(known), -FOREVER))  # no time is before that

    def _too_far_ahead(self) -> frozenset[int]:
        """Return the inputs of which no more is read until the others have caught up.

        By the clock the wait is limited, and so are the rows that wait.
        """
        if self._join.held_rows < MOST_AHEAD or self._reading.passes_by_clock:
            return frozenset()
        inputs = range(len(self._reading.inputs))
        return frozenset(i for i in inputs if self._rows_ahead(i) >= MOST_AHEAD)

    def _rows_ahead(self, number: int) -> int:
        """Return how many held rows of an input are newer than all rows of another one."""
        time = self._reading.behind(number)
        return self._join.held_beyond(number, -FOREVER if time is None else time)

    def _others(self, number: int) -> list[int]:
        return [each for each in range(len(self._reading.inputs)) if each != number]

    def _needed_from(self, number: int, other: int) -> int | None:
        """Return the least time of a row of an input that further rows of another can meet."""
        complete = self._reading.inputs[other].complete
        return None if complete is None else complete - self._band.partners_end(number, other)

    def _leaves_at(self, number: int) -> float | None:
        """Return when the clock alone lets the first row without a partner leave, or None."""
        first = self._join.first_alone(number)
        if first is None:
            return None
        [other] = self._others(number)
        end = first + self._band.partners_end(number, other) + 1
        return self._reading.completes_at(other, end)

    def _newer(self, number: int, other: int) -> str:
        """Say how much newer partners can be."""
        most = self._band.most[number, other]
        if not most:
            return "not newer"
        definition = self._reading.inputs[number].definition
        unit = " seconds" if definition.units_per_second else ""
        length = f"{abs(most) * definition.seconds_per_unit:g}{unit}"
        return f"up to {length} newer" if most > 0 else f"at least {length} older"
