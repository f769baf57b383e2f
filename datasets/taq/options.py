"""What the options of the command mean; BadOptionError for what cannot be meant."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from typing import Final

from ..errors import BadOptionError
from .filters import Filters, chosen_conditions, parsed_conditions
from .formats import FORMATS, USUAL_CORRECTIONS, Format, Kind
from .times import parsed_date

ALL: Final = "all"

_CLOCK: Final = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9]))?")


def format_of(name: str | None) -> Format | None:
    """Return the format of `--format`, None if it is to be seen from the files."""
    if name is None:
        return None
    if name not in FORMATS:
        raise BadOptionError("--format", repr(name), "one of " + ", ".join(FORMATS))
    return FORMATS[name]


def date_of(text: str | None, formats: Iterable[Format]) -> date | None:
    """Return the day of `--date`, for files of these formats.

    >>> date_of("2014-01-06", [Format.FIXED_TRADES])
    datetime.date(2014, 1, 6)
    """
    if text is None:
        return None
    found = parsed_date(text.replace("-", ""))
    if found is None:
        raise BadOptionError("--date", repr(text), "a day such as 20140106")
    if all(each.is_monthly for each in formats):
        expected = "no --date with monthly files, where each row has its date"
        raise BadOptionError("--date", repr(text), expected)
    return found


def symbols_of(text: str | None) -> tuple[str, ...] | None:
    """Return the symbols of `--symbols`.

    >>> symbols_of("IBM, BRK B")
    ('IBM', 'BRK B')
    """
    if text is None:
        return None
    symbols = tuple(dict.fromkeys(each.strip() for each in text.split(",")))
    if not all(symbols):
        raise BadOptionError(
            "--symbols", repr(text), "symbols separated by commas, such as IBM,BRK B"
        )
    return symbols


def second_of(option: str, text: str | None) -> int | None:
    """Return the second of the day that a time is.

    >>> second_of("--from", "9:30")
    34200
    """
    if text is None:
        return None
    found = _CLOCK.fullmatch(text)
    if found is None:
        raise BadOptionError(option, repr(text), "a time such as 9:30 or 16:00:00")
    hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return (hours * 60 + minutes) * 60 + seconds


def corrections_of(text: str | None) -> tuple[int, ...] | None:
    """Return the corrections of `--corrections`: the usual ones unless it is given, None for all.

    >>> corrections_of("00,01"), corrections_of("all")
    ((0, 1), None)
    """
    if text is None:
        return USUAL_CORRECTIONS
    if text.strip() == ALL:
        return None
    words = [each.strip() for each in text.split(",")]
    if not all(re.fullmatch(r"[0-9]{1,2}", each) for each in words):
        expected = f"{ALL}, or indicators with commas between, such as 0,1,2"
        raise BadOptionError("--corrections", repr(text), expected)
    return tuple(dict.fromkeys(int(each) for each in words))


def filters_of(
    kind: Kind,
    *,
    conditions: str | None = None,
    drop_conditions: str | None = None,
    all_conditions: bool = False,
    corrections: str | None = None,
    any_g127: bool = False,
    any_price: bool = False,
    symbols: str | None = None,
    from_time: str | None = None,
    to_time: str | None = None,
) -> Filters:
    """Return the filters that the options are, for rows of a kind."""
    for_trades = {
        "--corrections": corrections,
        "--any-g127": any_g127 or None,
        "--any-price": any_price or None,
    }
    for option, value in for_trades.items():
        if kind is not Kind.TRADES and value is not None:
            raise BadOptionError(option, value, "trades; quotes do not have this option")
    if all_conditions and (conditions is not None or drop_conditions is not None):
        raise BadOptionError(
            "--all-conditions", True, "neither --conditions nor --drop-conditions with it"
        )
    from_second, to_second = second_of("--from", from_time), second_of("--to", to_time)
    if from_second is not None and to_second is not None and from_second > to_second:
        raise BadOptionError("--to", to_time, f"a time that is not before --from {from_time}")
    return Filters(
        conditions=chosen_conditions(
            is_trades=kind is Kind.TRADES,
            kept=_listed("--conditions", conditions),
            dropped=_listed("--drop-conditions", drop_conditions),
            is_all=all_conditions,
        ),
        corrections=corrections_of(corrections),
        is_any_g127=any_g127,
        is_any_price=any_price,
        symbols=symbols_of(symbols),
        from_second=from_second,
        to_second=to_second,
    )


def _listed(option: str, text: str | None) -> tuple[str, ...] | None:
    return None if text is None else parsed_conditions(option, text)
