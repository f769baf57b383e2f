"""Files in the formats of TAQ, made byte for byte, for the tests."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

TRADES_HEADER = (
    "Time|Exchange|Symbol|Sale Condition|Trade Volume|Trade Price|Trade Stop Stock Indicator|"
    "Trade Correction Indicator|Sequence Number|Trade Id|Source of Trade|Trade Reporting Facility|"
    "Participant Timestamp|Trade Reporting Facility TRF Timestamp|Trade Through Exempt Indicator"
)
QUOTES_HEADER = (
    "Time|Exchange|Symbol|Bid_Price|Bid_Size|Offer_Price|Offer_Size|Quote_Condition|"
    "Sequence_Number|National_BBO_Ind|FINRA_BBO_Indicator|FINRA_ADF_MPID_Indicator|"
    "Quote_Cancel_Correction|Source_Of_Quote|Retail_Interest_Indicator"
)
MONTHLY_TRADES_HEADER = "SYMBOL,DATE,TIME,PRICE,SIZE,G127,CORR,COND,EX"
MONTHLY_QUOTES_HEADER = "SYMBOL,DATE,TIME,BID,OFR,BIDSIZ,OFRSIZ,MODE,EX"


def trade(
    time: str = "093000000000000",
    symbol: str = "IBM",
    condition: str = "@   ",
    *,
    exchange: str = "N",
    size: str = "100",
    price: str = "45.88",
    correction: str = "00",
    sequence: str = "1231",
) -> str:
    """Return a line of trades, including fields that are not read."""
    known = (time, exchange, symbol, condition, size, price, "N", correction, sequence)
    return "|".join([*known, "", "C", "", "093000417230000", "", "0"])


def quote(
    time: str = "093000000000000",
    symbol: str = "IBM",
    *,
    bid: str = "45.87",
    ask: str = "45.9",
    condition: str = "R",
    sequence: str = "77",
) -> str:
    """Return a line of quotes."""
    known = (time, "P", symbol, bid, "2", ask, "3", condition, sequence)
    return "|".join([*known, "0", "", "", "", "C", ""])


def fixed_trade(
    time: str = "093000000",
    root: str = "IBM",
    suffix: str = "",
    *,
    condition: str = "@   ",
    price: str = "00000458800",
    stop: str = "N",
    correction: str = "00",
    size: str = "000000100",
    rest: str = "0000000000001231CN",
) -> str:
    """Return a row of trades of fixed widths."""
    return f"{time}N{root:6}{suffix:10}{condition:4}{size}{price}{stop}{correction}{rest}"


def fixed_quote(
    time: str = "093000000", root: str = "IBM", suffix: str = "", *, bid: str = "00000458700"
) -> str:
    """Return a row of quotes of fixed widths."""
    prices = f"{bid}0000002{'00000459000'}0000003"
    return f"{time}P{root:6}{suffix:10}{prices}R    PP0000000000000077001C"


def daily(
    rows: Sequence[str], header: str = TRADES_HEADER, day: str = "20180102", trailer: str = ""
) -> str:
    """Return a daily file with its header and its trailer."""
    trailer = trailer or f"END|{day}|{len(rows)}" + "|" * 12
    return "\n".join([header, *rows, trailer]) + "\n"


def fixed(rows: Sequence[str], first: str | None = "  01062014:") -> str:
    """Return a file of fixed widths, lines ending as those of the product do."""
    header = [] if first is None else [f"{first}{len(rows):>10}".ljust(73)]
    return "\r\n".join([*header, *rows]) + "\r\n"


def write(path: Path, text: str | bytes, *, is_gzip: bool = False) -> Path:
    """Write a file, compressed or not."""
    content = text if isinstance(text, bytes) else text.encode("latin-1")
    path.write_bytes(gzip.compress(content) if is_gzip else content)
    return path
