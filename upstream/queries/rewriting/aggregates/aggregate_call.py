"""An aggregate of a query, split into its parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from ...sql.functions import name_of
from ...sql.trees import call, is_known

if TYPE_CHECKING:
    from collections.abc import Iterable

_AROUND = (exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)
"""What may be wrapped around a call."""


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """`name([DISTINCT] arguments) FILTER (WHERE condition)`, as DuckDB names it.

    `is_plain` is False if the call has any other part, such as an ORDER BY.
    """

    name: str
    arguments: tuple[exp.Expr, ...]
    is_distinct: bool = False
    condition: exp.Expr | None = None
    is_plain: bool = True

    def call(self) -> exp.Expr:
        """Return the same aggregate over the same values, without DISTINCT."""
        return call(self.name, *self.arguments, where=self.condition)


def read_call(node: exp.Expr) -> AggregateCall:
    """Split an aggregate into its parts."""
    condition = None
    if isinstance(node, exp.Filter):
        condition = node.expression.this
        node = node.this
    if not isinstance(node, exp.Func):
        return AggregateCall("", (), is_plain=False)
    arguments = _arguments(node)
    is_distinct = bool(arguments) and isinstance(arguments[0], exp.Distinct)
    if is_distinct and (len(arguments) == 1 or len(arguments[0].expressions) == 1):
        arguments = (*arguments[0].expressions, *arguments[1:])
    is_plain = not any(isinstance(argument, exp.Order | exp.Distinct) for argument in arguments)
    if len(arguments) == 1 and isinstance(arguments[0], exp.Star):
        arguments = ()
    return AggregateCall(name_of(node), arguments, is_distinct, condition, is_plain)


def all_known(values: Iterable[exp.Expr], where: exp.Expr | None) -> exp.Expr:
    """Return the condition that no value of a row is NULL, and that the row passes the filter."""
    known = [is_known(value) for value in values]
    return exp.and_(*known, where.copy() if where is not None else None, copy=False)


def is_call(node: exp.Expr) -> exp.Func | None:
    """Return the function if this is a call, with what may be wrapped around one."""
    while isinstance(node, _AROUND):
        node = node.this
    return node if isinstance(node, exp.Func) else None


def is_windowed(node: exp.Expr) -> bool:
    """Tell whether this is the call of a window function, possibly wrapped."""
    parent = node.parent
    while isinstance(parent, _AROUND):
        parent = parent.parent
    return isinstance(parent, exp.Window) and is_call(parent.this) is is_call(node)


def _arguments(node: exp.Func) -> tuple[exp.Expr, ...]:
    """Return the arguments in the order of DuckDB, which sqlglot keeps."""
    found: list[exp.Expr] = []
    for name in [key for key in type(node).arg_types if key in node.args]:
        value = node.args[name]
        items = value if isinstance(value, list) else [value]
        found += [item for item in items if isinstance(item, exp.Expr)]
    return tuple(found)
