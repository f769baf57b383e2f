"""Reads merged relations: partials are Arrow tables, and Arrow lacks some types of DuckDB.

A sum of integers is a HUGEINT and comes back as DECIMAL(38, 0). What the finish computes from it
would have other types, so each column is cast back to its original type.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from ..sql.trees import cast, column, replaced
from .collations import check_comparable, collated, is_unknown, plain
from .not_incremental import NotIncrementalError
from .trial import Trial

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from .trial import Shape


def travelling(
    partial: exp.Select, groups: int, trial: Trial, *, apart: Container[str] = ()
) -> Shape:
    """Change groups that Arrow returns as text into text, in place.

    DuckDB exports an ENUM as a dictionary and reads it back as text. The types of the result are
    those before the change. States of such types are refused, since text has another order than an
    ENUM. So are groups that a collation makes equal, except those that may be kept `apart` because
    the finish combines them.
    """
    shape = trial.shape(partial)
    back = trial.types_read_back(shape.schema)
    for i, (type_name, found) in enumerate(zip(shape.types, back, strict=True)):
        if i < groups and shape.names[i] not in apart:
            check_comparable(type_name)
        is_text_there = plain(found) == "VARCHAR" and plain(type_name) != "VARCHAR"
        if i >= groups and (is_text_there or "ENUM(" in type_name):
            raise NotIncrementalError(f"states of type {type_name} do not merge as text")
        if is_text_there:
            item = partial.expressions[i]
            item.set("this", cast(item.this, "VARCHAR"))
    return replace(shape, schema=trial.shape(partial).schema)


def reading(shape: Shape, trial: Trial) -> Mapping[str, exp.Expr]:
    """Return for each column of a partial how to read it from the merged relation."""
    return {
        name: restored(column(name), type_name, back)
        for name, (type_name, back) in types_of(shape, trial).items()
    }


def read_back(upper: exp.Select, columns: Mapping[str, exp.Expr]) -> exp.Select:
    """Return a query over the columns of a partial as one over the merged relation."""

    def exchange(node: exp.Expr) -> exp.Expr | None:
        is_ours = isinstance(node, exp.Column) and not node.table and node.name in columns
        return columns[node.name].copy() if is_ours else None

    finish = replaced(upper, exchange)
    assert isinstance(finish, exp.Select)
    return finish


def cast_to_int128(finish: exp.Query) -> frozenset[str]:
    """Return the names of columns of which a finish reads nothing but `CAST(… AS INT128)`.

    A name that occurs in any other place is left out, and so is every name beside a `SELECT *`.
    """
    if any(not isinstance(star.parent, exp.Count) for star in finish.find_all(exp.Star)):
        return frozenset()
    names = Counter(each.name for each in finish.find_all(exp.Identifier))
    cast_names = Counter(
        each.this.name
        for each in finish.find_all(exp.Cast)
        if type(each) is exp.Cast
        and isinstance(each.this, exp.Column)
        and each.to.this == exp.DType.INT128
    )
    return frozenset(name for name, count in cast_names.items() if names[name] == count)


def types_of(shape: Shape, trial: Trial) -> Mapping[str, tuple[str, str]]:
    """Return for each column of a partial its type, and the type that Arrow returns."""
    types = trial.types_read_back(shape.schema)
    return dict(zip(shape.names, zip(shape.types, types, strict=True), strict=True))


def restored(tree: exp.Expr, type_name: str, back: str) -> exp.Expr:
    """Return an expression of the type `back` as it was before it went through Arrow."""
    if is_unknown(type_name):
        raise NotIncrementalError(
            f"values of type {plain(type_name)} may have a collation, which Arrow does not know"
        )
    if type_name == back:
        return tree
    if _in_arrow(plain(type_name)) != plain(back):
        raise NotIncrementalError(
            f"values of type {plain(type_name)} cannot be stored in Arrow without loss"
        )
    same = tree if plain(type_name) == plain(back) else cast(tree, plain(type_name))
    return collated(same, type_name)


def _in_arrow(type_name: str) -> str:
    """Return what a type becomes in Arrow without any loss, or None."""
    text = re.sub(r"\bHUGEINT\b", "DECIMAL(38,0)", type_name)
    return re.sub(r"\b(?:UUID|JSON)\b|\bENUM\([^()]*\)", "VARCHAR", text)
