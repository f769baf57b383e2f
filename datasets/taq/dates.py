"""Dates of whole files: what a name, an option or a header line says."""

from __future__ import annotations

import re
from datetime import date
from typing import Final

FIRST_YEAR: Final = 1990
LAST_YEAR: Final = 2099


def parsed_date(text: str) -> date | None:
    """Return the date that eight digits are, year or month first; None if they are none.

    Years tell the two ways apart, as no month is 19 or 20.

    >>> parsed_date("20140106"), parsed_date("01062014"), parsed_date("20141306")
    (datetime.date(2014, 1, 6), datetime.date(2014, 1, 6), None)
    """
    if not re.fullmatch(r"[0-9]{8}", text):
        return None
    year_first = int(text[:4]), int(text[4:6]), int(text[6:])
    month_first = int(text[4:]), int(text[:2]), int(text[2:4])
    for year, month, day in (year_first, month_first):
        if FIRST_YEAR <= year <= LAST_YEAR:
            try:
                return date(year, month, day)
            except ValueError:
                return None
    return None


def date_in_name(name: str) -> date | None:
    """Return the date that is in the name of a file, if there is one, and only one.

    >>> date_in_name("taqtrade20140106.gz")
    datetime.date(2014, 1, 6)
    """
    words = re.findall(r"(?<![0-9])[0-9]{8}(?![0-9])", name)
    dates = {found for word in words if (found := parsed_date(word)) is not None}
    return dates.pop() if len(dates) == 1 else None
