"""What DuckDB refuses, as an exception that needs no DuckDB to be named."""

from __future__ import annotations


class DatabaseError(Exception):
    """DuckDB refused a statement, or failed in it; the message is DuckDB's own."""


class DatabaseValueError(DatabaseError):
    """A value could not be converted, or is out of the range of its type."""
