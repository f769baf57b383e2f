"""Partials of rows that may be taken away again, as newer rows of their keys replace them.

What a row added to a count or a sum of integers or decimals is subtracted when the row goes, which
is exact. A group is gone when all its rows are, and a sum is NULL again when all its values are
NULL, so both are counted.

An extreme has no inverse. Of each group, the best values are kept with the numbers of their rows,
and the next one takes the place of one that goes (`Ranking`). Sums of doubles and what is made of
them are exact only if each value is known that comes or goes (`DoubleColumns`). Both read single
rows instead of partials.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from sqlglot import exp

from ..sql.trees import call, cast, column, named
from .aggregates.aggregate_call import all_known, read_call
from .aggregates.ordered_choice import BY_ANOTHER
from .block import by_step
from .ranking import Ranking
from .split_query import State, StateKind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .aggregates.aggregate_call import AggregateCall
    from .split_query import Leaf

_ROWS: Final = "__rows_0"
_VALUES: Final = "__values_"
_COUNTS: Final = frozenset({"count", "count_star"})
_IS_GREATEST: Final = {"max": True, "min": False, "bool_or": True, "bool_and": False}
"""The extremes of one column, and whether the greatest value is wanted."""
_LOGICAL: Final = ("bool_or", "bool_and")
_SUMS: Final = frozenset({"sum", "fsum", "kahan_sum", "sumkahan"})
"""The sums of doubles; some are more exact than others in DuckDB, and none is here."""


@dataclass(frozen=True, slots=True)
class DoubleColumns:
    """A state that is made of sums of doubles: its columns, and the columns of its values in rows.

    There is one value for a sum, and for the moments of one argument; there are two for co-moments.
    """

    kind: StateKind
    columns: tuple[str, ...]
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChangingLeaf:
    """A leaf whose partials count what they are made of.

    `rows` is the column with the number of rows of a group, and `values` has, by the column of a
    sum, the column with the number of its values. `leaf` has these columns as states, too, and only
    those states that can be subtracted.

    The others are made of single rows. `stepped` reads these of a chunk in which rows have numbers,
    `__step`: it returns the number, the groups, and the values that `rankings` and `doubles` need.
    """

    leaf: Leaf
    rows: str
    values: Mapping[str, str]
    stepped: exp.Select
    rankings: tuple[Ranking, ...] = ()
    doubles: tuple[DoubleColumns, ...] = ()


def changing(leaf: Leaf, is_subtracted: Callable[[State], bool]) -> ChangingLeaf | None:
    """Return a leaf whose partials can be subtracted; None if a state cannot follow.

    The caller tells of which states partials can be subtracted, because that depends on types.
    """
    partial = leaf.partial
    if not isinstance(partial, exp.Select) or leaf.groups is None or len(leaf.windows) != 1:
        return None
    items = {item.alias: item.unalias() for item in partial.expressions}
    sums = tuple(state for state in leaf.states if is_subtracted(state))
    values: dict[str, exp.Expr] = {}
    extremes, doubles = [], []
    for state in leaf.states:
        if state in sums:
            continue
        if extreme := _extreme(state, read_call(items[state.columns[0]])):
            extremes.append(extreme)
            values |= extreme.values
        elif of_doubles := _double_values(state, items):
            doubles.append(DoubleColumns(state.kind, state.columns, tuple(of_doubles)))
            values |= of_doubles
        else:
            return None
    counted, counts = _counted(leaf, sums)
    stepped = _stepped(partial, leaf.groups, values)
    rankings = tuple(_ranking(stepped, leaf.groups, each) for each in extremes)
    return ChangingLeaf(counted, _ROWS, counts, stepped, rankings, tuple(doubles))


def _counted(leaf: Leaf, sums: tuple[State, ...]) -> tuple[Leaf, dict[str, str]]:
    """Return a leaf with these states and counts, and the counts of the values of sums."""
    partial = leaf.partial.copy()
    assert leaf.groups is not None
    items = {item.alias: item for item in partial.expressions}
    kept = [items[name] for name in leaf.groups]
    counts: list[exp.Expr] = [named(call("count", exp.Star()), _ROWS)]
    values: dict[str, str] = {}
    for state in sums:
        [name] = state.columns
        kept.append(items[name])
        aggregate = read_call(items[name].unalias())
        if aggregate.name in _COUNTS:
            continue  # a count is never NULL
        values[name] = f"{_VALUES}{len(values)}"
        [argument] = aggregate.arguments
        counts.append(named(call("count", argument, where=aggregate.condition), values[name]))
    partial.set("expressions", [*kept, *counts])
    names = (_ROWS, *values.values())
    merges = [cast(call("sum", column(name)), "BIGINT") for name in names]
    added = [State(StateKind.SUM, (n,), (m,)) for n, m in zip(names, merges, strict=True)]
    return replace(leaf, partial=partial, states=(*sums, *added)), values


@dataclass(frozen=True, slots=True)
class _Extreme:
    """The columns of a state, as values of rows, and the one that chooses the row."""

    values: Mapping[str, exp.Expr]
    chosen_by: str
    is_greatest: bool


def _extreme(state: State, aggregate: AggregateCall) -> _Extreme | None:
    """Return a state that is the value of one row of a group; None if it is something else."""
    name, arguments = aggregate.name, aggregate.arguments
    if name in _IS_GREATEST and len(arguments) == 1:
        [column_name] = state.columns
        [value] = arguments
        if name in _LOGICAL:
            value = cast(value.copy(), "BOOLEAN")
        where = aggregate.condition
        values = {column_name: value.copy() if where is None else _if(where, value)}
        return _Extreme(values, column_name, _IS_GREATEST[name])
    if name in BY_ANOTHER and len(arguments) == 2:
        known = all_known(arguments, aggregate.condition)
        values = dict(zip(state.columns, (_if(known, each) for each in arguments), strict=True))
        return _Extreme(values, state.columns[1], BY_ANOTHER[name] == "max")
    return None


def _double_values(state: State, items: Mapping[str, exp.Expr]) -> dict[str, exp.Expr] | None:
    """Return the values of a row in a state of doubles; None if the state is something else."""
    last = items[state.columns[-1]]
    where: exp.Expr | None
    if state.kind in (StateKind.MOMENTS, StateKind.CO_MOMENTS):
        # the sum of products of deviations: a variance or covariance, times the count
        aggregate = read_call(last.this)
        where = all_known(aggregate.arguments, aggregate.condition)
    else:
        aggregate = read_call(last)
        where = aggregate.condition
        if aggregate.name not in _SUMS or len(state.columns) != 1:
            return None
    names = state.columns[-len(aggregate.arguments) :]
    values = [cast(each.copy(), "DOUBLE") for each in aggregate.arguments]
    if where is not None:
        values = [_if(where, each) for each in values]
    return dict(zip(names, values, strict=True))


def _if(condition: exp.Expr, value: exp.Expr) -> exp.Expr:
    return exp.Case(ifs=[exp.If(this=condition.copy(), true=value.copy())])


def _stepped(
    partial: exp.Select, groups: tuple[str, ...], values: Mapping[str, exp.Expr]
) -> exp.Select:
    """Return the query for the rows of a partial with their numbers, instead of aggregates."""
    rows = partial.copy()
    of_groups = [item for item in rows.expressions if item.alias in groups]
    rows.set("expressions", [*of_groups, *(named(each, name) for name, each in values.items())])
    rows.set("group", None)
    return by_step(rows)


def _ranking(stepped: exp.Select, groups: tuple[str, ...], extreme: _Extreme) -> Ranking:
    """Return the order in which an extreme is first."""
    return Ranking(
        rows=stepped,
        groups=groups,
        columns=tuple(extreme.values),
        order=(exp.Ordered(this=column(extreme.chosen_by), desc=extreme.is_greatest),),
        count=1,
        known=extreme.chosen_by,
    )
