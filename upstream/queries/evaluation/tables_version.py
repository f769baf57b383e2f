"""How often that may have changed which queries of a view read of tables, files and the clock.

Statements that may have changed tables are counted. Nothing tells when a file changes, or the
clock. So what reads one of them has another version each time it is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..sql.functions import functions_of
from ..sql.reading_outside import reads_files, volatile_in
from ..sql.standing_needs import tables_read

if TYPE_CHECKING:
    from ...database.duck import Duck
    from ..sql.trees import Query


class TablesVersion:
    """Return a number that is the same as long as some queries read the same; O(1) until then.

    `statements` tells how many statements may have changed tables. After one, a name may mean
    something else, such as a view over a file in place of a table.
    """

    __slots__ = (
        "_duck",
        "_queries",
        "_reads_tables",
        "_seen",
        "_statements",
        "_version",
        "is_lasting",
        "reads_files",
    )

    def __init__(self, queries: Sequence[Query], duck: Duck, statements: Callable[[], int]) -> None:
        self._queries = queries
        self._duck = duck
        self._statements = statements
        own_in = functions_of(duck).own_in
        self._reads_tables = any(tables_read(each) or own_in(each) for each in queries)
        self._seen = statements()
        self._version = 0
        self._look()

    def _look(self) -> None:
        """Find out what the names in the queries mean."""
        self.reads_files = any(reads_files(each, self._duck) for each in self._queries)
        """Whether a query may read files, which DuckDB looks for when it prepares the query."""
        self.is_lasting = not self.reads_files and not any(
            volatile_in(each, self._duck) for each in self._queries
        )
        """Whether the version stays the same until a statement runs."""

    def is_still(self, version: int) -> bool:
        """Tell whether this is the version; DuckDB is not asked, so any thread may call it."""
        is_seen = not self._reads_tables or self._statements() == self._seen
        return is_seen and self.is_lasting and version == self._version

    def __call__(self) -> int:
        """Return the version at this moment; DuckDB may be asked."""
        statements = self._statements()
        if self._reads_tables and statements != self._seen:
            self._look()
            self._seen = statements
            self._version += 1
        elif not self.is_lasting:
            self._version += 1
        return self._version
