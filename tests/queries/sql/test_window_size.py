"""Sizes of windows are constants, and exact."""

from __future__ import annotations

from fractions import Fraction

import pytest

from upstream.errors import WindowError
from upstream.queries.sql.source_text import SourceText
from upstream.queries.sql.window_size import NotConstantError, WindowSize, constant_size

from .example_streams import refused, window_of


def size_of(text: str) -> WindowSize:
    [size] = SourceText(f"SELECT {text}").statement().expressions
    return constant_size(size)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("INTERVAL '10 minutes'", 600),
        ("INTERVAL '1 minute'", 60),
        ("INTERVAL 5 MINUTE", 300),
        ("INTERVAL (5) MINUTES", 300),
        ("INTERVAL '90' SECOND", 90),
        ("INTERVAL '1 hour 30 minutes'", 5400),
        ("INTERVAL '1h30m'", 5400),
        ("INTERVAL '01:30:00'", 5400),
        ("INTERVAL '1:30'", 5400),
        ("INTERVAL '0:00:00.25'", Fraction(1, 4)),
        ("INTERVAL '0.1 seconds'", Fraction(1, 10)),
        ("INTERVAL 1.5 MINUTE", 90),
        ("INTERVAL '250 ms'", Fraction(1, 4)),
        ("INTERVAL '3 us'", Fraction(3, 1_000_000)),
        ("INTERVAL '2 weeks'", 14 * 86_400),
        ("INTERVAL '1 day'", 86_400),
        ("'1 minute'::INTERVAL", 60),
        ("'1 minute'", 60),
        ("to_minutes(5)", 300),
        ("2 * INTERVAL '1 minute'", 120),
        ("INTERVAL '1 hour' + INTERVAL '1 minute'", 3660),
        ("INTERVAL '1 hour' - INTERVAL '1 minute'", 3540),
        ("-INTERVAL '1 hour'", -3600),
        ("(INTERVAL '1 hour')", 3600),
    ],
)
def test_an_interval_is_a_number_of_seconds(text: str, seconds: Fraction) -> None:
    assert size_of(text) == WindowSize(Fraction(seconds), is_interval=True)


@pytest.mark.parametrize(
    ("text", "months"),
    [
        ("INTERVAL '1 month'", 1),
        ("INTERVAL 3 MONTHS", 3),
        ("INTERVAL '1 quarter'", 3),
        ("INTERVAL '2 years 1 mon'", 25),
        ("INTERVAL '1' DECADE", 120),
        ("INTERVAL '1 century'", 1200),
        ("INTERVAL '2 millennia'", 24_000),
        ("to_months(4)", 4),
        ("to_years(1) - 2 * INTERVAL '1 month'", 10),
        ("INTERVAL '0.5 months'", Fraction(1, 2)),
    ],
)
def test_an_interval_of_the_calendar_is_a_number_of_months(text: str, months: Fraction) -> None:
    assert size_of(text) == WindowSize(Fraction(months), is_interval=True, is_months=True)


@pytest.mark.parametrize(
    ("text", "number"),
    [("100", 100), ("1_000", 1000), ("1e3", 1000), ("2.5", Fraction(5, 2)), ("10 * 60 + 1", 601)],
)
def test_a_number_is_a_number(text: str, number: Fraction) -> None:
    assert size_of(text) == WindowSize(Fraction(number), is_interval=False)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("price", "must be a constant"),
        ("to_minutes(price)", "must be a constant"),
        ("to_minutes(1, 2)", "must be a constant"),
        ("(SELECT 1)", "must be a constant"),
        ("random()", "must be a constant"),
        ("4 / 2", "must be a constant"),
        ("INTERVAL '1 day 1 month'", "no fixed length"),
        ("INTERVAL '1 year' - INTERVAL '1 day'", "no fixed length"),
        ("INTERVAL '1 fortnight'", "not a unit of time"),
        ("INTERVAL 'soon'", "write an interval as"),
        ("INTERVAL '10 minutes ago'", "write an interval as"),
        ("INTERVAL '1 minute' * INTERVAL '1 minute'", "multiplied"),
        ("3 + INTERVAL '1 minute'", "cannot be added"),
        ("CAST(3 AS INTERVAL)", "needs a unit"),
        ("INTERVAL 'x' MINUTE", "not a number"),
    ],
)
def test_a_size_without_a_fixed_length_is_refused(text: str, reason: str) -> None:
    with pytest.raises(NotConstantError, match=reason):
        size_of(text)


