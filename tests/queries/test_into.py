"""The stream for results, as arguments describe it."""

from __future__ import annotations

import pytest

from upstream.errors import ParameterError, StatementError
from upstream.queries.into import NamedAt, ResultsInto, results_into


def test_arguments_are_names_without_places() -> None:
    assert results_into("means", ("symbol",), "at", deletes=True) == ResultsInto(
        "means", (NamedAt("symbol"),), NamedAt("at"), deletes=True
    )
    assert results_into(None, (), None, deletes=False) is None


@pytest.mark.parametrize(
    ("name", "key", "time", "deletes", "wrong"),
    [
        ("", (), None, False, "into"),
        (5, (), None, False, "into"),
        (None, ("symbol",), None, False, "into"),
        (None, (), "at", False, "into"),
        (None, (), None, True, "into"),
        ("means", "symbol", None, False, "key"),
        ("means", (1,), None, False, "key"),
        ("means", ("a", "A"), None, False, "key"),
        ("means", (), 7, False, "time"),
        ("means", (), None, "yes", "deletes"),
    ],
)
def test_an_argument_of_another_kind_is_refused(
    name: object, key: object, time: object, deletes: object, wrong: str
) -> None:
    with pytest.raises(ParameterError) as caught:
        results_into(name, key, time, deletes=deletes)  # type: ignore[arg-type]
    assert caught.value.name == wrong


def test_an_error_is_at_a_name_or_otherwise_at_the_name_of_the_stream() -> None:
    into = ResultsInto("means", text="CREATE STREAM means KEY (symbol) AS SELECT 1", place=14)
    with pytest.raises(StatementError) as caught:
        into.refuse(StatementError, "wrong", "right")
    assert (caught.value.column, caught.value.hint) == (15, "right")
    with pytest.raises(StatementError) as caught:
        into.refuse(StatementError, "wrong", "right", NamedAt("symbol", 25))
    assert caught.value.column == 26
