"""One-time queries that are asked again: read and checked once, and prepared in DuckDB.

Reading and checking a query takes twenty times as long as running a small one. A dashboard asks the
same texts again and again, so the last of them are kept. They hold as long as all streams, views
and tables are defined as they were.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import pyarrow as pa

    from ..rows.stream_definition import StreamDefinition
    from .catalogue import Catalogue
    from .one_time import ReadyQuery

_MOST: Final = 100
"""The greatest number of queries that are kept."""


class KnownQueries:
    """The last one-time queries, by text."""

    __slots__ = ("_catalogue", "_defined", "_queries", "_tables_version")

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._queries: OrderedDict[str, ReadyQuery] = OrderedDict()
        self._defined: list[StreamDefinition] = []
        self._tables_version = 0

    def answer(self, text: str) -> pa.Table | None:
        """Answer a query that was asked before; None if it is not known, or not any more."""
        query = self._queries.get(text)
        if query is None or not self._is_valid():
            return None
        self._queries.move_to_end(text)
        return query.answer()

    def add(self, text: str, query: ReadyQuery) -> None:
        """Keep a query, and forget the one that was not asked for longest."""
        if not self._is_valid():
            self.close()
            self._defined = self._definitions()
            self._tables_version = self._catalogue.tables_version()
        self._queries[text] = query
        if len(self._queries) > _MOST:
            self._queries.popitem(last=False)[1].close()

    def forget_outdated(self) -> None:
        """Forget all queries if anything is defined in another way than when they were added.

        Otherwise a dropped stream or view would stay in memory until the next query.
        """
        if self._queries and not self._is_valid():
            self.close()

    def close(self) -> None:
        """Forget all queries."""
        while self._queries:
            self._queries.popitem()[1].close()

    def _is_valid(self) -> bool:
        """Tell whether everything is defined as it was. O(streams and views)."""
        if self._tables_version != self._catalogue.tables_version():
            return False
        now = self._definitions()
        return len(now) == len(self._defined) and all(
            one is other for one, other in zip(now, self._defined, strict=True)
        )

    def _definitions(self) -> list[StreamDefinition]:
        return [relation.definition for relation in self._catalogue.relations.values()]
