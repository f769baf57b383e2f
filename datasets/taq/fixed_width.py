"""The daily files before October 2016: fields of fixed widths, prices with four implied decimals.

The first line says the date and, in most files, how many rows there are, `  01062014:  29131417`;
it has blanks up to the length of a row. Files without one are read, too. How many digits a time has
is seen from the first row: nine until July 2015, then twelve. What comes after the known fields
differs from year to year, and is not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from .formats import Format, Kind
from .times import parsed_date

WIDTHS: Final[Mapping[Kind, Mapping[str, int]]] = {
    Kind.TRADES: {
        "exchange": 1,
        "root": 6,
        "suffix": 10,
        "condition": 4,
        "size": 9,
        "price": 11,
        "stop": 1,
        "correction": 2,
        "sequence": 16,
    },
    Kind.QUOTES: {
        "exchange": 1,
        "root": 6,
        "suffix": 10,
        "bid": 11,
        "bid_size": 7,
        "ask": 11,
        "ask_size": 7,
        "condition": 1,
        "market_maker": 4,
        "bid_exchange": 1,
        "ask_exchange": 1,
        "sequence": 16,
    },
}
"""Field by field, after the time; all but the sequence number must be there."""

_HEADER: Final = re.compile(r"\s*([0-9]{8})\s*(?::\s*([0-9]+))?\s*")
_START: Final = r"(?P<time>[0-9]{9}|[0-9]{12})[A-Z].{16}"
_NUMBERS: Final = "".join(f"[ 0-9]{{{width - 1}}}[0-9]" for width in (11, 7, 11, 7))
_ROWS: Final = {
    Format.FIXED_TRADES: re.compile(_START + r"[^0-9].{3}[ 0-9]{8}[0-9][ 0-9]{10}[0-9]"),
    Format.FIXED_QUOTES: re.compile(_START + _NUMBERS),
}


@dataclass(frozen=True, slots=True)
class FixedLines:
    """What the first lines of a file of fixed widths tell."""

    format: Format
    time_digits: int
    header: str | None
    date: date | None
    rows: int | None
    """How many there are, as the header says."""


def read_fixed(lines: Sequence[str], named: Format | None, name: str) -> FixedLines | None:
    """Return what the first lines of a file tell, None if they are not of fixed widths.

    Rows of trades and of quotes differ in what is a digit; where all of them fit both, the name of
    the file decides, or the format that the user has `named`.
    """
    found = _HEADER.fullmatch(lines[0])
    rows = [line for line in (lines[1:] if found else lines) if line.strip()]
    format_ = named or _format_of(rows) or _format_by_name(name, is_header=found is not None)
    if format_ is None:
        return None
    digits = max((_time_digits(line) for line in rows[:1]), default=9)
    return FixedLines(
        format_,
        digits,
        header=lines[0] if found else None,
        date=parsed_date(found[1]) if found else None,
        rows=int(found[2]) if found and found[2] else None,
    )


def field_places(kind: Kind, time_digits: int) -> dict[str, tuple[int, int]]:
    """Return for each field where it begins, from 1, and how many characters it has.

    >>> field_places(Kind.TRADES, 9)["price"]
    (40, 11)
    """
    places = {"time": (1, time_digits)}
    start = 1 + time_digits
    for field, width in WIDTHS[kind].items():
        places[field] = start, width
        start += width
    return places


def least_length(kind: Kind, time_digits: int) -> int:
    """Return how long a row is at least: blanks at its end may be missing, but no field."""
    last = "correction" if kind is Kind.TRADES else "ask_size"
    start, width = field_places(kind, time_digits)[last]
    return start + width - 1


def _format_of(rows: Sequence[str]) -> Format | None:
    """Return the format that most rows fit, if they do not fit the other one as well."""
    votes = dict.fromkeys(_ROWS, 0)
    for line in rows:
        fitting = [each for each, pattern in _ROWS.items() if pattern.match(line)]
        if len(fitting) == 1:
            votes[fitting[0]] += 1
    best = max(votes, key=lambda each: votes[each])
    is_told = votes[best] > 0 and list(votes.values()).count(votes[best]) == 1
    return best if is_told else None


def _format_by_name(name: str, *, is_header: bool) -> Format | None:
    """Return what a file is by its name; a header must have shown that it is one of ours."""
    if not is_header:
        return None
    if "trade" in name.lower():
        return Format.FIXED_TRADES
    return Format.FIXED_QUOTES if "quote" in name.lower() else None


def _time_digits(line: str) -> int:
    return 12 if re.match(r"[0-9]{12}[A-Z]", line) else 9
