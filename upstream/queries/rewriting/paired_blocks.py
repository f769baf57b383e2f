"""Finds the block in which the inputs of a query are joined.

Conditions such as `EXISTS (SELECT … FROM chunk_1 AS y WHERE y.k = x.k)` and `x.k IN (SELECT …)` are
written as semi joins, and `NOT EXISTS` as an anti join. `NOT IN` is not: with a NULL among the
values it is never true.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from sqlglot import exp

from ..sql.trees import chunk_index, chunk_tables, conjuncts, own_nodes, replaced
from .block import read_block, source_nodes
from .not_incremental import NotIncrementalError
from .resolution import column_of

if TYPE_CHECKING:
    from ..sql.functions import Functions
    from .block import Source
    from .trial import Trial

_APART: Final = "the inputs must be joined in one FROM"
_WHOLE: Final = frozenset({"expressions", "from_", "where", "kind", "hint"})
"""The clauses that a subquery may have that becomes a semi join."""


def joining_block(
    query: exp.Query, windows: frozenset[int], trial: Trial, functions: Functions
) -> exp.Select:
    """Return the block in which the inputs with these numbers are joined.

    The query must have no WITH. It is changed in place, so that all inputs are in this block.
    Raises NotIncrementalError if that is not possible.
    """
    tables = [each for each in chunk_tables(query) if chunk_index(each) in windows]
    if len(tables) > len({chunk_index(table) for table in tables}):
        raise NotIncrementalError("the rows of an input are read more than once")
    if len(tables) < 2:
        raise NotIncrementalError("a join needs two inputs")
    blocks = [_block_of(table) for table in tables]
    different = [block for i, block in enumerate(blocks) if block is not blocks[i - 1]]
    if different and len(tables) == 2:
        return _with_semi_join(blocks, tables, trial, functions)
    if different:
        raise NotIncrementalError(f"{_APART}; three and more inputs can have no EXISTS or IN")
    return blocks[0]


def _block_of(table: exp.Table) -> exp.Select:
    """Return the block that has an input directly in its FROM."""
    if table.args.get("pivots"):
        raise NotIncrementalError("PIVOT and UNPIVOT need all rows")
    around = table.parent
    if isinstance(around, exp.Join) and isinstance(around.parent, exp.Table):
        around = around.parent.parent  # FROM without SELECT
    if not isinstance(around, exp.From | exp.Join) or not isinstance(around.parent, exp.Select):
        raise NotIncrementalError("joins in brackets are not split")
    select = around.parent
    start = select.args["from_"].this
    if isinstance(start, exp.Table) and (joins := start.args.get("joins")):
        start.set("joins", None)
        select.set("joins", [*joins, *(select.args.get("joins") or ())])
    if any(node.args.get("joins") for node in source_nodes(select)):
        raise NotIncrementalError("joins in brackets are not split")
    if select.args.get("laterals"):
        raise NotIncrementalError("LATERAL joins are not made of pairs of rows")
    return select


class _Found(NamedTuple):
    """A condition on the rows of the outer block that asks for rows of the inner one."""

    condition: exp.Expr
    inner: exp.Select
    value: exp.Expr | None
    is_negated: bool


def _with_semi_join(
    blocks: list[exp.Select], tables: list[exp.Table], trial: Trial, functions: Functions
) -> exp.Select:
    """Write a condition of one block that asks for rows of the other as a semi or anti join."""
    for outer, inner, table in (
        (blocks[0], blocks[1], tables[1]),
        (blocks[1], blocks[0], tables[0]),
    ):
        where = outer.args.get("where")
        asks = [_asking(each, inner) for each in conjuncts(where.this if where else None)]
        found = [each for each in asks if each is not None]
        if found:
            _check_inner(found[0], functions)
            _join(outer, table, found[0], trial)
            return outer
    raise NotIncrementalError(
        f"{_APART}, or one of them in EXISTS or IN in WHERE: a subquery, or a condition joined to"
        " others by OR, is not rewritten"
    )


def _asking(condition: exp.Expr, inner: exp.Select) -> _Found | None:
    """Return what a condition asks, if it asks for rows of a block."""
    is_negated = isinstance(condition, exp.Not)
    asked = condition.this.unnest() if is_negated else condition
    query = asked.args.get("query") if isinstance(asked, exp.In) else asked.this
    query = query.unnest() if isinstance(query, exp.Subquery) else query
    if not isinstance(asked, exp.Exists | exp.In) or query is not inner:
        return None
    if isinstance(asked, exp.In) and is_negated:
        raise NotIncrementalError(
            "NOT IN is never true if there is a NULL among the values: write NOT EXISTS"
        )
    return _Found(condition, inner, asked.this if isinstance(asked, exp.In) else None, is_negated)


def _check_inner(found: _Found, functions: Functions) -> None:
    """Raise unless a subquery has a row for each row of its input that meets its condition."""
    inner = found.inner
    clauses = {name for name, value in inner.args.items() if value} - _WHOLE
    if clauses or inner.args.get("kind") or len(source_nodes(inner)) != 1:
        raise NotIncrementalError(
            "EXISTS and IN can only be rewritten if the subquery has nothing but SELECT, one input"
            " in FROM, and WHERE"
        )
    plain = (exp.Column, exp.Literal, exp.Star, exp.Null, exp.Boolean)
    items = [item.unalias() for item in inner.expressions]
    is_plain = all(isinstance(item, plain) for item in items)
    if found.value is not None:
        is_plain = isinstance(items[0], exp.Column) and not items[0].find(exp.Star)
    if not is_plain:
        raise NotIncrementalError(
            "EXISTS and IN can only be rewritten if the subquery selects plain columns"
        )
    nodes = [
        node for tree in (found.value, inner.args.get("where")) if tree for node in tree.walk()
    ]
    if any(
        isinstance(node, exp.Query | exp.Window) or functions.is_aggregate(node) for node in nodes
    ):
        raise NotIncrementalError("a condition inside EXISTS or IN has a subquery or an aggregate")


def _join(outer: exp.Select, table: exp.Table, found: _Found, trial: Trial) -> None:
    """Move a table into FROM of the outer block, in place of the condition."""
    block = read_block(outer, trial)
    first = block.sources[0]
    if chunk_index(first.node) is None:
        raise NotIncrementalError("the input must come first in FROM, and tables after it")
    [own] = read_block(found.inner, trial).sources
    if own.alias.lower() in {each.alias.lower() for each in block.sources}:
        raise NotIncrementalError(f"two inputs are called {own.alias}: give them different names")
    conditions: list[exp.Expr] = []
    where = found.inner.args.get("where")
    if found.value is not None:
        value = _qualified(found.value, [first])
        wanted = _qualified(found.inner.expressions[0].unalias(), [own])
        types = [
            trial.columns(exp.select(tree.copy()).from_(source.node.copy())).types
            for tree, source in ((value, first), (wanted, own))
        ]
        if types[0] != types[1]:
            raise NotIncrementalError("the two sides of IN have different types: cast one of them")
        conditions.append(exp.EQ(this=exp.paren(value), expression=wanted))
    if where:
        conditions.append(_qualified(where.this, [own, first]))
    on = exp.and_(*conditions) if conditions else exp.true()
    kind = "ANTI" if found.is_negated else "SEMI"
    join = exp.Join(this=table.copy(), kind=kind, on=on)
    outer.set("joins", [join, *(outer.args.get("joins") or ())])
    clause = outer.args["where"]
    rest = [each for each in conjuncts(clause.this) if each is not found.condition]
    outer.set("where", exp.Where(this=exp.and_(*rest)) if rest else None)


def _qualified(tree: exp.Expr, sources: list[Source]) -> exp.Expr:
    """Return a condition whose columns name their relation; the first that has a column owns it."""

    def change(node: exp.Expr) -> exp.Expr | None:
        if not isinstance(node, exp.Column):
            return None
        parts = [part.name for part in node.parts]
        for source in sources:
            has_name = column_of(source, parts[:1]) is not None
            if len(parts) > 1 and parts[0].lower() == source.alias.lower():
                if has_name:
                    raise NotIncrementalError(f"{source.alias} has a column of its own name")
                return column_of(source, parts[1:])
            if has_name:
                return column_of(source, parts)
        raise NotIncrementalError(
            f"{node.sql()} inside EXISTS or IN is not a column of the two inputs"
        )

    if any(isinstance(node, exp.Lambda) for node in own_nodes(tree)):
        raise NotIncrementalError("a function inside EXISTS or IN has arguments of its own")
    return replaced(tree, change)
