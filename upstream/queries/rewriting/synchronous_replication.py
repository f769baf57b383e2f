"""Synchronous replication: all aggregates of a block at once, each in the groups of the block.

The partial groups as the query does. The finish reads one row per group, unless it has to
aggregate once more: without groups (a window without rows still has a result), with ROLLUP and the
like, and where an aggregate asked for finer groups than the query's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .aggregates import split_aggregate
from .aggregates.aggregate_call import is_call
from .by_step import by_number, by_step
from .division import Division, Task
from .merged_relation import arrow_types, reading, travelling
from .not_incremental import NotIncrementalError, needs_every_value
from .partial_columns import PartialColumns
from .split_query import State, StateKind
from .spoken import spoken
from .trees import call, cast, column, key, named, own_nodes, replaced

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlglot import exp

    from .functions import Functions
    from .partial_columns import StateDraft
    from .trial import Shape


def synchronous_replication(task: Task) -> Division | None:
    """Divide a block that groups or aggregates."""
    select = task.block.select
    if not select.args.get("group") and not has_aggregates(select, task.functions):
        return None
    return grouped(task, group_expressions(select, task.functions), "synchronous replication")


def grouped(task: Task, groups: list[exp.Expr], rule: str) -> Division:
    """Divide a block by these groups."""
    from sqlglot import exp

    columns = PartialColumns()
    for group in groups:
        columns.group(group)
    upper = _Upper(task, columns)
    parts = upper.parts()
    if upper.not_split:
        raise NotIncrementalError(needs_every_value(list(upper.not_split)))
    partial = _partial(task.block.select, columns)
    if any(table.name in task.finished for table in partial.find_all(exp.Table)):
        raise NotIncrementalError("an aggregate depends on a subquery over a stream")
    shape = travelling(partial, len(columns.groups), task.trial)
    draft = _Finish(task, columns, shape, len({key(group) for group in groups}))
    return Division(
        rule=rule if groups else upper.ungrouped_rule,
        partial=partial,
        partial_by_step=by_step(partial, groups=len(columns.groups)),
        finish=draft.select(parts),
        groups=tuple(columns.groups),
        states=draft.states(),
        direct=draft.direct(parts),
    )


def has_aggregates(select: exp.Select, functions: Functions) -> bool:
    """Tell whether anything in the upper part of a SELECT aggregates its rows."""
    trees = [*select.expressions]
    trees += [select.args[name] for name in ("having", "qualify", "order") if select.args.get(name)]
    return any(contains_aggregate(tree, functions) for tree in trees)


def contains_aggregate(tree: exp.Expr, functions: Functions) -> bool:
    """Tell whether there is an aggregate in there that is not a window function."""
    from sqlglot import exp

    windowed = {id(is_call(node.this)) for node in own_nodes(tree) if isinstance(node, exp.Window)}
    return any(
        functions.is_aggregate(node) and id(node) not in windowed for node in own_nodes(tree)
    )


def group_expressions(select: exp.Select, functions: Functions) -> list[exp.Expr]:
    """Return what a SELECT groups by, with numbers and ALL written out."""
    from sqlglot import exp

    group = select.args.get("group")
    if group is None:
        return []
    if group.args.get("all"):
        items = [item.unalias() for item in select.expressions]
        return [_bare(item) for item in items if not _aggregates_or_ranks(item, functions)]
    found = []
    for item in [member for each in group.expressions for member in _members(each)]:
        if isinstance(item, exp.Literal) and item.is_int:
            found.append(_bare(select.expressions[int(item.name) - 1].unalias()))
        else:
            found.append(_bare(item))
    return found


def has_sets(select: exp.Select) -> bool:
    """Tell whether there is a ROLLUP or the like."""
    from sqlglot import exp

    group = select.args.get("group")
    sets = (exp.GroupingSets, exp.Cube, exp.Rollup)
    return group is not None and any(isinstance(item, sets) for item in group.expressions)


def _members(item: exp.Expr) -> list[exp.Expr]:
    """Return the expressions in a grouping set."""
    from sqlglot import exp

    if isinstance(item, exp.Tuple | exp.GroupingSets | exp.Cube | exp.Rollup):
        return [member for child in item.expressions for member in _members(child)]
    return _members(item.this) if isinstance(item, exp.Paren) else [item]


def _bare(item: exp.Expr) -> exp.Expr:
    from sqlglot import exp

    while isinstance(item, exp.Paren):
        item = item.this
    return item


def _aggregates_or_ranks(item: exp.Expr, functions: Functions) -> bool:
    from sqlglot import exp

    return contains_aggregate(item, functions) or any(
        isinstance(node, exp.Window) for node in own_nodes(item)
    )


def _partial(select: exp.Select, columns: PartialColumns) -> exp.Select:
    """Return the partial: FROM and WHERE as they are, the columns instead of the select list."""
    from sqlglot import exp

    partial = exp.Select(expressions=columns.items())
    for name in ("from_", "joins", "where"):
        value = select.args.get(name)
        if value:
            copy = [item.copy() for item in value] if isinstance(value, list) else value.copy()
            partial.set(name, copy)
    if columns.groups:
        partial.set("group", exp.Group(expressions=by_number(len(columns.groups))))
    return partial


class _Upper:
    """The parts of a SELECT above its FROM and WHERE, over the columns of a partial."""

    def __init__(self, task: Task, columns: PartialColumns) -> None:
        self._task = task
        self._columns = columns
        self.ungrouped_rule = "concatenation with compensation"
        self.not_split: dict[str, None] = {}
        """The aggregates that no rule splits, as the user wrote them, each once."""

    def parts(self) -> dict[str, list[exp.Expr] | exp.Expr]:
        """Return the clauses by sqlglot's names."""
        select = self._task.block.select
        items = [item.unalias() for item in select.expressions]
        parts: dict[str, list[exp.Expr] | exp.Expr] = {
            "expressions": [self._over(item) for item in items]
        }
        for name in ("having", "qualify", "order", "limit", "offset", "distinct", "group"):
            if select.args.get(name):
                parts[name] = self._over(select.args[name])
        if select.args.get("windows"):
            parts["windows"] = [self._over(window) for window in select.args["windows"]]
        return parts

    def _over(self, tree: exp.Expr) -> exp.Expr:
        return replaced(tree, self._exchange)

    def _exchange(self, node: exp.Expr) -> exp.Expr | None:
        from sqlglot import exp

        group = self._columns.group_of(node)
        if group is not None:
            return group
        if isinstance(node, exp.Window) and is_call(node.this):
            return self._window(node)
        function = is_call(node)
        if function is not None and self._task.functions.is_aggregate(function):
            return self._aggregate(node)
        return None

    def _aggregate(self, node: exp.Expr) -> exp.Expr:
        try:
            return split_aggregate(node, self._columns)
        except NotIncrementalError:
            has_many = len(self._task.block.sources) > 1
            self.not_split[spoken(node, qualified=has_many)] = None
            return node.copy()  # all of them are to be named

    def _window(self, node: exp.Window) -> exp.Expr:
        """Look into the arguments of a window function, which itself stays what it is."""
        copy = node.copy()
        function = is_call(copy.this)
        assert function is not None
        inner = is_call(node.this)
        assert inner is not None
        for name, value in inner.args.items():
            function.set(name, self._each(value))
        for name, value in node.args.items():
            if name != "this":
                copy.set(name, self._each(value))
        return copy

    def _each(self, value: object) -> object:
        from sqlglot import exp

        if isinstance(value, list):
            return [self._each(item) for item in value]
        return self._over(value) if isinstance(value, exp.Expr) else value


