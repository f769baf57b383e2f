"""Removes WITH: each name of a common table is replaced by its query, as a subquery in FROM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from .not_incremental import NotIncrementalError

if TYPE_CHECKING:
    from collections.abc import Mapping


def without_common_tables(query: exp.Query) -> exp.Query:
    """Return the query without WITH; a recursive one cannot be removed."""
    copy = query.copy()
    _inline(copy, {})
    return copy


def _inline(tree: exp.Expr, known: Mapping[str, exp.CTE]) -> None:
    if isinstance(tree, exp.Query) and tree.args.get("with_"):
        known = {**known, **_tables_of(tree.args["with_"], known)}
        tree.set("with_", None)
    for child in list(tree.iter_expressions()):
        new = _subquery(child, known) if isinstance(child, exp.Table) else None
        if new is not None:
            child.replace(new)
        else:
            _inline(child, known)


def _tables_of(clause: exp.With, known: Mapping[str, exp.CTE]) -> dict[str, exp.CTE]:
    if clause.recursive:
        raise NotIncrementalError("WITH RECURSIVE needs all rows")
    found = dict(known)
    for table in clause.expressions:
        _inline(table.this, found)
        found[table.alias.lower()] = table
    return found


def _subquery(table: exp.Table, known: Mapping[str, exp.CTE]) -> exp.Subquery | None:
    common = known.get(table.name.lower())
    if common is None or table.args.get("db") or not isinstance(common.this, exp.Query):
        return None
    if table.args.get("joins") or table.args.get("pivots") or table.args.get("sample"):
        raise NotIncrementalError("a common table in brackets, pivoted or sampled")
    alias = table.args.get("alias")
    own = alias.columns if alias else ()
    columns = [*own, *common.args["alias"].columns[len(own) :]]
    name = exp.to_identifier(table.alias_or_name, quoted=True)
    return exp.Subquery(
        this=common.this.copy(),
        alias=exp.TableAlias(this=name, columns=[column.copy() for column in columns]),
    )
