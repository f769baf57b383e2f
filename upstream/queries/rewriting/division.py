"""What a rule makes of one block: a leaf, and what replaces the block in the finish."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from ..sql.names import STEP
from ..sql.trees import chunk_index, chunk_tables, named_each
from ..sql.window_bounds import bounds_in
from .block import by_step
from .explain import calls_in, spoken
from .grouping import group_expressions
from .not_incremental import BOUNDS_COME_LATER, NotIncrementalError
from .retention import columns_read, conditions_on, picking
from .split_query import Leaf

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ..sql.functions import Functions
    from .block import Block
    from .split_query import State
    from .trial import Shape, Trial

_ROWS = ("from_", "joins", "where")
_UPPER = ("group", "having", "qualify", "windows", "distinct", "order", "limit", "offset")


@dataclass(frozen=True, slots=True)
class Division:
    """A divided block; see `SplitQuery` for the meaning of the other attributes."""

    leaf: Leaf
    finish: exp.Query
    direct: tuple[tuple[str, str], ...] | None = None
    direct_of_row: tuple[tuple[str, str], ...] | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """A block to divide.

    `original` is the SELECT as the user wrote it, and `shape` its columns. `block` has its names
    resolved. `relation` is the name of the merged relation. `is_shared` says that the finish reads
    other relations as well, so that a group may come from several. `finished` are the relations
    that the subqueries in the block read. `is_lasting` says that the windows are landmarks, over
    which a query can only be evaluated in parts. `late` are the conditions that `block` lacks and
    the finish checks; `alias` is the name of the merged relation in the finish, "" for its own.
    """

    original: exp.Select
    shape: Shape
    block: Block
    relation: str
    trial: Trial
    functions: Functions
    is_shared: bool = False
    finished: frozenset[str] = frozenset()
    is_lasting: bool = False
    late: tuple[exp.Expr, ...] = ()
    alias: str = ""

    def leaf(
        self,
        rule: str,
        partial: exp.Select,
        *,
        groups: tuple[str, ...] | None = None,
        states: tuple[State, ...] = (),
        reason: str = "",
        partial_by_step: exp.Select | None = None,
        reads: exp.Select | None = None,
    ) -> Leaf:
        """Return the leaf for the block, with this partial and everything that depends on it.

        `reads` names the columns that the partial reads, if the partial itself does not show them.
        Raises if the partial would need the bounds of a window before they are known.
        """
        if bounds_in(partial):
            raise NotIncrementalError(f"its rows are combined with {BOUNDS_COME_LATER}")
        count = None if groups is None else len(groups)
        return Leaf(
            relation=self.relation,
            windows=self.block.windows,
            partial=partial,
            partial_by_step=partial_by_step or by_step(partial, groups=count),
            groups=groups,
            states=states,
            rule=rule,
            reason=reason,
            picks=self._picks(partial, reads or partial),
            aggregates=self._aggregates(),
            grouping=self._spoken(group_expressions(self.original, self.functions)),
        )

    def rows(self, items: Sequence[exp.Expr]) -> exp.Select:
        """Return the rows of the block, with these select items."""
        rows = exp.Select(expressions=items)
        for name in _ROWS:
            rows.set(name, changed(self.block.select.args.get(name), lambda tree: tree.copy()))
        return rows

    def upper(self, change: Callable[[exp.Expr], exp.Expr]) -> exp.Select:
        """Return what the block does with its rows, over the merged relation, changed part by part.

        This is the select list and all clauses except those that define the rows.
        """
        select = self.block.select
        items = [change(item.unalias()) for item in select.expressions]
        merged = exp.to_table(self.relation)
        if self.alias:
            merged.set("alias", exp.TableAlias(this=exp.to_identifier(self.alias)))
        upper = exp.select(*named_each(items, self.shape.names)).from_(merged)
        for name in _UPPER:
            upper.set(name, changed(select.args.get(name), change))
        return upper

    def _picks(self, partial: exp.Select, reads: exp.Select) -> dict[int, exp.Select]:
        """Return the columns that a join of streams needs of each stream."""
        picks = {}
        for chunk in chunk_tables(partial) if len(self.block.windows) > 1 else ():
            index = chunk_index(chunk)
            assert index is not None
            columns = columns_read(reads, self.trial.schemas[chunk.name])
            own = [each.alias for each in self.block.sources if chunk_index(each.node) == index]
            conditions = conditions_on(self.block, own[0]) if own else []
            picks[index] = picking(chunk, [STEP, *columns], conditions)
        return picks

    def _aggregates(self) -> tuple[str, ...]:
        """Return the aggregates of the block, as the user wrote them."""
        clauses = [self.original.args.get(name) for name in ("having", "qualify", "order")]
        trees = [*self.original.expressions, *(clause for clause in clauses if clause)]
        return self._spoken(calls_in(trees, self.functions))

    def _spoken(self, trees: Iterable[exp.Expr]) -> tuple[str, ...]:
        has_many = len(self.block.sources) > 1
        return tuple(dict.fromkeys(spoken(tree, qualified=has_many) for tree in trees))


def changed(value: object, change: Callable[[exp.Expr], exp.Expr]) -> object:
    """Return an argument of a tree, which may be a list, with its trees changed."""
    if isinstance(value, list):
        return [changed(item, change) for item in value]
    return change(value) if isinstance(value, exp.Expr) else value
