"""Simplifies queries, since bounds are constant over a window.

Grouping and ordering by constants is left out, and so are comparisons of equal bounds. The rest can
be evaluated step by step, before the bounds of a window are known. A window without rows has no
group; if nothing else is left to group by, a HAVING ensures this.
"""

from __future__ import annotations

from typing import Never

from sqlglot import exp

from ...database.duck import Duck
from ...errors import WindowError
from .functions import Functions, functions_of, name_of
from .source_text import SourceText
from .trees import call, conjuncts, is_star, item_meant, key, nested_queries, own_nodes, place_of
from .window_bounds import bounds_in, is_bound

_SETS = (exp.GroupingSets, exp.Cube, exp.Rollup)


def simplify(source: SourceText, query: exp.Query, duck: Duck | None) -> None:
    """Remove, in place, what groups, orders or compares by bounds alone.

    Raises WindowError if bounds are in a ROLLUP or similar, whose totals have no bounds.
    """
    functions = None if duck is None else functions_of(duck)
    for select in list(query.find_all(exp.Select)):
        _Block(source, select, functions).simplify()


class _Block:
    """One SELECT whose bounds were replaced."""

    def __init__(self, source: SourceText, select: exp.Select, functions: Functions | None) -> None:
        self._source = source
        self._select = select
        self._functions = functions
        items = select.expressions
        several = (i for i, item in enumerate(items) if _is_several(item))
        self._single = next(several, len(items))
        """The number of leading select items that are one column each."""

    def simplify(self) -> None:
        """Change the block in place."""
        self._drop_equal_bounds()
        self._simplify_group()
        order = self._select.args.get("order")
        if order is not None:
            left = [item for item in order.expressions if not self._is_constant(item.this)]
            _set_list(self._select, "order", order, left)

    def _drop_equal_bounds(self) -> None:
        where = self._select.args.get("where")
        if where is not None:
            left = _unequal(where.this)
            if left is None:
                self._select.set("where", None)
            else:
                where.set("this", left)
        for join in self._select.args.get("joins") or ():
            on = join.args.get("on")
            if on is not None:
                join.set("on", _unequal(on) or exp.true())

    def _simplify_group(self) -> None:
        group = self._select.args.get("group")
        if group is None:
            return
        self._check_sets(group)
        if group.args.get("all"):
            self._write_all_out(group)
        items = group.expressions
        left = [item for item in items if not self._is_constant(item)]
        if len(left) == len(items):
            return
        _set_list(self._select, "group", group, left)
        if all(isinstance(item, _SETS) for item in left):
            self._require_rows()

    def _require_rows(self) -> None:
        """Require a row for each group."""
        some = exp.GT(this=call("count", exp.Star()), expression=exp.Literal.number(0))
        having = self._select.args.get("having")
        both = some if having is None else exp.and_(having.this, some, copy=False)
        self._select.set("having", exp.Having(this=both))

    def _write_all_out(self, group: exp.Group) -> None:
        """Write GROUP BY ALL out as numbers, if it includes bounds and all items are known."""
        items = self._select.expressions
        if self._functions is None or any(_is_several(item) for item in items):
            return
        numbers = [i for i, item in enumerate(items, 1) if not self._has(item, exp.Window)]
        if any(self._is_constant(items[i - 1].unalias()) for i in numbers):
            group.set("all", None)
            group.set("expressions", [exp.Literal.number(i) for i in numbers])

    def _has(self, value: exp.Expr, *kinds: type[exp.Expr]) -> bool:
        """Tell whether an expression aggregates, or contains nodes of these kinds."""
        functions = self._functions
        assert functions is not None
        return any(
            isinstance(node, kinds) or functions.is_aggregate(node) for node in own_nodes(value)
        )

    def _check_sets(self, group: exp.Group) -> None:
        for item in group.expressions:
            parts = item.find_all(exp.Expr) if isinstance(item, _SETS) else ()
            for part in parts:
                is_name = isinstance(part, exp.Column | exp.Literal)
                if is_bound(part) or (is_name and self._is_constant(part)):
                    self._refuse_total(item)
        for node in self._select.find_all(exp.Grouping):
            if node.parent_select is self._select and bounds_in(node):
                self._refuse_total(node)

    def _refuse_total(self, node: exp.Expr) -> Never:
        reason = "bounds cannot be in ROLLUP, CUBE or GROUPING: there are no totals over windows"
        hint = "put only the other columns into it, as in GROUP BY window_start, ROLLUP (k)"
        self._source.refuse(WindowError, reason, place_of(node), hint)

    # What is constant

    def _is_constant(self, node: exp.Expr) -> bool:
        """Tell whether a part of GROUP BY or ORDER BY is the same for all rows of the window."""
        node = node.unnest() if not is_bound(node) else node
        if isinstance(node, exp.Literal) and node.is_int and int(node.name) > self._single:
            return False
        meant = item_meant(self._select, node)
        return self._is_of_bounds(node if meant is None else meant.unalias())

    def _is_of_bounds(self, value: exp.Expr) -> bool:
        """Tell whether an expression consists of bounds and constants, and is not an aggregate."""
        value = value if is_bound(value) else value.unnest()
        if is_bound(value):
            return True
        if self._functions is None or not bounds_in(value):
            return False
        is_plain = not self._has(value, exp.Column, exp.Star, exp.Window, exp.Lambda)
        are_bounds = all(is_bound(query) for query in nested_queries(value))
        return is_plain and are_bounds and not self._functions.volatile_in(value)


def _set_list(select: exp.Select, name: str, clause: exp.Expr, left: list[exp.Expr]) -> None:
    if left:
        clause.set("expressions", left)
    else:
        select.set(name, None)


def _unequal(condition: exp.Expr) -> exp.Expr | None:
    """Return a condition without comparisons of equal bounds; None if nothing is left."""
    parts = conjuncts(condition)
    left = [part for part in parts if not _compares_equal_bounds(part)]
    if len(left) == len(parts):
        return condition
    return exp.and_(*left) if left else None


def _compares_equal_bounds(part: exp.Expr) -> bool:
    if not isinstance(part, exp.EQ):
        return False
    sides = [side if is_bound(side) else side.unnest() for side in (part.left, part.right)]
    return all(is_bound(side) for side in sides) and key(sides[0]) == key(sides[1])


def _is_several(item: exp.Expr) -> bool:
    """Tell whether a select item may stand for several columns."""
    value = item.unalias().unnest()
    is_several = is_star(value) or item.find(exp.Columns) is not None
    return is_several or any(name_of(node) == "unnest" for node in own_nodes(value))
