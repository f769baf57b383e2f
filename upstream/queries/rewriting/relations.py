"""The relations that the parts of a split query read, and what evaluators replace them with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sqlglot import exp

from ..sql.window_bounds import bounds_name
from .block import is_inner

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .split_query import Leaf, SplitQuery, State

PARTIALS: Final = "partials"
"""The relation that a merge reads."""


def merge_query(groups: tuple[str, ...], states: tuple[State, ...]) -> exp.Select:
    """Return the query that merges partials: the aggregates of their states, by their groups."""
    keys = [exp.column(name, quoted=True) for name in groups]
    merges = [
        exp.alias_(merge.copy(), name, quoted=True)
        for state in states
        for name, merge in zip(state.columns, state.merge, strict=True)
    ]
    query = exp.select(*keys, *merges).from_(exp.to_table(PARTIALS))
    return query.group_by(*(key.copy() for key in keys)) if keys else query


@dataclass(frozen=True, slots=True)
class Merged:
    """The output of a leaf.

    A table of this name and, if it is not merged yet, the query to merge it.
    """

    name: str
    merge: exp.Query | None = None


def finish_over(merged: Mapping[str, Merged], finish: exp.Query) -> exp.Query:
    """Return the finish over the outputs of the leaves, some of which it has to merge itself."""
    finish = renamed_tables(finish, {known: each.name for known, each in merged.items()})
    merges = {each.name: each.merge for each in merged.values() if each.merge is not None}
    for table in [table for table in finish.find_all(exp.Table) if table.name in merges]:
        merge = renamed_tables(merges[table.name], {PARTIALS: table.name})
        table.replace(exp.Subquery(this=merge, alias=table.args["alias"].copy()))
    return finish


def renamed_tables(query: exp.Query, names: Mapping[str, str]) -> exp.Query:
    """Return a query that reads tables under other names; their aliases stay."""
    query = query.copy()
    for table in list(query.find_all(exp.Table)):
        if table.name in names and not table.db:
            read_as(table, names[table.name])
    return query


def tables_in(query: exp.Query) -> set[str]:
    """Return the names of the tables that a query names anywhere."""
    return {table.name for table in query.find_all(exp.Table)}


def read_as(table: exp.Table, name: str) -> None:
    """Make a query read another table instead of this one, in place."""
    if not table.alias:
        table.set("alias", exp.TableAlias(this=exp.to_identifier(table.name, quoted=True)))
    table.set("this", exp.to_identifier(name))


def reads_tables(split_query: SplitQuery) -> bool:
    """Tell whether a query reads anything except its chunks and what it defines itself."""
    known = {f"chunk_{i}" for i in range(len(split_query.windows))}
    known |= {bounds_name(i) for i in split_query.bounds}
    known |= {each.alias for each in split_query.whole.find_all(exp.CTE)}
    return any(table.name not in known for table in split_query.whole.find_all(exp.Table))


def plain_columns(leaf: Leaf, window: int) -> tuple[str, ...] | None:
    """Return the columns that are picked, the step first, if picking does nothing else."""
    pick = leaf.picks[window]
    is_plain = all(isinstance(item, exp.Column) for item in pick.expressions)
    if not is_plain or pick.args.get("where") or pick.args.get("group"):
        return None
    return tuple(item.name for item in pick.expressions)


def with_last(query: exp.Query, name: str) -> exp.Query:
    """Return a join of two tables with this one last, if that is possible.

    DuckDB does not know the number of rows of a lent relation, so it cannot plan by it. It builds
    its hash table from the last table in FROM.
    """
    start = query.args.get("from_")
    joins = query.args.get("joins") or []
    if start is None or len(joins) != 1 or not isinstance(start.this, exp.Table):
        return query
    [join] = joins
    if not is_inner(join) or start.this.name != name or not isinstance(join.this, exp.Table):
        return query
    query = query.copy()
    [join] = query.args["joins"]
    first, last = query.args["from_"].this.copy(), join.this.copy()
    query.args["from_"].set("this", last)
    join.set("this", first)
    return query
