"""Finds the block in which the inputs of a query are joined.

An input is a table `chunk_i` in FROM, or a subquery that only selects from its rows. Conditions
such as `EXISTS (SELECT … FROM chunk_1 AS y WHERE y.k = x.k)` and `x.k IN (SELECT …)` are written as
semi joins, and `NOT EXISTS` as an anti join. `NOT IN` is not: with a NULL among the values it is
never true.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from sqlglot import exp

from ...database.failure import DatabaseError
from ..sql.trees import (
    chunk_index,
    chunk_tables,
    chunks_in,
    conjuncts,
    is_known,
    is_star,
    own_nodes,
    replaced,
)
from .block import check_projection, read_block, source_nodes
from .not_incremental import NotIncrementalError
from .resolution import column_of

if TYPE_CHECKING:
    from ..sql.functions import Functions
    from .block import Source
    from .trial import Trial

_CLAUSES: Final = frozenset({"expressions", "from_", "where", "hint"})
"""The clauses of a subquery that is written as a semi join."""
_PLAIN: Final = (exp.Column, exp.Literal, exp.Star, exp.Null, exp.Boolean)


def joining_block(
    query: exp.Query, windows: frozenset[int], trial: Trial, functions: Functions
) -> exp.Select:
    """Return the block in which the inputs with these numbers are joined.

    The query must have no WITH. It is changed in place, so that all inputs are in FROM of this
    block. Raises NotIncrementalError if that is not possible.
    """
    tables = [each for each in chunk_tables(query) if chunk_index(each) in windows]
    if len(tables) > len({chunk_index(table) for table in tables}):
        raise NotIncrementalError("the rows of an input are read more than once")
    if len(tables) < 2:
        raise NotIncrementalError("a join needs two inputs")
    one, *others = [_blocks_around(table) for table in tables]
    common = [block for block in one if all(_has(blocks, block) for blocks in others)]
    if common:
        block = common[0]
    elif len(others) == 1:
        block = _with_semi_join(one, others[0], trial, functions)
    else:
        raise NotIncrementalError(
            "the inputs must be joined in one FROM; with three and more there is no EXISTS or IN"
        )
    for node in source_nodes(block):
        if windows.intersection(chunks_in(node)):
            _check_input(node, trial, functions)
    return block


def _has(blocks: list[exp.Select], block: exp.Select) -> bool:
    return any(each is block for each in blocks)


def _blocks_around(table: exp.Table) -> list[exp.Select]:
    """Return the block with an input in FROM, the block with that one in FROM, and so on."""
    if table.args.get("pivots"):
        raise NotIncrementalError("PIVOT and UNPIVOT need all rows")
    found: list[exp.Select] = []
    node: exp.Expr = table
    while isinstance(around := node.parent, exp.From | exp.Join):
        select = around.parent
        if not isinstance(select, exp.Select):
            break
        if any(each.args.get("joins") for each in source_nodes(select)):
            break
        if select.args.get("laterals"):
            raise NotIncrementalError("LATERAL joins are not made of pairs of rows")
        found.append(select)
        if not isinstance(select.parent, exp.Subquery):
            break
        node = select.parent
    if not found:
        raise NotIncrementalError("joins in brackets are not made of pairs of rows")
    return found


def flatten(select: exp.Select) -> None:
    """Move the joins of a FROM without SELECT to where those of other queries are, in place."""
    start = select.args["from_"].this if select.args.get("from_") else None
    if isinstance(start, exp.Table) and (joins := start.args.get("joins")):
        start.set("joins", None)
        select.set("joins", [*joins, *(select.args.get("joins") or ())])


def _check_input(node: exp.Expr, trial: Trial, functions: Functions) -> None:
    """Raise unless an input has at most one row for each row of the stream."""
    alias = node.args.get("alias")
    if alias and alias.columns:
        raise NotIncrementalError(
            f"the columns of {node.alias} are renamed in FROM: rename them in SELECT"
        )
    if chunk_index(node) is not None:
        return
    select = node.this if isinstance(node, exp.Subquery) else None
    where = "in a subquery that is joined, "
    if not isinstance(select, exp.Select) or node.args.get("pivots"):
        raise NotIncrementalError(f"{where}rows must be selected from one stream")
    if len(source_nodes(select)) != 1 or len(list(select.find_all(exp.Query))) != _queries(select):
        raise NotIncrementalError(f"{where}rows must be selected from one stream, without others")
    try:
        check_projection(select, functions)
    except NotIncrementalError as error:
        raise NotIncrementalError(f"{where}{error.reason}") from None
    if functions.reading_in(select):
        raise NotIncrementalError(f"{where}a macro reads a table")
    _check_values(select, trial)
    _check_input(source_nodes(select)[0], trial, functions)


def _queries(select: exp.Select) -> int:
    """Return how many queries there are in a SELECT if it only reads what is in FROM."""
    start = source_nodes(select)[0]
    return 1 + len(list(start.find_all(exp.Query)))


def _check_values(select: exp.Select, trial: Trial) -> None:
    """Raise unless each item is one value of a row; unnest(…) makes several.

    DuckDB rejects unnest(…), also in a macro, in WHERE.
    """
    items = [item for item in select.expressions if not is_star(item)]
    for star in filter(is_star, select.expressions):
        items += (star.this if isinstance(star, exp.Column) else star).args.get("replace") or ()
    if not items:
        return
    known = exp.or_(*(is_known(item.unalias()) for item in items))
    try:
        trial.columns(select.where(known))
    except DatabaseError as error:
        raise NotIncrementalError("an expression makes several rows of one") from error


# EXISTS and IN


class _Found(NamedTuple):
    """A condition on the rows of the outer block that asks for rows of the inner one."""

    condition: exp.Expr
    inner: exp.Select
    value: exp.Expr | None
    is_negated: bool


def _with_semi_join(
    one: list[exp.Select], other: list[exp.Select], trial: Trial, functions: Functions
) -> exp.Select:
    """Write a condition of one block that asks for rows of the other as a semi or anti join."""
    for blocks, inner in ((one, other[-1]), (other, one[-1])):
        outer = inner.parent_select
        if not isinstance(outer, exp.Select) or not _has(blocks, outer):
            continue
        where = outer.args.get("where")
        for condition in conjuncts(where.this if where else None):
            found = _asking(condition, inner)
            if found is not None:
                _check_inner(found, functions)
                _join(outer, found, trial)
                return outer
    raise NotIncrementalError(
        "the inputs must be joined in one FROM, or one of them by EXISTS or IN in WHERE, which is"
        " not joined to other conditions by OR"
    )


def _asking(condition: exp.Expr, inner: exp.Select) -> _Found | None:
    """Return what a condition asks, if it asks for rows of a block."""
    is_negated = isinstance(condition, exp.Not)
    asked = condition.this.unnest() if is_negated else condition
    if not isinstance(asked, exp.Exists | exp.In):
        return None
    query = asked.args.get("query") if isinstance(asked, exp.In) else asked.this
    query = query.unnest() if isinstance(query, exp.Subquery) else query
    if query is not inner:
        return None
    if isinstance(asked, exp.In) and is_negated:
        raise NotIncrementalError(
            "NOT IN is never true if there is a NULL among the values: write NOT EXISTS"
        )
    return _Found(condition, inner, asked.this if isinstance(asked, exp.In) else None, is_negated)


def _check_inner(found: _Found, functions: Functions) -> None:
    """Raise unless a subquery has a row for each row of its input that meets its condition."""
    inner = found.inner
    if {name for name, value in inner.args.items() if value} - _CLAUSES - {"joins"}:
        raise NotIncrementalError(
            "a subquery in EXISTS or IN must have nothing but SELECT, FROM and WHERE"
        )
    if len(source_nodes(inner)) != 1:
        raise NotIncrementalError("a subquery in EXISTS or IN must read one stream, without others")
    items = [item.unalias() for item in inner.expressions]
    is_plain = all(isinstance(item, _PLAIN) for item in items)
    if found.value is not None:
        is_plain &= len(items) == 1 and isinstance(items[0], exp.Column) and not is_star(items[0])
    if not is_plain:
        raise NotIncrementalError(
            "a subquery in EXISTS or IN must select plain columns, and after IN one of them"
        )
    where = inner.args.get("where")
    trees = [tree for tree in (found.value, where and where.this) if tree is not None]
    for node in (node for tree in trees for node in tree.walk()):
        if isinstance(node, exp.Query | exp.Window) or functions.is_aggregate(node):
            raise NotIncrementalError("a condition in EXISTS or IN has a subquery or an aggregate")


def _join(outer: exp.Select, found: _Found, trial: Trial) -> None:
    """Move the relation of a subquery into FROM of the outer block, in place of the condition."""
    block = read_block(outer, trial)
    first = block.sources[0]
    if not first.windows:
        raise NotIncrementalError("the stream must come first in FROM, and tables after it")
    [own] = read_block(found.inner, trial).sources
    if own.alias.lower() in {each.alias.lower() for each in block.sources}:
        raise NotIncrementalError(f"two relations are called {own.alias}: rename one of them")
    conditions: list[exp.Expr] = []
    if found.value is not None:
        conditions.append(_membership(found, first, own, trial))
    if where := found.inner.args.get("where"):
        conditions.append(exp.paren(_qualified(where.this, [own, first])))
    on = exp.and_(*conditions) if conditions else exp.true()
    join = exp.Join(this=own.node.copy(), kind="ANTI" if found.is_negated else "SEMI", on=on)
    outer.set("joins", [join, *(outer.args.get("joins") or ())])
    rest = [each for each in conjuncts(outer.args["where"].this) if each is not found.condition]
    outer.set("where", exp.Where(this=exp.and_(*rest)) if rest else None)


def _membership(found: _Found, first: Source, own: Source, trial: Trial) -> exp.Expr:
    """Return what IN compares; both sides must have one type, so that `=` compares alike."""
    assert found.value is not None
    value = _qualified(found.value, [first])
    wanted = _qualified(found.inner.expressions[0].unalias(), [own])
    types = [
        trial.columns(exp.select(tree.copy()).from_(source.node.copy())).types
        for tree, source in ((value, first), (wanted, own))
    ]
    if types[0] != types[1]:
        raise NotIncrementalError("the two sides of IN have different types: cast one of them")
    return exp.EQ(this=exp.paren(value), expression=wanted)


def _qualified(tree: exp.Expr, sources: list[Source]) -> exp.Expr:
    """Return a condition whose columns name their relation; the first that has a column owns it."""

    def change(node: exp.Expr) -> exp.Expr | None:
        if not isinstance(node, exp.Column):
            return None
        parts = [part.name for part in node.parts]
        for source in sources:
            has_name = column_of(source, parts[:1]) is not None
            if len(parts) > 1 and parts[0].lower() == source.alias.lower():
                if has_name:
                    raise NotIncrementalError(f"{source.alias} has a column of its own name")
                return column_of(source, parts[1:])
            if has_name:
                return column_of(source, parts)
        raise NotIncrementalError(
            f"{node.sql()} in EXISTS or IN is not a column of the two streams"
        )

    if any(isinstance(node, exp.Lambda) for node in own_nodes(tree)):
        raise NotIncrementalError("a function in EXISTS or IN has arguments of its own")
    return replaced(tree, change)
