"""Which window a `window_start` or `window_end` in a query is a bound of.

The bounds are columns of a window that `*` does not show, but hands on: a subquery that selects
`*` from one window has its bounds. A name is looked up as SQL does it: among the relations of FROM,
then in the query around. A column of a stream, and what the select list calls by such a name, come
before the bounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Never

from sqlglot import exp

from ...errors import UnknownColumnError
from .constant_bounds import simplify
from .source_text import SourceText, place_of
from .trees import chunk_index, is_bare_star, is_known
from .window_bounds import BOUNDED, BOUNDS, bound_query, with_one_of_alike
from .window_clause import WindowClause, WindowKind

if TYPE_CHECKING:
    from ...database.duck import Duck
    from ...rows.stream_definition import StreamDefinition

_Names = frozenset[str]
_HAVE: Final = "only the windows of tumble, hop, rows and session have bounds"
_DEEPEST: Final = 60
"""So deep subqueries are followed to see which columns they have."""


def read_bounds(
    source: SourceText,
    query: exp.Query,
    windows: Sequence[WindowClause],
    streams: Mapping[str, StreamDefinition],
    duck: Duck | None,
) -> None:
    """Exchange the bounds in a query over chunks, in place; UnknownColumnError if one is unclear.

    With `duck`, the columns of tables are known, and more of a query can be simplified.
    """
    columns = [
        each
        for each in query.find_all(exp.Column)
        if each.name.lower() in BOUNDS and not isinstance(each.parent, exp.Star)
    ]
    if not columns:
        return
    definitions = [streams[window.stream] for window in windows]
    scopes = _Scopes(source, windows, definitions, duck)
    found = [(each, scopes.bound_of(each)) for each in columns]
    alike = with_one_of_alike(windows, definitions)
    for each, bound in found:
        if bound is not None:
            _exchange(each, alike[bound.number], bound.row)
    if any(bound is not None for _, bound in found):
        simplify(source, query, duck)


def _exchange(reference: exp.Column, number: int, row: exp.Column | None) -> None:
    """Read a bound from its table; where an outer join has no `row` of the window, it is NULL."""
    new: exp.Expr = bound_query(reference.this, number)
    if row is not None:
        new = exp.Case(ifs=[exp.If(this=is_known(row), true=new)])
    top: exp.Expr = reference
    while isinstance(top.parent, exp.Paren):
        top = top.parent
    if isinstance(top.parent, exp.Select) and top.arg_key == "expressions":
        new = exp.Alias(this=new, alias=exp.to_identifier(reference.name.lower()))
        reference = top  # type: ignore[assignment]  # brackets around a column
    reference.replace(new)


@dataclass(frozen=True, slots=True)
class _Bound:
    """The window of a bound, and what is not NULL where an outer join has a row of the window."""

    number: int
    row: exp.Column | None = None


@dataclass(frozen=True, slots=True)
class _Source:
    """A relation in FROM: `names` are its columns in lower case, None if they are not known.

    `number` is that of the window that it is, or selects `*` from.
    """

    alias: str
    names: _Names | None
    number: int | None = None
    node: exp.Expr = field(default_factory=exp.Table)


_NO_WINDOW: Final = _Source("", None)
"""What is found where a name is not that of a bound."""


class _Scopes:
    """Looks names up in the scopes of one query."""

    def __init__(
        self,
        source: SourceText,
        windows: Sequence[WindowClause],
        definitions: Sequence[StreamDefinition],
        duck: Duck | None,
    ) -> None:
        self._text = source
        self._windows = windows
        self._definitions = definitions
        self._duck = duck
        self._tables: dict[str, _Names | None] = {}

    def bound_of(self, reference: exp.Column) -> _Bound | None:
        """Return of which window a bound is meant; None if it is something else."""
        if reference.args.get("db"):
            return None
        select = reference.find_ancestor(exp.Select)
        while isinstance(select, exp.Select):
            sources = self._sources(select)
            if reference.table:
                alias = reference.table.lower()
                source = next((each for each in sources if each.alias == alias), None)
                is_bound = source is not None and self._is_bounded_by(source, reference)
            else:
                source = self._unqualified(reference, select, sources)
                is_bound = source is not None
            if source is not None:
                number = source.number if is_bound else None
                row = self._row_of(source, reference, select)
                return None if number is None else _Bound(number, row)
            select = _around(select)
        return None

    def _row_of(
        self, source: _Source, reference: exp.Column, select: exp.Select
    ) -> exp.Column | None:
        """Return a column that tells rows of a window from those that an outer join makes up."""
        if source.number is None or source.alias not in _made_up(select, reference):
            return None
        definition = self._definitions[source.number]
        alias = source.node.args.get("alias")
        renamed = [each.name for each in alias.columns] if alias is not None else []
        names = [*renamed, *definition.schema.names[len(renamed) :]]
        known = dict(zip(definition.schema.names, names, strict=False))
        for required in definition.required:
            if known[required].lower() in (source.names or ()):
                return exp.column(known[required], table=source.node.alias_or_name, quoted=True)
        reason = f"{reference.name.lower()} is NULL where {source.alias} has no row to join"
        hint = "read the bounds of the other side of the outer join"
        return self._refuse(reason, reference, hint)

    def _unqualified(
        self, reference: exp.Column, select: exp.Select, sources: list[_Source]
    ) -> _Source | None:
        """Return the source whose bound is meant; None if the query around has to be asked."""
        name = reference.name.lower()
        having = [each for each in sources if each.names is None or name in each.names]
        windowed = [each for each in sources if each not in having and self._has_bounds(each)]
        if _is_alias(reference, select) or (having and not windowed):
            return _NO_WINDOW
        if len(windowed) + len(having) > 1:
            self._refuse_ambiguous(reference, windowed[0])
        if windowed:
            return windowed[0]
        for each in sources:
            self._refuse_landmark(each, reference)
        return None

    def _is_bounded_by(self, source: _Source, reference: exp.Column) -> bool:
        """Tell whether a source is a window that has no column of the name."""
        if source.names is None or reference.name.lower() in source.names:
            return False
        self._refuse_landmark(source, reference)
        return self._has_bounds(source)

    def _has_bounds(self, source: _Source) -> bool:
        return source.number is not None and self._windows[source.number].kind in BOUNDED

    def _refuse_landmark(self, source: _Source, reference: exp.Column) -> None:
        window = None if source.number is None else self._windows[source.number]
        if window is not None and window.kind is WindowKind.LANDMARK:
            reason = f"landmark({window.stream}) has no {reference.name.lower()}"
            self._refuse(reason, reference, _HAVE)

    def _refuse_ambiguous(self, reference: exp.Column, source: _Source) -> Never:
        name = reference.name.lower()
        hint = f"write {source.alias or 'relation'}.{name}"
        self._refuse(f"several relations may have {name}", reference, hint)

    def _refuse(self, reason: str, reference: exp.Column, hint: str) -> Never:
        self._text.refuse(UnknownColumnError, reason, place_of(reference), hint)

    # What the relations of a FROM have

    def _sources(self, select: exp.Select, depth: int = 0) -> list[_Source]:
        return [self._source(node, depth) for node in _relations(select)]

    def _source(self, node: exp.Expr, depth: int) -> _Source:
        alias = node.args.get("alias")
        number = chunk_index(node)
        names: _Names | None = None
        in_order: list[str] = []
        if number is not None:
            in_order = self._definitions[number].schema.names
            names = _lowered(in_order)
        elif isinstance(node, exp.Subquery | exp.Lateral):
            names, number = self._of_query(node.this, depth), self._handed_on(node.this, depth)
        elif isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
            table = _common_table(node) if not node.db else None
            names = self._of_common(table, depth) if table else self._of_table(node)
            number = self._handed_on(table.this, depth) if table else None
        names = _renamed(names, alias, in_order) if not node.args.get("pivots") else None
        return _Source(node.alias_or_name.lower(), names, number, node)

    def _of_common(self, table: exp.CTE, depth: int) -> _Names | None:
        clause = table.parent
        if isinstance(clause, exp.With) and clause.recursive:
            return None
        return _renamed(self._of_query(table.this, depth), table.args.get("alias"), [])

    def _handed_on(self, query: exp.Expr, depth: int) -> int | None:
        """Return the only window that a query selects `*` from."""
        if not isinstance(query, exp.Select) or query.args.get("group") or depth > _DEEPEST:
            return None
        if not any(_is_star(item) for item in query.expressions):
            return None
        sources = [each for each in self._sources(query, depth + 1) if self._has_bounds(each)]
        is_plain = len(sources) == 1 and sources[0].alias not in _made_up(query)
        return sources[0].number if is_plain else None

    def _of_query(self, query: exp.Expr, depth: int) -> _Names | None:
        """Return the columns of a query; None if a star stands for what is not known."""
        while isinstance(query, exp.SetOperation | exp.Subquery):
            query = query.this
        if not isinstance(query, exp.Select) or depth > _DEEPEST:
            return None
        names: set[str] = set()
        for item in query.expressions:
            value = item.unnest()
            if _is_star(value):
                table = value.table.lower() if isinstance(value, exp.Column) else ""
                among = [
                    each
                    for each in self._sources(query, depth + 1)
                    if not table or each.alias == table
                ]
                if not among or any(each.names is None for each in among):
                    return None
                names |= {name for each in among for name in each.names or ()}
                names |= {name for name in BOUNDS if _renames_to(value, name)}
            elif value.find(exp.Columns, exp.Star) is not None and not item.alias:
                return None
            else:
                names.add(item.alias_or_name.lower())
        return frozenset(names)

    def _of_table(self, node: exp.Table) -> _Names | None:
        """Return the columns of a table of DuckDB; None if it knows none of the name."""
        if self._duck is None:
            return None
        if node.name.lower() not in self._tables:
            ask = "SELECT column_name FROM duckdb_columns() WHERE lower(table_name) = ?"
            rows = self._duck.rows(ask, [node.name.lower()])
            names = _lowered(str(name) for (name,) in rows)
            self._tables[node.name.lower()] = names or None
        return self._tables[node.name.lower()]


def _relations(select: exp.Select) -> Iterator[exp.Expr]:
    """Yield what stands in FROM, with joins in brackets taken apart."""
    read = select.args.get("from_")
    joins = [*(select.args.get("joins") or ()), *(select.args.get("laterals") or ())]
    waiting = [read.this] if read is not None else []
    waiting += [each.this if isinstance(each, exp.Join) else each for each in joins]
    while waiting:
        node = waiting.pop(0)
        waiting[:0] = [join.this for join in node.args.get("joins") or ()]
        if isinstance(node, exp.Subquery | exp.Paren) and isinstance(node.this, exp.Table):
            inner = node.this
            if not node.alias:
                waiting.insert(0, inner)
                continue
        yield node


def _made_up(select: exp.Select, reference: exp.Column | None = None) -> set[str]:
    """Return the relations of which an outer join may have made up a row of NULLs.

    In the condition of a join only those before it have.
    """
    read = select.args.get("from_")
    before = [read.this.alias_or_name.lower()] if read is not None else []
    made_up: set[str] = set()
    for join in select.args.get("joins") or ():
        if reference is not None and reference.find_ancestor(exp.Join) is join:
            break
        if join.side in {"RIGHT", "FULL"}:
            made_up |= {*before}
        if join.side in {"LEFT", "FULL"}:
            made_up.add(join.this.alias_or_name.lower())
        before.append(join.this.alias_or_name.lower())
    nested = [each for node in _relations(select) for each in node.args.get("joins") or ()]
    if any(join.side for join in nested):
        made_up |= {node.alias_or_name.lower() for node in _relations(select)}
    return made_up


def _around(select: exp.Select) -> exp.Select | None:
    """Return the SELECT around a subquery, whose columns it may see; a CTE sees none."""
    node: exp.Expr | None = select.parent
    while node is not None and not isinstance(node, exp.Select | exp.CTE):
        node = node.parent
    return node if isinstance(node, exp.Select) else None


def _is_alias(reference: exp.Column, select: exp.Select) -> bool:
    """Tell whether the select list calls something else by the name, and before the reference."""
    name = reference.name.lower()
    inside: exp.Expr = reference
    while inside.parent is not None and inside.parent is not select:
        inside = inside.parent
    for item in select.expressions:
        if item is inside:
            return False
        if isinstance(item, exp.Alias) and item.alias.lower() == name:
            return not _is_of_same_name(item.this, name)
    return False


def _is_of_same_name(value: exp.Expr, name: str) -> bool:
    value = value.unnest()
    return isinstance(value, exp.Column) and not value.table and value.name.lower() == name


def _common_table(table: exp.Table) -> exp.CTE | None:
    """Return the common table expression that a name stands for."""
    name = table.name.lower()
    node: exp.Expr | None = table
    while node is not None:
        clause = node.args.get("with_")
        for each in clause.expressions if isinstance(clause, exp.With) else ():
            if each.alias.lower() == name and each is not table.find_ancestor(exp.CTE):
                assert isinstance(each, exp.CTE)
                return each
        node = node.parent
    return None


def _renamed(names: _Names | None, alias: object, in_order: Sequence[str]) -> _Names | None:
    """Return the columns under an alias such as `t(a, b)`."""
    new = [each.name for each in alias.columns] if isinstance(alias, exp.TableAlias) else []
    if not new:
        return names
    if in_order:
        return _lowered([*new, *in_order[len(new) :]])
    return None if names is None else names | _lowered(new)


def _is_star(item: exp.Expr) -> bool:
    is_of_table = isinstance(item, exp.Column) and isinstance(item.this, exp.Star)
    return is_of_table or is_bare_star(item)


def _renames_to(star: exp.Expr, name: str) -> bool:
    inner = star.this if isinstance(star, exp.Column) else star
    return any(each.alias.lower() == name for each in inner.args.get("rename") or ())


def _lowered(names: Iterable[str]) -> _Names:
    return frozenset(name.lower() for name in names)
