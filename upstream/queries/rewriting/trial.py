"""Trying queries on relations without rows: what DuckDB says to them, before any user waits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...queries.sql.lending import prepare
from ..sql.trees import key
from .collations import with_collations

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa
    from sqlglot import exp

    from ...database.duck import Duck


@dataclass(frozen=True, slots=True)
class Shape:
    """The columns of a result: names, DuckDB's types, and the Arrow schema it is handed out in."""

    names: tuple[str, ...]
    types: tuple[str, ...]
    schema: pa.Schema


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a result: names and DuckDB's types, with collations if there can be any."""

    names: tuple[str, ...]
    types: tuple[str, ...]


class Trial:
    """DuckDB with the relations that queries may read, all empty.

    `collates` says that there are texts that compare by a collation.
    """

    __slots__ = ("_collates", "_columns", "_duck", "_read_back", "_schemas", "schemas")

    def __init__(
        self,
        duck: Duck,
        schemas: Mapping[str, pa.Schema],
        *,
        collates: bool = False,
        read_back: dict[bytes, tuple[str, ...]] | None = None,
    ) -> None:
        self._duck = duck
        self._collates = collates
        self._read_back = {} if read_back is None else read_back
        self._columns: dict[str, Columns] = {}
        self._schemas: dict[str, pa.Schema] = {}
        self.schemas = dict(schemas)

    def shape(self, query: exp.Query) -> Shape:
        """Return all about the columns of a query; raises as DuckDB does."""
        text = key(query)
        columns = self._columns_of(query, text)
        if text not in self._schemas:
            self._schemas[text] = self._run(query).schema
        return Shape(columns.names, columns.types, self._schemas[text])

    def columns(self, query: exp.Query) -> Columns:
        """Return names and types only, for which the query need not run; raises as DuckDB does."""
        return self._columns_of(query, key(query))

    def _columns_of(self, query: exp.Query, text: str) -> Columns:
        if text not in self._columns:
            described = self._run(query, describe=True).to_pydict()
            names, types = described["column_name"], described["column_type"]
            if self._collates:
                types = with_collations(query, types, self._run, self._duck)
            self._columns[text] = Columns(tuple(names), tuple(types))
        return self._columns[text]

    def types_read_back(self, schema: pa.Schema) -> tuple[str, ...]:
        """Return the types as which DuckDB reads an Arrow table."""
        from sqlglot import exp

        known = schema.serialize().to_pybytes()
        if known not in self._read_back:
            query = exp.select("*").from_(exp.to_table("merged"))
            self._read_back[known] = self.lending({"merged": schema}).columns(query).types
        return self._read_back[known]

    def _run(self, query: exp.Expr, *, describe: bool = False) -> pa.Table:
        prepared = prepare(self._duck, query, self.schemas, describe=describe)
        try:
            return prepared.run()
        finally:
            prepared.close()

    def with_steps(self) -> Trial:
        """Return a trial in which the chunks have a column of steps as well."""
        import pyarrow as pa

        from ..sql.names import STEP
        from ..sql.window_bounds import is_bounds_name

        step = pa.field(STEP, pa.int64())
        schemas = {
            name: schema if is_bounds_name(name) else pa.schema([step, *schema])
            for name, schema in self.schemas.items()
        }
        return self._of(schemas)

    def lending(self, schemas: Mapping[str, pa.Schema]) -> Trial:
        """Return a trial in which these relations exist as well."""
        return self._of({**self.schemas, **schemas})

    def _of(self, schemas: Mapping[str, pa.Schema]) -> Trial:
        return Trial(self._duck, schemas, collates=self._collates, read_back=self._read_back)
