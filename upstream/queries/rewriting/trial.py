"""Tries queries on relations without rows, to learn DuckDB's answer before a user waits for it."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from ..sql.lending import prepare, written
from ..sql.names import STEP
from ..sql.window_bounds import is_bounds_name
from .collations import collation_of, may_collate, with_collations

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...database.duck import Duck
    from ...database.prepared import Written


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a result: names and DuckDB's types, with collations if there can be any."""

    names: tuple[str, ...]
    types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shape(Columns):
    """Everything about the columns of a result, including the Arrow schema of its tables."""

    schema: pa.Schema

    def collates(self, name: str) -> bool:
        """Tell whether the texts of a column compare by a collation."""
        return bool(collation_of(self.types[self.names.index(name)]))


class Trial:
    """DuckDB with the relations that queries may read, all empty.

    `collates` says that some texts compare by a collation. DuckDB is asked only once about a query
    as long as the database keeps what is lent (`Duck.keeping`).
    """

    __slots__ = ("_collated", "_duck", "_read_back", "schemas")

    def __init__(
        self,
        duck: Duck,
        schemas: Mapping[str, pa.Schema],
        *,
        collates: bool = False,
    ) -> None:
        self._duck = duck
        self._collated: dict[str, tuple[str, ...]] | None = {} if collates else None
        """The types with their collations, by the texts of queries; None if there are no
        collations."""
        self._read_back: dict[bytes, tuple[str, ...]] = {}
        self.schemas = dict(schemas)

    def shape(self, query: exp.Query) -> Shape:
        """Return everything about the columns of a query; raises as DuckDB does."""
        with closing(written(self._duck, query, self.schemas)) as statement:
            schema, _ = statement.result()
            return Shape(*self._with_collations(query, statement), schema)

    def columns(self, query: exp.Query) -> Columns:
        """Return names and types only, without running the query; raises as DuckDB does."""
        with closing(written(self._duck, query, self.schemas)) as statement:
            return Columns(*self._with_collations(query, statement))

    def _with_collations(
        self, query: exp.Query, statement: Written
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        names, types = statement.columns()
        if self._collated is None:
            return names, types
        text = statement.text
        if text not in self._collated:
            self._collated[text] = with_collations(query, types, self._run, self._duck)
        return names, self._collated[text]

    def may_collate(self, query: exp.Query) -> bool:
        """Tell whether texts in a query may have a collation."""
        return self._collated is not None and may_collate(query, self._duck)

    def types_read_back(self, schema: pa.Schema) -> tuple[str, ...]:
        """Return the types with which DuckDB reads an Arrow table."""
        known = schema.serialize().to_pybytes()
        if known not in self._read_back:
            query = exp.select("*").from_(exp.to_table("merged"))
            self._read_back[known] = self.lending({"merged": schema}).columns(query).types
        return self._read_back[known]

    def _run(self, statement: exp.Expr) -> pa.Table:
        with closing(prepare(self._duck, statement, self.schemas)) as prepared:
            return prepared.run()

    def with_steps(self) -> Trial:
        """Return a trial whose chunks have a column of steps as well, as in evaluation."""
        step = pa.field(STEP, pa.int64())
        schemas = {
            name: schema if is_bounds_name(name) else schema.append(step)
            for name, schema in self.schemas.items()
        }
        return self._of(schemas)

    def lending(self, schemas: Mapping[str, pa.Schema]) -> Trial:
        """Return a trial in which these relations exist as well."""
        return self._of({**self.schemas, **schemas})

    def _of(self, schemas: Mapping[str, pa.Schema]) -> Trial:
        trial = Trial(self._duck, schemas)
        trial._collated, trial._read_back = self._collated, self._read_back
        return trial
