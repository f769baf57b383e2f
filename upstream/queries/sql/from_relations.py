"""What the relations of a FROM are: their columns, and which window they are or hand on.

A subquery that selects `*` from one window hands the bounds of that window on, as if they were
columns that `*` does not show.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from sqlglot import exp

from ...database.duck import Duck
from ...rows.stream_definition import StreamDefinition
from .trees import chunk_index, is_bare_star
from .window_bounds import BOUNDED, BOUNDS
from .window_clause import WindowClause

Names = frozenset[str]
_DEEPEST: Final = 60
"""So deep subqueries are followed to see which columns they have."""


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation in FROM: `names` are its columns in lower case, None if they are not known.

    `number` is that of the window that it is or hands on, and `filled` are columns that are not
    NULL in any row of it.
    """

    alias: str
    names: Names | None
    number: int | None = None
    filled: tuple[str, ...] = ()


class FromRelations:
    """Finds out about the relations in one query over chunks."""

    def __init__(
        self,
        windows: Sequence[WindowClause],
        definitions: Sequence[StreamDefinition],
        duck: Duck | None,
    ) -> None:
        self._windows = windows
        self._definitions = definitions
        self._duck = duck
        self._tables: dict[str, Names | None] = {}
        self._known: dict[int, list[Relation]] = {}
        """The relations of each SELECT, so that nested ones are looked into once."""

    def of(self, select: exp.Select, depth: int = 0) -> list[Relation]:
        """Return the relations in the FROM of a SELECT, which must not change from now on."""
        if id(select) not in self._known:
            self._known[id(select)] = [self._relation(node, depth) for node in _nodes(select)]
        return self._known[id(select)]

    def has_bounds(self, relation: Relation) -> bool:
        """Tell whether it is a window with bounds, or hands one on."""
        return relation.number is not None and self._windows[relation.number].kind in BOUNDED

    def _relation(self, node: exp.Expr, depth: int) -> Relation:
        alias, new = node.alias_or_name.lower(), _new_names(node)
        if node.args.get("pivots"):
            return Relation(alias, None)
        if (number := chunk_index(node)) is not None:
            return self._chunk(alias, number, new)
        if isinstance(node, exp.Subquery | exp.Lateral):
            return self._subquery(alias, node.this, new, depth)
        if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
            return Relation(alias, None)
        table = _common_table(node) if not node.db else None
        if table is not None:
            new = [*new, *_new_names(table)]
            return self._subquery(alias, table.this, new, depth)
        names = self._of_table(node)
        return Relation(alias, None if names is None else names | _lowered(new))

    def _chunk(self, alias: str, number: int, new: list[str]) -> Relation:
        definition = self._definitions[number]
        own = definition.schema.names
        names = dict(zip(own, [*new, *own[len(new) :]], strict=False))
        filled = tuple(names[name] for name in definition.required)
        return Relation(alias, _lowered(names.values()), number, filled)

    def _subquery(self, alias: str, query: exp.Expr, new: list[str], depth: int) -> Relation:
        """Return a subquery under an alias, perhaps with new names for its columns."""
        names = self._of_query(query, depth)
        window = self._handed_on(query, depth)
        if window is None or new:
            return Relation(alias, None if names is None else names | _lowered(new))
        return replace(window, alias=alias, names=names)

    def _handed_on(self, query: exp.Expr, depth: int) -> Relation | None:
        """Return the only window that a query selects `*` from, as far as its columns are kept."""
        if not isinstance(query, exp.Select) or query.args.get("group") or depth > _DEEPEST:
            return None
        relations = self.of(query, depth + 1)
        windows = [each for each in relations if self.has_bounds(each)]
        if len(windows) != 1 or windows[0].alias in made_up(query):
            return None
        stars = [item for item in query.expressions if is_star(item)]
        if not any(_table_of(star) in {"", windows[0].alias} for star in stars):
            return None
        is_alone = len(relations) == len(query.expressions) == 1
        is_plain = is_alone and not any(_star(stars[0]).args.values())
        return windows[0] if is_plain else replace(windows[0], filled=())

    def _of_query(self, query: exp.Expr, depth: int) -> Names | None:
        """Return the columns of a query; None if a star stands for what is not known."""
        while isinstance(query, exp.SetOperation | exp.Subquery):
            query = query.this
        if not isinstance(query, exp.Select) or depth > _DEEPEST:
            return None
        names: set[str] = set()
        for item in query.expressions:
            if is_star(item):
                of_star = self._of_star(item, query, depth)
                if of_star is None:
                    return None
                names |= of_star
            elif item.find(exp.Columns) is not None and not item.alias:
                return None
            elif isinstance(value := item.unnest(), exp.Alias | exp.Column | exp.Dot):
                names.add(value.alias_or_name.lower())
        return frozenset(names)

    def _of_star(self, star: exp.Expr, select: exp.Select, depth: int) -> Names | None:
        table = _table_of(star)
        among = [each for each in self.of(select, depth + 1) if table in {"", each.alias}]
        if not among or any(each.names is None for each in among):
            return None
        renamed = (each.alias.lower() for each in _star(star).args.get("rename") or ())
        return frozenset(
            {name for each in among for name in each.names or ()}
            | {name for name in renamed if name in BOUNDS}
        )

    def _of_table(self, node: exp.Table) -> Names | None:
        """Return the columns of a table of DuckDB; None if it knows none of the name."""
        if self._duck is None:
            return None
        name = node.name.lower()
        if name not in self._tables:
            ask = "SELECT column_name FROM duckdb_columns() WHERE lower(table_name) = ?"
            columns = _lowered(str(column) for (column,) in self._duck.rows(ask, [name]))
            self._tables[name] = columns or None
        return self._tables[name]


