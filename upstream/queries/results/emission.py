"""Decides which answers become results, and when, by the user's options for emission.

Every answer that was due is counted once: taken, waiting, skipped (older than a result that was
given, or too soon after it), dropped (not taken in time) or unchanged. Those that become results
are counted by each reader of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from ...rows.stream_times import WindowBound, is_before
from .backlog import Backlog

if TYPE_CHECKING:
    import pyarrow as pa

    from ..choices import Choices
    from .answer import Answer
    from .backlog import Made


MOST_AT_ONCE: Final = 100_000
"""Results for a stream or a sink do not wait. Only of more than so many that became due at once,
the oldest are dropped, so that the empty windows of a long silence end."""


@dataclass(frozen=True, slots=True)
class Emission:
    """The answers that become results, and the function that adds them, which cannot fail.

    `missed` answers before them are never made.
    """

    news: Sequence[Answer] = ()
    give: Callable[[], None] = lambda: None
    missed: int = 0


class Emitter:
    """Turns answers into results, and keeps them until all readers have taken them.

    `first` is the number of the first result. Answers for epochs up to `given_epoch` were results
    in an earlier run; they are skipped. Results that a stream or a sink takes are taken at once.
    """

    __slots__ = (
        "_emit",
        "_given_epoch",
        "_is_update",
        "_last",
        "_newest",
        "_previous",
        "backlog",
        "dropped",
        "due",
        "every",
        "keep",
        "skipped",
        "unchanged",
    )

    def __init__(
        self,
        choices: Choices,
        *,
        is_taken_at_once: bool = False,
        first: int = 0,
        given_epoch: int | None = None,
    ) -> None:
        self._emit = choices.emit
        self._is_update = choices.semantics == "update"
        self._given_epoch = given_epoch
        keep = max(choices.keep, MOST_AT_ONCE) if is_taken_at_once else choices.keep
        self.backlog = Backlog(1 if self._is_update else keep, first)
        self.skipped = 0
        """How many answers became no results, because there are newer ones."""
        self.dropped = 0
        """How many answers became no results, because too many were due at once."""
        self.due = 0
        """How many answers were due."""
        self.unchanged = 0
        """How many were the same as the one before."""
        self.every = choices.emit_every
        """The least time between results, if there is one."""
        self.keep = replace(choices, keep=keep).most_answers
        """How many answers can be used at a time."""
        self._last: float | None = None
        """When the last results were given."""
        self._previous: Answer | None = None
        self._newest: WindowBound = None

    def restore(self, waiting: Sequence[Made], next_ordinal: int) -> None:
        """Let results wait that were made before the process began; their readers come later."""
        self.due += len(waiting)
        self.backlog.stored.extend(waiting)
        self.backlog.next_ordinal = next_ordinal

    def held_until(self, now: float) -> float | None:
        """Return until when no result may be given; None if one may be given now."""
        if self.every is None or self._last is None:
            return None
        until = self._last + self.every
        return until if now < until else None

    def prepared(self, answers: Sequence[Answer], skipped: int, now: float) -> Emission:
        """Decide which answers become results.

        `skipped` answers were due before them, and are never made.
        """
        if self._emit == "asked":
            return Emission()
        news: list[Answer] = []
        unchanged = older = 0
        newest, previous = self._newest, self._previous
        for answer in answers:
            # the window, or the epoch, had an answer before
            if self._was_given(answer) or (self._is_update and is_before(answer.place, newest)):
                older += 1
                continue
            newest = answer.place
            if self._emit == "changed" and not answer.revision and answer.error is None:
                before, previous = previous, answer
                if before is not None and _says_the_same(answer, before):
                    unchanged += 1
                    continue
            news.append(answer)

        def give() -> None:
            self.due += skipped + len(answers)
            self.unchanged += unchanged
            self.skipped += older
            self._newest, self._previous = newest, previous
            if skipped:
                self._miss(skipped)
            self._last = now if answers else self._last
            for answer in news:
                self.backlog.add(answer)

        return Emission(news, give, skipped)

    def _was_given(self, answer: Answer) -> bool:
        given, epoch = self._given_epoch, answer.epoch
        return given is not None and epoch is not None and epoch <= given

    def begin_anew(self) -> None:
        """Allow windows to end earlier than before, because the landmark was moved."""
        self._newest = None

    def _miss(self, answers: int) -> None:
        """Count answers that are never made."""
        if self._is_update or self.every is not None:
            self.skipped += answers
        else:
            self.dropped += answers
        self.backlog.miss(answers)


def _says_the_same(one: Answer, other: Answer) -> bool:
    return one.rows_failed == other.rows_failed and is_same_relation(one.table, other.table)


def is_same_relation(one: pa.Table, other: pa.Table) -> bool:
    """Tell whether two tables of one schema have the same rows, in any order."""
    import pyarrow as pa

    if one.num_rows != other.num_rows:
        return False
    try:
        one, other = _with_equal_nans(one), _with_equal_nans(other)
        order = [(name, "ascending") for name in one.schema.names]
        return one.equals(other) or bool(one.sort_by(order).equals(other.sort_by(order)))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        return False  # some types have no order, or two columns have one name


def _with_equal_nans(table: pa.Table) -> pa.Table:
    """Return a table whose NaNs equal one another: doubles become the integers of their bits."""
    import pyarrow as pa

    for i, field in enumerate(table.schema):
        if pa.types.is_float64(field.type):
            column = table.column(i)
            bits = [chunk.view(pa.int64()) for chunk in column.chunks]
            table = table.set_column(i, field.name, pa.chunked_array(bits, pa.int64()))
    return table
