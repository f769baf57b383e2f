"""Options in brackets: names with texts, numbers, truth values and lengths of time."""

from __future__ import annotations

from datetime import timedelta

import pytest

from upstream.errors import QuerySyntaxError
from upstream.queries.sql.options import options_in
from upstream.queries.sql.source_text import SourceText
from upstream.queries.sql.statement import OptionValue
from upstream.queries.sql.token_reader import TokenReader

from .example_streams import refused


def options(text: str) -> dict[str, tuple[OptionValue, int]]:
    source = SourceText(text)
    return options_in(source, TokenReader(source, source.one_statement(), 0, "write (a = 1)"))


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("'changed'", "changed"),
        ("changed", "changed"),
        ("5", 5),
        ("0.5", 0.5),
        ("TRUE", True),
        ("false", False),
        ("INTERVAL '2 minutes'", timedelta(minutes=2)),
        ("INTERVAL 5 SECONDS", timedelta(seconds=5)),
    ],
)
def test_an_option_has_a_value_and_its_place(written: str, value: OptionValue) -> None:
    text = f"(Name = {written})"
    assert options(text) == {"name": (value, text.index(written))}


def test_options_are_separated_by_commas() -> None:
    assert options("(a = 1, b => 2, c := 3)") == {"a": (1, 5), "b": (2, 13), "c": (3, 21)}


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("a = 1", "a = 1", "expected options"),
        ("()", ")", "the name of an option"),
        ("(a)", ")", "expected = after a"),
        ("(a = 1", "", "expected options"),
        ("(a = 1, A = 2)", "A = 2", "given twice"),
        ("(a = )", ")", "expected a text"),
        ("(a = INTERVAL '1 month')", "INTERVAL", "not a length of time"),
    ],
)
def test_a_mistake_is_shown_at_its_place(text: str, place: str, reason: str) -> None:
    with refused(QuerySyntaxError, place, reason):
        options(text)
