"""One statement as DuckDB reads it: its text, and the relations that it is lent."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from .arrow_results import run_once, run_query
from .running import Running

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pyarrow as pa
    from duckdb import DuckDBPyConnection, Statement

    from .arrow_results import Types
    from .engine_clock import EngineClock
    from .lent import Columns, LentRelation, LentRelations

    NameOf: TypeAlias = Callable[[str, "pa.Schema"], str]
    """Lends a relation of this name and schema, and returns what DuckDB calls it."""
    Write: TypeAlias = Callable[[NameOf], str]
    """Writes a statement."""


class Written:
    """A statement that can run, on the tables that its relations hold."""

    __slots__ = (
        "_among",
        "_clock",
        "_connection",
        "_reads_clock",
        "_relations",
        "_running",
        "_statement",
        "text",
    )

    def __init__(
        self,
        connection: DuckDBPyConnection,
        among: LentRelations,
        clock: EngineClock,
        write: Write,
    ) -> None:
        self._connection = connection
        self._running = Running(connection)
        self._among = among
        self._clock = clock
        self._relations: dict[str, LentRelation] = {}
        self._statement: Statement | None = None
        try:
            self.text = write(self._name_of)
        except BaseException:
            self.close()
            raise
        self._reads_clock = clock.may_be_read(self.text)

    def _name_of(self, name: str, schema: pa.Schema) -> str:
        if name not in self._relations:
            lent = [each.schema for each in self._relations.values()]
            number = sum(each.equals(schema, check_metadata=True) for each in lent)
            self._relations[name] = self._among.shared(schema, number)
        return self._relations[name].name

    def hold(self, tables: Mapping[str, pa.Table]) -> None:
        """Have DuckDB read these tables, nothing where none is given, and the time of now."""
        for name, relation in self._relations.items():
            relation.clear()
            if name in tables:
                relation.table = tables[name]
        self._clock.tell_if_read(is_named=self._reads_clock)

    def clear(self) -> None:
        """Have DuckDB read nothing."""
        for relation in self._relations.values():
            relation.clear()

    def close(self) -> None:
        """Give the relations back."""
        self._relations.clear()
        self._among.sweep()

    def run_once(self) -> tuple[pa.Table, Types]:
        """Run on the tables that are held, and return DuckDB's types of the columns as well."""
        if self._statement is None:
            [self._statement] = self._connection.extract_statements(self.text)
        return run_once(self._connection, self._statement)

    # Of a query

    def columns(self) -> Columns:
        """Return the columns of the query, which is not run."""
        known = self._among.kept.columns
        if self.text not in known:
            with self._running:
                rows = self._connection.execute(f"DESCRIBE {self.text}").fetchall()
            known[self.text] = tuple(row[0] for row in rows), tuple(row[1] for row in rows)
        return known[self.text]

    def result(self) -> tuple[pa.Schema, Types]:
        """Return the schema of the query's result, and DuckDB's types; it runs on no rows."""
        known = self._among.kept.results
        if self.text not in known:
            self.hold({})
            with self._running:
                table, types = run_query(self._connection, self.text)
            self.learn(table.schema, types)
            return table.schema, types
        return known[self.text]

    def learn(self, schema: pa.Schema, types: Types) -> None:
        """Keep in mind what the result of the query is like."""
        self._among.kept.results[self.text] = schema, types
        self._among.kept.columns[self.text] = tuple(schema.names), tuple(map(str, types))
