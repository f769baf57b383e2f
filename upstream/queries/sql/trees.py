"""Small functions on sqlglot trees that several rules need."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from sqlglot import exp

from .dialect import DIALECT
from .functions import name_of
from .names import STEP, found

Query: TypeAlias = exp.Query
"""A query as a tree, for modules that do not import sqlglot."""

_NAMED: Final = (exp.Alias, exp.Aliases, exp.Column, exp.Star, exp.Dot)
"""Expressions that have a name, or are several columns."""
_SEVERAL: Final = "unnest"
"""The function that may make several columns with names of their own, as COLUMNS does."""


def table_number(node: exp.Expr, prefix: str) -> int | None:
    """Return i if the name of this table is a prefix and the number i."""
    if not isinstance(node, exp.Table) or node.args.get("db"):
        return None
    number = node.name.removeprefix(prefix)
    return int(number) if node.name.startswith(prefix) and number.isdecimal() else None


def chunk_index(node: exp.Expr) -> int | None:
    """Return i if this is the table `chunk_i`."""
    return table_number(node, "chunk_")


def chunks_in(tree: exp.Expr) -> tuple[int, ...]:
    """Return the indices of the chunks that a tree reads."""
    found = {chunk_index(table) for table in tree.find_all(exp.Table)}
    return tuple(sorted(index for index in found if index is not None))


def chunk_tables(tree: exp.Expr) -> list[exp.Table]:
    """Return the tables in a tree that are chunks, each as often as it occurs."""
    return [table for table in tree.find_all(exp.Table) if chunk_index(table) is not None]


def merged_prefix(query: exp.Expr) -> str:
    """Return a prefix for the names of merged relations that no table of the user has."""
    names = [table.name.lower() for table in query.find_all(exp.Table, exp.CTE)]
    names += [table.alias.lower() for table in query.find_all(exp.Table, exp.CTE)]
    prefix = "merged_"
    while any(name.startswith(prefix) for name in names):
        prefix = f"_{prefix}"
    return prefix


def key(tree: exp.Expr) -> str:
    """Return a text that is the same for equal trees."""
    return tree.sql(DIALECT, comments=False)


def column(name: str, table: str = "") -> exp.Column:
    """Return a column with exactly this name."""
    return exp.column(name, table=table or None, quoted=True)


def named(tree: exp.Expr, name: str) -> exp.Expr:
    """Return a select item with exactly this name."""
    return exp.alias_(tree, name, quoted=True)


def named_each(trees: Sequence[exp.Expr], names: Sequence[str]) -> list[exp.Expr]:
    """Return select items with these names; an unnest(…) of a struct names its columns itself."""
    more = len(names) - len(trees)
    if not more:
        return [named(tree, name) for tree, name in zip(trees, names, strict=True)]
    [place] = [i for i, tree in enumerate(trees) if name_of(tree) == "unnest"]
    before = named_each(trees[:place], names[:place])
    return [*before, trees[place], *named_each(trees[place + 1 :], names[place + 1 + more :])]


def call(name: str, *arguments: exp.Expr, where: exp.Expr | None = None) -> exp.Expr:
    """Return a function call by DuckDB's name, with a FILTER if a condition is given."""
    function = exp.Anonymous(this=name, expressions=[argument.copy() for argument in arguments])
    if where is None:
        return function
    return exp.Filter(this=function, expression=exp.Where(this=where.copy()))


def divided(numerator: exp.Expr, denominator: exp.Expr) -> exp.Expr:
    """Return a quotient that is not rounded under `SET integer_division = true`."""
    return call('"/"', numerator, denominator)


def cast(tree: exp.Expr, type_name: str) -> exp.Expr:
    """Return the tree cast to a type, in DuckDB's spelling."""
    return exp.Cast(this=tree, to=exp.DataType.build(type_name, dialect=DIALECT))


def summed_count(numbers: exp.Expr) -> exp.Expr:
    """Return the sum of numbers of rows as a count: a BIGINT, and 0 over no rows."""
    return cast(call("coalesce", call("sum", numbers), exp.Literal.number(0)), "BIGINT")


def is_known(tree: exp.Expr) -> exp.Expr:
    """Return the condition that a value is not NULL; brackets protect its operators."""
    value = tree.copy()
    is_tight = isinstance(value, exp.Column | exp.Func | exp.Literal | exp.Paren)
    if not is_tight or isinstance(value, exp.Connector | exp.Binary):
        value = exp.Paren(this=value)
    return exp.Not(this=exp.Is(this=value, expression=exp.Null()))


