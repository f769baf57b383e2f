"""Errors of DuckDB can be named where DuckDB is not installed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from upstream.database.failure import DatabaseError, DatabaseValueError


def test_a_value_that_does_not_fit_is_a_failure_of_the_database() -> None:
    with pytest.raises(DatabaseError, match="300 is too much"):
        raise DatabaseValueError("300 is too much")


def test_no_duckdb_is_imported_for_the_names() -> None:
    code = "import sys, upstream.database.failure; print('duckdb' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
