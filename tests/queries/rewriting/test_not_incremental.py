"""Why a rule does not apply."""

from __future__ import annotations

from upstream.queries.rewriting.not_incremental import (
    NotIncrementalError,
    needs_every_value,
    refusal,
)


def test_the_reason_is_the_message() -> None:
    error = NotIncrementalError("it needs all rows")
    assert error.reason == str(error) == "it needs all rows"


def test_the_reason_is_the_first_line_of_duckdbs_message() -> None:
    error = ValueError("Binder Error: no such column\n\nLINE 1: SELECT ...")
    assert refusal(error) == "DuckDB rejects the split query (Binder Error: no such column)"


def test_all_that_needs_every_value_is_named() -> None:
    assert needs_every_value(["mode(x)"]) == "mode(x) needs every value"
    assert needs_every_value(["a(x)", "b(x)"]) == "a(x) and b(x) need every value"
    assert needs_every_value(["a(x)", "b(x)", "c(x)"]) == "a(x), b(x) and c(x) need every value"
