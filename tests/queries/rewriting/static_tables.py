"""The parts of a leaf that are computed once, made in a database; and rows of a stream."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import count

import pyarrow as pa
from sqlglot import exp

from upstream.database.duck import Duck
from upstream.queries.rewriting.split_query import Leaf
from upstream.queries.rewriting.static_parts import StaticPart, as_table, with_static_parts
from upstream.queries.rewriting.trial import Trial
from upstream.queries.sql.lending import prepare, run_once
from upstream.queries.sql.window_clause import WindowClause, WindowKind

from .fixture_files import split_of
from .random_steps import SCHEMA, SCHEMAS

WINDOWS = (WindowClause(WindowKind.LANDMARK, "s"),)
ROWS = pa.table({"g": ["a", "b", "a"], "k": [0, 1, 7], "x": [1, 2, 3]})
LENT = pa.table(
    {
        field.name: ROWS[field.name] if field.name in ROWS.schema.names else pa.nulls(3, field.type)
        for field in SCHEMA
    }
).cast(SCHEMA)


class Parts:
    """Makes the tables of parts, and notes which there are."""

    def __init__(self, duck: Duck) -> None:
        self.made: list[StaticPart] = []
        self._duck = duck

    def make(self, part: StaticPart) -> None:
        self.made.append(part)
        with closing(prepare(self._duck, as_table(part), {})) as statement:
            statement.run()

    def count(self, query: exp.Query) -> int:
        count: int = run_once(self._duck, query, {}).column(0)[0].as_py()
        return count


@contextmanager
def taken(sql: str, tables: Duck) -> Iterator[tuple[Leaf, Leaf, list[StaticPart]]]:
    """Yield the only leaf of a query, the leaf over parts, and the parts, which are made."""
    [leaf] = split_of(sql, tables, WINDOWS).leaves
    numbers = count(1)
    parts = Parts(tables)
    try:
        changed = with_static_parts(
            leaf, Trial(tables, SCHEMAS), lambda: f"__static_{next(numbers)}", parts
        )
        yield leaf, changed, parts.made
    finally:
        for part in parts.made:
            tables.drop_own_table(part.name)
