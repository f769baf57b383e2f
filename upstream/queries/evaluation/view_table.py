"""A view as a table for other queries: its result, brought up to date when they are evaluated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import pyarrow as pa

    from ...database.duck import Duck
    from ...rows.stream_definition import StreamDefinition


class ViewSource(Protocol):
    """What a query that reads a view needs of it."""

    @property
    def definition(self) -> StreamDefinition:
        """Its name and columns."""

    def table(self) -> pa.Table:
        """Return its result; the same object as before if nothing has changed since."""

    def is_current(self, table: pa.Table | None) -> bool:
        """Tell whether this is its result, and nothing has come since."""

    def first_waiting(self, table: pa.Table | None) -> float | None:
        """Return since when this result of it has lacked something, at the earliest, or None."""

    def due_at(self) -> float | None:
        """Return when the clock alone will change its result, or None."""


class ViewTable:
    """Lends the result of a view to DuckDB."""

    __slots__ = ("_duck", "_relation", "_table", "_view", "version")

    def __init__(self, view: ViewSource, duck: Duck) -> None:
        self._view = view
        self._duck = duck
        self._table: pa.Table | None = None
        self._relation = duck.lend(view.definition.schema)
        self.version = 0
        """How many results were lent so far."""

    @property
    def name(self) -> str:
        """The name of the table in DuckDB."""
        return self._relation.name

    @property
    def reader(self) -> ViewTable:
        """What tells whether anything waits: the view itself."""
        return self

    @property
    def waiting(self) -> int:
        """1 if the view has a newer result than the one that is lent, else 0."""
        return int(not self._view.is_current(self._table))

    def first_waiting(self) -> float | None:
        """Return since when the result that is lent has lacked something, or None."""
        return self._view.first_waiting(self._table)

    def due_at(self) -> float | None:
        """Return when the clock alone will change the view's result, or None."""
        return self._view.due_at()

    def refresh(self, now: float) -> None:
        """Lend the view's result. O(1) if nothing has changed."""
        table = self._view.table()
        if table is not self._table:
            self._relation.hold(table)
            self._table, self.version = table, self.version + 1

    def close(self) -> None:
        """Take the table back."""
        self._duck.take_back(self._relation)
