"""An aggregate over UNION ALL: the same partial for each side, merged like those of one stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from ..sql.trees import cast, chunks_in, column, named
from .block import as_source, check_row_wise, source_nodes
from .collations import collated, plain
from .grouping import has_aggregates
from .not_incremental import obstacle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..sql.functions import Functions
    from .trial import Trial


def sides_of_union(
    select: exp.Select, trial: Trial, functions: Functions
) -> list[exp.Select] | None:
    """Return the block once for each side of the UNION ALL that it reads, or None if it reads none.

    Each reads its side with the names and types of the union.
    """
    nodes = source_nodes(select)
    if not select.args.get("group") and not has_aggregates(select, functions):
        return None
    if len(nodes) != 1 or not isinstance(nodes[0], exp.Subquery):
        return None
    sides = _sides(nodes[0].this)
    if len(sides) == 1 or not all(_is_row_wise(side, functions) for side in sides):
        return None
    shape = trial.columns(nodes[0].this)
    blocks = [select.copy() for _ in sides]
    for block, side in zip(blocks, sides, strict=True):
        [node] = source_nodes(block)
        node.set("this", _as_whole(side, shape.names, shape.types))
    return blocks


def union_of(relations: Sequence[str], alias: str) -> exp.Subquery:
    """Return the merged relations concatenated, under one name."""
    sides = [exp.select("*").from_(exp.to_table(relation)) for relation in relations]
    return as_source(exp.union(*sides, distinct=False), alias)


def _sides(query: exp.Expr) -> list[exp.Expr]:
    if isinstance(query, exp.Subquery) and not query.alias:
        return _sides(query.this)
    is_plain = isinstance(query, exp.Union) and not any(
        query.args.get(name) for name in ("distinct", "by_name", "order", "limit", "offset")
    )
    return [*_sides(query.this), *_sides(query.args["expression"])] if is_plain else [query]


def _is_row_wise(side: exp.Expr, functions: Functions) -> bool:
    if not isinstance(side, exp.Select) or not chunks_in(side):
        return False
    return not obstacle(check_row_wise, side, functions)


def _as_whole(side: exp.Expr, names: Sequence[str], types: Sequence[str]) -> exp.Select:
    """Return one side with the names and types of the union."""
    own = [f"__u{i}" for i in range(len(names))]
    items = [
        named(collated(cast(column(mine, "__side"), plain(type_name)), type_name), name)
        for mine, type_name, name in zip(own, types, names, strict=True)
    ]
    return exp.select(*items).from_(as_source(side.copy(), "__side", own))
