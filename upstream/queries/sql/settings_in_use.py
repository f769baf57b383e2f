"""Which statements would change what the expressions of standing queries mean.

A standing query keeps what it computed under the settings there were. Under others, the parts of
one result would not fit together.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from ...database.duck import Duck
from ...errors import StatementError
from .statement import OtherStatement
from .tables_in_use import words_of

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
