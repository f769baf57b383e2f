"""Statements that run on lent tables: written once, and prepared when they run again.

A standing query runs the same few statements on tables that change, so a statement is parsed once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa

from .arrow_results import (
    SHORT_ROWS,
    as_arrow,
    has_plain_types,
    run_once,
    run_query,
    table_of,
)
from .failure import DatabaseError
from .running import Running

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from collections.abc import Set as AbstractSet

    from duckdb import DuckDBPyConnection, Statement

    from .arrow_results import Types
    from .engine_clock import EngineClock
    from .lent import Columns, LentRelation, LentRelations

    NameOf: TypeAlias = Callable[[str, "pa.Schema"], str]
    """Lends a relation with this name and schema, and returns its name in DuckDB."""
    Write: TypeAlias = Callable[[NameOf], str]
    """Writes a statement."""


class Written:
    """A statement that can run on the tables that its relations hold."""

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
        """Set the tables that DuckDB reads (no rows where none is given), and the current time."""
        for name, relation in self._relations.items():
            relation.hold(tables.get(name))
        if self._reads_clock or self._clock.is_hidden:
            self._clock.tell()

    def clear(self) -> None:
        """Make DuckDB read no rows."""
        for relation in self._relations.values():
            relation.hold(None)

    def close(self) -> None:
        """Release the relations."""
        self._relations.clear()
        self._among.sweep()

    def run_once(self) -> tuple[pa.Table, Types]:
        """Run on the tables that are held; also return DuckDB's types of the columns."""
        if self._statement is None:
            [self._statement] = self._connection.extract_statements(self.text)
        return run_once(self._connection, self._statement)

    # Of a query

    def columns(self) -> Columns:
        """Return the columns of the query, without running it."""
        known = self._among.kept.columns
        if self.text not in known:
            with self._running:
                rows = self._connection.execute(f"DESCRIBE {self.text}").fetchall()
            known[self.text] = tuple(row[0] for row in rows), tuple(row[1] for row in rows)
        return known[self.text]

    def result(self) -> tuple[pa.Schema, Types]:
        """Return the schema of the query's result and DuckDB's types, by running it on no rows."""
        known = self._among.kept.results
        if self.text not in known:
            self.hold({})
            with self._running:
                table, types = run_query(self._connection, self.text)
            self.learn(table.schema, types)
            return table.schema, types
        return known[self.text]

    def learn(self, schema: pa.Schema, types: Types) -> None:
        """Remember the schema and types of the query's result."""
        self._among.kept.results[self.text] = schema, types
        self._among.kept.columns[self.text] = tuple(schema.names), tuple(map(str, types))


class Prepared:
    """A statement that runs on the tables lent to it, any number of times.

    The statement is written, and its relations are lent, when it is first needed; some statements
    never are. When it runs a second time it is prepared in DuckDB, so that DuckDB need not plan it
    each time. Planning is half the cost of a small statement. Preparing a statement that runs once
    is not worth it.

    An exception at any point leaves the statement as if it had not run, and it may run again.
    """

    __slots__ = (
        "_connection",
        "_execute",
        "_is_named",
        "_is_plain",
        "_is_short",
        "_lent",
        "_name",
        "_running",
        "_schema",
        "_types",
        "_write",
        "_written",
        "types",
    )

    def __init__(
        self,
        connection: DuckDBPyConnection,
        write: Callable[[], Written],
        lent: AbstractSet[str],
        name: str,
    ) -> None:
        self._connection = connection
        self._running = Running(connection)
        self._write = write
        self._lent = lent
        self._name = name
        self._written: Written | None = None
        self._schema: pa.Schema | None = None
        """The schema of the first result; all later results have it too."""
        self.types: Types = ()
        """DuckDB's types of the columns, known from the first run on."""
        self._is_plain = self._is_short = False
        """Whether every value of the result's types exists in Python, and whether the last
        result had few rows."""
        self._types: list[object] = []
        self._execute: Statement | None = None
        self._is_named = False
        """Whether DuckDB may know the statement by its name."""

    @property
    def schema(self) -> pa.Schema:
        """The schema of results. DuckDB is asked, with no rows, if it is not known yet."""
        if self._schema is None:
            self._learn(*self._now_written().result())
        return self._schema

    def run(self, **tables: pa.Table) -> pa.Table:
        """Run on these tables, one for each lent name. A table that is not given is empty."""
        assert tables.keys() <= self._lent, "tables are given for lent names only"
        try:
            self._now_written().hold(tables)
            return self._run_first() if self._schema is None else self._run_again(self._schema)
        except BaseException as error:
            self._running.failed(error)
            raise
        finally:
            if self._written is not None:
                self._written.clear()

    def close(self) -> None:
        """Take the lent names back; after an interruption it may be closed again, or run."""
        self._execute = None
        if self._is_named:
            self._connection.execute(f"DEALLOCATE {self._name}")
            self._is_named = False
        written, self._written = self._written, None
        if written is not None:
            written.close()

    def _now_written(self) -> Written:
        if self._written is None:
            self._written = self._write()
        return self._written

    def _learn(self, schema: pa.Schema, types: Types) -> None:
        """Remember the schema and the types of results."""
        self.types = types
        self._is_plain = self._is_short = has_plain_types(schema)
        self._schema = schema

    def _run_first(self) -> pa.Table:
        table, types = self._now_written().run_once()
        if table.num_columns:  # a query and not another statement
            self._learn(table.schema, types)
        return table

    def _run_again(self, schema: pa.Schema) -> pa.Table:
        if self._execute is None:
            self._is_named = True
            # Both parts are ours: sqlglot wrote the statement's text.
            text = self._now_written().text
            self._connection.execute(f"PREPARE {self._name} AS {text}").fetchall()
            [self._execute] = self._connection.extract_statements(f"EXECUTE {self._name}")
        self._connection.execute(self._execute)
        if self._is_short and self._types == self._types_now():
            return self._short(schema)
        table = as_arrow(self._connection)
        self._types = self._types_now()
        if not table.schema.equals(schema):  # a table was created again, with other types
            raise DatabaseError(f"the result was {schema}, and is {table.schema}")
        self._is_short = self._is_plain and table.num_rows < SHORT_ROWS
        return table

    def _short(self, schema: pa.Schema) -> pa.Table:
        """Return a result that was short last time; any rest is read through Arrow."""
        rows = self._connection.fetchmany(SHORT_ROWS)
        try:
            if len(rows) < SHORT_ROWS:
                return table_of(rows, schema)
            self._is_short = False
            return pa.concat_tables([table_of(rows, schema), as_arrow(self._connection)])
        # a type that Python represents otherwise, or a value that is too large
        except pa.ArrowException:
            assert self._execute is not None
            self._is_plain = self._is_short = False
            self._connection.execute(self._execute)
            return as_arrow(self._connection)

    def _types_now(self) -> list[object]:
        """Return the types of the current result."""
        return [column[1] for column in self._connection.description or ()]
