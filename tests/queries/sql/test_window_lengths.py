"""A length that a window cannot have is shown where it is, with what to write."""

from __future__ import annotations

import pytest

from upstream.errors import WindowError

from .example_streams import shown, window_of


@pytest.mark.parametrize(
    ("call", "place", "reason"),
    [
        ("tumble(trades, 10)", "10)", "is a TIMESTAMP"),
        ("tumble(ticks, INTERVAL '1 minute')", "INTERVAL", "is a number, not a time"),
        ("tumble(days, INTERVAL '1 hour')", "INTERVAL", "not a whole number of days"),
        ("tumble(trades, INTERVAL '0.1 us')", "INTERVAL", "not a whole number of microseconds"),
        ("tumble(trades, INTERVAL '0 minutes')", "INTERVAL", "greater than zero"),
        ("tumble(trades, -INTERVAL '1 minute')", "-INTERVAL", "greater than zero"),
        ("rows(trades, 0)", "0)", "the size of a window has to be greater than zero"),
        ("rows(trades, 1.5)", "1.5)", "not a whole number"),
        ("rows(trades, INTERVAL '1 minute')", "INTERVAL", "rows are counted"),
        ("latest(trades, rows => 0)", "0)", "^rows has to be greater than zero"),
        ("latest(trades, rows => INTERVAL '1 day')", "INTERVAL", "rows are counted"),
        ("tumble(trades, price)", "price)", "has to be a constant"),
        ("tumble(ticks, 10000000000000000000)", "1000", "longer than it can be"),
        ("tumble(waves, INTERVAL '1 month')", "INTERVAL", "TIMESTAMP or a DATE.* is a DOUBLE"),
        ("tumble(ticks, INTERVAL '1 month')", "INTERVAL", "TIMESTAMP or a DATE.* is a BIGINT"),
        ("tumble(trades, INTERVAL '1.5 months')", "INTERVAL", "not a whole number of months"),
        ("tumble(trades, INTERVAL '99999 years')", "INTERVAL", "longer than it can be"),
        ("tumble(trades, -INTERVAL '1 month')", "-INTERVAL", "greater than zero"),
        ("hop(trades, INTERVAL '1 year', INTERVAL '1 day')", "INTERVAL '1 day'", "both in months"),
        ("hop(trades, INTERVAL '9 days', INTERVAL '1 month')", "INTERVAL '9", "both in months"),
        ("landmark(trades, INTERVAL '1 month')", "INTERVAL", "cannot be in months"),
        ("session(trades, INTERVAL '1 month')", "INTERVAL", "cannot be in months"),
        ("tumble(days, INTERVAL '1 month', zone => 'UTC')", "'UTC'", "same in every zone"),
        ("tumble(trades, INTERVAL '1 month', zone => 'Europ')", "'Europ'", "no time zone named"),
        ("tumble(trades, INTERVAL '1 month', zone => 'Europe')", "'Europe'", "no time zone named"),
        ("tumble(trades, INTERVAL '1 month', zone => '../UTC')", "'../UTC'", "no time zone named"),
        ("tumble(trades, INTERVAL '1 month', zone => price)", "price", "named by a text"),
        ("tumble(trades, INTERVAL '7 days', zone => 'UTC')", "'UTC'", "for windows of months"),
        (
            "tumble(trades, INTERVAL '1 year', offset => INTERVAL '1 month')",
            "INTERVAL '1 month'",
            "cannot be in months",
        ),
        ("tumble(trades, INTERVAL '1 day', offset => 3)", "3)", "is a TIMESTAMP"),
        ("tumble(ticks, 10, offset => INTERVAL '1 day')", "INTERVAL", "is a number, not a time"),
        ("tumble(days, INTERVAL '1 day', offset => INTERVAL '1 hour')", "INTERVAL '1 h", "of days"),
        ("session(trades, INTERVAL '0 days')", "INTERVAL", "gap between sessions has to be great"),
        ("session(trades, 3)", "3)", "is a TIMESTAMP"),
    ],
)
def test_a_length_that_no_window_has_is_shown_where_it_is(
    call: str, place: str, reason: str
) -> None:
    with pytest.raises(WindowError, match=reason) as caught:
        window_of(call)
    assert shown(caught).startswith(place)
    assert caught.value.hint
