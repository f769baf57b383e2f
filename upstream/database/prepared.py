"""Statements that are prepared once and run on lent tables, again and again.

A standing query runs the same few statements on tables that change, so a statement is parsed once.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Final

from .failure import DatabaseError, DatabaseValueError
from .short_results import SHORT_ROWS, has_plain_types, table_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from duckdb import DuckDBPyConnection, Statement
    from duckdb.sqltypes import DuckDBPyType

    from .engine_clock import EngineClock
    from .lent import LentRelation

    Types = Sequence[DuckDBPyType]

_INTERRUPTED: Final = "Query interrupted"
"""What DuckDB says, in a bare RuntimeError, when Ctrl-C has ended a statement."""


class Prepared:
    """A statement that runs on the tables it is lent, as often as one likes.

    A statement that runs a second time is prepared in DuckDB, which then need not plan it each
    time: that is half of what a small statement costs. What runs once is not worth it.
    """

    __slots__ = (
        "_clock",
        "_connection",
        "_execute",
        "_is_plain",
        "_is_short",
        "_name",
        "_reads_clock",
        "_relations",
        "_schema",
        "_statement",
        "_types",
        "types",
    )

    def __init__(
        self,
        connection: DuckDBPyConnection,
        statement: Statement,
        relations: dict[str, LentRelation],
        name: str,
        *,
        clock: EngineClock,
        reads_clock: bool,
    ) -> None:
        self._connection = connection
        self._statement = statement
        self._relations = relations
        self._name = name
        self._clock = clock
        self._reads_clock = reads_clock
        self._schema: pa.Schema | None = None
        """Of the first result, and since then of all."""
        self.types: Types = ()
        """What DuckDB calls the types of the columns, from the first run on."""
        self._is_plain = self._is_short = False
        """Whether results are of plain types, and whether the last result had a few rows."""
        self._types: list[object] = []
        self._execute: Statement | None = None

    def run(self, **tables: pa.Table) -> pa.Table:
        """Run on these tables, one for each lent name; what is not given is empty."""
        for name, table in tables.items():
            self._relations[name].table = table
        try:
            self._clock.tell_if_read(is_named=self._reads_clock)
            with failures:
                return self._run_first() if self._schema is None else self._run_again(self._schema)
        finally:
            for relation in self._relations.values():
                relation.clear()

    def close(self) -> None:
        """Take the lent names back."""
        if self._execute is not None:
            self._connection.execute(f"DEALLOCATE {self._name}")
        for relation in self._relations.values():
            if relation.name:
                self._connection.unregister(relation.name)

    def _run_first(self) -> pa.Table:
        table, self.types = run_once(self._connection, self._statement)
        if not table.num_columns:  # no query
            return table
        self._schema = table.schema
        self._is_plain = self._is_short = has_plain_types(table.schema)
        return table

    def _run_again(self, schema: pa.Schema) -> pa.Table:
        if self._execute is None:
            # Both parts are ours: the statement's text was written out by sqlglot.
            self._connection.execute(f"PREPARE {self._name} AS {self._statement.query}").fetchall()
            [self._execute] = self._connection.extract_statements(f"EXECUTE {self._name}")
        self._connection.execute(self._execute)
        if self._is_short and self._types == self._types_now():
            return self._short(schema)
        table = self._as_arrow()
        self._types = self._types_now()
        if not table.schema.equals(schema):  # a table was made anew, with other types
            raise DatabaseError(f"the result was {schema}, and is {table.schema}")
        self._is_short = self._is_plain and table.num_rows < SHORT_ROWS
        return table

    def _short(self, schema: pa.Schema) -> pa.Table:
        """Return a result that was short last time; the rest of it by Arrow, if it is longer."""
        import pyarrow as pa

        rows = self._connection.fetchmany(SHORT_ROWS)
        try:
            if len(rows) < SHORT_ROWS:
                return table_of(rows, schema)
            self._is_short = False
            return pa.concat_tables([table_of(rows, schema), self._as_arrow()])
        except pa.ArrowException:  # a type that Python has another for, or a value too large
            assert self._execute is not None
            self._is_plain = self._is_short = False
            self._connection.execute(self._execute)
            return self._as_arrow()

    def _types_now(self) -> list[object]:
        """Return the types of the result that is there."""
        return [column[1] for column in self._connection.description or ()]

    def _as_arrow(self) -> pa.Table:
        """Return what is left of the result."""
        return _as_arrow(self._connection)


def run_once(connection: DuckDBPyConnection, statement: Statement) -> tuple[pa.Table, Types]:
    """Run a statement, and return what types its columns are of in DuckDB as well.

    A table without columns if it has no result.
    """
    import duckdb
    import pyarrow as pa

    if statement.type == duckdb.StatementType.SELECT:
        connection.execute(statement)  # a relation would not heed Ctrl-C
        types = [column[1] for column in connection.description or ()]
        return _as_arrow(connection), types
    result = connection.sql(statement)
    return (pa.table({}), ()) if result is None else (result.to_arrow_table(), result.types)


def _as_arrow(connection: DuckDBPyConnection) -> pa.Table:
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        # DuckDB warns that this copies the rows; a relation, which it would rather have, costs
        # more than the copy, since it cannot be prepared.
        return connection.to_arrow_table()


class Failures:
    """Raise what DuckDB raises as errors that need no DuckDB to be named.

    Where DuckDB says in its own words that Ctrl-C ended a statement, that is KeyboardInterrupt.
    """

    __slots__ = ()

    def __enter__(self) -> None:
        """Do nothing: it is about what is raised."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Raise another error in place of DuckDB's."""
        if error is None:
            return
        import duckdb

        if isinstance(error, duckdb.InterruptException) or (
            type(error) is RuntimeError and str(error) == _INTERRUPTED
        ):
            raise KeyboardInterrupt from error
        if isinstance(error, duckdb.ConversionException | duckdb.OutOfRangeException):
            raise DatabaseValueError(str(error)) from error
        if isinstance(error, duckdb.Error):
            raise DatabaseError(str(error)) from error


failures: Final = Failures()
"""The one that is needed: it has no state."""
