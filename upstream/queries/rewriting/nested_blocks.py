"""Blocks within blocks: the innermost ones that aggregate rows of streams are divided.

What stands above them (HAVING over an average of sums, a join of two aggregates, UNION ALL) becomes
part of the finish, where it reads merged relations instead of streams.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from sqlglot import exp

from ...database.failure import DatabaseError
from ..sql.trees import chunks_in, key, named
from .block import check_row_wise, check_sources, queries_beside_from, read_block, source_nodes
from .bounded_rows import bounded_rows
from .collations import collation_of
from .concatenation import concatenation, top_rows
from .division import Task
from .kept_rows import counted_rows, kept_rows
from .not_incremental import NotIncrementalError, obstacle, refusal
from .relations import renamed_tables
from .resolution import resolved
from .retention import conditions_by_source, raw_rows
from .row_bounds import with_bounds_inside
from .synchronous_replication import distinct_rows, synchronous_replication
from .union_all import sides_of_union, union_of

if TYPE_CHECKING:
    from ..sql.functions import Functions
    from .division import Division
    from .split_query import Leaf
    from .trial import Trial

_RULES: Final = (concatenation, synchronous_replication, distinct_rows, bounded_rows, top_rows)


class Splitter:
    """Collects the leaves while blocks are divided. `top` is the division of the whole query."""

    def __init__(
        self, trial: Trial, functions: Functions, prefix: str, *, is_lasting: bool = False
    ) -> None:
        self.leaves: list[Leaf] = []
        self.top: Division | None = None
        self._trial = trial
        self._functions = functions
        self._prefix = prefix
        self._is_lasting = is_lasting

    def finish(self, query: exp.Query) -> exp.Query:
        """Return the finish of a query, which reads merged relations in place of chunks."""
        if isinstance(query, exp.Select) and self._is_divisible(query):
            self.top = self._divided(query)
            return self.top.finish
        return self._above(query)

    def _above(self, query: exp.Query) -> exp.Query:
        """Return a query whose chunks are replaced by merged relations."""
        if not chunks_in(query):
            return query.copy()
        if isinstance(query, exp.SetOperation):
            return self._set_operation(query)
        if isinstance(query, exp.Subquery) and isinstance(query.this, exp.Query):
            copy = query.copy()
            copy.set("this", self._above(query.this))
            return copy
        if not isinstance(query, exp.Select):
            raise NotIncrementalError("a stream is read outside a SELECT")
        if self._is_divisible(query):
            return self._divided(query).finish
        return self._over_union(query) or self._partly(query)

    def _is_divisible(self, select: exp.Select) -> bool:
        has_stream = any(chunks_in(node) for node in source_nodes(select))
        return has_stream and not obstacle(check_sources, select, self._functions)

    def _set_operation(self, query: exp.SetOperation) -> exp.Query:
        """Divide each side of a set operation; where duplicates do not matter, without them."""
        copy = query.copy()
        for name in ("this", "expression"):
            side = query.args[name]
            copy.set(name, self._above(self._without_duplicates(side, query.args["distinct"])))
        return copy

    def _without_duplicates(self, query: exp.Query, is_wanted: bool) -> exp.Query:
        if not is_wanted or not isinstance(query, exp.Select) or not chunks_in(query):
            return query
        if any(map(collation_of, self._trial.columns(query).types)):
            return query  # the choice among equal texts depends on all rows
        if obstacle(check_row_wise, query, self._functions):
            return query
        return query.copy().distinct(copy=False)

    # A block whose rows each come from one row

    def _divided(self, select: exp.Select) -> Division:
        task = self._task(select)
        division = self._by_rules(task)
        relation = self._add(division.leaf)
        if relation == task.relation:
            return division
        finish = renamed_tables(division.finish, {task.relation: relation})
        return replace(division, finish=finish)

    def _task(self, select: exp.Select) -> Task:
        block = read_block(select, self._trial)
        try:
            block = replace(block, select=resolved(block))
        except NotIncrementalError:
            check_row_wise(select, self._functions)  # needs no names
        self._divide_beside(block.select)
        relation = f"{self._prefix}{len(self.leaves)}"
        shape = self._trial.shape(select)
        finished = frozenset(leaf.relation for leaf in self.leaves)
        return Task(
            original=select,
            shape=shape,
            block=block,
            relation=relation,
            trial=self._trial,
            functions=self._functions,
            finished=finished,
            is_lasting=self._is_lasting,
        )

    def _by_rules(self, task: Task) -> Division:
        """Return what the first applicable rule makes of a block, or kept rows if there is none."""
        reason = obstacle(check_row_wise, task.original, task.functions) or "it needs all rows"
        for rule in _RULES:
            try:
                division = rule(task)
            except (NotIncrementalError, DatabaseError) as error:
                reason = refusal(error)
                break
            if division is not None:
                return division
        return self._of_rows(task, reason)

    def _of_rows(self, task: Task, reason: str) -> Division:
        """Keep rows; keep equal rows once where they are likely to repeat."""
        try:
            division = counted_rows(task)
        except (NotIncrementalError, DatabaseError):
            division = None
        return division or kept_rows(task, reason)

    def _add(self, made: Leaf) -> str:
        """Add a leaf, or find an equal one, and return its relation."""
        for leaf in self.leaves:
            if key(leaf.partial) == key(made.partial) and leaf.groups == made.groups:
                return leaf.relation
        self.leaves.append(made)
        return made.relation

    def _over_union(self, select: exp.Select) -> exp.Query | None:
        """Divide an aggregate over UNION ALL; return None if it is not one or cannot be divided."""
        before = list(self.leaves)
        finish: exp.Query | None = None
        relations = []
        try:
            for side in sides_of_union(select, self._trial, self._functions) or ():
                task = replace(self._task(side), is_shared=True)
                division = synchronous_replication(task)
                assert division is not None
                relations.append((task.relation, self._add(division.leaf)))
                finish = finish or division.finish.copy()
        except (NotIncrementalError, DatabaseError):
            self.leaves = before
            return None
        for table in list(finish.find_all(exp.Table)) if finish else ():
            if table.name == relations[0][0]:
                table.replace(union_of([relation for _, relation in relations], table.name))
        return finish

    # A block above others

    def _partly(self, select: exp.Select) -> exp.Query:
        """Divide the blocks inside a SELECT, and keep rows of the chunks that it reads itself."""
        if self._is_lasting:
            select = with_bounds_inside(select, self._trial)
        reason = obstacle(check_sources, select, self._functions)
        conditions = conditions_by_source(select, self._trial)
        names = self._trial.columns(select).names
        copy = select.copy()
        self._divide_beside(copy)
        for node in source_nodes(copy):
            if chunks_in(node):
                self._below(node, copy, conditions.get(node.alias_or_name, ()), reason)
        return _with_names(copy, names)

    def _divide_beside(self, select: exp.Select) -> None:
        """Replace the subqueries over streams in expressions, in place."""
        for query in list(queries_beside_from(select)):
            if chunks_in(query):
                query.replace(self._beside(query))

    def _beside(self, query: exp.Query) -> exp.Query:
        """Divide a subquery in an expression, which must not be correlated."""
        inner = query.this if isinstance(query, exp.Subquery) else query
        try:
            self._trial.columns(inner)
        except DatabaseError as error:
            raise NotIncrementalError("a subquery over a stream is correlated") from error
        above = self._above(self._without_duplicates(inner, isinstance(query.parent, exp.In)))
        if inner is query:
            return above
        copy = query.copy()
        copy.set("this", above)
        return copy

    def _below(
        self,
        node: exp.Expr,
        select: exp.Select,
        conditions: tuple[exp.Expr, ...],
        reason: str,
    ) -> None:
        """Replace the relations in FROM, in place."""
        if isinstance(node, exp.Table) and chunks_in(node) and not node.args.get("joins"):
            relation = f"{self._prefix}{len(self.leaves)}"
            rows = raw_rows(
                node, relation, self._trial, within=select, conditions=conditions, reason=reason
            )
            self.leaves.append(rows)
        elif isinstance(node, exp.Subquery) and isinstance(node.this, exp.Query):
            node.set("this", self._above(node.this))
        else:
            raise NotIncrementalError(reason)


def _with_names(select: exp.Select, names: tuple[str, ...]) -> exp.Select:
    """Give select items the names that they had, where a replaced subquery would change them."""
    items = select.expressions
    if len(items) != len(names) or select.find(exp.Star, exp.Columns):
        return select
    is_named = (exp.Alias, exp.Column)
    new = [
        item if isinstance(item, is_named) else named(item.copy(), name)
        for item, name in zip(items, names, strict=True)
    ]
    select.set("expressions", new)
    return select
