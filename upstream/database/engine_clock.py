"""`now()` and similar SQL functions by the clock of the engine instead of wall time.

DuckDB prefers a macro to its own function of the same name, and binds words without brackets, such
as `current_timestamp`, to functions as well. So there is a macro for each of these names, which
reads a variable. The variable is set right before a statement that may read it, and stays the same
throughout the statement. A user's macro may call ours, and so may views, defaults of columns and
prepared statements. Once one of these was defined with such a name, every statement is assumed to
read the clock. Until then, other statements cost nothing extra.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, Statement

    from ..clock import Clock

_VARIABLE: Final = "__engine_now"
_NOW: Final = f"getvariable('{_VARIABLE}')"
_LOCAL: Final = f"CAST({_NOW} AS TIMESTAMP)"

MACROS: Final = {
    "now()": _NOW,
    "get_current_timestamp()": _NOW,
    "transaction_timestamp()": _NOW,
    "get_current_time()": f"CAST({_NOW} AS TIMETZ)",
    "current_date()": f"CAST({_NOW} AS DATE)",
    "today()": f"CAST({_NOW} AS DATE)",
    "current_localtimestamp()": _LOCAL,
    "current_localtime()": f"CAST({_LOCAL} AS TIME)",
}
"""What is read instead of DuckDB's functions, also by current_timestamp and similar words."""

_AGE: Final = (
    f"CREATE OR REPLACE TEMP MACRO age"
    f"(x TIMESTAMP) AS system.main.age(CAST(CAST({_NOW} AS DATE) AS TIMESTAMP), x),"
    f"(x TIMESTAMPTZ) AS system.main.age(CAST(CAST({_NOW} AS DATE) AS TIMESTAMPTZ), x),"
    f"(x, y) AS system.main.age(x, y)"
)
"""The age of one time is its distance from the last midnight before now."""

_WORDS: Final = re.compile(
    r"\b(?:now|today|age|ago|(?:get_)?current_time(?:stamp)?|current_date|transaction_timestamp|"
    r"(?:current_)?local(?:time|timestamp)|pg_conf_load_time|pg_postmaster_start_time)\b",
    re.IGNORECASE,
)
_DEFINES: Final = re.compile(r"\b(?:CREATE|ALTER|PREPARE)\b", re.IGNORECASE)
_BRINGS_IN: Final = re.compile(r"\b(?:ATTACH|IMPORT)\b", re.IGNORECASE)


CLOCK_CALLS: Final = {
    "CurrentDate": "current_date",
    "CurrentTime": "get_current_time",
    "CurrentTimestamp": "get_current_timestamp",
    "Localtime": "current_localtime",
    "Localtimestamp": "current_localtimestamp",
}
"""The functions that words without brackets call, by sqlglot's names for the words."""


class EngineClock:
    """Gives DuckDB the time of a clock."""

    __slots__ = ("_clock", "_connection", "_set", "is_hidden")

    def __init__(self, connection: DuckDBPyConnection, clock: Clock) -> None:
        self._connection = connection
        self._clock = clock
        self.is_hidden = False
        """Whether a definition reads the clock, so that any statement may read it through that
        definition."""
        for name, body in MACROS.items():
            connection.execute(f"CREATE OR REPLACE TEMP MACRO {name} AS {body}")
        connection.execute(_AGE)
        text = f"SET VARIABLE {_VARIABLE} = make_timestamptz($1)"
        self._set: Statement
        [self._set] = connection.extract_statements(text)
        self.tell()

    def may_be_read(self, sql: str) -> bool:
        """Tell whether a statement may call a function that depends on the time.

        Also note whether the statement defines something that calls one.
        """
        is_named = _WORDS.search(sql) is not None
        if _BRINGS_IN.search(sql) or (is_named and _DEFINES.search(sql)):
            self.is_hidden = True
        return is_named

    def tell(self) -> None:
        """Set the time for the statement that follows."""
        self._connection.execute(self._set, [round(self._clock.now() * 1e6)])
