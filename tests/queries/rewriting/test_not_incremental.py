"""Why a rule does not apply."""

from __future__ import annotations

from upstream.queries.rewriting.not_incremental import NotIncrementalError


def test_the_reason_is_the_message() -> None:
    error = NotIncrementalError("it needs all rows")
    assert error.reason == str(error) == "it needs all rows"
