"""The newest rows of a stream as a table that a query over other windows reads.

DuckDB finds it like any other table. It is brought up to date before the query reads its streams,
so that a row is joined with the rows that are the newest when it is evaluated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...held_interrupt import HeldInterrupt

if TYPE_CHECKING:
    import pyarrow as pa

    from ...database.duck import Duck
    from ...tables.log import LogReader
    from ...tables.newest_rows import NewestRows


class SideTable:
    """Lends the newest rows of a stream to DuckDB."""

    __slots__ = ("_duck", "_is_stale", "_newest", "_relation", "reader")

    def __init__(
        self, reader: LogReader, newest: NewestRows, schema: pa.Schema, duck: Duck
    ) -> None:
        self.reader = reader
        self._duck = duck
        self._newest = newest
        self._relation = duck.lend(schema)
        self._is_stale = False
        """Whether rows were read that are not lent yet."""

    @property
    def name(self) -> str:
        """The name of the table in DuckDB."""
        return self._relation.name

    def refresh(self) -> None:
        """Read what waits. O(changes)."""
        rows = self.reader.peek_rows()
        if rows is not None:
            with HeldInterrupt():
                self._newest.add(rows)
                self.reader.take(rows.num_rows)
                self._is_stale = True
        if self._is_stale:
            self._relation.hold(self._newest.table())
            self._is_stale = False

    def close(self) -> None:
        """Stop reading, and take the table back."""
        self.reader.close()
        self._duck.take_back(self._relation)
