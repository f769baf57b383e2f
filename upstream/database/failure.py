"""DuckDB's errors, as exceptions that can be named without importing DuckDB."""

from __future__ import annotations


class DatabaseError(Exception):
    """DuckDB refused a statement, or failed while running it. The message is DuckDB's own."""


class DatabaseValueError(DatabaseError):
    """A value could not be converted, or is out of the range of its type."""
