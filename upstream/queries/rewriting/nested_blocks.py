"""Blocks within blocks: the innermost ones that aggregate rows of streams are divided.

What stands above them (HAVING over an average of sums, a join of two aggregates, UNION ALL) becomes
part of the finish, where it reads merged relations instead of streams.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from sqlglot import exp

from ...database.failure import DatabaseError
from ..sql.trees import chunks_in, key, named, nested_queries
from .block import (
    check_projection,
    check_row_wise,
    check_sources,
    queries_beside_from,
    read_block,
    source_nodes,
)
from .bounded_rows import bounded_rows
from .collations import collation_of
from .concatenation import concatenation, top_rows
from .correlation import own_aliases, qualify
from .division import Task
from .grouped_joins import check_grouped, grouped_below, needs_groups
from .kept_rows import counted_rows, kept_rows
from .late_conditions import KEEPS_ROWS, separated
from .not_incremental import NotIncrementalError, obstacle, refusal
from .relations import renamed_tables
from .resolution import resolved
from .retention import conditions_by_source, raw_rows
from .row_bounds import with_bounds_inside
from .semi_joins import ONE, with_exists
from .synchronous_replication import distinct_rows, synchronous_replication
from .union_all import sides_of_union, union_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..sql.functions import Functions
    from .division import Division
    from .late_conditions import Separated
    from .split_query import Leaf
    from .trial import Trial

_ORDERED: Final = ("order", "limit", "offset", "by_name")
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
        self._around = frozenset[str]()
        """The relations of the queries around the one that is divided, over lasting streams."""
        self._aliases = 0

    def finish(self, query: exp.Query) -> exp.Query:
        """Return the finish of a query, which reads merged relations in place of chunks."""
        if isinstance(query, exp.Select):
            query = self._over_groups(query)
            self.top = self._division(query)
            if self.top is not None:
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
        query = self._over_groups(query)
        division = self._division(query)
        if division is not None:
            return division.finish
        return self._over_union(query) or self._partly(query)

    def _over_groups(self, select: exp.Select) -> exp.Select:
        """Group lasting streams below joins that would need their rows, if that is possible."""
        if not self._is_lasting:
            return select
        select = with_exists(select, self._trial)
        if not needs_groups(select):
            return select
        try:
            return grouped_below(select, self._trial, self._functions)
        except (NotIncrementalError, DatabaseError):
            return select

    def _why_rows(self, select: exp.Select) -> str:
        """Return why the rows of streams in FROM would have to be kept."""
        reason = obstacle(check_sources, select, self._functions)
        if self._is_lasting and reason and needs_groups(select):
            why = obstacle(check_grouped, select, self._trial, self._functions)
            reason += f", and {why}: group the stream in a subquery first" if why else ""
        return reason

    def _division(self, select: exp.Select) -> Division | None:
        """Divide a block of rows that each come from one row; return None for another block."""
        if not _reads_stream(select):
            return None
        parted = self._parted(select)
        if obstacle(check_sources, parted.select if parted else select, self._functions):
            return None
        return self._divided(select, parted)

    def _parted(self, select: exp.Select) -> Separated | None:
        """Separate the late conditions of a block over lasting streams, if it can have any."""
        if not self._is_lasting or not (self._around or any(queries_beside_from(select))):
            return None
        block = read_block(select, self._trial)
        block = replace(block, select=resolved(block))
        qualify(block, self._trial, self._functions)
        return separated(block, self._around)

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
        if self._is_lasting:
            is_of_groups = obstacle(check_projection, query, self._functions)
            return query if is_of_groups else query.copy().distinct(copy=False)
        if any(map(collation_of, self._trial.columns(query).types)):
            return query  # the choice among equal texts depends on all rows
        if obstacle(check_row_wise, query, self._functions):
            return query
        return query.copy().distinct(copy=False)

    # A block whose rows each come from one row

    def _divided(self, select: exp.Select, parted: Separated | None) -> Division:
        task = self._task(select) if parted is None else self._late_task(select, parted)
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

    def _late_task(self, select: exp.Select, parted: Separated) -> Task:
        """Return the task for a block whose late conditions are checked in the finish."""
        shape = self._trial.shape(parted.closed or select)
        block = read_block(parted.select, self._trial)
        late = exp.Tuple(expressions=[each.copy() for each in parted.late])
        with self._within(block.select):
            self._divide_beside(block.select)
            for query in list(nested_queries(late)):
                if chunks_in(query):
                    query.replace(self._beside(query))
        self._aliases += 1
        return Task(
            original=select,
            shape=shape,
            block=block,
            relation=f"{self._prefix}{len(self.leaves)}",
            trial=self._trial,
            functions=self._functions,
            finished=frozenset(leaf.relation for leaf in self.leaves),
            is_lasting=True,
            late=tuple(late.expressions),
            alias=f"{self._prefix}late_{self._aliases}",
        )

    @contextmanager
    def _within(self, select: exp.Select) -> Iterator[None]:
        """Divide subqueries that may refer to the relations of a block."""
        before = self._around
        self._around = before | own_aliases(select) if self._is_lasting else before
        try:
            yield
        finally:
            self._around = before

    def _by_rules(self, task: Task) -> Division:
        """Return what the first applicable rule makes of a block, or kept rows if there is none."""
        reason = obstacle(check_row_wise, task.original, task.functions) or "it needs all rows"
        if task.late:
            reason = KEEPS_ROWS
        for rule in _RULES if not task.late else (synchronous_replication, distinct_rows):
            try:
                division = rule(task)
            except (NotIncrementalError, DatabaseError) as error:
                reason = refusal(error)
                break
            if division is not None:
                return division
        meets_streams = self._around or any(map(chunks_in, queries_beside_from(task.original)))
        if task.late or (task.alias and meets_streams):
            raise NotIncrementalError(reason)  # its rows are not kept
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
        reason = self._why_rows(select)
        conditions = conditions_by_source(select, self._trial)
        is_inner = bool(self._around)  # nothing reads its names
        names = () if is_inner else self._trial.columns(select).names
        copy = select.copy()
        if self._is_lasting and any(map(chunks_in, queries_beside_from(select))):
            qualify(
                replace(read_block(select, self._trial), select=copy), self._trial, self._functions
            )
        with self._within(copy):
            self._divide_beside(copy)
        for node in source_nodes(copy):
            if chunks_in(node):
                self._below(node, copy, conditions.get(node.alias_or_name, ()), reason)
        return copy if is_inner else _with_names(copy, names)

    def _divide_beside(self, select: exp.Select) -> None:
        """Replace the subqueries over streams in expressions, in place."""
        for query in list(queries_beside_from(select)):
            if chunks_in(query):
                query.replace(self._beside(query))

    def _beside(self, query: exp.Query) -> exp.Query:
        """Divide a subquery in an expression; it may be correlated over lasting streams only."""
        inner = query.this if isinstance(query, exp.Subquery) else query
        if self._is_lasting:
            above = self._for_question(inner, query.parent)
        else:
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

    def _for_question(self, query: exp.Query, question: exp.Expr | None) -> exp.Query:
        """Divide a subquery; where the question about it is about a set, without duplicates.

        EXISTS does not see the columns either.
        """
        if not isinstance(question, exp.In | exp.Any | exp.All | exp.Exists):
            return self._above(query)
        if isinstance(query, exp.Union) and not any(map(query.args.get, _ORDERED)):
            union = query.copy()
            union.set("distinct", True)
            return self._above(union)
        distinct = self._without_duplicates(query, True)
        if distinct is query:
            return self._above(query)
        assert isinstance(distinct, exp.Select)
        if isinstance(question, exp.Exists) and not any(item.alias for item in distinct.selects):
            distinct.select(named(exp.Literal.number(1), ONE), append=False, copy=False)
        above = self._above(distinct)
        if _reads_stream(distinct):
            above.set("group", None)  # of rows that are distinct, and here they need not be
        return above

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
            before, self._around = self._around, frozenset()  # it refers to nothing around it
            try:
                node.set("this", self._above(node.this))
            finally:
                self._around = before
        else:
            raise NotIncrementalError(reason)


def _reads_stream(select: exp.Select) -> bool:
    """Tell whether a relation in FROM is, or contains, a stream."""
    return any(chunks_in(node) for node in source_nodes(select))


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
