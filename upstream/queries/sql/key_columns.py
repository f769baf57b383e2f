"""Under which names the result of a query has the key of its stream.

An update query without a window gives the newest row of each key, so a row of its result must say
whose it is. Columns are followed from the result back to the stream: through aliases, stars,
subqueries and common table expressions; a column that is computed is none of the key any more. Of
columns that an inner join makes equal each is as good as the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from ...database.duck import Duck
from ...errors import QueryKeyError
from ...rows.stream_definition import StreamDefinition
from .functions import functions_of
from .parsed_query import ParsedQuery
from .source_text import place_of
from .window_clause import WindowKind

Origins = frozenset[tuple[int, str]]
"""The columns of chunks that a column is a copy of: number of the chunk, name in lower case."""

_NONE: Origins = frozenset()
_RECURSION = 60
"""So deep subqueries are followed."""
_WIDEST = 10_000
"""So many columns are looked at: stars over stars can double them at each step."""


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    origins: Origins


_Sources = Mapping[str, list[_Column]]


def check_key(
    parsed: ParsedQuery,
    definitions: Mapping[str, StreamDefinition],
    semantics: str,
    duck: Duck,
) -> tuple[str, ...]:
    """Return under which names the result has the key; QueryKeyError if it has not.

    This is about row-wise update queries over streams without a window; of others nothing is asked
    (the names are then none). A join of streams has the keys of all of them.
    """
    if semantics != "update" or _has_window(parsed) or not _is_row_wise(parsed.query, duck):
        return ()
    columns = _Lineage(parsed, definitions).columns_of(parsed.query, {}, 0)
    names: list[str] = []
    for i, window in enumerate(parsed.windows):
        for key in definitions[window.stream].key:
            origin = (i, key.lower())
            name = next((each.name for each in columns if origin in each.origins), None)
            if name is None:
                _refuse(parsed, window.stream, _qualified(parsed, definitions, i, key))
            elif name not in names:
                names.append(name)
    return tuple(names)


def _refuse(parsed: ParsedQuery, stream: str, key: str) -> None:
    place = min(
        (at for each in parsed.query.selects if (at := place_of(each)) is not None), default=None
    )
    reason = f"the result lacks {key}, a column of the key of {stream}"
    hint = (
        f"select {key} too, so that newer rows can take the place of older ones; or ask for "
        'semantics="append"'
    )
    raise QueryKeyError(reason, parsed.text, place, hint)


def _qualified(
    parsed: ParsedQuery, definitions: Mapping[str, StreamDefinition], number: int, key: str
) -> str:
    """Return a column of a chunk as it has to be written: with its table, if others have it too."""
    having = [w for w in parsed.windows if definitions[w.stream].column_named(key) is not None]
    tables = parsed.query.find_all(exp.Table)
    table = next((each for each in tables if each.name == f"chunk_{number}"), None)
    return key if table is None or len(having) < 2 else f"{table.alias_or_name}.{key}"


def _has_window(parsed: ParsedQuery) -> bool:
    kinds = {window.kind for window in parsed.windows}
    return kinds != {WindowKind.STREAM}


def _is_row_wise(query: exp.Query, duck: Duck) -> bool:
    """Tell whether each row of the result comes from one row of a stream, as far as one can see."""
    if query.find(exp.Group, exp.Window, exp.Distinct) is not None:
        return False
    functions = functions_of(duck)
    return not any(functions.is_aggregate(call) for call in query.find_all(exp.Anonymous))


class _Lineage:
    """Follows columns through one query."""

    def __init__(self, parsed: ParsedQuery, definitions: Mapping[str, StreamDefinition]) -> None:
        self._chunks = {
            f"chunk_{i}": [
                _Column(name, frozenset({(i, name.lower())}))
                for name in definitions[window.stream].schema.names
            ]
            for i, window in enumerate(parsed.windows)
        }

    def columns_of(self, query: exp.Expr, outer: _Sources, depth: int) -> list[_Column]:
        """Return the columns of a query; `outer` are the common table expressions it sees."""
        if depth > _RECURSION:
            return []
        named = dict(outer)
        names = query.args.get("with_")
        for each in names.expressions if names is not None else []:
            columns = self.columns_of(each.this, named, depth + 1)
            named[each.alias.lower()] = _renamed(columns, each.args.get("alias"))
        if isinstance(query, exp.Subquery):
            return self.columns_of(query.this, named, depth + 1)
        if isinstance(query, exp.SetOperation):
            left = self.columns_of(query.left, named, depth + 1)
            right = self.columns_of(query.right, named, depth + 1)
            return _united(query, left, right)
        if isinstance(query, exp.Select):
            return self._selected(query, named, depth)
        return []

    def _selected(self, query: exp.Select, named: _Sources, depth: int) -> list[_Column]:
        sources = self._sources(query, named, depth)
        columns: list[_Column] = []
        for item in query.expressions:
            columns.extend(self._item(item, sources))
        return columns[:_WIDEST]

    def _sources(self, query: exp.Select, named: _Sources, depth: int) -> _Sources:
        read = query.args.get("from_")
        sources: dict[str, list[_Column]] = {}
        joins = [*(query.args.get("joins") or [])]
        waiting = [*([read.this] if read is not None else []), *(join.this for join in joins)]
        while waiting:
            source = waiting.pop(0)
            columns: list[_Column] = []
            if isinstance(source.this, exp.Table) and not source.alias:
                waiting.insert(0, source.this)  # brackets around a join
                continue
            if isinstance(source, exp.Table):
                columns = self._chunks.get(source.name) or named.get(source.name.lower(), [])
                inner = source.args.get("joins") or []
                joins.extend(inner)
                waiting[:0] = [join.this for join in inner]
            elif isinstance(source, exp.Subquery | exp.Lateral):
                columns = self.columns_of(source.this, named, depth + 1)
            alias = source.args.get("alias")
            sources[source.alias_or_name.lower()] = _renamed(columns, alias)
        return _equated(sources, _equal_columns(query, joins, sources))

    def _item(self, item: exp.Expr, sources: _Sources) -> list[_Column]:
        """Return the columns that one item of a select list stands for."""
        value = item.this if isinstance(item, exp.Alias) else item
        value = value.unnest()
        if isinstance(value, exp.Star):
            columns = [each for source in sources.values() for each in source]
            return _without(columns, value)
        if isinstance(value, exp.Column) and isinstance(value.this, exp.Star):
            return _without(sources.get(value.table.lower(), []), value.this)
        origins = _NONE
        if isinstance(value, exp.Column):
            origins = _origins(value, sources)
        return [_Column(item.alias or value.name, origins)]


def _equal_columns(
    query: exp.Select, joins: list[exp.Join], sources: _Sources
) -> list[list[tuple[str, str]]]:
    """Return groups of columns, by source and name, that are equal in each row of a query."""
    groups: list[list[tuple[str, str]]] = []
    where = query.args.get("where")
    conditions = [where.this] if where is not None else []
    if not any(join.side or join.kind in {"SEMI", "ANTI"} for join in joins):
        conditions += [join.args["on"] for join in joins if join.args.get("on") is not None]
        names = {each.name.lower() for join in joins for each in join.args.get("using") or []}
        groups += [[(source, name) for source in sources] for name in sorted(names)]
    for condition in conditions:
        for part in condition.flatten() if isinstance(condition, exp.And) else [condition]:
            equality = part.unnest()
            if isinstance(equality, exp.EQ):
                sides = (equality.left.unnest(), equality.right.unnest())
                columns = [each for each in sides if isinstance(each, exp.Column)]
                if len(columns) == len(sides):
                    groups.append([place for each in columns for place in _places(each, sources)])
    return groups


def _places(column: exp.Column, sources: _Sources) -> list[tuple[str, str]]:
    """Return of which source a column is; none if it could be of several."""
    name = column.name.lower()
    if column.table:
        return [(column.table.lower(), name)]
    having = [
        source
        for source, columns in sources.items()
        if any(each.name.lower() == name for each in columns)
    ]
    return [(having[0], name)] if len(having) == 1 else []


def _equated(sources: _Sources, groups: list[list[tuple[str, str]]]) -> _Sources:
    """Return sources in which columns that are equal have one another's origins."""
    alike = {place: _NONE for group in groups for place in group}
    for source, columns in sources.items():
        for each in columns:
            place = source, each.name.lower()
            if place in alike:
                alike[place] |= each.origins
    before = None
    while before != alike:  # what equals a third is found in the next round
        before = dict(alike)
        for group in groups:
            united = _NONE.union(*(alike[place] for place in group))
            alike.update(dict.fromkeys(group, united))
    return {
        source: [
            _Column(each.name, each.origins | alike.get((source, each.name.lower()), _NONE))
            for each in columns
        ]
        for source, columns in sources.items()
    }


