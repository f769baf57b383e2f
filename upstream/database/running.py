"""Wraps every statement that DuckDB runs: translates its errors and leaves no result open.

If DuckDB reports in its own words that Ctrl-C ended a statement, KeyboardInterrupt is raised. The
same holds for exceptions that Python raises while DuckDB asks for the rows of a relation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import duckdb

from .failure import DatabaseError, DatabaseValueError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_INTERRUPTED: Final = "Query interrupted"
"""The message of the RuntimeError that DuckDB raises when Ctrl-C has ended a statement."""
_RAISED: Final = re.compile(r".* the object registered as '.*' failed: (\w+):\s*", re.DOTALL)
_IN_PYTHON: Final[Mapping[str, type[BaseException]]] = {
    "KeyboardInterrupt": KeyboardInterrupt,
    "MemoryError": MemoryError,
}
"""Exceptions that may be raised at any time, by the names that DuckDB reports."""


class Running:
    """Raise DuckDB's errors as exceptions that can be named without DuckDB.

    If anything else ends a statement, such as Ctrl-C, no result stays open.
    """

    __slots__ = ("_connection",)

    def __init__(self, connection: DuckDBPyConnection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        """Do nothing; only the exit matters."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Raise another exception in place of DuckDB's."""
        if error is not None:
            self.failed(error)

    def failed(self, error: BaseException) -> None:
        """Raise our exception for an error, if there is one. Call it while handling the error."""
        if isinstance(error, DatabaseError):
            return
        if isinstance(error, duckdb.InterruptException) or (
            type(error) is RuntimeError and str(error) == _INTERRUPTED
        ):
            raise KeyboardInterrupt from error
        if isinstance(error, duckdb.InvalidInputException):
            raised = _RAISED.fullmatch(str(error))
            if raised is not None and raised[1] in _IN_PYTHON:
                raise _IN_PYTHON[raised[1]] from error
        if isinstance(error, duckdb.ConversionException | duckdb.OutOfRangeException):
            raise DatabaseValueError(str(error)) from error
        if isinstance(error, duckdb.Error):
            raise DatabaseError(str(error)) from error
        self._connection.abort()
