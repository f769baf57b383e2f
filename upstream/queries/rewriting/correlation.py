"""Correlated references: the columns in a subquery that belong to a query around it.

DuckDB looks for a column in the innermost query first, then in the query around it, and so on. Once
a block has *qualified* the subqueries in its expressions, they name its columns by its own aliases,
so it is known without looking which query a column belongs to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from ..sql.trees import own_nodes
from .block import is_inner, queries_beside_from, read_block, source_nodes
from .not_incremental import NotIncrementalError
from .resolution import column_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..sql.functions import Functions
    from ..sql.trees import Query
    from .block import Block, Source
    from .trial import Trial


def own_aliases(select: exp.Select) -> frozenset[str]:
    """Return the names of the relations in FROM, in lower case."""
    return frozenset(node.alias_or_name.lower() for node in source_nodes(select))


def columns_of(tree: exp.Expr, aliases: frozenset[str]) -> Iterator[exp.Column]:
    """Yield the columns of the relations with these names, also those in subqueries."""
    if isinstance(tree, exp.Select):
        aliases -= own_aliases(tree)
    if isinstance(tree, exp.Column) and tree.table.lower() in aliases:
        yield tree
    for child in parts_beside_from(tree):
        yield from columns_of(child, aliases)


def parts_beside_from(tree: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the children of a tree without the relations in FROM, which refer to nothing around."""
    if not isinstance(tree, exp.From):
        left_out = tree.this if isinstance(tree, exp.Join) else None
        yield from (child for child in tree.iter_expressions() if child is not left_out)


def qualify(block: Block, trial: Trial, functions: Functions) -> None:
    """Name the columns of a block by its aliases in the subqueries of its expressions, in place."""
    select = block.select
    deciding = list(queries_beside_from(select, ("joins",)))
    for query in list(queries_beside_from(select)):
        in_join = any(query is each for each in deciding)
        sources = [each for each in block.sources if each.is_visible or in_join]
        for node in list(_outer_columns(query, trial, functions)):
            owners = _owners(node, sources)
            is_merged = node.name.lower() in block.using and not node.table
            if is_merged and all(map(is_inner, select.args["joins"])):
                owners = owners[:1]
            if len(owners) > 1:
                raise NotIncrementalError(
                    f"a subquery refers to {node.name}, which several relations have: qualify it"
                )
            for source in owners:
                _replace(node, source, query)


def _replace(node: exp.Column, source: Source, within: Query) -> None:
    """Replace a column in a subquery by the column of a source of the block around it."""
    around = node.parent
    while around is not None and around is not within.parent:
        if isinstance(around, exp.Select) and source.alias.lower() in own_aliases(around):
            raise NotIncrementalError(
                f"a subquery and the query around it both read a relation named {source.alias}: "
                "give them different names"
            )
        around = around.parent
    node.replace(_column(node, source))


def _column(node: exp.Column, source: Source) -> exp.Expr:
    parts = [part.name for part in node.parts]
    is_qualified = len(parts) > 1 and parts[0].lower() == source.alias.lower()
    found = column_of(source, parts[1:] if is_qualified else parts)
    if found is None:
        raise NotIncrementalError(f"{source.alias} has no column {parts[-1]}")
    return found


def _outer_columns(query: exp.Expr, trial: Trial, functions: Functions) -> Iterator[exp.Column]:
    """Yield the columns in a query that none of its own relations has."""
    if isinstance(query, exp.SetOperation):
        yield from _outer_columns(query.this, trial, functions)
        yield from _outer_columns(query.expression, trial, functions)
    elif isinstance(query, exp.Subquery):
        yield from _outer_columns(query.this, trial, functions)
    elif isinstance(query, exp.Select):
        if any(_is_in_brackets(node) for node in source_nodes(query)):
            raise NotIncrementalError("joins in brackets are not split")
        sources = read_block(query, trial).sources
        aliases = {item.alias.lower() for item in query.expressions if item.alias}
        _check_aggregates(query, sources, functions)
        for node in list(_expression_columns(query, trial, functions)):
            owners = _owners(node, sources)
            if len(owners) == 1 and node.table and node.table.lower() != owners[0].alias.lower():
                node.replace(_column(node, owners[0]))  # a field of a struct
            elif not owners and not node.table and node.name.lower() in aliases:
                _check_alias(node)
            elif not owners:
                yield node


def _is_in_brackets(node: exp.Expr) -> bool:
    is_subquery = isinstance(node, exp.Subquery)
    return bool(node.args.get("joins")) or (is_subquery and not isinstance(node.this, exp.Query))


def _check_alias(node: exp.Column) -> None:
    """Raise if a name is not that of a select item, although there is one of this name."""
    if isinstance(node.find_ancestor(exp.Join, exp.Select), exp.Join):
        raise NotIncrementalError(
            f"{node.name} in ON may be a select item or a column of the query around: qualify it"
        )


def _check_aggregates(
    select: exp.Select, sources: tuple[Source, ...], functions: Functions
) -> None:
    """Raise if an aggregate is over columns of a query around, which then evaluates it."""
    for node in own_nodes(select):
        if functions.is_aggregate(node):
            columns = [each for each in own_nodes(node) if isinstance(each, exp.Column)]
            if columns and not any(_owners(each, sources) for each in columns):
                raise NotIncrementalError("a subquery contains an aggregate of the query around it")


def _expression_columns(
    select: exp.Select, trial: Trial, functions: Functions
) -> Iterator[exp.Column]:
    """Yield the columns that stand in the expressions of a SELECT, and those left by subqueries."""
    pending = list(parts_beside_from(select))
    while pending:
        node = pending.pop()
        if isinstance(node, exp.Query):
            yield from _outer_columns(node, trial, functions)
        elif isinstance(node, exp.Column):
            if not isinstance(node.this, exp.Star):
                yield node
        else:
            pending += parts_beside_from(node)


def _owners(node: exp.Column, sources: list[Source] | tuple[Source, ...]) -> list[Source]:
    """Return the sources that a column may belong to."""
    if node.table:
        named = [each for each in sources if each.alias.lower() == node.parts[0].name.lower()]
        if named:
            return named
    return [each for each in sources if column_of(each, [part.name for part in node.parts])]
