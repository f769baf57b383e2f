"""A continuous view: a query whose result is kept up to date as rows arrive, read like a table.

It is a standing query that answers when it is asked, and a relation that other queries can name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from ..errors import ClosedError
from ..rows.stream_definition import StreamDefinition
from .continuous_query import ContinuousQuery
from .rewriting.explain import parts
from .rewriting.explain_view import explain_view

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from ..clock import Clock
    from ..tables.relation import Condition, TimeRange
    from .choices import Choices
    from .evaluation.view_planning import ViewPlan
    from .results.answer import Answer
    from .results.backlog import QueryStatistics


class ContinuousView:
    """A view over streams; `CREATE VIEW name AS query` creates it, and `DROP VIEW name` drops it.

    A stream in its query is all rows since the view was made. Rows are added to grouped partials as
    they arrive, and the rest of the query is evaluated when the view is read. If nothing has come
    since, the last result is given again. Queries read the view by its name, like a table.

    >>> from upstream import Engine, ManualClock
    >>> engine = Engine(clock=ManualClock())
    >>> _ = engine.sql("CREATE STREAM trades (symbol TEXT, size BIGINT)")
    >>> _ = engine.sql(
    ...     "CREATE VIEW sizes AS SELECT symbol, sum(size) AS size FROM trades GROUP BY symbol"
    ... )
    >>> _ = engine.append("trades", {"symbol": ["IBM", "IBM"], "size": [100, 50]})
    >>> engine.view("sizes").table().to_pylist()
    [{'symbol': 'IBM', 'size': 150}]
    >>> engine.sql("SELECT size FROM sizes WHERE symbol = 'IBM'").to_pylist()
    [{'size': 150}]
    >>> engine.close()
    """

    __slots__ = ("_known", "_lock", "_plan", "_query", "definition", "text")

    def __init__(
        self,
        name: str,
        text: str,
        plan: ViewPlan,
        *,
        schema: pa.Schema,
        choices: Choices,
        clock: Clock,
        stopwatch: Clock,
        lock: AbstractContextManager[bool],
    ) -> None:
        self.text = text
        """The query of the view."""
        self._plan = plan
        self._lock = lock
        self._query = ContinuousQuery(
            text,
            plan.plan,
            name=name,
            choices=choices,
            callback=None,
            clock=clock,
            stopwatch=stopwatch,
            on_close=lambda _: plan.release(),
            lock=lock,
        )
        self.definition = StreamDefinition(name, schema, (), None, is_view=True)
        """Its name and columns."""
        self._known: tuple[Answer, pa.Table] | None = None
        """The last answer, and the result that was made of it."""

    def __repr__(self) -> str:
        """Return the name of the view, and what it reads."""
        return f"<ContinuousView {self.name!r} over {', '.join(sorted(self.streams))}>"

    @property
    def name(self) -> str:
        """The name of the view."""
        return self.definition.name

    @property
    def schema(self) -> pa.Schema:
        """The schema of its result."""
        return self.definition.schema

    @property
    def streams(self) -> frozenset[str]:
        """The names of the streams and views that the view reads."""
        return self._query.streams

    @property
    def tables(self) -> frozenset[str]:
        """The names of the tables that the view reads, in lower case."""
        return self._query.tables

    @property
    def static_tables(self) -> frozenset[str]:
        """The names of the tables whose rows cannot change, because rows of streams met them."""
        return self._plan.static_tables

    def table(self) -> pa.Table:
        """Return the result over everything that was appended before this call.

        If nothing has come since the last call, it is the same table. Raises QueryError if the
        query fails, such as on a row that cannot be cast.
        """
        with self._lock:
            if self._query.is_closed:
                raise ClosedError("view")
            known = self._known
            answer, table = self._query.current(None if known is None else known[0])
            if table is not None:
                known = self._known = answer, table.rename_columns(self.schema.names)
            assert known is not None
            return known[1]

    def scan(
        self,
        columns: Sequence[str] | None = None,
        conditions: Sequence[Condition] = (),
        between: TimeRange | None = None,
    ) -> pa.Table:
        """Return the result with these columns; nothing else is left out."""
        table = self.table()
        return table if columns is None else table.select([*columns])

    def is_current(self, table: pa.Table | None) -> bool:
        """Tell whether this is the result of the view, and nothing has come since."""
        known, evaluation = self._known, self._plan.evaluation
        if known is None or known[1] is not table or evaluation is None:
            return False
        return evaluation.is_current(known[0]) and not self._query.has_waiting()

    def first_waiting(self) -> float | None:
        """Return the arrival of the first row that waits for the view, or None."""
        return self._query.first_waiting()

    def evaluate(self) -> None:
        """Add the rows that wait to the partials, without computing the result."""
        self._query.evaluate()

    def explain(self, *, sql: bool = False) -> str:
        """Describe what ran once, what runs as rows arrive, and what runs when the view is read.

        With `sql`, also the statements that are run.
        """
        plan = self._plan
        if plan.evaluation is None:
            return self._query.explain(sql=sql)
        text = explain_view(plan.plan.split, plan.static_parts, plan.beside)
        return f"{text}\n{parts(plan.plan.split)}" if sql else text

    def statistics(self) -> QueryStatistics:
        """Return the counts since the view was created."""
        return self._query.statistics()

    def close(self) -> None:
        """Stop reading the streams; `DROP VIEW` does this."""
        self._query.close()
