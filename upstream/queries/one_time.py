"""One-time SQL: queries over relations, and the rows of INSERT.

A stream is a relation of the newest row of each key. A query scans the relations that it names, and
of these only the columns that it may read. What it does not read costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import StatementError
from .rewriting.retention import columns_read
from .sql import check, read_query, rows_to_insert
from .sql.lending import answer_once
from .sql.table_statements import TableStatements
from .sql.window_clause import WindowKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from ..database.duck import Duck
    from ..rows.stream_definition import StreamDefinition
    from ..tables.relation import Relation
    from .sql import InsertInto, OtherStatement, ParsedQuery


class OneTimeSql:
    """Runs one-time statements over relations, which are found by name."""

    __slots__ = ("_duck", "_relations")

    def __init__(self, duck: Duck, relations: Mapping[str, Relation]) -> None:
        self._duck = duck
        self._relations = relations

    def answer(self, text: str) -> pa.Table:
        """Run a query that DuckDB reads as we do; raise QueryError if it fails."""
        definitions = self._definitions()
        parsed = read_query(text, definitions)
        _refuse_windows(parsed, definitions)
        check(parsed, definitions, self._duck)
        tables = {
            f"chunk_{i}": self._scan(window.stream, parsed)
            for i, window in enumerate(parsed.windows)
        }
        return answer_once(self._duck, parsed.query, text, tables)

    def execute(self, statement: InsertInto | OtherStatement) -> pa.Table:
        """Let DuckDB run a statement about its tables; the statement may read relations."""
        return TableStatements(self._duck, self._relations).run(statement)

    def rows_of(self, insert: InsertInto, definition: StreamDefinition) -> pa.Table:
        """Return the rows of an INSERT into a stream, conformed."""
        return rows_to_insert(insert, definition, self._duck, self._relations)

    def _definitions(self) -> dict[str, StreamDefinition]:
        return {name: relation.definition for name, relation in self._relations.items()}

    def _scan(self, name: str, parsed: ParsedQuery) -> pa.Table:
        relation = self._relations[name]
        return relation.scan(columns_read(parsed.query, relation.definition.schema))


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
