"""Aggregation before a join of two streams: one row per value instead of one per row.

    SELECT max(a.x), sum(b.y) FROM chunk_0 a, chunk_1 b WHERE a.k = b.k

needs only the following of each stream, per value of k: the number of rows, their maximum and their
sum. So rows are aggregated as they arrive, by the columns that the join and the groups use, and the
join makes pairs of values. A sum counts as many times as the other side has rows. If every
hundredth pair matches, there are a hundred values instead of thousands of rows, and far fewer
pairs. If hardly any pair matches, there are as many values as rows, and the cost is that of picking
columns.

Databases call this eager aggregation (Yan and Larson, 1995). DataCell joins rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from sqlglot import exp

from ..sql.trees import call, chunk_index, column, named, nested_queries, replaced, summed_count
from .aggregates.aggregate_call import AggregateCall, read_call
from .block import by_step, conditions_of, group_by_first, is_inner, source_nodes
from .partial_columns import Numbered
from .split_query import Leaf

if TYPE_CHECKING:
    from .trial import Trial

_ROWS: Final = "__n"
_PARTS: Final = {"expressions", "from_", "joins", "where", "group"}
"""The parts that a partial may have."""
_SPLIT: Final = {"count", "sum", "max", "min"}
"""The aggregates that can be computed from one side's, and the number of rows on the other side."""


def aggregated_early(leaf: Leaf, trial: Trial) -> Leaf | None:
    """Return a leaf over two streams that aggregates each of them before the join.

    Returns None if that is not possible: for outer joins, for aggregates over both streams at once,
    for aggregates that depend on more than the number of the other stream's rows, and for texts
    with a collation, which they would lose on the way to the join.
    """
    if leaf.groups is None or len(leaf.windows) != 2 or trial.may_collate(leaf.partial):
        return None
    try:
        early = _Division(leaf).divided()
        _check(leaf, early, trial)
    except Exception:  # noqa: BLE001 - it is not possible, or a mistake of ours: there is the leaf
        return None
    return early


class _NotPossibleError(Exception):
    """The streams of this join cannot be aggregated before it."""


class _Side:
    """What is needed of one stream: keys, which the join and the groups use, and states."""

    def __init__(self, window: int, table: exp.Table) -> None:
        self.window = window
        self.alias = table.alias_or_name
        self.table = table
        self.conditions: list[exp.Expr] = []
        self.keys = Numbered("__k")
        self.states = Numbered("__a")

    def key(self, tree: exp.Expr) -> exp.Column:
        """Return the column for the value of an expression over this stream."""
        return column(self.keys.name(tree), self.alias)

    def state(self, tree: exp.Expr) -> exp.Column:
        """Return the column for an aggregate over this stream."""
        return column(self.states.name(tree), self.alias)

    def pick(self) -> exp.Select:
        """Return the query that aggregates the stream, by step."""
        rows = named(exp.Count(this=exp.Star()), _ROWS)
        items = [*self.keys.selected(), *self.states.selected(), rows]
        query = exp.select(*items).from_(self.table.copy()).where(*self.conditions)
        return by_step(query, groups=len(self.keys))


def _side(source: exp.Expr) -> _Side:
    window = chunk_index(source)
    if window is None or not isinstance(source, exp.Table) or source.args.get("sample"):
        raise _NotPossibleError
    return _Side(window, source)


class _Division:
    """Divides the partial of a leaf into the parts for each side and the rest for the pairs."""

    def __init__(self, leaf: Leaf) -> None:
        partial = leaf.partial
        if not isinstance(partial, exp.Select) or any(nested_queries(partial)):
            raise _NotPossibleError
        if any(value for part, value in partial.args.items() if part not in _PARTS):
            raise _NotPossibleError
        joins = partial.args.get("joins") or []
        if not all(is_inner(join) and not join.args.get("using") for join in joins):
            raise _NotPossibleError
        self._leaf = leaf
        self._partial = partial
        self._sides = {side.alias.lower(): side for side in map(_side, source_nodes(partial))}
        if len(self._sides) != 2:
            raise _NotPossibleError

    def divided(self) -> Leaf:
        """Return the leaf that aggregates before the join."""
        conditions = [self._paired(condition) for condition in self._conditions()]
        count = len(self._leaf.groups or ())
        items = [
            named(self._paired(item.unalias()) if i < count else self._state(item), item.alias)
            for i, item in enumerate(self._partial.expressions)
        ]
        first, second = self._sides.values()
        partial = exp.select(*items).from_(first.table.copy()).join(second.table.copy())
        partial = partial.where(*conditions)
        group_by_first(partial, count)
        return replace(
            self._leaf,
            partial=partial,
            partial_by_step=by_step(partial, groups=count),
            rule=f"{self._leaf.rule}, aggregated before the join",
            picks={side.window: side.pick() for side in (first, second)},
        )

    def _conditions(self) -> list[exp.Expr]:
        """Return the conditions on pairs; conditions on one side become part of that side."""
        pairs = []
        for condition in conditions_of(self._partial):
            side = self._only_side(condition)
            if side is None:
                pairs.append(condition)
            else:
                side.conditions.append(condition)
        return pairs

    def _paired(self, tree: exp.Expr) -> exp.Expr:
        """Return an expression over pairs of rows as an expression over pairs of keys."""

        def change(node: exp.Expr) -> exp.Expr | None:
            side = None if isinstance(node, exp.Identifier) else self._only_side(node)
            return None if side is None else side.key(node)

        return replaced(tree, change)

    def _only_side(self, tree: exp.Expr) -> _Side | None:
        """Return the one side whose columns an expression uses.

        None if there is not exactly one.
        """
        columns = [tree] if isinstance(tree, exp.Column) else list(tree.find_all(exp.Column))
        if any(each.table.lower() not in self._sides for each in columns):
            raise _NotPossibleError  # the column is of no known side
        sides = {each.table.lower() for each in columns}
        return self._sides[sides.pop()] if len(sides) == 1 else None

    def _state(self, item: exp.Expr) -> exp.Expr:
        """Return an aggregate over pairs of rows as an aggregate over pairs of aggregates."""
        aggregate = read_call(item.unalias())
        name, arguments = aggregate.name, aggregate.arguments
        if aggregate != AggregateCall(name, arguments) or name not in _SPLIT:
            raise _NotPossibleError  # such as one with DISTINCT or FILTER
        if name == "count" and not arguments:
            first, second = (column(_ROWS, side.alias) for side in self._sides.values())
            return summed_count(exp.Mul(this=first, expression=second))
        side = self._only_side(arguments[0]) if len(arguments) == 1 else None
        if side is None:
            raise _NotPossibleError
        value = side.state(item.unalias())
        if name in ("max", "min"):
            return call(name, value)
        [other] = [each for each in self._sides.values() if each is not side]
        product = exp.Mul(this=value, expression=column(_ROWS, other.alias))
        return summed_count(product) if name == "count" else call("sum", product)


def _check(leaf: Leaf, early: Leaf, trial: Trial) -> None:
    """Check that DuckDB accepts all parts, and that the partial has the same schema as before."""
    by_step = trial.with_steps()
    picked = {f"chunk_{i}": by_step.shape(pick).schema for i, pick in early.picks.items()}
    rows = trial.lending({name: schema.remove(0) for name, schema in picked.items()})
    trial.lending(picked).columns(early.partial_by_step)
    if not rows.shape(early.partial).schema.equals(trial.shape(leaf.partial).schema):
        raise _NotPossibleError
