"""Partials of rows that may be taken away again, as newer rows of their keys replace them.

What a row added to a group is subtracted when the row goes. That is exact for counts and for sums
of integers and decimals. A group is gone when all its rows are, and a sum is NULL again when all
its values are NULL, so both are counted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from sqlglot import exp

from ..sql.trees import call, cast, column, named
from .aggregates.aggregate_call import read_call
from .split_query import State, StateKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .split_query import Leaf

_ROWS: Final = "__rows_0"
_VALUES: Final = "__values_"
_COUNTS: Final = frozenset({"count", "count_star"})


@dataclass(frozen=True, slots=True)
class ChangingLeaf:
    """A leaf whose partials count what they are made of.

    `rows` is the column with the number of rows of a group, and `values` has, by the column of a
    sum, the column with the number of its values. `leaf` has these columns as states, too.
    """

    leaf: Leaf
    rows: str
    values: Mapping[str, str]


def changing(leaf: Leaf) -> ChangingLeaf | None:
    """Return a leaf whose partials can be subtracted; None if its states have no inverse.

    Whether a sum is exact depends on its type, which is not known here.
    """
    partial = leaf.partial
    if not isinstance(partial, exp.Select) or leaf.groups is None or len(leaf.windows) != 1:
        return None
    if any(state.kind is not StateKind.SUM for state in leaf.states):
        return None
    items = {item.alias: item.unalias() for item in partial.expressions}
    counts: list[exp.Expr] = [named(call("count", exp.Star()), _ROWS)]
    values: dict[str, str] = {}
    for state in leaf.states:
        [name] = state.columns
        aggregate = read_call(items[name])
        if aggregate.name in _COUNTS:
            continue  # a count is never NULL
        values[name] = f"{_VALUES}{len(values)}"
        argument = aggregate.arguments[0] if aggregate.name == "sum" else exp.Star()
        counts.append(named(call("count", argument, where=aggregate.condition), values[name]))
    partial = partial.copy()
    partial.set("expressions", [*partial.expressions, *counts])
    names = (_ROWS, *values.values())
    merges = [cast(call("sum", column(name)), "BIGINT") for name in names]
    added = [State(StateKind.SUM, (n,), (m,)) for n, m in zip(names, merges, strict=True)]
    with_counts = replace(leaf, partial=partial, states=(*leaf.states, *added))
    return ChangingLeaf(with_counts, _ROWS, values)