@pytest.mark.parametrize(
    ("call", "place", "reason"),
    [
        ("tumble(trades, 10)", "10)", "is a TIMESTAMP"),
        ("tumble(ticks, INTERVAL '1 minute')", "INTERVAL", "is a number, not a time"),
        ("tumble(days, INTERVAL '1 hour')", "INTERVAL", "not a whole number of days"),
        ("tumble(trades, INTERVAL '0.1 us')", "INTERVAL", "not a whole number of microseconds"),
        ("tumble(trades, INTERVAL '0 minutes')", "INTERVAL", "greater than zero"),
        ("tumble(trades, -INTERVAL '1 minute')", "-INTERVAL", "greater than zero"),
        ("rows(trades, 0)", "0)", "the size of a window must be a whole number of rows, 1 or more"),
        ("rows(trades, 1.5)", "1.5)", r"whole number of rows, 1[^$]*write rows\(trades, 1000\)"),
        (
            "rows(trades, INTERVAL '1 minute')",
            "INTERVAL",
            r"of rows[^$]*hop\(trades, size, slide\)",
        ),
        (
            "latest(trades, rows => 0)",
            "0)",
            r"^rows must be a whole number, 1[^$]*latest\(trades, rows => 3\)",
        ),
        ("latest(trades, rows => INTERVAL '1 day')", "INTERVAL", "rows must be a whole number"),
        ("tumble(trades, price)", "price)", "must be a constant"),
        ("tumble(ticks, 10000000000000000000)", "1000", "too large"),
        ("tumble(waves, INTERVAL '1 month')", "INTERVAL", "TIMESTAMP or a DATE.* is a DOUBLE"),
        ("tumble(ticks, INTERVAL '1 month')", "INTERVAL", "TIMESTAMP or a DATE.* is a BIGINT"),
        ("tumble(trades, INTERVAL '1.5 months')", "INTERVAL", "not a whole number of months"),
        ("tumble(trades, INTERVAL '99999 years')", "INTERVAL", "too large"),
        ("tumble(trades, -INTERVAL '1 month')", "-INTERVAL", "greater than zero"),
        (
            "hop(trades, INTERVAL '1 year', INTERVAL '1 day')",
            "INTERVAL '1 day'",
            "must both be in months",
        ),
        (
            "hop(trades, INTERVAL '9 days', INTERVAL '1 month')",
            "INTERVAL '9",
            "must both be in months",
        ),
        ("landmark(trades, INTERVAL '1 month')", "INTERVAL", "cannot be in months"),
        ("session(trades, INTERVAL '1 month')", "INTERVAL", "cannot be in months"),
        ("tumble(days, INTERVAL '1 month', zone => 'UTC')", "'UTC'", "same in every time zone"),
        ("tumble(trades, INTERVAL '1 month', zone => 'Europ')", "'Europ'", "no time zone named"),
        ("tumble(trades, INTERVAL '1 month', zone => 'Europe')", "'Europe'", "no time zone named"),
        ("tumble(trades, INTERVAL '1 month', zone => '../UTC')", "'../UTC'", "no time zone named"),
        ("tumble(trades, INTERVAL '1 month', zone => price)", "price", "named by a string"),
        (
            "tumble(trades, INTERVAL '7 days', zone => 'UTC')",
            "'UTC'",
            "applies to windows of months",
        ),
        (
            "tumble(trades, INTERVAL '1 year', offset => INTERVAL '1 month')",
            "INTERVAL '1 month'",
            "cannot be in months",
        ),
        ("tumble(trades, INTERVAL '1 day', offset => 3)", "3)", "is a TIMESTAMP"),
        ("tumble(ticks, 10, offset => INTERVAL '1 day')", "INTERVAL", "is a number, not a time"),
        ("tumble(days, INTERVAL '1 day', offset => INTERVAL '1 hour')", "INTERVAL '1 h", "of days"),
        ("session(trades, INTERVAL '0 days')", "INTERVAL", "gap between sessions must be great"),
        ("session(trades, 3)", "3)", "is a TIMESTAMP"),
    ],
)
def test_a_length_that_no_window_has_is_shown_where_it_is(
    call: str, place: str, reason: str
) -> None:
    with refused(WindowError, place, reason) as caught:
        window_of(call)
    assert caught.value.hint
