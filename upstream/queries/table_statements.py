"""Statements about tables, which are DuckDB's: what they may do with streams, and what not.

A table can be made of the newest rows of streams, or have them inserted. Everything else that names
a stream where DuckDB wants a table is refused: DuckDB does not know it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ..errors import StatementError

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlglot import exp

    from .duck import Duck
    from .statements import InsertInto, OtherStatement


class TableStatements:
    """Runs statements about tables; `newest_rows` gives those of the stream of a name."""

    __slots__ = ("_duck", "_newest_rows", "_streams")

    def __init__(
        self, duck: Duck, streams: Mapping[str, object], newest_rows: Callable[[str], pa.Table]
    ) -> None:
        self._duck = duck
        self._streams = streams
        self._newest_rows = newest_rows

    def run(self, statement: InsertInto | OtherStatement) -> pa.Table:
        """Run a statement; StatementError if it is none for streams, QueryError if it fails."""
        from sqlglot import exp

        tree, text = statement.tree, statement.text
        if isinstance(tree, exp.Describe) and (name := self._stream(tree.this)) is not None:
            query = exp.select("*").from_(exp.to_table(name))
            rows = {name: self._newest_rows(name)}
            return self._duck.run_once(exp.Describe(this=query), text, rows)
        if isinstance(tree, exp.Transaction | exp.Commit | exp.Rollback):
            raise StatementError(
                "a transaction would take the standing queries with it when it fails",
                text,
                hint="each statement takes effect at once, and as a whole",
            )
        streams = self._streams_in(tree)
        if streams and not self._only_reads(tree):
            raise StatementError(
                f"{streams[0]} is a stream, and this statement is for tables",
                text,
                hint="streams know CREATE STREAM, DROP STREAM, INSERT INTO and DESCRIBE, and "
                "CREATE TABLE … AS SELECT makes a table of their newest rows",
            )
        chunks = {f"chunk_{i}": self._newest_rows(name) for i, name in enumerate(streams)}
        answer = self._duck.run_once(self._over_chunks(tree, streams), text, chunks)
        return self._shown(answer) if isinstance(tree, exp.Show) else answer

    def _only_reads(self, tree: exp.Expr) -> bool:
        """Tell whether streams are only read, and now: a view would read them later."""
        from sqlglot import exp

        if isinstance(tree, exp.Create):
            is_filled = tree.kind == "TABLE" and tree.expression is not None
        else:
            is_filled = isinstance(tree, exp.Insert)
        target = tree.this
        if isinstance(target, exp.Schema):
            target = target.this
        return is_filled and self._stream(target) is None

    def _streams_in(self, tree: exp.Expr) -> list[str]:
        from sqlglot import exp

        names = (self._stream(table) for table in tree.find_all(exp.Table))
        return sorted({name for name in names if name is not None})

    def _over_chunks(self, tree: exp.Expr, streams: list[str]) -> exp.Expr:
        """Read chunks for streams, whose own names something in the statement may hide."""
        from sqlglot import exp

        tree = tree.copy()
        named = [(table, self._stream(table)) for table in tree.find_all(exp.Table)]
        for table, name in named:
            if name is None:
                continue
            if not table.alias:
                alias = exp.to_identifier(table.name, quoted=True)
                table.set("alias", exp.TableAlias(this=alias))
            table.set("this", exp.to_identifier(f"chunk_{streams.index(name)}", quoted=True))
        return tree

    def _stream(self, node: object) -> str | None:
        """Return the name of the stream that a table in a statement is."""
        from sqlglot import exp

        from .statements.reading import is_hidden

        if not isinstance(node, exp.Table) or node.db or is_hidden(node):
            return None
        return next((each for each in self._streams if each.lower() == node.name.lower()), None)

    def _shown(self, tables: pa.Table) -> pa.Table:
        """Leave out of a list of tables what is lent for queries."""
        import pyarrow as pa

        from .statements import is_reserved

        if "name" not in tables.schema.names:
            return tables
        is_meant = [not is_reserved(name) for name in tables["name"].to_pylist()]
        return tables.filter(pa.array(is_meant, pa.bool_()))
