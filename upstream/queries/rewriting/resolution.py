"""Resolves names as DuckDB does: columns to sources, aliases to expressions, WITH to subqueries.

A column of FROM wins over an alias of the select list, except in an item of ORDER BY or DISTINCT ON
that is only a name. What cannot be resolved stays as it is; DuckDB checks the result.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from sqlglot import exp

from ..sql.trees import column, is_bare_star, named, replaced
from .not_incremental import NotIncrementalError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .block import Block, Source

_MOST_ALIASES = 100  # nesting depth; beyond it an alias refers to itself


def resolved(block: Block) -> exp.Select:
    """Return the SELECT with stars expanded and all names resolved."""
    return _Resolver(block).select()


class _Resolver:
    __slots__ = ("_aliases", "_block", "_depth", "_doubled", "_sources")

    def __init__(self, block: Block) -> None:
        self._block = block
        self._sources = _by_alias(block.sources)
        self._aliases: dict[str, exp.Expr] = {}
        self._doubled: set[str] = set()
        """The names that several items have."""
        for item in chain.from_iterable(map(_with_aliases, block.select.expressions)):
            name = item.alias.lower()
            self._doubled |= {name} & self._aliases.keys()
            self._aliases[name] = item.unalias()
        self._depth = 0

    def select(self) -> exp.Select:
        copy = self._block.select.copy()
        for join in copy.args.get("joins") or ():
            if join.args.get("on"):
                join.set("on", self._names(join.args["on"]))
        self._sources = _by_alias(s for s in self._block.sources if s.is_visible)
        copy.set("expressions", [new for item in copy.expressions for new in self._item(item)])
        names = [item.alias_or_name.lower() for item in copy.expressions]
        self._doubled |= {name for name in names if names.count(name) > 1}
        for name in ("where", "group", "having", "qualify"):
            if copy.args.get(name):
                copy.set(name, self._names(copy.args[name]))
        if copy.args.get("windows"):
            copy.set("windows", [self._names(window) for window in copy.args["windows"]])
        order, distinct = copy.args.get("order"), copy.args.get("distinct")
        on = distinct.args.get("on") if distinct else None
        for item in order.expressions if order else ():
            item.set("this", self._unless_alias(item.this))
        for item in list(on.expressions) if on else ():
            item.replace(self._unless_alias(item))
        return copy

    def _unless_alias(self, tree: exp.Expr) -> exp.Expr:
        """Resolve an expression, unless it is only the name of a select item."""
        if not isinstance(tree, exp.Column) or tree.table or not self._is_alias(tree.name):
            return self._names(tree)
        return tree

    def _is_alias(self, name: str) -> bool:
        """Tell whether an item has this name as its alias; raise if others are named so, too.

        DuckDB chooses the last of them that has an alias.
        """
        if name.lower() in self._aliases and name.lower() in self._doubled:
            raise NotIncrementalError(f"{name} is the name of several columns of the result")
        return name.lower() in self._aliases

    def _item(self, item: exp.Expr) -> list[exp.Expr]:
        """Resolve a select item; a star becomes several."""
        if is_bare_star(item):
            if self._block.using:
                raise NotIncrementalError(
                    "SELECT * over JOIN … USING is not split: name the columns"
                )
            return self._star(item, list(self._sources.values()))
        if isinstance(item, exp.Column) and isinstance(item.this, exp.Star):
            return self._star(item.this, [self._source(item.table)])
        if item.find(exp.Columns):
            raise NotIncrementalError("COLUMNS(…) can stand for any columns: name them instead")
        return [self._names(item)]

    def _source(self, alias: str) -> Source:
        if alias.lower() not in self._sources:
            raise NotIncrementalError(f"{alias}.* is not a relation in FROM")
        return self._sources[alias.lower()]

    def _star(self, star: exp.Expr, sources: list[Source]) -> list[exp.Expr]:
        if star.args.get("rename"):
            raise NotIncrementalError("* RENAME is not split: name the columns instead")
        left_out = {item.name.lower() for item in star.args.get("except_") or ()}
        instead = {item.alias.lower(): item for item in star.args.get("replace") or ()}
        items = []
        for source in sources:
            for name in source.columns:
                if name.lower() in instead:
                    items.append(self._names(instead[name.lower()]))
                elif name.lower() not in left_out:
                    items.append(named(column(name, source.alias), name))
        return items

    def _names(self, tree: exp.Expr) -> exp.Expr:
        return replaced(tree, self._name)

    def _name(self, node: exp.Expr) -> exp.Expr | None:
        if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
            return None
        parts = [part.name for part in node.parts]
        if len(parts) > 1 and parts[0].lower() in self._sources:
            return column_of(self._sources[parts[0].lower()], parts[1:])
        found = [column_of(source, parts) for source in self._sources.values()]
        owners = [each for each in found if each is not None]
        if len(owners) == 1:
            return owners[0]
        if not owners and self._is_alias(parts[0]):
            return _fields(self._alias(parts[0].lower()), parts[1:])
        if not owners and parts[0].lower() in self._sources:
            raise NotIncrementalError(f"{parts[0]} is used as a row: name its columns instead")
        return None

    def _alias(self, name: str) -> exp.Expr:
        self._depth += 1
        if self._depth > _MOST_ALIASES:
            raise NotIncrementalError(f"the alias {name} is used in too many places")
        return exp.Paren(this=self._names(self._aliases[name]))


def _with_aliases(item: exp.Expr) -> list[exp.Expr]:
    """Return what has an alias in a select item: the item, or what a star has in place of columns.

    Columns of a star need none, since their names mean the same without it.
    """
    star = item.this if isinstance(item, exp.Column) else item
    if isinstance(star, exp.Star):
        return [*(star.args.get("replace") or ())]
    return [item] if item.alias else []


def _by_alias(sources: Iterable[Source]) -> dict[str, Source]:
    return {source.alias.lower(): source for source in sources}


def column_of(source: Source, parts: list[str]) -> exp.Expr | None:
    """Return the column with its fields, spelt as in the source, if the source has it."""
    exact = [known for known in source.columns if known.lower() == parts[0].lower()]
    return _fields(column(exact[0], source.alias), parts[1:]) if exact else None


def _fields(tree: exp.Expr, names: list[str]) -> exp.Expr:
    for name in names:
        tree = exp.Dot(this=tree, expression=exp.to_identifier(name, quoted=True))
    return tree


# Common tables


def without_common_tables(query: exp.Query) -> exp.Query:
    """Return the query without WITH; a recursive one cannot be removed."""
    copy = query.copy()
    _inline(copy, {})
    return copy


def _inline(tree: exp.Expr, known: Mapping[str, exp.CTE]) -> None:
    if isinstance(tree, exp.Query) and tree.args.get("with_"):
        known = {**known, **_tables_of(tree.args["with_"], known)}
        tree.set("with_", None)
    for child in list(tree.iter_expressions()):
        new = _subquery(child, known) if isinstance(child, exp.Table) else None
        if new is not None:
            child.replace(new)
        else:
            _inline(child, known)


def _tables_of(clause: exp.With, known: Mapping[str, exp.CTE]) -> dict[str, exp.CTE]:
    if clause.recursive:
        raise NotIncrementalError("WITH RECURSIVE needs all rows")
    found = dict(known)
    for table in clause.expressions:
        _inline(table.this, found)
        found[table.alias.lower()] = table
    return found


def _subquery(table: exp.Table, known: Mapping[str, exp.CTE]) -> exp.Subquery | None:
    common = known.get(table.name.lower())
    if common is None or table.args.get("db") or not isinstance(common.this, exp.Query):
        return None
    if table.args.get("joins") or table.args.get("pivots") or table.args.get("sample"):
        raise NotIncrementalError("a common table in brackets, pivoted or sampled")
    alias = table.args.get("alias")
    own = alias.columns if alias else ()
    columns = [*own, *common.args["alias"].columns[len(own) :]]
    name = exp.to_identifier(table.alias_or_name, quoted=True)
    return exp.Subquery(
        this=common.this.copy(),
        alias=exp.TableAlias(this=name, columns=[column.copy() for column in columns]),
    )
