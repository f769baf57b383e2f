"""The finish of a query: from the merged relations of its leaves to the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...queries.sql.lending import prepare
from ..rewriting.merge_query import PARTIALS
from .error_text import error_text, state_names

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlglot import exp

    from ...database.duck import Duck
    from ..rewriting.split_query import SplitQuery


@dataclass(frozen=True, slots=True)
class MergedSchema:
    """What a leaf gives: the schema and, if it leaves the merge to the finish, how to merge."""

    schema: pa.Schema
    merge: exp.Query | None = None


class Finish:
    """Runs the finish, or does without it where it would only rename columns."""

    __slots__ = ("_direct", "_finish", "_names", "_state_names", "schema")

    def __init__(
        self, split: SplitQuery, merged: Sequence[MergedSchema], schema: pa.Schema, duck: Duck
    ) -> None:
        self.schema = schema
        """The schema of results."""
        self._names = [f"{PARTIALS}_{i}" for i in range(len(merged))]
        is_merged = all(each.merge is None for each in merged)
        self._state_names = state_names(split)
        self._direct = None
        if split.direct is not None and is_merged:
            self._direct = [column for _, column in split.direct]
        merges = {
            leaf.relation: _merged(each.merge, name)
            for leaf, each, name in zip(split.leaves, merged, self._names, strict=True)
        }
        lent = {name: each.schema for name, each in zip(self._names, merged, strict=True)}
        self._finish = prepare(duck, _with_merges(split.finish, merges), lent)

    def run(self, merged: Sequence[pa.Table]) -> pa.Table:
        """Make a result of what the leaves give."""
        if self._direct is not None:
            result = merged[0].select(self._direct).rename_columns(self.schema.names)
        else:
            result = self._finish.run(**dict(zip(self._names, merged, strict=True)))
        return result if result.schema.equals(self.schema) else result.cast(self.schema)

    def said(self, error: Exception) -> str:
        """Return what went wrong, in the words of the query."""
        return error_text(error, self._state_names)

    def close(self) -> None:
        """Give back what it has of DuckDB."""
        self._finish.close()


def _merged(merge: exp.Query | None, name: str) -> exp.Expr:
    """Return the relation that a leaf is in the finish: a table, or the merge over one."""
    from sqlglot import exp

    if merge is None:
        return exp.to_table(name)
    merge = merge.copy()
    for table in list(merge.find_all(exp.Table)):
        table.set("this", exp.to_identifier(name, quoted=True))
    return exp.Subquery(this=merge)


def _with_merges(finish: exp.Query, merges: Mapping[str, exp.Expr]) -> exp.Query:
    """Return the finish over other relations, which it knows by the names that it has."""
    from sqlglot import exp

    finish = finish.copy()
    for table in list(finish.find_all(exp.Table)):
        if table.name in merges and not table.db:
            relation = merges[table.name].copy()
            alias = table.args.get("alias") or exp.TableAlias(
                this=exp.to_identifier(table.name, quoted=True)
            )
            relation.set("alias", alias.copy())
            table.replace(relation)
    return finish
