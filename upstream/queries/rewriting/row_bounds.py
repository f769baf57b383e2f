"""Conditions on a row number that bound how many rows of a group a query needs.

    SELECT x FROM (SELECT *, row_number() OVER (PARTITION BY g ORDER BY x) AS i FROM s) WHERE i <= 3

has its condition also where the rows are numbered:

    … FROM (SELECT *, … AS i FROM s QUALIFY row_number() OVER (PARTITION BY g ORDER BY x) <= 3) …

The outer condition holds for no row that the inner one removes, so the result is the same.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from sqlglot import exp

from ...database.failure import DatabaseError
from ..sql.functions import name_of
from ..sql.trees import conjuncts, own_nodes
from .block import is_inner, read_block
from .not_incremental import NotIncrementalError
from .resolution import resolved

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .block import Block
    from .trial import Trial

RANKINGS: Final = frozenset({"row_number", "rank", "dense_rank"})
"""The window functions whose conditions are moved; of these, row_number is bounded."""
_LESS: Final = (exp.LTE, exp.LT, exp.EQ)
_GREATER: Final = (exp.GTE, exp.GT, exp.EQ)
_CHANGES_ROWS: Final = ("distinct", "group", "having", "limit", "offset", "sample")
"""Clauses that give another result if rows are removed before them."""
_CHANGES_RELATION: Final = ("pivots", "sample", "joins")


def bound_of(condition: exp.Expr) -> tuple[exp.Expr, int] | None:
    """Return what a condition bounds from above by a constant, and the greatest integer it allows.

    The condition does not hold for NULL, and reads nothing else.
    """
    tree = bare(condition)
    if isinstance(tree, _LESS) and _is_count(tree.expression):
        return bare(tree.this), _count(tree.expression) - isinstance(tree, exp.LT)
    if isinstance(tree, _GREATER) and _is_count(tree.this):
        return bare(tree.expression), _count(tree.this) - isinstance(tree, exp.GT)
    if isinstance(tree, exp.Between) and not tree.args.get("symmetric"):
        low, high = tree.args["low"], tree.args["high"]
        return (bare(tree.this), _count(high)) if _is_count(low) and _is_count(high) else None
    if isinstance(tree, exp.In) and tree.expressions and all(map(_is_count, tree.expressions)):
        return bare(tree.this), max(map(_count, tree.expressions))
    return None


def bare(tree: exp.Expr) -> exp.Expr:
    """Return an expression without the brackets around it."""
    while isinstance(tree, exp.Paren):
        tree = tree.this
    return tree


def _is_count(tree: exp.Expr) -> bool:
    return isinstance(bare(tree), exp.Literal) and bool(bare(tree).is_int)


def _count(tree: exp.Expr) -> int:
    return int(bare(tree).name)


def with_bounds_inside(select: exp.Select, trial: Trial) -> exp.Select:
    """Return a query with its bounds on row numbers also in the subqueries that number the rows."""
    if not any(isinstance(node, exp.Subquery) for node in _relations(select)):
        return select
    try:
        block = read_block(select, trial)
        bounds = list(_bounds(replace(block, select=resolved(block))))
    except (NotIncrementalError, DatabaseError):  # DuckDB may need names of the outer query
        return select
    copy = select.copy()
    nodes = {node.alias_or_name: node for node in _relations(copy)}
    columns = {source.alias: source.columns for source in block.sources}
    for condition, bounded in bounds:
        node = nodes.get(bounded.table)
        is_plain = isinstance(node, exp.Subquery) and not any(
            node.args.get(name) for name in _CHANGES_RELATION
        )
        if node is not None and is_plain and isinstance(node.this, exp.Select):
            _add(condition, bounded, node.this, columns[bounded.table], trial)
    return copy


def _relations(select: exp.Select) -> Iterator[exp.Expr]:
    """Yield the relations of FROM whose rows a condition on them may filter before they are joined.

    ASOF and POSITIONAL joins choose rows of a relation by the others that it has.
    """
    start, joins = select.args.get("from_"), select.args.get("joins") or ()
    if start is not None and all(join.method in ("", "NATURAL") for join in joins):
        yield start.this
        yield from (join.this for join in joins)


def _bounds(block: Block) -> Iterator[tuple[exp.Expr, exp.Column]]:
    """Yield the conditions that bound a column of a source, with the column.

    A condition of WHERE holds for no row that an outer join filled with NULLs. A condition of ON
    filters the relation on the right, unless its rows without a match are kept.
    """
    where = block.select.args.get("where")
    for condition in conjuncts(where.this if where else None):
        bounded = _bounded_column(condition)
        if bounded is not None:
            yield condition, bounded
    for join in block.select.args.get("joins") or ():
        on = join.args.get("on") if is_inner(join) or join.side == "LEFT" else None
        for condition in conjuncts(on):
            bounded = _bounded_column(condition)
            if bounded is not None and bounded.table == join.this.alias_or_name:
                yield condition, bounded


def _bounded_column(condition: exp.Expr) -> exp.Column | None:
    found = bound_of(condition)
    return found[0] if found and isinstance(found[0], exp.Column) else None


def _add(
    condition: exp.Expr,
    bounded: exp.Column,
    inner: exp.Select,
    columns: tuple[str, ...],
    trial: Trial,
) -> None:
    """Add a condition on a column to the subquery that returns it, in place, if possible."""
    found = _item(bounded, inner, columns, trial)
    if found is None:
        return
    item, block = found
    new = condition.copy()
    [node] = new.find_all(exp.Column)
    node.replace(item.copy())
    if _is_ranking(item):
        qualify = inner.args.get("qualify")
        both = exp.and_(qualify.this.copy(), new) if qualify else new
        inner.set("qualify", exp.Qualify(this=both))
    elif not _has_windows(inner) and _passes_ranking_on(item, block, trial):
        inner.where(new, copy=False)


def _item(
    bounded: exp.Column, inner: exp.Select, columns: tuple[str, ...], trial: Trial
) -> tuple[exp.Expr, Block] | None:
    """Return what a column of a subquery is over the sources of the subquery.

    Returns None if fewer rows of these would change other rows of the subquery, or if it is not
    clear what the column is.
    """
    names = [name.lower() for name in columns]
    changes = any(inner.args.get(name) for name in _CHANGES_ROWS)
    if changes or names.count(bounded.name.lower()) != 1:
        return None
    try:
        block = read_block(inner, trial)
        items = resolved(block).expressions
    except (NotIncrementalError, DatabaseError):
        return None
    if len(items) != len(columns):
        return None
    return bare(items[names.index(bounded.name.lower())].unalias()), block


def _is_ranking(item: exp.Expr) -> bool:
    return isinstance(item, exp.Window) and name_of(item.this) in RANKINGS


def _passes_ranking_on(item: exp.Expr, block: Block, trial: Trial) -> bool:
    """Tell whether an expression is a column that is a number in a subquery of its block."""
    if not isinstance(item, exp.Column):
        return False
    for source in block.sources:
        inner = source.node.this if isinstance(source.node, exp.Subquery) else None
        if source.alias == item.table and isinstance(inner, exp.Select):
            found = _item(item, inner, source.columns, trial)
            return found is not None and (
                _is_ranking(found[0]) or _passes_ranking_on(*found, trial)
            )
    return False


def _has_windows(select: exp.Select) -> bool:
    trees = [*select.expressions, select.args.get("qualify"), select.args.get("order")]
    return any(isinstance(node, exp.Window) for tree in trees if tree for node in own_nodes(tree))
