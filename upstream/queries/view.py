"""A continuous view, as users have it: its result, its description and its counts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from .maintained_view import MaintainedView
    from .results.view_statistics import ViewStatistics


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

    Without a key, rows are deleted by their values: `WITH (sign = 'op')` names a column of signs.
    A row with 1 is added. A row with -1 takes away one row that is equal in all other columns, as
    far as the query reads them. It may arrive first: until the other row has been added, the view
    has no result, and the error names the group. The query reads the rows without the column.

    >>> _ = engine.sql("CREATE STREAM orders (symbol TEXT, size BIGINT, op TINYINT)")
    >>> _ = engine.sql(
    ...     "CREATE VIEW open_orders WITH (sign = 'op') AS"
    ...     " SELECT symbol, count(*) AS orders, sum(size) AS size FROM orders GROUP BY symbol"
    ... )
    >>> rows = {"symbol": ["IBM", "IBM", "IBM"], "size": [100, 50, 100], "op": [1, 1, -1]}
    >>> _ = engine.append("orders", rows)
    >>> engine.view("open_orders").table().to_pylist()
    [{'symbol': 'IBM', 'orders': 1, 'size': 50}]
    >>> engine.close()
    """

    __slots__ = ("_view",)

    def __init__(self, view: MaintainedView) -> None:
        self._view = view

    def __repr__(self) -> str:
        """Return the name of the view, and what it reads."""
        return f"<ContinuousView {self.name!r} over {', '.join(sorted(self.streams))}>"

    @property
    def name(self) -> str:
        """The name of the view."""
        return self._view.name

    @property
    def text(self) -> str:
        """The query of the view, as it was given."""
        return self._view.text

    @property
    def schema(self) -> pa.Schema:
        """The schema of its result."""
        return self._view.definition.schema

    @property
    def streams(self) -> frozenset[str]:
        """The names of the streams and views that the view reads."""
        return self._view.streams

    @property
    def tables(self) -> frozenset[str]:
        """The names of the tables that the view reads, in lower case."""
        return self._view.tables

    def table(self) -> pa.Table:
        """Return the result over everything that was appended before this call.

        If nothing has come since the last call, it is the same table. With `max_staleness`, the
        last result is given as long as the first row that it lacks is not older than that. Raises
        QueryError if the query fails, such as on a row that cannot be cast.
        """
        return self._view.read()

    @property
    def positions(self) -> Mapping[str, int]:
        """How many rows of each stream are in the view, counted from the stream's beginning.

        A restored view continues to count as in the engine that saved it. So this is the number of
        rows that a feed must skip when it begins again. Empty for a view over windows.
        """
        return self._view.positions()

    def save(self, path: str | Path) -> None:
        """Take in what waits, and save the view in a file; `Engine.restore_view` restores it.

        The file has the definition, the partials, the newest rows of `latest(…)` and `positions`.
        It has no other rows of streams, no tables, and none of the views that the view reads. An
        older file of the same path is replaced once the new one is complete.

        Raises StatementError if the view reads windows, or if rows of its streams meet macros or
        types that the user has defined. Raises OSError if the file cannot be written.
        """
        self._view.save(Path(path))

    def explain(self, *, sql: bool = False) -> str:
        """Describe what ran once, what runs as rows arrive, and what runs when the view is read.

        It also names the views with which this one shares the state of a stream. With `sql`, it
        has the statements that are run.
        """
        return self._view.explain(sql=sql)

    def statistics(self) -> ViewStatistics:
        """Return the counts since the view was created."""
        return self._view.view_statistics()