def step_column(table: str) -> exp.Column:
    """Return the step of a row of this source."""
    return column(STEP, table)


def own_nodes(tree: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the nodes of an expression, without those of the queries inside it."""
    yield tree
    for child in tree.iter_expressions():
        if not isinstance(child, exp.Query):
            yield from own_nodes(child)


def nested_queries(tree: exp.Expr) -> Iterator[exp.Query]:
    """Yield the outermost queries inside an expression."""
    for child in tree.iter_expressions():
        if isinstance(child, exp.Query):
            yield child
        else:
            yield from nested_queries(child)


def replaced(tree: exp.Expr, change: Callable[[exp.Expr], exp.Expr | None]) -> exp.Expr:
    """Return a copy in which the nodes for which `change` returns a tree are replaced, top down.

    Replacements are not searched, and neither are queries inside.
    """
    answer = change(tree)
    if answer is not None:
        return answer
    copy = tree.copy()
    for name, value in tree.args.items():
        values = value if isinstance(value, list) else [value]
        new = [
            replaced(item, change)
            if isinstance(item, exp.Expr) and not isinstance(item, exp.Query)
            else item.copy()
            if isinstance(item, exp.Expr)
            else item
            for item in values
        ]
        copy.set(name, new if isinstance(value, list) else new[0])
    return copy


def without_order(query: Query) -> Query:
    """Return a query without its last ORDER BY, if that only sorts the result."""
    is_more = any(query.args.get(name) for name in ("limit", "offset"))
    distinct = query.args.get("distinct")
    if is_more or (isinstance(distinct, exp.Distinct) and distinct.args.get("on")):
        return query
    query = query.copy()
    query.set("order", None)
    return query


def conjuncts(condition: exp.Expr | None) -> list[exp.Expr]:
    """Return the parts of a condition that must all hold."""
    if condition is None:
        return []
    if isinstance(condition, exp.Paren):
        return conjuncts(condition.this)
    if isinstance(condition, exp.And):
        return [*conjuncts(condition.left), *conjuncts(condition.right)]
    return [condition]


def is_bare_star(item: exp.Expr) -> bool:
    """Tell whether a select item is `*`."""
    return isinstance(item, exp.Star)


def is_star(item: exp.Expr) -> bool:
    """Tell whether a select item is `*`, or `t.*`."""
    is_of_table = isinstance(item, exp.Column) and isinstance(item.this, exp.Star)
    return is_of_table or is_bare_star(item)


def is_unnamed(item: exp.Expr) -> bool:
    """Tell whether DuckDB would name a select item after its text."""
    if isinstance(item.unnest(), _NAMED) or item.find(exp.Columns, exp.Unnest) is not None:
        return False
    return all(call.name.lower() != _SEVERAL for call in item.find_all(exp.Anonymous))


def place_of(*parts: exp.Expr) -> int | None:
    """Return where the first of some parts of a tree begins in the text, if that is known."""
    nodes = (node for part in parts for node in part.walk())
    places = (node.meta["start"] for node in nodes if node._meta and "start" in node.meta)
    return min(places, default=None)


def common_table(table: exp.Expr) -> exp.CTE | None:
    """Return the common table expression that the name of a table refers to.

    It sees those before it, and itself if it is recursive.
    """
    name = table.name.lower()
    inside: exp.Expr = table
    while (around := inside.parent) is not None:
        seen = around.args.get("with_")
        visible = seen.expressions if isinstance(seen, exp.With) else []
        if isinstance(around, exp.With):
            visible = around.expressions[: (inside.index or 0) + bool(around.recursive)]
            around = around.parent or around  # the query after WITH sees all of them
        found = next((each for each in visible if each.alias.lower() == name), None)
        if isinstance(found, exp.CTE):
            return found
        inside = around
    return None


def item_meant(select: exp.Select, node: exp.Expr) -> exp.Expr | None:
    """Return the select item that a number or a name in GROUP BY or ORDER BY refers to."""
    items: list[exp.Expr] = select.expressions
    if isinstance(node, exp.Literal) and node.is_int and 0 < int(node.name) <= len(items):
        return items[int(node.name) - 1]
    if not isinstance(node, exp.Column) or node.table:
        return None
    return next((item for item in items if item.alias.lower() == node.name.lower()), None)


def stream_read(node: exp.Expr, streams: Iterable[str]) -> str | None:
    """Return the stream that a table in a statement refers to, unless something hides it."""
    is_name = isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier)
    if not is_name or node.args.get("db") or common_table(node) is not None:
        return None
    return found(node.name, streams)
