"""DuckDB's messages about a query that fails, without our own parts of the statement.

The message is about the statement that DuckDB received, which the user did not write: a finish
reads `__s0` where the query says max(price). Only the first line is about what happened; the other
lines quote the statement.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_OURS: Final = r'"?\b(?:__[a-z]+_?\d*|_*merged_\d+|chunk_\d+)\b"?'
_NAME: Final = re.compile(_OURS)
_MERGED: Final = re.compile(rf"\b\w+\(({_OURS})\)")
"""The merge of a state, which is a call of its function."""
_WHERE: Final = re.compile(
    r" when casting from source column .*$| in expression \(.*\)(?=\. |\.$|$)"
)
_QUOTED: Final = re.compile(r"('(?:[^']|'')*')")


def error_text(error: Exception, names: Mapping[str, str] | None = None) -> str:
    """Return the first line of an error, with `names` in place of our columns.

    Where a name is unknown, the part with our column is left out.
    """
    line = str(error).strip().partition("\n")[0].rstrip()
    known = _spoken(line, names or {})
    if not _is_ours(known):
        return known
    return "".join(
        part if quoted else _NAME.sub("…", part)
        for quoted, part in _parts(_WHERE.sub(_without_ours, known))
    )


def _spoken(line: str, names: Mapping[str, str]) -> str:
    def text(found: re.Match[str]) -> str:
        return names.get(found[found.re.groups].strip('"'), found[0])

    def plain(found: re.Match[str]) -> str:
        return names.get(found[0].strip('"'), found[0])

    return "".join(
        part if quoted else _NAME.sub(plain, _MERGED.sub(text, part))
        for quoted, part in _parts(line)
    )


def _parts(line: str) -> list[tuple[bool, str]]:
    """Return the parts in quotes, which are the user's data, and the other parts."""
    return [(i % 2 == 1, part) for i, part in enumerate(_QUOTED.split(line))]


def _is_ours(text: str) -> bool:
    return any(not quoted and _NAME.search(part) for quoted, part in _parts(text))


def _without_ours(found: re.Match[str]) -> str:
    return "" if _NAME.search(found[0]) else found[0]
