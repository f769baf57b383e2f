"""One partial for several leaves that read the same rows and group them alike.

What a leaf alone computes of some rows, `sum(price) … WHERE price > 10`, it has in common with
others as `sum(CASE WHEN price > 10 THEN price END)`, beside the number of rows that pass its
condition. So the rows are read and grouped once. That works for aggregates that ignore NULL. CASE
computes a value for the rows that pass the condition only, so no other row can make it fail.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import pyarrow as pa
from sqlglot import exp

from ..sql.functions import name_of
from ..sql.trees import (
    call,
    cast,
    chunk_index,
    column,
    conjuncts,
    key,
    named,
    own_nodes,
    replaced,
)
from .block import by_step, group_by_first
from .split_query import Leaf, State, StateKind

if TYPE_CHECKING:
    from ..sql.functions import Functions
    from .trial import Trial

_IGNORE_NULL: Final = frozenset(
    {"sum", "count", "count_star", "count_if", "min", "max", "avg", "var_pop", "covar_pop"}
)
"""Aggregates that give the same over a row whose arguments are NULL as without it."""
_CLAUSES: Final = frozenset({"expressions", "from_", "where", "group"})
_COUNT: Final = call("count", exp.Star())
_INTEGER: Final = pa.field("", pa.int64())
_ROWS: Final = State(StateKind.SUM, ("__rows",), (cast(call("sum", column("__rows")), "BIGINT"),))
"""How many rows of each group a leaf reads."""


@dataclass(frozen=True, slots=True)
class LeafInCommon:
    """A leaf that can be evaluated together with others of the same `family`.

    `conditions` are what its rows have to fulfil, and `values` are its states' columns.
    """

    leaf: Leaf
    family: str
    conditions: Mapping[str, exp.Expr]
    values: Mapping[str, exp.Expr]


@dataclass(frozen=True, slots=True)
class OwnColumns:
    """The columns of a shared partial that belong to one leaf.

    `rows` has the number of rows of each group that the leaf reads, and `names` has the column for
    each column of the leaf's states.
    """

    rows: str
    names: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SharedPartial:
    """Several leaves as one, and what belongs to each of them.

    `common` are the conditions that no row is read without.
    """

    leaf: Leaf
    owned: tuple[OwnColumns, ...]
    common: frozenset[str]


def in_common(leaf: Leaf, functions: Functions) -> LeafInCommon | None:
    """Return a leaf in a form that can be evaluated with others, or None if there is none."""
    partial = leaf.partial
    if leaf.groups is None or leaf.keep is not None or leaf.schema is None or leaf.reason:
        return None
    if not isinstance(partial, exp.Select) or functions.own_in(partial):
        return None
    if any(value for name, value in partial.args.items() if name not in _CLAUSES):
        return None
    relation = partial.args["from_"].this
    if chunk_index(relation) is None or len([*partial.find_all(exp.Query)]) > 1:
        return None
    items = {item.alias: item.unalias() for item in partial.expressions}
    names = [name for state in leaf.states for name in state.columns]
    if any(state.kind is StateKind.OTHER for state in leaf.states) or not all(
        _ignores_null(items[name], functions) for name in names
    ):
        return None
    where = partial.args.get("where")
    conditions = {key(each): each for each in conjuncts(where.this if where else None)}
    groups = [key(items[name]) for name in leaf.groups]
    family = " | ".join([key(partial.args["from_"]), *groups])
    return LeafInCommon(leaf, family, conditions, {name: items[name] for name in names})


def shared(
    leaves: Sequence[LeafInCommon],
    prefix: str = "__c",
    *,
    common: frozenset[str] | None = None,
    apart: bool = False,
) -> SharedPartial:
    """Return the leaves of one family as one leaf, whose columns begin with a prefix.

    `common` are the conditions that no row is read without; by default all that the leaves have in
    common. Leaves have no column in common if they are to be kept `apart`.
    """
    first = leaves[0].leaf
    assert first.groups is not None
    assert isinstance(first.partial, exp.Select)
    if common is None:
        common = frozenset.intersection(*(frozenset(each.conditions) for each in leaves))
    columns = _Columns(first, prefix, apart=apart)
    owned = tuple(columns.add(each, common) for each in leaves)
    items = {item.alias: item for item in first.partial.expressions}
    partial = exp.Select(
        expressions=[
            *(items[name].copy() for name in first.groups),
            *(named(tree, name) for name, tree in columns.trees.items()),
        ],
        from_=first.partial.args["from_"].copy(),
    )
    if common:
        where = [each for text, each in leaves[0].conditions.items() if text in common]
        partial.set("where", exp.Where(this=exp.and_(*where)))
    group_by_first(partial, len(first.groups))
    leaf = replace(
        first,
        partial=partial,
        partial_by_step=by_step(partial, groups=len(first.groups)),
        states=tuple(columns.states),
        schema=columns.schema,
    )
    return SharedPartial(leaf, owned, common)


def runs(leaf: LeafInCommon, trial: Trial) -> bool:
    """Tell whether DuckDB has the same types for a leaf in this form."""
    made = shared([leaf], common=frozenset()).leaf
    return made.schema is not None and trial.shape(made.partial).schema.equals(made.schema)


class _Columns:
    """The columns of a shared partial behind its groups; equal states share theirs."""

    def __init__(self, first: Leaf, prefix: str, *, apart: bool) -> None:
        assert first.schema is not None
        assert first.groups is not None
        self.schema = pa.schema([first.schema.field(name) for name in first.groups])
        self.trees: dict[str, exp.Expr] = {}
        self.states: list[State] = []
        self._prefix = prefix
        self._apart = apart
        self._names: dict[str, tuple[str, ...]] = {}
        """The columns of a state, by its text."""

    def add(self, leaf: LeafInCommon, common: Collection[str]) -> OwnColumns:
        """Add what a leaf needs, for rows that fulfil the conditions that all have in common."""
        others = [each for text, each in leaf.conditions.items() if text not in common]
        condition = exp.and_(*others) if others else None
        schema = leaf.leaf.schema
        assert schema is not None
        if self._apart:
            self._names = {}
        names: dict[str, str] = {}
        for state in (_ROWS, *leaf.leaf.states):
            values = [leaf.values.get(name, _COUNT) for name in state.columns]
            trees = [_conditional(value, condition) for value in values]
            fields = [
                schema.field(name) if name in leaf.values else _INTEGER for name in state.columns
            ]
            names |= dict(zip(state.columns, self._columns(state, trees, fields), strict=True))
        return OwnColumns(names.pop(_ROWS.columns[0]), names)

    def _columns(
        self, state: State, trees: Sequence[exp.Expr], fields: Sequence[pa.Field]
    ) -> tuple[str, ...]:
        """Return the columns of a state, which is added if it is new."""
        text = " | ".join([state.kind, *map(key, trees)])
        if text not in self._names:
            first = len(self.trees)
            names = tuple(f"{self._prefix}{first + i}" for i in range(len(trees)))
            for name, tree, field in zip(names, trees, fields, strict=True):
                self.trees[name] = tree
                self.schema = self.schema.append(field.with_name(name))
            by_name = dict(zip(state.columns, names, strict=True))
            merge = tuple(renamed(tree, by_name) for tree in state.merge)
            self.states.append(State(state.kind, names, merge))
            self._names[text] = names
        return self._names[text]


def _ignores_null(tree: exp.Expr, functions: Functions) -> bool:
    """Tell whether an expression is made of aggregates that ignore NULL, and of constants."""
    if isinstance(tree, exp.Filter):
        return _ignores_null(tree.this, functions)
    if functions.is_aggregate(tree):
        return name_of(tree) in _IGNORE_NULL and not any(
            isinstance(node, exp.Distinct | exp.Order) or functions.is_aggregate(node)
            for child in tree.iter_expressions()
            for node in own_nodes(child)
        )
    if isinstance(tree, exp.Column | exp.Window | exp.WithinGroup):
        return False
    return all(_ignores_null(child, functions) for child in tree.iter_expressions())


def _conditional(tree: exp.Expr, condition: exp.Expr | None) -> exp.Expr:
    """Return an expression whose aggregates read only the rows that fulfil a condition."""

    def change(node: exp.Expr) -> exp.Expr | None:
        if isinstance(node, exp.Filter):
            own = node.expression.this
            return _passing(node.this, own if condition is None else exp.and_(condition, own))
        return _passing(node, condition) if name_of(node) in _IGNORE_NULL else None

    return replaced(tree, change)


def _passing(aggregate: exp.Expr, condition: exp.Expr | None) -> exp.Expr:
    """Return an aggregate over the rows that fulfil a condition."""
    if condition is None:
        return aggregate.copy()
    arguments = [each for each in aggregate.iter_expressions() if isinstance(each, exp.Expr)]
    if all(isinstance(each, exp.Star) for each in arguments):
        return call("count", _case(condition, _ONE))
    return call(name_of(aggregate), *(_case(condition, each) for each in arguments))


_ONE: Final = exp.Literal.number(1)


def _case(condition: exp.Expr, value: exp.Expr) -> exp.Expr:
    return exp.case().when(condition.copy(), value.copy())


def renamed(tree: exp.Expr, names: Mapping[str, str]) -> exp.Expr:
    """Return an expression in which columns have these names instead."""

    def change(node: exp.Expr) -> exp.Expr | None:
        is_ours = isinstance(node, exp.Column) and not node.table and node.name in names
        return column(names[node.name]) if is_ours else None

    return replaced(tree, change)
