"""What is around every statement that DuckDB runs: its errors by our names, and nothing left open.

Where DuckDB says in its own words that Ctrl-C ended a statement, that is KeyboardInterrupt. So it
does of what Python raises while it asks for the rows of a relation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from .failure import DatabaseError, DatabaseValueError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_INTERRUPTED: Final = "Query interrupted"
"""What DuckDB says, in a bare RuntimeError, when Ctrl-C has ended a statement."""
_RAISED: Final = re.compile(r".* the object registered as '.*' failed: (\w+):\s*", re.DOTALL)
_IN_PYTHON: Final[Mapping[str, type[BaseException]]] = {
    "KeyboardInterrupt": KeyboardInterrupt,
    "MemoryError": MemoryError,
}
"""What may be raised at any time, by the name that DuckDB tells."""


class Running:
    """Raise what DuckDB raises as errors that need no DuckDB to be named.

    Whatever else ends a statement, such as Ctrl-C in between, leaves no result open.
    """

    __slots__ = ("_connection",)

    def __init__(self, connection: DuckDBPyConnection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        """Do nothing: it is about what is raised."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Raise another error in place of DuckDB's."""
        if error is not None:
            self.failed(error)

    def failed(self, error: BaseException) -> None:
        """Raise what an error is by our names, if it has another; to be called where it is."""
        if isinstance(error, DatabaseError):
            return
        import duckdb

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
