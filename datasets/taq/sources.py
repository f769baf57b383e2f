"""Which files there are to read, and what is known of each from its first lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Final

from ..errors import BadFileError
from .bytes_of_files import beginning, is_gzip
from .fixed_width import read_fixed
from .formats import FORMATS, BadHeaderError, Format, Kind, read_header
from .times import date_in_name

SHOWN: Final = 40
"""How much of a line is shown in an error."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file that was recognised."""

    path: Path
    format: Format
    is_gzip: bool
    header: str | None
    """The first line, unless it is a row."""
    places: Mapping[str, int] = field(default_factory=dict)
    """Field by field, the index of its column, where there are separators."""
    columns: int = 0
    """How many columns the header has."""
    time_digits: int = 0
    """Of fixed widths."""
    header_date: date | None = None
    header_rows: int | None = None

    @property
    def name_date(self) -> date | None:
        """The date in the name of the file."""
        return date_in_name(self.path.name)

    @property
    def has_sequence(self) -> bool:
        """Whether rows have sequence numbers."""
        return self.format.is_fixed or "sequence" in self.places

    @property
    def layout(self) -> tuple[object, ...]:
        """What files have in common that can be read together."""
        header = None if self.format.is_fixed else self.header
        return self.format, self.columns, tuple(self.places.items()), self.time_digits, header


def recognise(paths: Sequence[Path], named: Format | None = None) -> list[Source]:
    """Look at the first lines of files; BadFileError unless all are TAQ, of one kind, and distinct.

    `named` is the format to take them for, if the user says so.
    """
    _check_distinct(paths)
    sources = [_recognised(path, named) for path in paths]
    first = sources[0]
    for source in sources:
        if source.format.kind is not first.format.kind:
            kinds = f"{source.format.kind.value}, and {first.path} has {first.format.kind.value}"
            raise BadFileError(source.path, f"this has {kinds}; load one kind at a time")
    return sources


def kind_of(sources: Sequence[Source]) -> Kind:
    """Return what the rows of files are."""
    return sources[0].format.kind


def _check_distinct(paths: Sequence[Path]) -> None:
    """Raise BadFileError for a file that is given twice, also under two names by links."""
    seen: dict[tuple[int, int], Path] = {}
    for path in paths:
        try:
            found = path.stat()
        except OSError:
            continue  # opening the file later raises the error
        place = found.st_dev, found.st_ino
        if (twin := seen.get(place)) is not None:
            same = "it is named twice" if twin == path else f"it is the same file as {twin}"
            raise BadFileError(path, f"{same}; name each file once")
        seen[place] = path


def _recognised(path: Path, named: Format | None) -> Source:
    lines = beginning(path)
    source = _delimited(path, lines[0], named) or _fixed(path, lines, named)
    if source is not None:
        return source
    shown = repr(lines[0][:SHOWN])
    if named is not None:
        raise BadFileError(path, f"{shown} is not a header of {named}", line=1)
    names = ", ".join(FORMATS)
    reason = f"{shown} is not the start of a known TAQ format; choose one with --format ({names})"
    raise BadFileError(path, reason, line=1)


def _delimited(path: Path, line: str, named: Format | None) -> Source | None:
    among = [each for each in Format if named in (None, each) and not each.is_fixed]
    try:
        header = read_header(line, among)
    except BadHeaderError as error:
        raise BadFileError(path, str(error), line=1) from error
    if header is None:
        return None
    return Source(
        path, header.format, is_gzip(path), line, places=header.places, columns=header.columns
    )


def _fixed(path: Path, lines: Sequence[str], named: Format | None) -> Source | None:
    if named is not None and not named.is_fixed:
        return None
    found = read_fixed(lines, named, path.name)
    if found is None:
        return None
    return Source(
        path,
        found.format,
        is_gzip(path),
        found.header,
        time_digits=found.time_digits,
        header_date=found.date,
        header_rows=found.rows,
    )
