"""The newest rows of a stream as a table that a query over other windows reads.

DuckDB finds it like any other table; it is brought up to date before the query reads its streams,
so that a row meets the rows that are the newest when it is evaluated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..duck import LentRelation
    from ..newest_rows import NewestRows
    from .basket import BasketReader


class SideTable:
    """Keeps what is lent to DuckDB at the newest rows of a stream."""

    __slots__ = ("_newest", "_relation", "reader")

    def __init__(self, reader: BasketReader, newest: NewestRows, relation: LentRelation) -> None:
        self.reader = reader
        self._newest = newest
        self._relation = relation

    def refresh(self) -> None:
        """Read what waits. O(groups) if anything does."""
        rows = self.reader.take_rows()
        if rows is not None:
            self._newest.add(rows)
            self._relation.table = self._newest.table()