class _Finish:
    """The finish over a merged relation of groups and states."""

    def __init__(self, task: Task, columns: PartialColumns, shape: Shape, own_groups: int) -> None:
        self._task = task
        self._columns = columns
        self._shape = shape
        self._own_groups = tuple(columns.groups)[:own_groups]
        self._has_sets = has_sets(task.block.select)
        self._aggregates_again = (
            task.is_shared or columns.is_refined or not own_groups or self._has_sets
        )
        has_many_rows = columns.is_refined or (self._aggregates_again and own_groups > 0)
        if columns.needs_order and (has_many_rows or len(task.block.sources) > 1):
            raise NotIncrementalError("an aggregate needs the rows in their order")
        self._reading = self._readings()

    def _readings(self) -> Mapping[str, exp.Expr]:
        plain = dict(reading(self._shape, self._task.trial, self._task.relation))
        if not self._aggregates_again:
            return plain
        for state in self._columns.states:
            for name, merge in zip(state.columns, _merges(state), strict=True):
                plain[name] = _complete(state, merge, plain[name])
        return plain

    def select(self, parts: dict[str, list[exp.Expr] | exp.Expr]) -> exp.Select:
        """Return the query over the merged relation."""
        from sqlglot import exp

        parts = dict(parts)
        items = parts.pop("expressions")
        names = self._task.shape.names
        assert isinstance(items, list)
        finish = exp.select(
            *(named(self._read(item), name) for item, name in zip(items, names, strict=True))
        ).from_(exp.to_table(self._task.relation))
        group = parts.pop("group", None)
        for name, part in parts.items():
            new = [self._read(p) for p in part] if isinstance(part, list) else self._read(part)
            finish.set(name, new)
        if self._has_sets:
            finish.set("group", self._read(group))
        elif self._aggregates_again and self._own_groups:
            finish.set("group", exp.Group(expressions=[column(g) for g in self._own_groups]))
        elif not self._aggregates_again and finish.args.get("having"):
            finish.set("where", exp.Where(this=finish.args["having"].this))
            finish.set("having", None)
        return finish

    def _read(self, tree: object) -> exp.Expr:
        from sqlglot import exp

        assert isinstance(tree, exp.Expr)

        def exchange(node: exp.Expr) -> exp.Expr | None:
            if isinstance(node, exp.Column) and not node.table and node.name in self._reading:
                return self._reading[node.name].copy()
            return None

        return replaced(tree, exchange)

    def direct(
        self, parts: dict[str, list[exp.Expr] | exp.Expr]
    ) -> tuple[tuple[str, str], ...] | None:
        """Return which merged column is which result column, if that is all there is to do."""
        from sqlglot import exp

        if self._aggregates_again or set(parts) - {"expressions", "group"}:
            return None
        pairs = []
        items = parts["expressions"]
        assert isinstance(items, list)
        for item, name, field in zip(
            items, self._task.shape.names, self._task.shape.schema, strict=True
        ):
            is_column = isinstance(item, exp.Column) and item.name in self._reading
            if not is_column or self._shape.schema.field(item.name).type != field.type:
                return None
            pairs.append((name, item.name))
        return tuple(pairs)

    def states(self) -> tuple[State, ...]:
        """Return the states, merged in their own types."""
        from sqlglot import exp

        drafts, relation, schema = self._columns.states, self._task.relation, self._shape.schema
        merges = [merge for draft in drafts for merge in _merges(draft)]
        if not merges:
            return ()
        query = exp.select(*(merge.copy() for merge in merges)).from_(exp.to_table(relation))
        found = self._task.trial.lending({relation: schema}).columns(query).types
        types = arrow_types(schema, self._task.trial, relation)[len(self._columns.groups) :]
        same = iter(
            [
                merge if is_type == type_name else cast(merge, type_name)
                for merge, is_type, type_name in zip(merges, found, types, strict=True)
            ]
        )
        return tuple(
            State(self._kind(draft), draft.columns, tuple(next(same) for _ in draft.columns))
            for draft in drafts
        )

    def _kind(self, draft: StateDraft) -> StateKind:
        """Return the kind, but OTHER where the type is not one that all mergers know."""
        import pyarrow as pa

        kind = self._shape.schema.field(draft.columns[0]).type
        is_number = (
            pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
        )
        is_ordered = is_number or pa.types.is_temporal(kind) or pa.types.is_string(kind)
        fits = {
            StateKind.SUM: is_number,
            StateKind.MINIMUM: is_ordered,
            StateKind.MAXIMUM: is_ordered,
        }
        return draft.kind if fits.get(draft.kind, True) else StateKind.OTHER


def _merges(draft: StateDraft) -> list[exp.Expr]:
    return list(draft.merge([column(name) for name in draft.columns]))


def _complete(state: StateDraft, merge: exp.Expr, plain: exp.Expr) -> exp.Expr:
    """Return the merge of a state in the finish, in the state's type, and right for no rows."""
    from sqlglot import exp

    if isinstance(plain, exp.Cast):
        merge = exp.Cast(this=merge, to=plain.args["to"].copy())
    if state.when_empty is None:
        return merge
    return call("coalesce", merge, exp.Literal.number(state.when_empty))
