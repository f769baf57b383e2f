"""The options of a standing query, read from WITH (…) and checked as arguments are."""

from __future__ import annotations

import pytest

from upstream.database.duck import Duck
from upstream.errors import QueryError, QuerySyntaxError, StatementError
from upstream.queries.choices import Choices
from upstream.queries.sql import CreateStreamAs, choices_of, parse

from .example_streams import refused


def statement(options: str, duck: Duck) -> CreateStreamAs:
    parsed = parse(f"CREATE STREAM s KEY (k) WITH ({options}) AS SELECT 1", duck)
    assert isinstance(parsed, CreateStreamAs)
    return parsed


def chosen(options: str, duck: Duck) -> tuple[Choices, bool]:
    found = statement(options, duck)
    return choices_of(found.options, found.text)


@pytest.mark.parametrize(
    ("options", "choices"),
    [
        ("semantics = 'update'", Choices(semantics="update")),
        ("EMIT = 'changed', weight = 2.5", Choices(emit="changed", weight=2.5)),
        ("emit_every = 5", Choices(emit_every=5)),
        ("emit_every = INTERVAL '1 minute'", Choices(emit_every=60)),
        ("allowed_lateness = INTERVAL 2 SECONDS", Choices(allowed_lateness=2)),
        ("close_after = 0.5, on_error = 'fail'", Choices(close_after=0.5, on_error="fail")),
        ("evaluation = 'increments', keep = 7", Choices(evaluation="increments", keep=7)),
    ],
)
def test_options_are_those_of_a_standing_query(options: str, choices: Choices, duck: Duck) -> None:
    assert chosen(options, duck) == (choices, False)


@pytest.mark.parametrize(("value", "deletes"), [("true", True), ("FALSE", False)])
def test_keys_are_deleted_if_that_is_asked_for(value: str, deletes: bool, duck: Duck) -> None:
    assert chosen(f"deletes = {value}, emit = 'changed'", duck) == (
        Choices(emit="changed"),
        deletes,
    )


@pytest.mark.parametrize(
    ("options", "kind", "place", "reason"),
    [
        ("", QuerySyntaxError, "()", "expected options"),
        ("emit", QuerySyntaxError, "emit", "an option with its value"),
        ("emit 'changed'", QuerySyntaxError, "emit", "an option with its value"),
        ("emit = 'slide', emit = 'slide'", QuerySyntaxError, "emit = 'slide')", "named twice"),
        ("emitt = 'slide'", StatementError, "emitt", "no option named emitt.*|did you mean emit"),
        ("emit = changed", StatementError, "changed", "emit needs a constant"),
        ("weight = weight", StatementError, "weight)", "weight needs a constant"),
        ("emit = 'never'", StatementError, "emit", "emit must be one of 'slide'"),
        ("weight = -1", StatementError, "weight", "above zero"),
        ("keep = 0", StatementError, "keep", "1 or more"),
        ("deletes = 1", StatementError, "deletes", "true or false"),
        ("emit_every = '5 seconds'", StatementError, "emit_every", "or an INTERVAL"),
        ("emit_every = INTERVAL '1 month'", StatementError, "INTERVAL", "no fixed length"),
        ("emit_every = -5", StatementError, "emit_every", "zero or more"),
        ("keep = INTERVAL '1 day'", StatementError, "INTERVAL", "keep is not a duration"),
    ],
)
def test_a_wrong_option_is_refused_at_its_place(
    options: str, kind: type[QueryError], place: str, reason: str, duck: Duck
) -> None:
    with refused(kind, place, reason):
        chosen(options, duck)
