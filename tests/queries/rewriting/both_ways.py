"""Running a query as it is and in parts, over the same steps, and comparing what comes out.

In parts means all the ways in which an evaluator may go about it: a partial per step or one
statement for all steps; a join over each pair of steps; merges of merges; the finish, or the merged
columns as they are where the split says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import pyarrow as pa
from sqlglot import exp

from upstream.database.duck import Duck
from upstream.database.failure import DatabaseError
from upstream.database.prepared import Prepared
from upstream.queries.rewriting.relations import PARTIALS, merge_query
from upstream.queries.rewriting.split import DEFECT, split
from upstream.queries.rewriting.split_query import Leaf
from upstream.queries.sql.dialect import DIALECT
from upstream.queries.sql.lending import prepare
from upstream.queries.sql.names import STEP
from upstream.queries.sql.window_clause import WindowClause

from ..differential.comparison import difference
from ..parsed import query_of

Steps = Sequence[pa.Table]
_STEP_FIELD = pa.field(STEP, pa.int64())


class BothWays:
    """A query, split, with all its statements prepared. `problem` is where the two sides differ."""

    def __init__(
        self,
        sql: str,
        schemas: Mapping[str, pa.Schema],
        duck: Duck,
        windows: tuple[WindowClause, ...] = (),
    ) -> None:
        query = query_of(sql, DIALECT)
        self.sql = sql
        self.split = split(query, windows, schemas, duck)
        assert not any(leaf.reason.startswith(DEFECT) for leaf in self.split.leaves)
        self._whole = prepare(duck, self.split.whole, schemas)
        self._leaves = [_LeafWays(leaf, schemas, duck) for leaf in self.split.leaves]
        merged = {leaf.leaf.relation: leaf.schema for leaf in self._leaves}
        self._finish = prepare(duck, self.split.finish, merged)
        self._is_ordered = query.args.get("order") is not None

    def close(self) -> None:
        """Take back what was lent."""
        for prepared in (self._whole, self._finish, *(p for w in self._leaves for p in w.all)):
            prepared.close()

    def check(self, steps: Mapping[str, Steps]) -> None:
        """Assert that both sides agree over these steps of each chunk."""
        try:
            whole = self._whole.run(
                **{name: pa.concat_tables(tables) for name, tables in steps.items()}
            )
        except DatabaseError:
            return  # what cannot be computed whole need not be in parts
        self._agree(whole, {ways.leaf.relation: ways.merged(steps) for ways in self._leaves})
        self._agree(
            whole, {ways.leaf.relation: ways.merged_at_once(steps) for ways in self._leaves}
        )

    def in_parts(self, steps: Mapping[str, Steps]) -> list[list[object]]:
        """Return the rows of the result over these steps."""
        merged = {ways.leaf.relation: ways.merged(steps) for ways in self._leaves}
        return _rows(self._finish.run(**merged))

    def _agree(self, whole: pa.Table, merged: Mapping[str, pa.Table]) -> None:
        finish = self._finish.run(**merged)
        assert_same(whole, finish, self.sql, is_ordered=self._is_ordered)
        if self.split.direct is not None:
            [table] = merged.values()
            columns = [table.column(name) for _, name in self.split.direct]
            names = [name for name, _ in self.split.direct]
            direct = pa.Table.from_arrays(columns, names=names)
            assert_same(whole, direct, self.sql, is_ordered=self._is_ordered)


class _LeafWays:
    """One leaf with its statements."""

    def __init__(self, leaf: Leaf, schemas: Mapping[str, pa.Schema], duck: Duck) -> None:
        self.leaf = leaf
        names = [f"chunk_{index}" for index in leaf.windows]
        lent = {name: schemas[name] for name in names}
        stepped = {name: pa.schema([*schema, _STEP_FIELD]) for name, schema in lent.items()}
        self._picks = {
            f"chunk_{index}": prepare(duck, query, stepped) for index, query in leaf.picks.items()
        }
        picked = {name: pick.run().schema for name, pick in self._picks.items()}
        assert all(schema.names[0] == STEP for schema in picked.values())
        without_step = {name: schema.remove(0) for name, schema in picked.items()}
        self._partial = prepare(duck, leaf.partial, lent | without_step)
        self._by_step = prepare(duck, leaf.partial_by_step, stepped | picked)
        self._unpicked = prepare(duck, leaf.partial, lent)
        self.schema = self._partial.run().schema
        merge = leaf.keep or exp.select("*").from_(PARTIALS)
        if leaf.groups is not None:
            merge = merge_query(leaf.groups, leaf.states)
        self._merge = prepare(duck, merge, {PARTIALS: self.schema})
        assert self._merge.run().schema.types == self.schema.types, "merging keeps the types"

    @property
    def all(self) -> list[Prepared]:
        """All statements."""
        return [self._partial, self._by_step, self._unpicked, self._merge, *self._picks.values()]

    def merged(self, steps: Mapping[str, Steps]) -> pa.Table:
        """Return the merge of a partial for each step, or for each combination of steps."""
        names = [f"chunk_{index}" for index in self.leaf.windows]
        partials = []
        for number, tables in enumerate(product(*(steps[name] for name in names))):
            chunks = dict(zip(names, tables, strict=True))
            if number % 2:  # what is picked is as good as all
                partials.append(self._unpicked.run(**chunks))
            else:
                picked = {
                    name: self._picked(name, with_steps([table])).drop_columns([STEP])
                    for name, table in chunks.items()
                }
                partials.append(self._partial.run(**picked))
        first, rest = partials[: len(partials) // 2], partials[len(partials) // 2 :]
        return self._merged([self._merged(first), self._merged(rest)])

    def merged_at_once(self, steps: Mapping[str, Steps]) -> pa.Table:
        """Return the merge of the partials of all steps, made by one statement."""
        names = [f"chunk_{index}" for index in self.leaf.windows]
        picked = {name: self._picked(name, with_steps(steps[name])) for name in names}
        partials = self._by_step.run(**picked)
        assert partials.column_names == [STEP, *self.schema.names]
        found = sorted(set(partials.column(STEP).to_pylist()))
        rows = partials.drop_columns([STEP]).cast(self.schema)
        numbers = partials.column(STEP).to_numpy()
        return self._merged([rows.filter(pa.array(numbers == step)) for step in found])

    def _picked(self, name: str, rows: pa.Table) -> pa.Table:
        pick = self._picks.get(name)
        return rows if pick is None else pick.run(**{name: rows})

    def _merged(self, partials: list[pa.Table]) -> pa.Table:
        if not partials:
            return self.schema.empty_table()
        table = pa.concat_tables(partials)
        is_merged = self.leaf.groups is not None or self.leaf.keep is not None
        if not is_merged or table.num_rows == 0:
            return table
        return self._merge.run(**{PARTIALS: table}).cast(self.schema)


def with_steps(tables: Steps) -> pa.Table:
    """Put steps one after the other, with a column that tells them apart."""
    parts = [
        table.append_column(_STEP_FIELD, pa.array([number] * table.num_rows, pa.int64()))
        for number, table in enumerate(tables)
    ]
    return pa.concat_tables(parts)


def assert_same(whole: pa.Table, parts: pa.Table, what: str, *, is_ordered: bool) -> None:
    """Assert that two results are equal, floats up to what an order of summing makes of them."""
    assert parts.schema.equals(whole.schema), f"{what}\n{whole.schema}\n{parts.schema}"
    told = difference(whole, parts, is_ordered=is_ordered, absolute=1e-9)
    assert not told, f"{what}\n{told}"


def _rows(table: pa.Table) -> list[list[object]]:
    columns = [column.to_pylist() for column in table.columns]
    return [list(row) for row in zip(*columns, strict=True)] if columns else []
