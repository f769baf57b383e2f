"""The options of a standing query, read from WITH (…) and checked as arguments are."""

from __future__ import annotations

import pytest

from upstream.database.duck import Duck
from upstream.errors import StatementError
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
    ("options", "place", "reason"),
    [
        ("emitt = 'slide'", "'slide'", "no option named emitt.*|did you mean emit"),
        ("sign = 'op'", "'op'", "no option named sign.*|only views have it"),
        ("emit = 'never'", "'never'", "emit must be one of 'slide'"),
        ("weight = weight", "weight)", "above zero"),
        ("weight = 0", "0", "above zero"),
        ("keep = 0", "0", "1 or more"),
        ("keep = INTERVAL '1 day'", "INTERVAL", "a whole number"),
        ("deletes = 1", "1", "true or false"),
        ("emit_every = '5 seconds'", "'5", "or an INTERVAL"),
        ("close_after = true", "true", "a number of seconds"),
    ],
)
def test_a_wrong_option_is_refused_at_its_place(
    options: str, place: str, reason: str, duck: Duck
) -> None:
    with refused(StatementError, place, reason):
        chosen(options, duck)
