"""What standing queries rely on, and other statements must not change: tables and settings.

A standing query keeps what it computed under the settings there were. Under others, the parts of
one result would not fit together.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from sqlglot import exp

from ...database.duck import Duck
from ...errors import StatementError
from .names import is_reserved
from .source_text import words_of
from .statement import OtherStatement

_KINDS: Final = frozenset({"SET", "VARIABLE_SET", "PRAGMA"})
"""What DuckDB calls the statements that change settings, RESET and SET TIME ZONE among them."""
_SETTINGS: Final = frozenset(
    {
        *{"calendar", "timezone", "zone", "default_collation"},
        *{"default_order", "default_null_order", "null_order"},
        *{"integer_division", "ieee_floating_point_ops", "error_on_division_by_zero"},
        *{"old_implicit_casting", "disable_timestamptz_casts"},
    }
)


def tables_read(query: exp.Query) -> frozenset[str]:
    """Return the names of the tables that a query over chunks reads, in small letters."""
    defined = {cte.alias.lower() for cte in query.find_all(exp.CTE)}
    names = {table.name.lower() for table in query.find_all(exp.Table)}
    return frozenset(name for name in names - defined if name and not is_reserved(name))


def changed_tables(statement: OtherStatement, duck: Duck) -> frozenset[str]:
    """Return the tables of which a statement may change more than the rows, in small letters.

    Of a statement that only DuckDB can read these are all names that are in it.
    """
    tree = statement.tree
    if tree is None or isinstance(tree, exp.Command):
        is_change = duck.statement_type(statement.text) in {"ALTER", "CREATE", "DROP"}
        return frozenset(words_of(statement.text)) if is_change else frozenset()
    is_replaced = isinstance(tree, exp.Create) and bool(tree.args.get("replace"))
    if not is_replaced and not isinstance(tree, exp.Drop | exp.Alter):
        return frozenset()
    table = tree.find(exp.Table)
    return frozenset() if table is None else frozenset({table.name.lower()})


def check_settings(statement: OtherStatement, duck: Duck, *, standing: Collection[str]) -> None:
    """Refuse to change what expressions mean under the queries of these names."""
    if not standing or duck.statement_type(statement.text) not in _KINDS:
        return
    if words_of(statement.text) & _SETTINGS:
        raise StatementError(
            "a setting that changes results cannot change under the standing queries "
            + ", ".join(standing),
            statement.text,
            hint="set it before they are made, or close them first",
        )