def made_up(select: exp.Select, reference: exp.Column | None = None) -> set[str]:
    """Return the relations of which an outer join may have made up a row of NULLs.

    In the condition of a join only those before it have, if that is where a `reference` stands.
    """
    read = select.args.get("from_")
    before = [read.this.alias_or_name.lower()] if read is not None else []
    found: set[str] = set()
    for join in select.args.get("joins") or ():
        if reference is not None and reference.find_ancestor(exp.Join) is join:
            break
        if join.side in {"RIGHT", "FULL"}:
            found |= {*before}
        if join.side in {"LEFT", "FULL"}:
            found.add(join.this.alias_or_name.lower())
        before.append(join.this.alias_or_name.lower())
    nested = [each for node in _nodes(select) for each in node.args.get("joins") or ()]
    if any(join.side for join in nested):
        found |= {node.alias_or_name.lower() for node in _nodes(select)}
    return found


def is_star(item: exp.Expr) -> bool:
    """Tell whether a select item is `*`, or `t.*`."""
    is_of_table = isinstance(item, exp.Column) and isinstance(item.this, exp.Star)
    return is_of_table or is_bare_star(item)


def _star(item: exp.Expr) -> exp.Expr:
    inner: exp.Expr = item.this if isinstance(item, exp.Column) else item
    return inner


def _table_of(star: exp.Expr) -> str:
    return star.table.lower() if isinstance(star, exp.Column) else ""


def _nodes(select: exp.Select) -> Iterator[exp.Expr]:
    """Yield what stands in FROM, with joins in brackets taken apart."""
    read = select.args.get("from_")
    joins = [*(select.args.get("joins") or ()), *(select.args.get("laterals") or ())]
    waiting = [read.this] if read is not None else []
    waiting += [each.this if isinstance(each, exp.Join) else each for each in joins]
    while waiting:
        node = waiting.pop(0)
        waiting[:0] = [join.this for join in node.args.get("joins") or ()]
        is_in_brackets = isinstance(node, exp.Subquery | exp.Paren) and not node.alias
        if is_in_brackets and isinstance(node.this, exp.Table):
            waiting.insert(0, node.this)
        else:
            yield node


def _common_table(table: exp.Table) -> exp.CTE | None:
    """Return the common table expression that a name stands for, unless it calls itself."""
    name = table.name.lower()
    own = table.find_ancestor(exp.CTE)
    node: exp.Expr | None = table
    while node is not None:
        clause = node.args.get("with_")
        for each in clause.expressions if isinstance(clause, exp.With) else ():
            if isinstance(each, exp.CTE) and each.alias.lower() == name and each is not own:
                return each
        node = node.parent
    return None


def _new_names(node: exp.Expr) -> list[str]:
    """Return the columns of an alias such as `t(a, b)`."""
    alias = node.args.get("alias")
    return [each.name for each in alias.columns] if isinstance(alias, exp.TableAlias) else []


def _lowered(names: Iterable[str]) -> Names:
    return frozenset(name.lower() for name in names)