def _origins(column: exp.Column, sources: _Sources) -> Origins:
    among = sources.values() if not column.table else [sources.get(column.table.lower(), [])]
    found = [
        each.origins
        for source in among
        for each in source
        if each.name.lower() == column.name.lower()
    ]
    # Of a join with USING the column is that of all the sources at once.
    return frozenset().union(*found)


def _renamed(columns: list[_Column], alias: exp.Expr | None) -> list[_Column]:
    """Return columns with the names of an alias such as `t(a, b)`."""
    names = [each.name for each in alias.columns] if isinstance(alias, exp.TableAlias) else []
    return [
        _Column(names[i] if i < len(names) else each.name, each.origins)
        for i, each in enumerate(columns)
    ]


def _without(columns: list[_Column], star: exp.Star) -> list[_Column]:
    """Return columns but for those that a star excludes, replaces or renames."""
    excluded = {each.name.lower() for each in star.args.get("except_") or []}
    replaced = {each.alias_or_name.lower() for each in star.args.get("replace") or []}
    renamed = {each.this.name.lower(): each.alias for each in star.args.get("rename") or []}
    return [
        _Column(
            renamed.get(each.name.lower(), each.name),
            _NONE if each.name.lower() in replaced else each.origins,
        )
        for each in columns
        if each.name.lower() not in excluded
    ]


def _united(query: exp.SetOperation, left: list[_Column], right: list[_Column]) -> list[_Column]:
    """Return what rows of two queries have: the key of a stream is that of each in the same place.

    A row comes from one side or the other, so origins of both are kept where both have some.
    """
    if query.args.get("by_name"):
        by_name = {each.name.lower(): each for each in right}
        right = [by_name.get(each.name.lower(), _Column("", _NONE)) for each in left]
    return [
        _Column(one.name, one.origins | other.origins if one.origins and other.origins else _NONE)
        for one, other in zip(left, right, strict=False)
    ]
