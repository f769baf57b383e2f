"""The formats that TAQ comes in, and the header lines that announce them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

OPTIONAL: Final = frozenset({"sequence"})
"""Fields that a header may lack."""
USUALLY_DROPPED: Final = ("Z", "4", "T", "V", "U", "P", "W", "X")
"""The sale conditions of trades that are dropped by default."""
USUAL_CORRECTIONS: Final = (0, 1, 2)
"""The corrections that are kept by default: regular trades, and corrected ones."""


class Kind(Enum):
    """What the rows are; a trace is of one kind."""

    TRADES = "trades"
    QUOTES = "quotes"


@dataclass(frozen=True, slots=True)
class Shape:
    """How the lines of a format are made."""

    name: str
    kind: Kind
    separator: str | None
    """None for fields of fixed widths."""
    columns: Mapping[str, tuple[str, ...]]
    """Field by field, the header's names of its column, in small letters and digits only."""


_DAILY: Final = {"time": ("time",), "exchange": ("exchange",), "symbol": ("symbol",)}
_MONTHLY: Final = {"symbol": ("symbol",), "date": ("date",), "time": ("time",)}


class Format(Enum):
    """A format, by the name that `--format` takes."""

    DAILY_TRADES = Shape(
        "daily-trades",
        Kind.TRADES,
        "|",
        {
            **_DAILY,
            "condition": ("salecondition",),
            "size": ("tradevolume",),
            "price": ("tradeprice",),
            "correction": ("tradecorrectionindicator",),
            "sequence": ("sequencenumber", "tradesequencenumber"),
        },
    )
    DAILY_QUOTES = Shape(
        "daily-quotes",
        Kind.QUOTES,
        "|",
        {
            **_DAILY,
            "bid": ("bidprice",),
            "bid_size": ("bidsize",),
            "ask": ("offerprice", "askprice"),
            "ask_size": ("offersize", "asksize"),
            "condition": ("quotecondition",),
            "sequence": ("sequencenumber", "quotesequencenumber"),
        },
    )
    FIXED_TRADES = Shape("fixed-trades", Kind.TRADES, None, {})
    FIXED_QUOTES = Shape("fixed-quotes", Kind.QUOTES, None, {})
    MONTHLY_TRADES = Shape(
        "monthly-trades",
        Kind.TRADES,
        ",",
        {
            **_MONTHLY,
            "price": ("price",),
            "size": ("size",),
            "g127": ("g127",),
            "correction": ("corr",),
            "condition": ("cond",),
            "exchange": ("ex",),
        },
    )
    MONTHLY_QUOTES = Shape(
        "monthly-quotes",
        Kind.QUOTES,
        ",",
        {
            **_MONTHLY,
            "bid": ("bid",),
            "ask": ("ofr", "ask"),
            "bid_size": ("bidsiz", "bidsize"),
            "ask_size": ("ofrsiz", "asksiz", "asksize"),
            "condition": ("mode",),
            "exchange": ("ex",),
        },
    )

    @property
    def kind(self) -> Kind:
        """Whether it has trades or quotes."""
        return self.value.kind

    @property
    def is_monthly(self) -> bool:
        """Whether each row has its date."""
        return "date" in self.value.columns

    @property
    def has_trailer(self) -> bool:
        """Whether the last line says how many rows there are."""
        return self.value.separator == "|"

    @property
    def is_fixed(self) -> bool:
        """Whether fields are told by their places in the line."""
        return self.value.separator is None

    def __str__(self) -> str:
        return self.value.name


FORMATS: Final = {each.value.name: each for each in Format}


ENOUGH: Final = 3
"""Names that tell a header of a format from any other line."""


class BadHeaderError(ValueError):
    """Raised for a header that lacks columns, or has some twice; the reader adds the file."""


@dataclass(frozen=True, slots=True)
class Header:
    """What a header line says."""

    format: Format
    places: Mapping[str, int]
    """Field by field, the index of its column."""
    columns: int
    """How many columns there are, which is how many fields every row has."""


def split_names(line: str, separator: str) -> list[str]:
    """Return column names without what varies: case, blanks, underscores, quotation marks.

    >>> split_names('Time|Sale_Condition|"TRADE VOLUME"', "|")
    ['time', 'salecondition', 'tradevolume']
    """
    return [re.sub(r"[^a-z0-9]", "", name.lower()) for name in line.split(separator)]


def read_header(line: str, among: Sequence[Format]) -> Header | None:
    """Return what a header says, None if this is no header of any of the formats.

    BadHeaderError if it is one, and not a complete one.
    """
    found = [(known, each) for each in among if (known := _known(line, each)) >= ENOUGH]
    if not found:
        return None
    _, best = max(found, key=lambda pair: pair[0])
    return _complete(line, best)


def _known(line: str, format_: Format) -> int:
    """Count the fields of a format that a line names."""
    separator = format_.value.separator
    if separator is None:
        return 0
    names = set(split_names(line, separator))
    return sum(not names.isdisjoint(aliases) for aliases in format_.value.columns.values())


def _complete(line: str, format_: Format) -> Header:
    assert format_.value.separator is not None
    names = split_names(line, format_.value.separator)
    places: dict[str, int] = {}
    missing: list[str] = []
    for field, aliases in format_.value.columns.items():
        found = [place for place, name in enumerate(names) if name in aliases]
        if len(found) > 1:
            raise BadHeaderError(f"the header has two columns called {names[found[0]]!r}")
        if found:
            places[field] = found[0]
        elif field not in OPTIONAL:
            missing.append(aliases[0])
    if missing:
        lacks = ", ".join(repr(name) for name in missing)
        raise BadHeaderError(f"the header is like that of {format_}, but lacks {lacks}")
    return Header(format_, places, len(names))
