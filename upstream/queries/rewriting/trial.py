"""Trying queries on relations without rows: what DuckDB says to them, before any user waits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .trees import key

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa
    from sqlglot import exp

    from ..duck import Duck


@dataclass(frozen=True, slots=True)
class Shape:
    """The columns of a result: names, DuckDB's types, and the Arrow schema it is handed out in."""

    names: tuple[str, ...]
    types: tuple[str, ...]
    schema: pa.Schema


class Trial:
    """DuckDB with the relations that queries may read, all empty."""

    __slots__ = ("_duck", "_shapes", "schemas")

    def __init__(self, duck: Duck, schemas: Mapping[str, pa.Schema]) -> None:
        self._duck = duck
        self._shapes: dict[str, Shape] = {}
        self.schemas = dict(schemas)

    def shape(self, query: exp.Query) -> Shape:
        """Return what the columns of a query are; raises as DuckDB does."""
        from sqlglot import exp

        text = key(query)
        if text in self._shapes:
            return self._shapes[text]
        describe = exp.Subquery(this=exp.Describe(this=query.copy()))
        described = self._run(exp.select("column_type").from_(describe)).to_pydict()
        schema = self._run(query).schema
        shape = Shape(tuple(schema.names), tuple(described["column_type"]), schema)
        self._shapes[text] = shape
        return shape

    def _run(self, query: exp.Query) -> pa.Table:
        prepared = self._duck.prepare(query, self.schemas)
        try:
            return prepared.run()
        finally:
            prepared.close()

    def with_steps(self) -> Trial:
        """Return a trial in which the chunks have a column of steps as well."""
        import pyarrow as pa

        from .split_query import STEP

        step = pa.field(STEP, pa.int64())
        schemas = {name: pa.schema([step, *schema]) for name, schema in self.schemas.items()}
        return Trial(self._duck, schemas)

    def lending(self, schemas: Mapping[str, pa.Schema]) -> Trial:
        """Return a trial in which these relations exist as well."""
        return Trial(self._duck, {**self.schemas, **schemas})
