"""Finds the window that a `window_start`, a `window_end` or an `epoch` in a query belongs to.

These are columns of a window that `*` does not include; only epochs have the last one. A name is
looked up as in SQL: among the relations of FROM, then in the surrounding query. A column of a
stream, or an alias in the select list, takes precedence over a bound of the same name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, Never

from sqlglot import exp

from ...database.duck import Duck
from ...errors import UnknownColumnError
from ...rows.stream_definition import StreamDefinition
from .constant_bounds import simplify
from .from_relations import FromRelations, made_up
from .hidden_columns import HiddenColumns
from .relation_columns import Relation
from .source_text import SourceText
from .trees import is_known, place_of
from .window_bounds import BOUNDS, EPOCH, HIDDEN, bound_query, with_one_of_alike
from .window_clause import WindowClause, WindowKind

_HAVE: Final = "only the windows of tumble, hop, rows, session and epochs have bounds"
_NO_WINDOW: Final = Relation("")
"""Returned for a name that is not a bound."""


class _Found(NamedTuple):
    """The relation that has the bound, its window, and the SELECT that reads it."""

    relation: Relation
    number: int
    select: exp.Select


def read_bounds(
    source: SourceText,
    query: exp.Query,
    windows: Sequence[WindowClause],
    streams: Mapping[str, StreamDefinition],
    duck: Duck | None,
) -> Mapping[int, tuple[str, ...]]:
    """Replace the bounds in a query over chunks, in place; raise UnknownColumnError if ambiguous.

    Returns the hidden columns that chunks of epochs need, by the numbers of their windows. With
    `duck`, the columns of tables are known, and more of a query can be simplified.
    """
    using = [
        each
        for join in query.find_all(exp.Join)
        for each in join.args.get("using") or ()
        if each.name.lower() in HIDDEN
    ]
    columns = [
        each
        for each in query.find_all(exp.Column)
        if each.name.lower() in HIDDEN and not isinstance(each.parent, exp.Star)
    ]
    if not (columns or using):
        return {}
    definitions = [streams[window.stream] for window in windows]
    relations = FromRelations(windows, definitions, duck)
    hidden = HiddenColumns(source, query, relations)
    scopes = _Scopes(source, windows, relations)
    for each in using:
        scopes.check_using(each)
    found = [(each, bound) for each in columns if (bound := scopes.bound_of(each)) is not None]
    rows = [
        None
        if windows[each.number].kind is WindowKind.EPOCHS
        else (each.number, scopes.row_of(each.relation, reference, each.select))
        for reference, each in found
    ]
    alike = with_one_of_alike(windows, definitions)
    for (reference, each), row in zip(found, rows, strict=True):
        if row is None:
            hidden.exchange(reference, each.select, each.relation)
        else:
            _exchange(reference, alike[each.number], row[1])
    if any(row is not None for row in rows):
        simplify(source, query, duck)
    return hidden.excluded()


def _exchange(reference: exp.Column, number: int, row: exp.Column | None) -> None:
    """Read a bound from its table; it is NULL where an outer join has no `row` of the window."""
    new: exp.Expr = bound_query(reference.this, number)
    if row is not None:
        new = exp.Case(ifs=[exp.If(this=is_known(row), true=new)])
    top: exp.Expr = reference
    while isinstance(top.parent, exp.Paren):
        top = top.parent
    if isinstance(top.parent, exp.Select) and top.arg_key == "expressions":
        named = exp.Alias(this=new, alias=exp.to_identifier(reference.name.lower()))
        top.replace(named)
    else:
        reference.replace(new)


class _Scopes:
    """Looks the names of bounds up in the scopes of one query."""

    def __init__(
        self, source: SourceText, windows: Sequence[WindowClause], relations: FromRelations
    ) -> None:
        self._source = source
        self._windows = windows
        self._relations = relations

    def bound_of(self, reference: exp.Column) -> _Found | None:
        """Return the window whose bound is meant; None if it is something else."""
        if reference.args.get("db") or _is_of_comprehension(reference):
            return None
        select: exp.Expr | None = reference.find_ancestor(exp.Select)
        while isinstance(select, exp.Select):
            relations = self._relations.of(select)
            find = self._qualified if reference.table else self._unqualified
            found = find(reference, select, relations)
            if found is not None and found.number is not None:
                return _Found(found, found.number, select)
            if found is not None:
                return None
            # a CTE does not see the columns around it
            select = select.find_ancestor(exp.Select, exp.CTE)
        return None

    def check_using(self, name: exp.Expr) -> None:
        """Refuse a bound among the columns of USING."""
        select = name.parent_select
        relations = self._relations.of(select) if isinstance(select, exp.Select) else []
        bound = name.name.lower()
        windowed = [each.alias for each in relations if self._has(each, bound)]
        if windowed and not any(each.may_have(bound) for each in relations):
            reason = f"USING cannot name {bound}, which is not a column of the stream"
            hint = " = ".join(f"{alias}.{bound}" for alias in windowed[:2])
            self._refuse(reason, name, f"write ON {hint}")

    def _qualified(
        self, reference: exp.Column, _: exp.Select, relations: list[Relation]
    ) -> Relation | None:
        """Return the relation of this name if it has the bound, and no column of the same name."""
        named = [each for each in relations if each.alias == reference.table.lower()]
        if not named:
            return None
        relation, *others = named
        if others and any(self._has(each, reference.name.lower()) for each in named):
            hint = "give each of them another alias"
            self._refuse(f"several relations are named {relation.alias}", reference, hint)
        if relation.may_have(reference.name):
            return _NO_WINDOW
        self._refuse_landmark(relation, reference)
        return relation if self._has(relation, reference.name.lower()) else _NO_WINDOW

    def _unqualified(
        self, reference: exp.Column, select: exp.Select, relations: list[Relation]
    ) -> Relation | None:
        """Return the relation whose bound is meant; None to continue in the surrounding query."""
        name = reference.name.lower()
        having = [each for each in relations if each.may_have(name)]
        windowed = [each for each in relations if each not in having and self._has(each, name)]
        if _is_alias(reference, select) or (having and not windowed):
            return _NO_WINDOW
        if len(windowed) + len(having) > 1:
            hint = f"write {windowed[0].alias or 'relation'}.{name}"
            self._refuse(f"several relations may have {name}", reference, hint)
        if windowed:
            return windowed[0]
        for each in relations:
            self._refuse_landmark(each, reference)
        return None

    def _has(self, relation: Relation, name: str) -> bool:
        """Tell whether a relation has a bound of this name, or the number of the epoch."""
        if name in BOUNDS or relation.number is None:
            return self._relations.has_bounds(relation)
        return self._windows[relation.number].kind is WindowKind.EPOCHS

    def row_of(
        self, relation: Relation, reference: exp.Column, select: exp.Select
    ) -> exp.Column | None:
        """Return a column that is NULL only where an outer join has no row of the window."""
        if relation.alias not in made_up(select, reference):
            return None
        if relation.filled:
            return exp.column(relation.filled[0], table=relation.alias, quoted=True)
        reason = f"{reference.name.lower()} is NULL where {relation.alias} has no row to join"
        hint = "read the bounds of the other side of the outer join"
        return self._refuse(reason, reference, hint)

    def _refuse_landmark(self, relation: Relation, reference: exp.Column) -> None:
        window = None if relation.number is None else self._windows[relation.number]
        is_bound = reference.name.lower() != EPOCH
        if window is not None and window.kind is WindowKind.LANDMARK and is_bound:
            reason = f"landmark({window.stream}) has no {reference.name.lower()}"
            self._refuse(reason, reference, _HAVE)

    def _refuse(self, reason: str, reference: exp.Expr, hint: str) -> Never:
        self._source.refuse(UnknownColumnError, reason, place_of(reference), hint)


def _is_of_comprehension(reference: exp.Column) -> bool:
    """Tell whether a name is that of the values of a list, as in `[x + 1 FOR x IN list]`."""
    around = reference.find_ancestor(exp.Comprehension)
    while around is not None:
        if around.args["expression"].name.lower() == reference.name.lower():
            return True
        around = around.find_ancestor(exp.Comprehension)
    return False


def _is_alias(reference: exp.Column, select: exp.Select) -> bool:
    """Tell whether the select list gives something else this name, before the reference."""
    name = reference.name.lower()
    inside: exp.Expr = reference
    while inside.parent is not None and inside.parent is not select:
        inside = inside.parent
    for item in select.expressions:
        if item is inside:
            return False
        if isinstance(item, exp.Alias) and item.alias.lower() == name:
            value = item.this.unnest()
            is_itself = isinstance(value, exp.Column) and not value.table
            return not (is_itself and value.name.lower() == name)
    return False
