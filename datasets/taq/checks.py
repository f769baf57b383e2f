"""Whether files are whole and of a date: bad rows, headers again, trailers, dates that disagree."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from ..errors import BadFileError
from .accounts import Account, Place
from .staging import BAD, BLANK, HEADER, TRAILER
from .times import parsed_date

_TRAILER: Final = re.compile(r"END\|([0-9]{8})\|\s*([0-9]+)\s*(?:\|.*)?")
_EMPTY: Final = "the line is empty"


@dataclass(frozen=True, slots=True)
class Allowance:
    """What the user lets pass, and knows better than the files."""

    bad_rows: int = 0
    is_trailer_needed: bool = True
    date: date | None = None
    """Of the files that do not say theirs."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found in files that are in order."""

    dates: tuple[date | None, ...]
    """File by file, None where rows have their own."""
    blank_rows: int
    """Empty lines among the rows, which count as bad."""
    first_bad: BadFileError | None


def check(accounts: Sequence[Account], allowance: Allowance) -> Findings:
    """Return what there is to know of files; BadFileError if one is not in order."""
    for account in accounts:
        _check_header(account)
    blank_rows, first_bad = _check_bad_rows(accounts, allowance.bad_rows)
    dates = []
    for account in accounts:
        stated = _stated_date(account, allowance)
        dates.append(_date_of(account, stated, allowance.date))
    return Findings(tuple(dates), blank_rows, first_bad)


def _check_header(account: Account) -> None:
    header = account.sorts.get(HEADER)
    if header is not None and header.count > 1:
        reason = "this is the header again; was this file joined from several?"
        raise _error(account, reason, header.last)


def _check_bad_rows(accounts: Sequence[Account], allowed: int) -> tuple[int, BadFileError | None]:
    """Return how many blank lines are among the rows, and the first bad row."""
    blank_rows = 0
    first: tuple[Account, Place, str] | None = None
    for account in accounts:
        last = account.last_line(but=BLANK)
        found: list[tuple[Place, str]] = []
        if (blank := account.sorts.get(BLANK)) is not None and blank.first < last:
            blank_rows += account.blanks_before(last)
            found.append((blank.first, _EMPTY))
        if (bad := account.sorts.get(BAD)) is not None:
            found.append((bad.first, bad.text or ""))
        if found and first is None:
            first = account, *min(found)
    if first is None:
        return 0, None
    account, place, reason = first
    count = blank_rows + sum(each.count(BAD) for each in accounts)
    if count > allowed:
        more = f" ({count:,} rows are bad, and --bad-rows allows {allowed:,})" if count > 1 else ""
        raise _error(account, reason + more, place)
    return blank_rows, _error(account, reason, place)


def _stated_date(account: Account, allowance: Allowance) -> date | None:
    """Return the date that the file says, if it does, once it has as many rows as it says."""
    source = account.source
    if not source.format.has_trailer:
        _check_rows(account, source.header_rows, "the header", 1)
        return source.header_date
    trailer = account.sorts.get(TRAILER)
    if trailer is None:
        if not allowance.is_trailer_needed:
            return None
        reason = (
            "the file ends without a trailer END|date|rows and may be incomplete; "
            "--no-trailer accepts it"
        )
        raise BadFileError(
            source.path, reason, line=account.line_number(account.last_line(but=BLANK))
        )
    if trailer.count > 1 or account.last_line(but=TRAILER) > trailer.first:
        place = account.first_after(trailer.first)
        raise _error(account, "there is text after the trailer", place)
    text = trailer.text or ""
    found = _TRAILER.fullmatch(text)
    stated = parsed_date(found[1]) if found else None
    if found is None or stated is None:
        raise _error(account, f"not a trailer END|date|rows: {text[:40]!r}", trailer.first)
    _check_rows(account, int(found[2]), "the trailer", account.line_number(trailer.first))
    return stated


def _check_rows(account: Account, stated: int | None, where: str, line: int) -> None:
    if stated is not None and stated != account.rows:
        reason = f"{where} says {stated:,} rows, but there are {account.rows:,}"
        raise BadFileError(account.source.path, reason, line=line)


def _date_of(account: Account, stated: date | None, given: date | None) -> date | None:
    source = account.source
    if source.format.is_monthly:
        return None
    if stated is not None and given is not None and stated != given:
        reason = f"the file is of {stated}, but --date is {given}; omit --date"
        raise BadFileError(source.path, reason)
    found = stated or given or source.name_date
    if found is None:
        reason = "neither the file nor its name has its date; give it with --date"
        raise BadFileError(source.path, reason)
    return found


def _error(account: Account, reason: str, place: Place) -> BadFileError:
    return BadFileError(account.source.path, reason, line=account.line_number(place))
