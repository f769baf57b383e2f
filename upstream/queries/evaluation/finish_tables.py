"""The tables from which a view is finished: made when it is created, and again when tables change.

Making them fails, for example, if a condition on a table fails for a row. The view is then finished
from the tables themselves until they change again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ...database.failure import DatabaseError
from ..rewriting.collations import may_collate
from ..rewriting.not_incremental import NotIncrementalError
from ..rewriting.static_finish import static_finish
from ..rewriting.trial import Trial
from ..sql.functions import functions_of
from ..sql.lending import prepare
from ..sql.standing_needs import tables_read, with_tables_behind
from .stream_leaf import PartTables

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from collections.abc import Set as AbstractSet

    import pyarrow as pa

    from ...database.duck import Duck
    from ..rewriting.split_query import SplitQuery
    from ..rewriting.static_finish import StaticFinish
    from ..sql.trees import Query
    from .tables_version import TablesVersion

_MOST_KEYS: Final = 65_536
"""With more keys than this, the groups are not looked up one by one."""


def finish_tables(
    query: SplitQuery,
    duck: Duck,
    *,
    changing: AbstractSet[str],
    lent: Mapping[str, pa.Schema],
    version: TablesVersion,
    undo: list[Callable[[], None]],
) -> FinishTables | None:
    """Make the tables from which a view can be finished, or return None if there are none.

    `changing` are the names of what the finish reads that is neither a table nor a merged relation.
    `lent` are the schemas of the latter. `undo` receives what drops the tables.
    """
    finish, functions = query.finish, functions_of(duck)
    read = tables_read(finish) - {name.lower() for name in changing}
    if not (read and version.is_lasting) or functions.own_in(finish):
        return None
    if may_collate(finish, duck) or with_tables_behind(read, duck) != read:
        return None  # a part would lose the collation; a view of DuckDB may read anything
    parts = PartTables(duck)
    undo.append(parts.drop)
    try:
        static = static_finish(
            query, changing, Trial(duck, lent), functions, new_name=duck.new_name, tables=parts
        )
    except (NotIncrementalError, DatabaseError):
        static = None
    if static is None:
        parts.drop()
        return None
    return FinishTables(static, parts, duck, version)


class FinishTables:
    """The parts of a finish as tables.

    `version` is different after tables have changed.
    """

    __slots__ = ("_keys", "_made_of", "_parts", "_static", "_tables", "_version")

    def __init__(
        self, static: StaticFinish, parts: PartTables, duck: Duck, version: TablesVersion
    ) -> None:
        self._static = static
        self._parts = parts
        self._version = version
        self._keys = {name: prepare(duck, query, {}) for name, query in static.keys.items()}
        self._tables: dict[str, pa.Table] | None = None
        """The keys, by relation; None if the parts are not made."""
        self._made_of: object = None
        """The version of the tables that the parts were last made of, whether or not they are."""

    @property
    def query(self) -> Query:
        """The finish over parts."""
        return self._static.finish

    @property
    def relations(self) -> Mapping[str, object]:
        """The merged relations whose groups are looked up."""
        return self._static.keys

    def are_made(self) -> bool:
        """Make the parts again if tables have changed; tell whether they could be made."""
        version = self._version()
        if not self._version.is_lasting:  # now a file is read in place of a table, for example
            self._tables = self._made_of = None
        elif self._made_of != version:
            self._tables = None
            try:
                self._make()
                tables = {name: keys.run() for name, keys in self._keys.items()}
            except DatabaseError:
                tables = None
            self._tables, self._made_of = tables, version
        return self._tables is not None

    def keys(self, relation: str) -> pa.Table | None:
        """Return the groups that are looked up, or None if all groups may be read."""
        if not self.are_made() or self._tables is None:
            return None
        found = self._tables[relation]
        return found if found.num_rows <= _MOST_KEYS else None

    def close(self) -> None:
        """Drop the tables, and release statements in DuckDB."""
        for statement in self._keys.values():
            statement.close()
        self._parts.drop()

    def _make(self) -> None:
        for statement in self._keys.values():
            statement.close()  # it has bound the tables that there were
        self._parts.drop()
        for part in self._static.parts:
            self._parts.make(part)
