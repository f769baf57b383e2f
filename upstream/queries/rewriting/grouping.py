"""What a SELECT groups by, and whether it aggregates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from ..sql.functions import name_of
from ..sql.trees import own_nodes
from .aggregates.aggregate_call import is_call
from .not_incremental import NotIncrementalError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..sql.functions import Functions


def has_aggregates(select: exp.Select, functions: Functions) -> bool:
    """Tell whether anything in the upper part of a SELECT aggregates its rows."""
    trees = [*select.expressions]
    trees += [select.args[name] for name in ("having", "qualify", "order") if select.args.get(name)]
    return any(contains_aggregate(tree, functions) for tree in trees)


def contains_aggregate(tree: exp.Expr, functions: Functions) -> bool:
    """Tell whether an expression contains an aggregate that is not a window function."""
    windowed = {id(is_call(node.this)) for node in own_nodes(tree) if isinstance(node, exp.Window)}
    return any(
        functions.is_aggregate(node) and id(node) not in windowed for node in own_nodes(tree)
    )


def group_expressions(select: exp.Select, functions: Functions) -> list[exp.Expr]:
    """Return what a SELECT groups by, with numbers and ALL replaced."""
    group = select.args.get("group")
    if group is None:
        return []
    if group.args.get("all"):
        items = [item.unalias() for item in select.expressions]
        return [
            _bare(item)
            for item in items
            if not contains_aggregate(item, functions)
            and not any(isinstance(node, exp.Window) for node in own_nodes(item))
        ]
    found = []
    for item in [member for each in group.expressions for member in _members(each)]:
        if isinstance(item, exp.Literal) and item.is_int:
            found.append(_bare(select.expressions[int(item.name) - 1].unalias()))
        else:
            found.append(_bare(item))
    return found


def check_items(select: exp.Select, names: Sequence[str]) -> None:
    """Raise if it is not clear which select item makes which of the columns."""
    if len(select.expressions) == len(names):
        return
    if sum(name_of(item) == "unnest" for item in select.expressions) != 1:
        raise NotIncrementalError("select items make several columns each")
    if _is_by_number(select):
        raise NotIncrementalError("numbers count columns, and a select item makes several columns")


def _is_by_number(select: exp.Select) -> bool:
    """Tell whether columns are grouped or ordered by numbers, or by ALL."""
    group, order = select.args.get("group"), select.args.get("order")
    if group is not None and group.args.get("all"):
        return True
    items = [_bare(item) for item in (group.expressions if group else ())]
    items += [_bare(item.this) for item in (order.expressions if order else ())]
    return any(isinstance(item, exp.Literal | exp.Var) for item in items)


def has_sets(select: exp.Select) -> bool:
    """Tell whether there is a ROLLUP or another kind of grouping sets."""
    group = select.args.get("group")
    sets = (exp.GroupingSets, exp.Cube, exp.Rollup)
    return group is not None and any(isinstance(item, sets) for item in group.expressions)


def _members(item: exp.Expr) -> list[exp.Expr]:
    """Return the expressions in a grouping set."""
    if isinstance(item, exp.Tuple | exp.GroupingSets | exp.Cube | exp.Rollup):
        return [member for child in item.expressions for member in _members(child)]
    return _members(item.this) if isinstance(item, exp.Paren) else [item]


def _bare(item: exp.Expr) -> exp.Expr:
    while isinstance(item, exp.Paren):
        item = item.this
    return item
