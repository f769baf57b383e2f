"""The formats that TAQ comes in, and which columns of a header are which field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

OPTIONAL: Final = frozenset({"sequence"})
"""Fields that a header may lack."""


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


class Format(Enum):
    """A format, by the name that `--format` takes."""

    DAILY_TRADES = Shape(
        "daily-trades",
        Kind.TRADES,
        "|",
        {
            "time": ("time",),
            "exchange": ("exchange",),
            "symbol": ("symbol",),
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
            "time": ("time",),
            "exchange": ("exchange",),
            "symbol": ("symbol",),
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
            "symbol": ("symbol",),
            "date": ("date",),
            "time": ("time",),
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
            "symbol": ("symbol",),
            "date": ("date",),
            "time": ("time",),
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
