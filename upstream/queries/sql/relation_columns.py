"""The columns of a relation, and the columns of chunks that they are copies of.

A computed column is not a copy. If an inner join makes columns equal, each can stand for the
others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Final

from sqlglot import exp

from .trees import conjuncts

Origins = frozenset[tuple[int, str]]
"""The columns of chunks that a column is a copy of: number of the chunk, name in lower case."""
_NONE: Final[Origins] = frozenset()
_Place = tuple[str, str]
"""A column in a FROM: its relation and its name, both in lower case."""


@dataclass(frozen=True, slots=True)
class RelationColumn:
    """A column of a relation; its name is "" if it has none."""

    name: str
    origins: Origins = _NONE

    def is_called(self, name: str) -> bool:
        """Tell whether it has this name, regardless of case."""
        return self.name.lower() == name.lower()


_MISSING: Final = RelationColumn("")


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation in FROM, with its columns; unless `is_known`, it may have other columns as well.

    `number` is that of the window that it is or passes on. `filled` are columns that are not NULL
    in any row of it.
    """

    alias: str
    columns: tuple[RelationColumn, ...] = ()
    is_known: bool = False
    number: int | None = None
    filled: tuple[str, ...] = ()

    def may_have(self, name: str) -> bool:
        """Tell whether it may have a column of this name."""
        return not self.is_known or any(each.is_called(name) for each in self.columns)

    def renamed(self, alias: str, names: Sequence[str]) -> Relation:
        """Return it under an alias such as `t(a, b)`."""
        if not names:
            return replace(self, alias=alias)
        old = [each.name for each in self.columns]
        new = [*names[: len(old)], *old[len(names) :]]
        pairs = zip(self.columns, new, strict=True)
        columns = tuple(replace(each, name=name) for each, name in pairs)
        by_old = dict(zip(old, new, strict=True))
        filled = tuple(by_old[name] for name in self.filled)
        return replace(self, alias=alias, columns=columns, filled=filled)


def origins_of(column: exp.Column, relations: Iterable[Relation]) -> Origins:
    """Return the origins of a column in a query; with USING it belongs to several relations."""
    among = [each for each in relations if column.table.lower() in {"", each.alias}]
    columns = (one for each in among for one in each.columns if one.is_called(column.name))
    return _NONE.union(*(one.origins for one in columns))


def without(columns: Iterable[RelationColumn], star: exp.Expr) -> tuple[RelationColumn, ...]:
    """Return columns except those that a star excludes, replaces or renames."""
    if not any(star.args.values()):
        return tuple(columns)
    excluded = {each.name.lower() for each in star.args.get("except_") or []}
    replaced = {each.alias_or_name.lower() for each in star.args.get("replace") or []}
    renamed = {each.this.name.lower(): each.alias for each in star.args.get("rename") or []}
    return tuple(
        RelationColumn(
            renamed.get(each.name.lower(), each.name),
            _NONE if each.name.lower() in replaced else each.origins,
        )
        for each in columns
        if each.name.lower() not in excluded
    )


def united(left: Relation, right: Relation, *, by_name: bool) -> Relation:
    """Return the columns of a set operation; a column combines those of both sides at its place.

    A row comes from one side or the other, so the origins of both sides are kept if both have some.
    """
    others, more = [*right.columns[: len(left.columns)]], []
    if by_name:
        there = {each.name.lower(): each for each in right.columns}
        others = [there.pop(each.name.lower(), _MISSING) for each in left.columns]
        more = [RelationColumn(each.name) for each in there.values()]
    columns = [
        replace(one, origins=one.origins | other.origins if other.origins else _NONE)
        if one.origins
        else one
        for one, other in zip_longest(left.columns, others, fillvalue=_MISSING)
    ]
    is_known = left.is_known and (right.is_known or not by_name)
    return Relation("", (*columns, *more), is_known)


def equated(
    relations: list[Relation], where: exp.Expr | None, joins: Sequence[exp.Join]
) -> list[Relation]:
    """Return the relations of a SELECT, in which equal columns share their origins."""
    groups = _equal_columns(relations, where, joins)
    alike = {place: _NONE for group in groups for place in group}
    for relation in relations:
        for each in relation.columns:
            place = relation.alias, each.name.lower()
            if place in alike:
                alike[place] |= each.origins
    before = None
    while before != alike:  # columns that equal a third one are found in the next round
        before = dict(alike)
        for group in groups:
            of_all = _NONE.union(*(alike[place] for place in group))
            alike.update(dict.fromkeys(group, of_all))

    def copied(relation: Relation, column: RelationColumn) -> RelationColumn:
        more = alike.get((relation.alias, column.name.lower()), _NONE)
        return replace(column, origins=column.origins | more) if more else column

    return [
        replace(relation, columns=tuple(copied(relation, each) for each in relation.columns))
        for relation in relations
    ]


def _equal_columns(
    relations: Sequence[Relation], where: exp.Expr | None, joins: Sequence[exp.Join]
) -> list[list[_Place]]:
    """Return groups of columns that are equal in each row of a SELECT."""
    groups: list[list[_Place]] = []
    conditions = [where.this] if where is not None else []
    if not any(join.side or join.kind in {"SEMI", "ANTI"} for join in joins):
        conditions += [join.args["on"] for join in joins if join.args.get("on") is not None]
        names = {each.name.lower() for join in joins for each in join.args.get("using") or []}
        groups += [[(each.alias, name) for each in relations] for name in sorted(names)]
    for equality in (part for condition in conditions for part in conjuncts(condition)):
        if isinstance(equality, exp.EQ):
            sides = [side.unnest() for side in (equality.left, equality.right)]
            if all(isinstance(side, exp.Column) for side in sides):
                groups.append([place for side in sides for place in _places(side, relations)])
    return groups


def _places(column: exp.Expr, relations: Sequence[Relation]) -> list[_Place]:
    """Return the relation of a column; none if several are possible."""
    assert isinstance(column, exp.Column)
    having = [each for each in relations if any(one.is_called(column.name) for one in each.columns)]
    aliases = [column.table.lower()] if column.table else [each.alias for each in having]
    return [(aliases[0], column.name.lower())] if len(aliases) == 1 else []
