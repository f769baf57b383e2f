"""One-time SQL: queries over relations, and the rows of INSERT.

A stream is a relation of the newest row of each key. A query scans the relations that it names, and
of these only the columns that it may read. What it does not read costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from ..database.failure import DatabaseError
from ..database.result_schema import ResultSchema
from ..errors import StatementError
from .rewriting.retention import columns_read
from .sql import check, read_query, rows_to_insert
from .sql.duck_messages import error_of
from .sql.lending import prepare
from .sql.reading_outside import reads_files
from .sql.table_statements import TableStatements
from .sql.window_clause import WindowKind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..database.duck import Duck
    from ..rows.stream_definition import StreamDefinition
    from ..tables.relation import Relation
    from .sql import InsertInto, OtherStatement, ParsedQuery
    from .sql.trees import Query


class OneTimeSql:
    """Runs one-time statements over relations, which are found by name."""

    __slots__ = ("_duck", "_relations")

    def __init__(self, duck: Duck, relations: Mapping[str, Relation]) -> None:
        self._duck = duck
        self._relations = relations

    def ready(self, text: str) -> ReadyQuery:
        """Return a query that can run again and again, and that DuckDB reads as we do.

        Raises QueryError if DuckDB refuses it.
        """
        definitions = self._definitions()
        parsed = read_query(text, definitions)
        _refuse_windows(parsed, definitions)
        check(parsed, definitions, self._duck)
        scans = []
        for i, window in enumerate(parsed.windows):
            relation = self._relations[window.stream]
            columns = columns_read(parsed.query, relation.definition.schema)
            scans.append(Scan(f"chunk_{i}", relation, columns))
        # DuckDB looks for files and their columns when it prepares the query, and never again.
        is_lasting = not reads_files(parsed.query, self._duck)
        return ReadyQuery(self._duck, parsed.query, text, scans, is_lasting=is_lasting)

    def execute(self, statement: InsertInto | OtherStatement) -> pa.Table:
        """Let DuckDB run a statement about its tables; the statement may read relations."""
        return TableStatements(self._duck, self._relations).run(statement)

    def rows_of(self, insert: InsertInto, definition: StreamDefinition) -> pa.Table:
        """Return the rows of an INSERT into a stream, conformed."""
        return rows_to_insert(insert, definition, self._duck, self._relations)

    def _definitions(self) -> dict[str, StreamDefinition]:
        return {name: relation.definition for name, relation in self._relations.items()}


@dataclass(frozen=True, slots=True)
class Scan:
    """What a query reads of a relation, and the name under which it is lent."""

    name: str
    relation: Relation
    columns: tuple[str, ...]

    def rows(self) -> pa.Table:
        """Return the rows at this moment."""
        return self.relation.scan(self.columns)


class ReadyQuery:
    """A query that was read and checked; it runs on what its relations have at the time."""

    __slots__ = ("_scans", "_schema", "_statement", "_text", "is_lasting")

    def __init__(
        self, duck: Duck, query: Query, text: str, scans: Sequence[Scan], *, is_lasting: bool
    ) -> None:
        schemas = {each.name: schema_of(each) for each in scans}
        self._statement = prepare(duck, query, schemas)
        self._scans = scans
        self._text = text
        self._schema: ResultSchema | None = None
        self.is_lasting = is_lasting
        """Whether it may run again as long as streams, views and tables are defined as now."""

    def answer(self) -> pa.Table:
        """Run the query; raise QueryError if it fails."""
        tables = {each.name: each.rows() for each in self._scans}
        try:
            table = self._statement.run(**tables)
        except DatabaseError as error:
            raise error_of(str(error), self._text) from error
        if self._schema is None:
            self._schema = ResultSchema.of(table.schema, self._statement.types)
        return self._schema.handed_out(table, self._text)

    def close(self) -> None:
        """Release the statement and its relations in DuckDB."""
        self._statement.close()


def schema_of(scan: Scan) -> pa.Schema:
    """Return the columns of a scan."""
    schema = scan.relation.definition.schema
    return pa.schema([schema.field(name) for name in scan.columns])


def _refuse_windows(parsed: ParsedQuery, definitions: Mapping[str, StreamDefinition]) -> None:
    """Refuse windows: here only `latest` by the key means the same as the stream itself."""
    for number, window in enumerate(parsed.windows):
        key = definitions[window.stream].key
        is_latest = window.kind is WindowKind.LATEST and window.rows == 1
        is_latest = is_latest and window.expire_after is None
        is_whole = window.kind in {WindowKind.STREAM, WindowKind.VIEW}
        if not (is_whole or (is_latest and {*window.per} == {*key})):
            reason = (
                f"{window.kind}(…) works in standing queries only: a one-time query "
                "reads the newest row of each key"
            )
            hint = f"write FROM {window.stream}, or use continuous_query()"
            parsed.refuse(StatementError, number, reason, hint)
