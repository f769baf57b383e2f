"""Decides which standing queries can share one evaluation.

Queries with the same text and options have the same results if these depend on nothing but the rows
of their streams: not on what else is read, and not on when the query is created or evaluated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..sql.functions import functions_of
from ..sql.reading_outside import reads_files
from ..sql.standing_needs import common_table_names, tables_read
from ..sql.window_clause import Axis, WindowKind

if TYPE_CHECKING:
    from ...database.duck import Duck
    from ..choices import Choices
    from ..sql import ParsedQuery

_WITH_ENDS: Final = frozenset(
    {WindowKind.TUMBLE, WindowKind.HOP, WindowKind.ROWS, WindowKind.SESSION}
)


def windows_go_by_rows(parsed: ParsedQuery, choices: Choices) -> bool:
    """Tell whether rows alone end the windows of a query, each of them once.

    By the clock, windows can depend on when the query was created. If late rows are allowed, the
    number of results for a window depends on when the query is evaluated.
    """
    kinds = {window.kind for window in parsed.windows}
    is_by_clock = any(window.axis is Axis.ARRIVAL for window in parsed.windows)
    is_plain = choices.close_after is None and choices.allowed_lateness is None
    return kinds <= _WITH_ENDS and not is_by_clock and is_plain


def reads_streams_alone(parsed: ParsedQuery, duck: Duck) -> bool:
    """Tell whether a query reads streams, and no table, file, macro, setting, clock or chance."""
    query, functions = parsed.query, functions_of(duck)
    if tables_read(query) or any(map(duck.has_table, common_table_names(query))):
        return False  # inside a common table expression, its name may be that of a table
    reads_others = reads_files(query, duck) or functions.own_in(query)
    return not reads_others and not functions.volatile_in(query)
