"""The first rows of each group, over a stream of which nothing leaves.

    SELECT * FROM s QUALIFY row_number() OVER (PARTITION BY g ORDER BY x DESC) <= 3

needs three rows of each group, whatever comes later. LIMIT needs the first rows of all, and
DISTINCT ON the first row of each group. The leaf selects these rows from each batch, and again from
the rows that it holds whenever they are merged. The finish is the query itself, over the rows that
were kept: it numbers and sorts them as DuckDB does.

Rows that are equal in the order of the query are in the order of arrival, here and in the finish.
DuckDB may take them in any order. This one does not depend on how the stream was cut into batches,
and leaves that read the same rows agree on it: if a query numbers rows once in WITH and reads them
twice, no row has two numbers.

The newest rows of a stream do leave. A view over these keeps a few more rows of each group, in the
order that the leaf has as its `ranking`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from sqlglot import exp

from ..sql.functions import name_of
from ..sql.names import STEP
from ..sql.trees import (
    call,
    column,
    conjuncts,
    key,
    named,
    nested_queries,
    own_nodes,
    replaced,
)
from .block import as_source, by_step
from .division import Division
from .grouping import has_aggregates
from .kept_rows import Projection
from .merged_relation import reading, travelling
from .not_incremental import NotIncrementalError
from .ranking import Ranking
from .relations import PARTIALS
from .row_bounds import RANKINGS, bound_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .division import Task
    from .trial import Trial

_FORM: Final = "row_number() OVER (PARTITION BY … ORDER BY …) <= 3"
_NUMBER: Final = "__n"
"""The column that numbers rows in the order of arrival."""
_GROUP: Final = "__p"
"""How the columns of the groups begin, of which the first rows are kept."""
_OF_A_WINDOW: Final = {"this", "partition_by", "order", "over"}
"""The parts that the window of a row_number may have; a frame changes nothing, but is rare."""
_OF_A_NAMED_WINDOW: Final = {"this", "alias", "over"}


@dataclass(frozen=True, slots=True)
class Bound:
    """Only the first `count` rows of each group can matter, in this order."""

    groups: tuple[exp.Expr, ...]
    order: exp.Order
    count: int


def bounded_rows(task: Task) -> Division | None:
    """Divide a block that needs the first rows of each group, over a stream that nothing leaves."""
    select = task.block.select
    is_grouped = select.args.get("group") or select.args.get("having")
    if not task.is_lasting or is_grouped or has_aggregates(select, task.functions):
        return None
    bound = _bound_of(select)
    if bound is None:
        return None
    if len(task.block.windows) > 1:
        raise NotIncrementalError("a new row of one stream may join any row of another")
    projection = Projection(task)
    upper = projection.upper()
    bound = _over_columns(bound, projection)
    if not projection.items:
        projection.items.name(exp.true())  # only the number of rows matters
    rows, names = projection.partial(), tuple(projection.items)
    projection.check_values()
    partial = _first_rows(rows, names, bound)
    shape = travelling(partial, len(names), task.trial, apart=names)
    stepped = rows.copy()
    travelling(stepped, len(names), task.trial, apart=names)
    restored = reading(shape, task.trial)
    items = [named(restored[name].copy(), name) for name in names]
    keep = _first_rows(exp.select(*items).from_(exp.to_table(PARTIALS)), names, bound)
    lent = task.trial.lending({PARTIALS: shape.schema})
    travelling(keep, len(names), lent, apart=names)
    if not lent.shape(keep).schema.equals(shape.schema):
        raise NotIncrementalError("the rows that are kept change their types")
    leaf = task.leaf("bounded rows", partial, partial_by_step=by_step(stepped))
    ranking = _ranking(leaf.partial_by_step, restored, bound, task.trial)
    leaf = replace(leaf, keep=keep, ranking=ranking)
    return Division(leaf, _in_order(projection.finish(upper), task.relation))


# What bounds the rows


def _bound_of(select: exp.Select) -> Bound | None:
    """Return what bounds the rows of a block; window functions come first, then DISTINCT ON."""
    clauses = [select.args.get(name) for name in ("qualify", "distinct", "order")]
    trees = [*select.expressions, *(clause for clause in clauses if clause)]
    windows = [node for tree in trees for node in own_nodes(tree) if isinstance(node, exp.Window)]
    if windows:
        return _of_row_number(select, windows)
    distinct = select.args.get("distinct")
    order = meant_order(select)
    if distinct and distinct.args.get("on"):
        groups = [tree for item in distinct.args["on"].expressions for tree in meant(item, select)]
        return Bound(tuple(groups), order, 1)
    if distinct or not select.args.get("limit"):
        return None
    count = count_of(select)
    if count is None:
        raise NotIncrementalError("the rows are bounded only by LIMIT and OFFSET with constants")
    return Bound((), order, count)


def _of_row_number(select: exp.Select, windows: list[exp.Window]) -> Bound | None:
    """Return the bound on a row number in QUALIFY, if there is no other window function."""
    counts = []
    qualify = select.args.get("qualify")
    for condition in conjuncts(qualify.this if qualify else None):
        found = bound_of(condition)
        if found and isinstance(found[0], exp.Window) and name_of(found[0].this) in RANKINGS:
            _check_counts_rows(found[0])
            counts.append(found[1])
    if not counts and {name_of(window.this) for window in windows} == {"row_number"}:
        raise NotIncrementalError(f"row_number() is not bounded by a constant: {_FORM} is")
    if not counts:
        return None
    if len({key(window) for window in windows}) > 1 or name_of(windows[0].this) != "row_number":
        raise NotIncrementalError("a window function beside the bounded row_number needs all rows")
    window = _spelt_out(windows[0], select)
    order = window.args.get("order") or exp.Order(expressions=[])
    if window.this.expressions or _is_by_all(order):
        raise NotIncrementalError(f"only {_FORM} is bounded")
    return Bound(tuple(window.args.get("partition_by") or ()), order, max(0, min(counts)))


def _check_counts_rows(window: exp.Window) -> None:
    name = name_of(window.this)
    if name != "row_number":
        raise NotIncrementalError(
            f"{name}() gives tied rows the same number, so it does not bound how many rows are "
            "kept: use row_number() instead"
        )


def _spelt_out(window: exp.Window, select: exp.Select) -> exp.Window:
    """Return a window with what its name stands for."""
    parts = {name for name, value in window.args.items() if value}
    if parts <= _OF_A_WINDOW:
        return window
    name = window.args["alias"].name.lower() if parts <= _OF_A_NAMED_WINDOW else ""
    for definition in select.args.get("windows") or ():
        own = {part for part, value in definition.args.items() if value}
        if definition.this.name.lower() == name and own <= _OF_A_WINDOW:
            spelt_out = window.copy()
            for part in ("partition_by", "order"):
                spelt_out.set(part, definition.args.get(part))
            return spelt_out
    raise NotIncrementalError(f"only {_FORM} is bounded")


def count_of(select: exp.Select) -> int | None:
    """Return how many rows can be in the result of a LIMIT or before it."""
    limit, offset = select.args.get("limit"), select.args.get("offset")
    if not isinstance(limit, exp.Limit) or limit.args.get("limit_options"):
        return None
    numbers = [clause.expression for clause in (limit, offset) if clause]
    if not all(isinstance(number, exp.Literal) and number.is_int for number in numbers):
        return None
    return sum(int(number.name) for number in numbers)


def meant_order(select: exp.Select) -> exp.Order:
    """Return what the query orders by, with numbers and aliases replaced."""
    clause = select.args.get("order")
    order = exp.Order(expressions=[])
    for item in clause.expressions if clause else ():
        for tree in meant(item.this, select):
            copy = item.copy()
            copy.set("this", tree.copy())
            order.append("expressions", copy)
    return order


def meant(tree: exp.Expr, select: exp.Select) -> list[exp.Expr]:
    """Return what an item of ORDER BY or DISTINCT ON refers to."""
    if isinstance(tree, exp.Literal) and tree.is_int:
        return [select.expressions[int(tree.name) - 1].unalias()]
    if isinstance(tree, exp.Var) and tree.name.upper() == "ALL":
        return [item.unalias() for item in select.expressions]
    if isinstance(tree, exp.Column) and not tree.table:
        for item in select.expressions:
            if item.alias.lower() == tree.name.lower():
                return [item.unalias()]
    return [tree]


# The queries that keep rows


def _over_columns(bound: Bound, projection: Projection) -> Bound:
    """Return the bound over the columns of the partial; raise if it needs more than a row."""
    groups = tuple(projection.over(tree) for tree in bound.groups)
    order = projection.over(bound.order)
    for tree in (*groups, order):
        is_of_a_row = not any(nested_queries(tree)) and all(
            node.name in projection.items and not node.table
            for node in own_nodes(tree)
            if isinstance(node, exp.Column)
        )
        if not is_of_a_row:
            raise NotIncrementalError("rows are numbered by something that is not in each row")
    assert isinstance(order, exp.Order)
    return Bound(groups, order, bound.count)


def _first_rows(rows: exp.Select, names: tuple[str, ...], bound: Bound) -> exp.Select:
    """Return the first rows of each group, in the order of arrival, with the columns of `rows`."""
    columns = [named(column(name), name) for name in names]
    if not bound.groups and not bound.order.expressions:
        return exp.select(*columns).from_(as_source(rows, "__rows")).limit(bound.count)
    few = exp.select(exp.Star()).from_(_numbered(rows))
    order = _then_by_number(bound.order)
    if bound.groups:
        by = [tree.copy() for tree in bound.groups]
        place = exp.Window(this=call("row_number"), partition_by=by, order=order, over="OVER")
        count = exp.Literal.number(bound.count)
        few.set("qualify", exp.Qualify(this=exp.LTE(this=place, expression=count)))
    else:
        few.set("order", order)
        few = few.limit(bound.count)
    few = exp.select(*columns).from_(as_source(few, "__rows"))
    few.set("order", _then_by_number(None))
    return few


def _ranking(
    stepped: exp.Query, restored: Mapping[str, exp.Expr], bound: Bound, trial: Trial
) -> Ranking | None:
    """Return the order of the rows of a chunk with steps; None if groups depend on a collation."""
    groups = {f"{_GROUP}{i}": tree for i, tree in enumerate(bound.groups)}
    items = [named(_read_back(tree, restored), name) for name, tree in groups.items()]
    columns = [column(name) for name in restored]
    rows = exp.select(column(STEP), *items, *columns).from_(as_source(stepped.copy(), "__rows"))
    try:
        travelling(rows, 1 + len(groups), trial.with_steps())
    except NotIncrementalError:
        return None
    order = [_read_back(each, restored) for each in bound.order.expressions]
    return Ranking(rows, tuple(groups), tuple(restored), tuple(order), bound.count)


def _read_back(tree: exp.Expr, restored: Mapping[str, exp.Expr]) -> exp.Expr:
    """Return an expression over the columns of a partial as one over its rows in Arrow."""

    def exchange(node: exp.Expr) -> exp.Expr | None:
        is_ours = isinstance(node, exp.Column) and node.name in restored
        return restored[node.name].copy() if is_ours else None

    return replaced(tree, exchange)


def _in_order(finish: exp.Select, relation: str) -> exp.Select:
    """Return a finish in which rows that are equal in its order are in the order of arrival.

    Rows that are equal in the order of all columns need none.
    """
    windows = [node for node in own_nodes(finish) if isinstance(node, exp.Window)]
    order = finish.args.get("order")
    if windows:
        for window in windows:
            if not window.args.get("alias"):
                window.set("order", _then_by_number(window.args.get("order")))
    elif order and not finish.args.get("distinct") and not _is_by_all(order):
        finish.set("order", _then_by_number(order))
    else:
        return finish
    finish.set("from_", exp.From(this=_numbered(exp.select("*").from_(exp.to_table(relation)))))
    return finish


def _is_by_all(order: exp.Order) -> bool:
    return any(isinstance(item.this, exp.Var) for item in order.expressions)


def _numbered(rows: exp.Select) -> exp.Subquery:
    """Return rows with their numbers in the order of arrival."""
    number = exp.Window(this=call("row_number"), over="OVER")
    rows = rows.copy()
    rows.append("expressions", named(number, _NUMBER))
    return as_source(rows, "__rows")


def _then_by_number(order: exp.Order | None) -> exp.Order:
    """Return an order in which ties are broken by the number, whatever `default_order` is."""
    new = order.copy() if order else exp.Order(expressions=[])
    new.append("expressions", exp.Ordered(this=column(_NUMBER), desc=False))
    return new
