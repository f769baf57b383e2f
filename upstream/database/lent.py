"""Relations that are lent to DuckDB: names under which it finds whichever Arrow table they hold.

Registering a relation costs a third of a millisecond, as much as a small statement, so statements
share them: one statement runs at a time, and each sets what it reads before it runs. A relation is
lent for as long as anything refers to it, and not longer than until the next one is lent or taken
back; so whatever an interruption leaves undone is made good later.
"""

from __future__ import annotations

import weakref
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .running import Running

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from duckdb import DuckDBPyConnection

    from .arrow_results import Types

Columns = tuple[tuple[str, ...], tuple[str, ...]]
"""Names of columns, and DuckDB's names of their types."""


class _Rows:
    """What DuckDB holds: it hands out the table of the moment."""

    __slots__ = ("table",)

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


class LentRelation:
    """A name under which DuckDB finds whichever table this holds."""

    __slots__ = ("__weakref__", "_nothing", "_rows", "name")

    def __init__(self, name: str, schema: pa.Schema) -> None:
        import pyarrow as pa

        self.name = name
        self._nothing = pa.Table.from_batches([], schema=schema)  # of a union, too
        self._rows = _Rows(self._nothing)

    @property
    def schema(self) -> pa.Schema:
        """The columns that it was lent with."""
        return self._nothing.schema

    @property
    def rows(self) -> object:
        """The object to register with DuckDB, which must not keep the relation itself alive."""
        return self._rows

    def hold(self, table: pa.Table | None) -> None:
        """Have DuckDB read these rows; without any nothing stays in memory for our sake."""
        self._rows.table = self._nothing if table is None else table


class Kept:
    """What is kept while queries are tried: the relations, and what DuckDB said of statements."""

    __slots__ = ("__weakref__", "columns", "relations", "results")

    def __init__(self) -> None:
        self.relations: list[LentRelation] = []
        self.columns: dict[str, Columns] = {}
        """The names and types of the columns of queries, by their texts."""
        self.results: dict[str, tuple[pa.Schema, Types]] = {}
        """The schemas of their results, and the types as DuckDB has them."""


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
        """Lend a relation that is shared with no statement, under this name or one of its own."""
        self.sweep()
        self._count += 1
        relation = LentRelation(name or f"__lent_{self._count}", schema)
        self._lent[relation.name] = weakref.ref(relation)
        with self._running:
            self._connection.register(relation.name, relation.rows)
        return relation

    def shared(self, schema: pa.Schema, number: int) -> LentRelation:
        """Return the relation of a schema with this number, of which a statement reads several."""
        key = schema.serialize().to_pybytes(), number
        relation = self._shared.get(key)
        if relation is None:
            relation = self.lend(schema)
            self._shared[key] = relation
        if (kept := self._keeping()) is not None:
            kept.relations.append(relation)
        return relation

    def take_back(self, relation: LentRelation) -> None:
        """Let DuckDB know a relation no more that `lend` returned."""
        relation.hold(None)
        self._connection.unregister(relation.name)
        self._lent.pop(relation.name, None)

    def sweep(self) -> None:
        """Take back what nothing refers to any more. O(what is lent)."""
        for name in [name for name, relation in self._lent.items() if relation() is None]:
            self._connection.unregister(name)  # which is nothing to DuckDB if it is not there
            del self._lent[name]

    @contextmanager
    def keeping(self) -> Iterator[None]:
        """Keep what is shared lent, and what DuckDB says of statements known, until the end."""
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
        """What is kept at the moment; what is put there is forgotten if `keeping` is not on."""
        return self._keeping() or Kept()

    def _keeping(self) -> Kept | None:
        return None if self._kept is None else self._kept()
