"""Collations: rules by which texts are equal or ordered otherwise than by their bytes.

Partials are Arrow tables, and Arrow has no collations. So the type of a column keeps its collation,
as in "VARCHAR COLLATE nocase". Whatever reads the column restores the collation, and whatever would
compare it without one is refused. DuckDB reports collations only in the text of a table.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from sqlglot import exp

from ..sql.dialect import DIALECT
from .block import as_source
from .not_incremental import NotIncrementalError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...database.duck import Duck

_UNKNOWN: Final = "?"
"""The collation of a list or a struct of texts, which DuckDB does not report."""
_TYPE: Final = re.compile(r"(.*) COLLATE ([\w.?]+)", re.DOTALL)
_TABLE: Final = "__collations"
_COLUMN: Final = "__collated_"
_TOLD: Final = re.compile(rf"{_COLUMN}(\d+) VARCHAR COLLATE ([\w.]+)")
_TEXT_OF_TABLE: Final = "SELECT sql FROM duckdb_tables() WHERE temporary AND table_name = ?"
_TEXTS: Final = """
    SELECT table_name AS name, sql AS text FROM duckdb_tables()
    UNION ALL SELECT view_name, sql FROM duckdb_views() WHERE NOT internal
    UNION ALL SELECT '', current_setting('default_collation')
"""
_TEXTS_OF_MACROS: Final = """
    SELECT function_name, macro_definition FROM duckdb_functions()
    WHERE NOT internal AND macro_definition IS NOT NULL
"""


def may_collate(query: exp.Query, duck: Duck) -> bool:
    """Tell whether a query names a collation, or anything that it may read or call does."""
    if query.find(exp.Collate):
        return True
    found = duck.known(_collating)
    if found is None:
        return True
    text = query.sql(DIALECT).lower() if found else ""
    return any(name in text for name in found)


def _collating(duck: Duck) -> frozenset[str] | None:
    """Return the names of what has a collation in it, or depends on it.

    None if all texts have one.
    """
    rows = duck.rows(_TEXTS)
    if duck.has_own_functions:
        rows += duck.rows(_TEXTS_OF_MACROS)
    made = [(name.lower(), text.lower()) for name, text in rows]
    if ("", "") not in made:
        return None
    made.remove(("", ""))
    found = {name for name, text in made if "collate" in text}
    while more := {name for name, text in made if any(each in text for each in found)} - found:
        found |= more
    return frozenset(found)


def with_collations(
    query: exp.Query, types: Sequence[str], run: Callable[[exp.Expr], object], duck: Duck
) -> tuple[str, ...]:
    """Return the types of a query's columns with their collations; `run` runs a statement."""
    if not any("VARCHAR" in each for each in types):
        return tuple(types)
    run(_table_of(query, len(types)))
    try:
        [(text,)] = duck.rows(_TEXT_OF_TABLE, [_TABLE])
    finally:
        duck.rows(f"DROP TABLE temp.{_TABLE}")
    told = {int(found[1]): found[2] for found in _TOLD.finditer(text)}
    [(default,)] = duck.rows("SELECT lower(current_setting('default_collation'))")
    return tuple(_typed(each, told.get(i, default)) for i, each in enumerate(types))


def _table_of(query: exp.Query, count: int) -> exp.Create:
    """Return the statement that creates an empty table with the columns of a query."""
    names = [f"{_COLUMN}{i}" for i in range(count)]
    rows = exp.select("*").from_(as_source(query.copy(), "t", names)).limit(0)
    return exp.Create(
        this=exp.to_table(_TABLE),
        kind="TABLE",
        expression=rows,
        properties=exp.Properties(expressions=[exp.TemporaryProperty()]),
    )


def _typed(type_name: str, collation: str) -> str:
    """Return a type with its collation."""
    if type_name != "VARCHAR":
        return f"{type_name} COLLATE {_UNKNOWN}" if "VARCHAR" in type_name else type_name
    return f"{type_name} COLLATE {collation}" if collation else type_name


def plain(type_name: str) -> str:
    """Return a type without its collation."""
    found = _TYPE.fullmatch(type_name)
    return found[1] if found else type_name


def collation_of(type_name: str) -> str:
    """Return the collation of a type, "" if it has none."""
    found = _TYPE.fullmatch(type_name)
    return found[2] if found else ""


def is_unknown(type_name: str) -> bool:
    """Tell whether the values may contain texts with a collation."""
    return collation_of(type_name) == _UNKNOWN


def check_comparable(type_name: str) -> None:
    """Raise if a collation decides which values are equal, because parts are not merged by it."""
    collation = collation_of(type_name)
    if collation:
        raise NotIncrementalError(
            f"texts are compared by a collation ({collation}), which parts do not have: "
            "group by an expression that equal texts share, such as lower(…)"
        )


def collated(tree: exp.Expr, type_name: str) -> exp.Expr:
    """Return an expression with the collation of a type, if it has any."""
    collation = collation_of(type_name)
    if not collation:
        return tree
    return exp.Paren(this=exp.Collate(this=tree, expression=exp.var(collation)))
