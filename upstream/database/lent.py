"""Relations that are lent to DuckDB: names under which it finds whichever Arrow table they hold.

Registering a table anew for each run costs a quarter of a millisecond, which is a third of what a
small statement takes; a lent relation is registered once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from .duck import Duck
    from .prepared import Prepared


class LentRelation:
    """What DuckDB reads under a name: whichever table it holds."""

    __slots__ = ("_nothing", "name", "table")

    def __init__(self, name: str, schema: pa.Schema) -> None:
        import pyarrow as pa

        self.name = name
        self._nothing = pa.Table.from_batches([], schema=schema)  # of a union, too
        self.table = self._nothing

    def clear(self) -> None:
        """Hold no rows, so that nothing stays in memory for our sake."""
        self.table = self._nothing

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hand the table out by Arrow's C stream protocol."""
        return self.table.__arrow_c_stream__(requested_schema)


class Lender:
    """Lends the relations of one statement that is being made."""

    __slots__ = ("_duck", "relations")

    def __init__(self, duck: Duck) -> None:
        self._duck = duck
        self.relations: dict[str, LentRelation] = {}
        """What was lent so far, by the names that the statement has for it."""

    def name_of(self, name: str, schema: pa.Schema) -> str:
        """Lend a relation of this schema, and return what DuckDB calls it."""
        if name not in self.relations:
            self.relations[name] = self._duck.lend(schema)
        return self.relations[name].name

    def prepared(self, sql: str, lent: Mapping[str, pa.Schema]) -> Prepared:
        """Return the statement; of `lent`, what it does not read can be given all the same."""
        unread = {
            name: LentRelation("", schema)
            for name, schema in lent.items()
            if name not in self.relations
        }
        return self._duck.prepare(sql, self.relations | unread)
