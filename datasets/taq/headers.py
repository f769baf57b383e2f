"""Header lines: which format a line of column names announces, and where its fields are."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from .formats import OPTIONAL, Format

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
