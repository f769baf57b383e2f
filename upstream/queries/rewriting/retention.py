"""The columns and rows of a chunk that a part of a query can need."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from ..sql.names import STEP
from ..sql.trees import chunk_index, chunk_tables, column, nested_queries, own_nodes
from .block import conditions_of, is_inner, read_block
from .not_incremental import NotIncrementalError
from .relations import read_as
from .resolution import resolved
from .split_query import Leaf

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .block import Block
    from .trial import Trial


def columns_read(tree: exp.Expr, schema: pa.Schema) -> tuple[str, ...]:
    """Return the columns of a chunk that a query may name; see `names_read`."""
    return names_read(tree, schema.names, (chunk.alias_or_name for chunk in chunk_tables(tree)))


def names_read(tree: exp.Expr, names: Sequence[str], aliases: Iterable[str]) -> tuple[str, ...]:
    """Return which of these columns a query may name: all for `*`, and at least one.

    `aliases` are the names of relations that may have these columns.
    """
    if any(not isinstance(star.parent, exp.Func) for star in tree.find_all(exp.Star)):
        return tuple(names)  # the star of count(*) names no columns
    if tree.find(exp.Columns, exp.Pivot) or _names_a_row(tree, names, aliases):
        return tuple(names)
    joins = tree.find_all(exp.Join)
    if any(join.method == "NATURAL" for join in joins):
        return tuple(names)
    named = {node.name.lower() for node in tree.find_all(exp.Identifier)}
    read = tuple(name for name in names if name.lower() in named)
    return read or tuple(names[:1])


def _names_a_row(tree: exp.Expr, names: Iterable[str], aliases: Iterable[str]) -> bool:
    """Tell whether a relation's name is used like a column, for all its columns as a struct."""
    rows = {alias.lower() for alias in aliases} - {name.lower() for name in names}
    return any(not node.table and node.name.lower() in rows for node in tree.find_all(exp.Column))


def picking(chunk: exp.Table, columns: Iterable[str], conditions: Iterable[exp.Expr]) -> exp.Select:
    """Return the query that picks from a chunk what can matter."""
    alias = exp.TableAlias(this=exp.to_identifier(chunk.alias_or_name, quoted=True))
    query = exp.select(*map(column, columns)).from_(exp.Table(this=chunk.this.copy(), alias=alias))
    return query.where(*conditions)


def raw_rows(
    chunk: exp.Table,
    relation: str,
    trial: Trial,
    *,
    within: exp.Expr,
    conditions: Iterable[exp.Expr] = (),
    reason: str,
) -> Leaf:
    """Return a leaf of the rows of a chunk that a query can need, and make the query read them.

    This is the last resort: the query is evaluated over these rows for each window.
    """
    index = chunk_index(chunk)
    assert index is not None
    columns, conditions = columns_read(within, trial.schemas[chunk.name]), list(conditions)
    leaf = Leaf(
        relation=relation,
        windows=(index,),
        partial=picking(chunk, columns, conditions),
        partial_by_step=picking(chunk, [STEP, *columns], conditions),
        groups=None,
        states=(),
        rule="kept rows",
        reason=reason,
    )
    read_as(chunk, relation)
    return leaf


def conditions_on(block: Block, alias: str) -> list[exp.Expr]:
    """Return the conditions that rows of this source must meet in any case.

    Only joins that drop rows without a match contribute conditions. The names must be resolved.
    """
    return [each for each in conditions_of(block.select) if _is_about(each, alias)]


def conditions_by_source(select: exp.Select, trial: Trial) -> dict[str, tuple[exp.Expr, ...]]:
    """Return for each relation in FROM the conditions that concern it alone.

    A relation that an outer join may fill with NULLs has none, since its rows must not be missing
    there.
    """
    if not all(map(is_inner, select.args.get("joins") or ())):
        return {}
    try:
        block = read_block(select, trial)
        block = replace(block, select=resolved(block))
    except NotIncrementalError:
        return {}
    aliases = [source.alias for source in block.sources]
    return {alias: tuple(conditions_on(block, alias)) for alias in aliases}


def _is_about(condition: exp.Expr, alias: str) -> bool:
    if any(nested_queries(condition)) or isinstance(condition, exp.Query):
        return False
    tables = {node.table for node in own_nodes(condition) if isinstance(node, exp.Column)}
    return tables == {alias}
