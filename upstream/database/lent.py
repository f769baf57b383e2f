"""Relations that are lent to DuckDB: names for which it finds the Arrow table that they hold.

Registering a relation costs a third of a millisecond, as much as a small statement, so statements
share relations. One statement runs at a time, and each sets the tables that it reads before it
runs. A relation is lent as long as something refers to it, and is taken back at the latest when the
next one is lent or taken back. So anything that an interruption leaves undone is done later.
"""

from __future__ import annotations

import weakref
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyarrow as pa

from .running import Running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from duckdb import DuckDBPyConnection

    from .arrow_results import Types

Columns = tuple[tuple[str, ...], tuple[str, ...]]
"""Names of columns, and DuckDB's names of their types."""


class _Rows:
    """The object that DuckDB registers; it returns the current table."""

    __slots__ = ("table",)

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


class LentRelation:
    """A name for which DuckDB finds the table that this object holds."""

    __slots__ = ("__weakref__", "_nothing", "_rows", "name")

    def __init__(self, name: str, schema: pa.Schema) -> None:
        self.name = name
        self._nothing = pa.Table.from_batches([], schema=schema)  # this also works for a union
        self._rows = _Rows(self._nothing)

    @property
    def schema(self) -> pa.Schema:
        """The columns that it was lent with."""
        return self._nothing.schema

    @property
    def rows(self) -> object:
        """The object to register with DuckDB; it must not keep the relation itself alive."""
        return self._rows

    def hold(self, table: pa.Table | None) -> None:
        """Set the rows that DuckDB reads; without rows, nothing is kept in memory."""
        self._rows.table = self._nothing if table is None else table


class Kept:
    """What is kept while queries are tried: relations, and DuckDB's reports on statements."""

    __slots__ = ("__weakref__", "columns", "relations", "results")

    def __init__(self) -> None:
        self.relations: list[LentRelation] = []
        self.columns: dict[str, Columns] = {}
        """The names and types of the columns of queries, by the texts of the queries."""
        self.results: dict[str, tuple[pa.Schema, Types]] = {}
        """The schemas of the queries' results, with DuckDB's types."""


class LentRelations:
    """The relations of one connection."""

    __slots__ = ("_connection", "_count", "_kept", "_lent", "_running", "_shared")

    def __init__(self, connection: DuckDBPyConnection) -> None:
        self._connection = connection
        self._running = Running(connection)
        self._count = 0
        self._lent: dict[str, weakref.ref[LentRelation]] = {}
        """What may be registered with DuckDB, by name."""
        self._shared: weakref.WeakValueDictionary[tuple[bytes, int], LentRelation]
        self._shared = weakref.WeakValueDictionary()
        self._kept: weakref.ref[Kept] | None = None

    def lend(self, schema: pa.Schema, name: str = "") -> LentRelation:
        """Lend a relation that no statement shares, under this name or under a name of its own."""
        self.sweep()
        self._count += 1
        relation = LentRelation(name or f"__lent_{self._count}", schema)
        self._lent[relation.name] = weakref.ref(relation)
        with self._running:
            self._connection.register(relation.name, relation.rows)
        return relation

    def shared(self, schema: pa.Schema, number: int) -> LentRelation:
        """Return a shared relation by schema and number, since a statement may read several."""
        key = schema.serialize().to_pybytes(), number
        relation = self._shared.get(key)
        if relation is None:
            relation = self.lend(schema)
            self._shared[key] = relation
        if (kept := self._keeping()) is not None:
            kept.relations.append(relation)
        return relation

    def take_back(self, relation: LentRelation) -> None:
        """Remove a relation from DuckDB that `lend` returned."""
        relation.hold(None)
        self._connection.unregister(relation.name)
        self._lent.pop(relation.name, None)

    def sweep(self) -> None:
        """Take back the relations that nothing refers to any more. O(lent relations)."""
        for name in [name for name, relation in self._lent.items() if relation() is None]:
            self._connection.unregister(name)  # which does nothing if it is not registered
            del self._lent[name]

    @contextmanager
    def keeping(self) -> Iterator[None]:
        """Until the end, keep shared relations lent and remember DuckDB's reports on statements."""
        if self._keeping() is not None:
            yield
            return
        kept = Kept()
        self._kept = weakref.ref(kept)
        try:
            yield
        finally:
            kept.relations.clear()
            del kept
            self.sweep()

    @property
    def kept(self) -> Kept:
        """What is kept at the moment. Outside a `keeping` block, additions to it are forgotten."""
        return self._keeping() or Kept()

    def _keeping(self) -> Kept | None:
        return None if self._kept is None else self._kept()
