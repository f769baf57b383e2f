"""Answers to a query, and what all kinds of evaluation have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ...errors import QueryTypeError
from ...rows.arrow_data import empty_table

if TYPE_CHECKING:
    import pyarrow as pa

    from ...database.result_schema import ResultSchema
    from ...rows.stream_times import WindowBound
    from ..chunks.windows import Span


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer for a window. Without windows it is the current answer, and has no bounds.

    `due` is the moment at which a fresher answer than any before was due: when the window closed,
    or when the first row arrived that no answer contained. `table` is empty if there is an `error`.
    `rows_failed` rows are left out because the query fails on them, and `failure` says how it fails
    on one of them.
    """

    start: WindowBound
    end: WindowBound
    due: float
    revision: int
    table: pa.Table
    error: str | None = None
    rows_failed: int = 0
    failure: str | None = None
    delivered: Callable[[], None] | None = None
    """To be called when the answer was taken."""
    spans: Sequence[Span] | None = None
    """The chunks of the window, by input, if it is one of a grid."""
    epoch: int | None = None
    """The number of the epoch, if the query reads epochs."""

    @property
    def place(self) -> WindowBound:
        """What orders the answers of a query: the number of the epoch, or the end of the window.

        The bounds of epochs that are not cut by time need not ascend.
        """
        return self.end if self.epoch is None else self.epoch

    def or_failed(self) -> Answer:
        """Return the answer or, if rows had to be left out of it, an error instead."""
        if not self.rows_failed or self.error is not None:
            return self
        rows = "1 row fails" if self.rows_failed == 1 else f"{self.rows_failed} rows fail"
        empty = empty_table(self.table.schema)
        return replace(self, table=empty, error=f"{rows}: {self.failure}")

    def handed_out(self, schema: ResultSchema) -> Answer:
        """Return the answer with the types that users receive, or an error if a value has none."""
        if schema.outer is schema.inner:
            return self
        try:
            return replace(self, table=schema.handed_out(self.table))
        except QueryTypeError as error:
            empty = empty_table(schema.outer)
            return replace(self, table=empty, error=f"{error.reason}: {error.hint}")


@dataclass(frozen=True, slots=True)
class Answers:
    """The newest answers that were requested, oldest first, and how many older ones were due.

    Nothing has changed until `commit` is called: if an evaluation is interrupted before, the next
    one gives the same answers again.
    """

    answers: Sequence[Answer] = ()
    skipped: int = 0
    commit: Callable[[], None] = lambda: None


class Counts(NamedTuple):
    """What became of rows: too late for their windows, superseded by newer ones, or held.

    Of the newest rows of keys, some were deleted, and some expired. `late_by_stream` says of which
    streams the late ones were.
    """

    late: int = 0
    superseded: int = 0
    held: int = 0
    deleted: int = 0
    expired: int = 0
    late_by_stream: Mapping[str, int] = MappingProxyType({})

    @classmethod
    def of_late(cls, late: Iterable[tuple[str, int]], *, held: int) -> Counts:
        """Return counts of late rows, of which each input of a stream has some."""
        by_stream: dict[str, int] = {}
        for stream, rows in late:
            by_stream[stream] = by_stream.get(stream, 0) + rows
        return cls(sum(by_stream.values()), held=held, late_by_stream=by_stream)


BY_INCREMENTS = "incrementally"
OVER_KEPT_ROWS = "over kept rows"


@dataclass(frozen=True, slots=True)
class Description:
    """What `explain` says about an evaluation.

    `merges` says for each leaf how its partials are merged; it is None if the query is not split.
    `about` are lines that come first. `noun` is the word for what has an answer of its own.
    """

    now: str
    merges: tuple[str, ...] | None = None
    about: tuple[str, ...] = ()
    noun: str = "window"


class Evaluation(Protocol):
    """How one standing query is evaluated.

    An exception in any method leaves the evaluation as it was, or ahead by whole batches.
    """

    def take_in(self, now: float) -> None:
        """Read what the streams have, and work ahead as far as possible."""

    def answers(self, now: float, keep: int) -> Answers:
        """Give the newest `keep` due answers, and count the others as skipped."""

    def current(self, now: float) -> Answer | None:
        """Return the current answer; call it after `answers` for the same moment.

        It is for the newest closed window, with rows in it or without, or for all rows. It is None
        if no rows are kept from which it could be computed.
        """

    def due_at(self) -> float | None:
        """Return when the clock alone will make an answer due, or None."""

    def counts(self) -> Counts:
        """Return what became of rows so far."""

    def describe(self) -> Description:
        """Describe how the query is evaluated at the moment."""

    def close(self) -> None:
        """Release its statements and relations in DuckDB."""
