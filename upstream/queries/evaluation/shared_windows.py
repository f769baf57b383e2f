"""Queries over the same windows and groups of one stream, which are evaluated together.

    stream -> one reader, one walk over windows, one leaf -> merged windows -> the finish of each

The merged relation of each window that is due is kept until all queries have made their answers of
it. A query joins others only as long as none of them has read a row: then all of them read the
same rows, and have the same windows. What else such queries must have in common is `Family`.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple
from weakref import WeakValueDictionary

import pyarrow as pa

from ...database.failure import DatabaseError
from ...held_interrupt import HeldInterrupt
from ..results.answer import Answer, Answers, Counts, Description
from ..results.error_text import error_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ...tables.log import LogReader
    from ..rewriting.shared_finish import FinishInCommon
    from ..sql.window_clause import WindowClause
    from .bounds import WindowBounds
    from .finish import Finish
    from .shared_finishes import Finished, SharedFinishes
    from .shared_leaf import OwnLeaf, SharedLeaf
    from .windowed import WindowedEvaluation

_NOTHING: Final = pa.table({})


class Family(NamedTuple):
    """What queries have in common that can be evaluated together."""

    window: WindowClause
    leaf: str


class MergedWindows:
    """Makes no results: passes the merged relation of a window on to the queries."""

    __slots__ = ()

    def run(self, merged: Sequence[pa.Table], bounds: Mapping[str, pa.Table]) -> pa.Table:
        """Return the merged relation of the only leaf."""
        return merged[0]

    def in_full(self, tables: Mapping[str, pa.Table]) -> pa.Table:
        """Never called, because these windows are evaluated incrementally."""
        raise AssertionError("windows of several queries are not evaluated in full")

    def failed(self, failure: DatabaseError) -> tuple[pa.Table, str]:
        """Return nothing, and the reason: each query merges the window for itself."""
        return _NOTHING, error_text(failure)

    def over_no_rows(self, bounds: Mapping[str, pa.Table]) -> tuple[pa.Table, str | None]:
        """Return nothing: each query knows its result over no rows."""
        return _NOTHING, None

    def close(self) -> None:
        """Do nothing, since there is nothing to release."""


class MergedWindow:
    """A window that was due, after `number` others. Its table is not finished for any query."""

    __slots__ = ("answer", "finished", "number")

    def __init__(self, number: int, answer: Answer) -> None:
        self.number = number
        self.answer = answer
        self.finished: Finished | None = None
        """The results of queries whose finishes run together, once one of them was requested."""


class SharedWindows:
    """The windows of several queries, and these queries."""

    __slots__ = (
        "_is_unfinished",
        "due",
        "evaluation",
        "finishes",
        "leaf",
        "merged",
        "queries",
        "reader",
    )

    def __init__(
        self,
        evaluation: WindowedEvaluation,
        leaf: SharedLeaf,
        finishes: SharedFinishes,
        reader: LogReader,
    ) -> None:
        self.evaluation = evaluation
        self.leaf = leaf
        self.finishes = finishes
        self.reader = reader
        self.queries: tuple[WindowsOfQuery, ...] = ()
        self._is_unfinished = False
        """Whether reading was interrupted and has to be continued."""
        self.due = 0
        """How many windows have been due."""
        self.merged = deque[MergedWindow]()
        """The windows that some query has not answered yet."""

    def take_in(self, now: float) -> None:
        """Read what waits, unless another query has done so."""
        if self.reader.waiting or self._is_unfinished:
            self._is_unfinished = True
            self.evaluation.take_in(now)
            self._is_unfinished = False

    def collect(self, now: float) -> None:
        """Merge the windows that are due, and keep them for the queries."""
        answers = self.evaluation.answers(now, max(query.keep for query in self.queries))
        if not (answers.answers or answers.skipped):
            return
        due = self.due + answers.skipped
        found = [MergedWindow(due + i, each) for i, each in enumerate(answers.answers)]
        with HeldInterrupt():
            answers.commit()
            self.merged.extend(found)
            self.due = due + len(found)
            self.forget()

    def forget(self) -> None:
        """Forget the windows that all queries have answered, and the oldest if they are many."""
        answered = min(query.answered for query in self.queries)
        most = max(query.keep for query in self.queries)
        while self.merged and (self.merged[0].number < answered or len(self.merged) > most):
            self.merged.popleft()

    def leave(self, query: WindowsOfQuery) -> None:
        """Let a query go; the last one closes everything."""
        self.queries = tuple(each for each in self.queries if each is not query)
        if self.queries:
            self.leaf.remove(query.own)
            self.finishes.remove(query.own)
            self.forget()
        else:
            self.finishes.close()
            self.evaluation.close()
            self.reader.close()


class WindowsOfQuery:
    """Evaluates one query over windows, alone or together with others."""

    __slots__ = (
        "__weakref__",
        "_alone",
        "_bounds",
        "_finish",
        "_in_common",
        "_is_closed",
        "_known",
        "_reader",
        "answered",
        "keep",
        "own",
        "shared",
    )

    def __init__(
        self,
        alone: WindowedEvaluation,
        reader: LogReader,
        *,
        own: OwnLeaf,
        finish: Finish,
        bounds: WindowBounds,
        keep: int,
        in_common: FinishInCommon | None,
    ) -> None:
        self._alone = alone
        self._in_common = in_common
        """The finish, if it can run together with those of other queries."""
        self._reader = reader
        self._finish = finish
        self._bounds = bounds
        self._known: tuple[Answer, Answer] | None = None
        """The last answer, with the merged window that it was made of."""
        self._is_closed = False
        self.shared: SharedWindows | None = None
        """The windows that it shares with other queries; None if it is alone."""
        self.own = own
        self.keep = keep
        """How many due answers the query can use at a time."""
        self.answered = 0
        """How many windows that were due are answered or skipped."""

    @property
    def reader(self) -> LogReader:
        """What reads the stream."""
        return self._reader if self.shared is None else self.shared.reader

    @property
    def windows(self) -> WindowedEvaluation:
        """What evaluates the windows, for this query alone or for several."""
        return self._alone if self.shared is None else self.shared.evaluation

    # Together with others

    def can_be_joined(self) -> bool:
        """Tell whether it has read nothing, and nothing waits: a new query reads the same rows."""
        reader = self.reader
        return not (self._is_closed or reader.waiting or reader.position != reader.origin)

    def join(self, shared: SharedWindows) -> None:
        """Share windows from now on."""
        with HeldInterrupt():
            shared.leaf.add(self.own)
            if self._in_common is not None:
                shared.finishes.add(self.own, self._in_common)
            shared.queries = (*shared.queries, self)
            self.shared = shared
            self._alone.close()
            self._reader.close()

    def unanswered(self) -> list[MergedWindow]:
        """Return the merged windows that it has not answered, as far as they are kept."""
        if self.shared is None:
            return []
        return [each for each in self.shared.merged if each.number >= self.answered]

    # Evaluation

    def take_in(self, now: float) -> None:
        """Read what waits; feed complete chunks, and portions of the open one."""
        (self._alone if self.shared is None else self.shared).take_in(now)

    def answers(self, now: float, keep: int) -> Answers:
        """Give answers for the newest `keep` due windows."""
        shared = self.shared
        if shared is None:
            return self._alone.answers(now, keep)
        shared.collect(now)
        due = shared.due
        used = self.unanswered()[-keep:] if keep else []
        found = [self._answer(each.answer, each) for each in used]

        def commit() -> None:
            self.answered = due
            if found and found[-1].spans is not None and self.own.failing.count:
                self.own.failing.forget([span.first for span in found[-1].spans])

        return Answers(found, due - self.answered - len(found), commit)

    def current(self, now: float) -> Answer | None:
        """Return the answer for the newest closed window, with rows or without."""
        current = self.windows.current(now)
        return current if self.shared is None or current is None else self._answer(current)

    def due_at(self) -> float | None:
        """Return when the clock alone will close the open window, or None."""
        return self.windows.due_at()

    def counts(self) -> Counts:
        """Return what became of rows so far; rows that are held for several count in each."""
        return self.windows.counts()

    def describe(self) -> Description:
        """Describe how the query is evaluated at the moment."""
        description = self.windows.describe()
        if self.shared is None or len(self.shared.queries) == 1:
            return description
        others = len(self.shared.queries) - 1
        queries = "1 other query" if others == 1 else f"{others} other queries"
        same = f"the same {description.noun}s and groups"
        words = f"{description.now}, together with those of {queries} over {same}"
        return replace(description, now=words)

    def close(self) -> None:
        """Release its statements and relations in DuckDB, and stop reading."""
        if self._is_closed:
            return
        with HeldInterrupt():
            self._is_closed = True
            if self.shared is None:
                self._alone.close()
                self._reader.close()
            else:
                self.shared.leave(self)
                self._finish.close()
            self.own.close()

    def _answer(self, merged: Answer, window: MergedWindow | None = None) -> Answer:
        """Return the answer for a merged window: the same one for the same window."""
        if self._known is not None and self._known[0] is merged:
            return self._known[1]
        spans = merged.spans
        bounds = self._bounds.tables(spans) if self._bounds.are_read else {}
        table, error = self._together(window) or self._result(merged, bounds)
        failing = self.own.failing
        failed, failure = (0, None) if spans is None else failing.within(spans)
        answer = replace(merged, table=table, error=error, rows_failed=failed, failure=failure)
        self._known = merged, answer
        return answer

    def _together(self, window: MergedWindow | None) -> tuple[pa.Table, None] | None:
        """Return the result that is computed with those of other queries, or None."""
        if window is None or self._in_common is None or self.shared is None:
            return None
        if window.answer.error is not None or not window.answer.table.num_rows:
            return None
        if window.finished is None:
            window.finished = self.shared.finishes.of(window.answer.table)
        table = window.finished.get(self.own)
        return None if table is None or not table.num_rows else (self._finish.named(table), None)

    def _result(
        self, merged: Answer, bounds: Mapping[str, pa.Table]
    ) -> tuple[pa.Table, str | None]:
        assert self.shared is not None
        leaf, finish = self.shared.leaf, self._finish
        if merged.error is None and not merged.table.num_rows:
            return finish.over_no_rows(bounds)

        def run() -> pa.Table:
            if merged.error is None:
                return finish.run([self.own.of(merged.table)], bounds)
            assert merged.spans is not None
            own = leaf.own_merged(self.own, merged.spans)
            if own is None:
                raise DatabaseError(merged.error)
            return finish.run([own], bounds)

        return finish.attempt(run)


class ReaderOfWindows:
    """What a query over windows reads: rows of a stream, and windows that others have merged."""

    __slots__ = ("_query",)

    def __init__(self, query: WindowsOfQuery) -> None:
        self._query = query

    @property
    def origin(self) -> int:
        """The row where the query began to read."""
        return self._query.reader.origin

    @property
    def position(self) -> int:
        """The row that is read next."""
        return self._query.reader.position

    @property
    def deletions(self) -> None:
        """None, since windows follow no deletions."""
        return None

    @property
    def waiting(self) -> int:
        """How many rows and merged windows wait."""
        query = self._query
        shared = query.shared
        if shared is None:
            return query._reader.waiting
        return shared.reader.waiting + shared.due - query.answered

    @property
    def waiting_rows(self) -> int:
        """How many rows wait."""
        return self._query.reader.waiting_rows

    def first_waiting(self) -> float | None:
        """Return the arrival of what waits first, or None."""
        moments = [each.answer.due for each in self._query.unanswered()[:1]]
        first = self._query.reader.first_waiting()
        return min([*moments, *([] if first is None else [first])], default=None)

    def close(self) -> None:
        """Stop reading."""
        self._query.close()


class Families:
    """The queries that new ones may join."""

    __slots__ = ("_newest",)

    def __init__(self) -> None:
        self._newest = WeakValueDictionary[Family, WindowsOfQuery]()

    def join(
        self, family: Family, query: WindowsOfQuery, share: Callable[[LogReader], SharedWindows]
    ) -> None:
        """Let a query join one of its family, if there is one that has read nothing yet.

        `share` makes windows for several queries.
        """
        other = self._newest.get(family)
        if other is not None and other.can_be_joined() and query.can_be_joined():
            shared = other.shared
            if shared is None:
                shared = share(other.reader.fork())
                other.join(shared)
            query.join(shared)
        self._newest[family] = query
