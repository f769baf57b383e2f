"""From which rows on the streams of a query over epochs are read again after a restart.

The answer for an epoch depends on the chunks that the inputs keep. So it is enough to read these
chunks again: epochs that were answered before are evaluated again, and their answers are dropped.
A join that is not inner also has to know which rows had a partner, which may be in an older chunk.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..chunks.feed_positions import FeedPositions, FeedStart
from ..sql.window_clause import Axis

if TYPE_CHECKING:
    from ..choices import Choices
    from ..chunks.reading import Input
    from ..sql.window_clause import WindowClause


class EpochFeed:
    """The inputs of a query over epochs, and how many chunks of each have to be read again."""

    __slots__ = ("_depths", "_inputs", "_is_ordinal", "refusal")

    def __init__(
        self,
        inputs: Sequence[Input],
        clauses: Sequence[WindowClause],
        choices: Choices,
        *,
        is_inner: bool,
    ) -> None:
        self._inputs = inputs
        kept = [clause.keep for clause in clauses]
        self._depths = kept if is_inner else [sum(kept)] * len(kept)
        self._is_ordinal = clauses[0].axis is Axis.ORDINAL
        self.refusal = refusal_of(clauses, choices)
        """Why the query cannot go on exactly where it was; "" if it can."""

    @property
    def is_ordinal(self) -> bool:
        """Whether chunks are numbered in the order of arrival."""
        return self._is_ordinal

    def here(self) -> list[FeedStart]:
        """Return where the inputs are, which have read nothing yet."""
        chunk = 0 if self._is_ordinal else None
        return [FeedStart(each.stream, each.reader.position, chunk) for each in self._inputs]

    def begin_at(self, starts: Sequence[FeedStart]) -> None:
        """Let the inputs read from there on, and note where chunks begin; this cannot fail."""
        for each, start in zip(self._inputs, starts, strict=True):
            each.begin_at(FeedPositions(start))

    def starts(self, epoch: int) -> list[FeedStart]:
        """Return where to begin so that all epochs after this one can be answered."""
        return [
            each.feed.before(epoch - depth + 1, each.reader.position)
            for each, depth in zip(self._inputs, self._depths, strict=True)
            if each.feed is not None
        ]

    def forget(self, epoch: int) -> None:
        """Forget what is not needed to begin after this epoch or later ones; this cannot fail."""
        for each, depth in zip(self._inputs, self._depths, strict=True):
            if each.feed is not None:
                each.feed.forget(epoch - depth + 1)


def refusal_of(clauses: Sequence[WindowClause], choices: Choices) -> str:
    """Return why a query cannot go on after a restart as if there had been none, or ""."""
    if clauses[0].axis is Axis.ARRIVAL:
        return "rows that are fed again arrive at another time, so they are in other epochs"
    if choices.close_after is not None:
        return "with close_after, epochs depend on when rows arrive, which a feed does not repeat"
    if any(each.answers_empty for each in clauses):
        return "with empty => true, epochs that have no rows cannot be fed again"
    if choices.emit != "slide" or choices.emit_every is not None:
        return "emit and emit_every choose results by those before, which are not kept"
    return ""
