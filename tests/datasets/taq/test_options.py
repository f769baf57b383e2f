"""Options: what they mean, and which make no sense."""

from __future__ import annotations

from datetime import date

import pytest

from datasets.errors import BadOptionError
from datasets.taq.filters import Filters
from datasets.taq.formats import USUALLY_DROPPED, Format, Kind
from datasets.taq.options import (
    corrections_of,
    date_of,
    filters_of,
    format_of,
    second_of,
    symbols_of,
)


def test_without_options_the_usual_filters_apply() -> None:
    assert filters_of(Kind.TRADES) == Filters()
    nothing = [
        format_of(None),
        date_of(None, list(Format)),
        symbols_of(None),
        second_of("--to", None),
    ]
    assert nothing == [None] * 4


def test_quotes_are_not_filtered_unless_it_is_said() -> None:
    assert filters_of(Kind.QUOTES).conditions.dropped == ()
    assert filters_of(Kind.QUOTES).conditions.is_whole
    assert filters_of(Kind.QUOTES, drop_conditions="L").conditions.dropped == ("L",)


def test_conditions_take_the_place_of_the_usual_ones() -> None:
    assert filters_of(Kind.TRADES).conditions.dropped == USUALLY_DROPPED
    assert filters_of(Kind.TRADES, all_conditions=True).conditions.dropped == ()
    assert filters_of(Kind.TRADES, drop_conditions="I,@4").conditions.dropped == ("I", "@4")
    kept = filters_of(Kind.TRADES, conditions="@,F").conditions
    assert (kept.kept, kept.dropped) == (("@", "F"), ())
    both = filters_of(Kind.TRADES, conditions="@,F", drop_conditions="I").conditions
    assert (both.kept, both.dropped) == (("@", "F"), ("I",))


def test_each_option_means_what_it_says() -> None:
    assert format_of("fixed-quotes") is Format.FIXED_QUOTES
    mixed = [Format.MONTHLY_TRADES, Format.DAILY_TRADES]
    assert date_of("20140106", mixed) == date_of("2014-01-06", mixed) == date(2014, 1, 6)
    assert symbols_of("IBM, BRK B,IBM") == ("IBM", "BRK B")
    assert second_of("--from", "16:00:01") == 16 * 3600 + 1
    assert corrections_of("00, 7,12") == (0, 7, 12)
    assert corrections_of("all") is None


@pytest.mark.parametrize(
    ("option", "arguments"),
    [
        ("--conditions", {"conditions": "@,,F"}),
        ("--conditions", {"conditions": "@ F"}),
        ("--drop-conditions", {"drop_conditions": ""}),
        ("--drop-conditions", {"drop_conditions": "ABCDE"}),
        ("--drop-conditions", {"drop_conditions": "é"}),
        ("--all-conditions", {"all_conditions": True, "conditions": "F"}),
        ("--corrections", {"corrections": "0,x"}),
        ("--corrections", {"corrections": ""}),
        ("--corrections", {"corrections": "100"}),
        ("--symbols", {"symbols": "IBM,"}),
        ("--from", {"from_time": "9h30"}),
        ("--from", {"from_time": "25:00"}),
        ("--to", {"from_time": "16:00", "to_time": "9:30"}),
    ],
)
def test_invalid_options_are_refused(option: str, arguments: dict[str, str]) -> None:
    with pytest.raises(BadOptionError, match=f"^{option} "):
        filters_of(Kind.TRADES, **arguments)  # type: ignore[arg-type] # a flag among texts


@pytest.mark.parametrize("arguments", [{"corrections": "0"}, {"any_price": True}])
def test_quotes_have_no_options_of_trades(arguments: dict[str, str]) -> None:
    with pytest.raises(BadOptionError, match="expected trades; quotes do not have"):
        filters_of(Kind.QUOTES, **arguments)  # type: ignore[arg-type] # a flag among texts


def test_an_unknown_format_and_an_invalid_date_are_refused() -> None:
    with pytest.raises(BadOptionError, match="one of daily-trades"):
        format_of("csv")
    with pytest.raises(BadOptionError, match="a day such as"):
        date_of("6 January", [Format.DAILY_TRADES])
