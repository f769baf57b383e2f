"""What in a query over a stream without a window asks for all rows that ever came, and the cure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sqlglot import exp

from .parsed_query import ParsedQuery
from .window_clause import WindowKind

_WINDOW: Final = (
    "give the stream a window, such as hop(stream, INTERVAL '10 minutes', INTERVAL '1 minute') or "
    "landmark(stream), or choose semantics='update' for an answer over the newest row of each key"
)


def cause_and_cure(parsed: ParsedQuery) -> tuple[str, str]:
    """Return what needs all rows, if a rule knows it, and what to write instead."""
    for rule in _RULES:
        if (found := rule(parsed)) is not None:
            return found
    return "", _WINDOW


def _join(parsed: ParsedQuery) -> tuple[str, str] | None:
    streams = [each.stream for each in parsed.windows if each.kind is WindowKind.STREAM]
    if len(streams) < 2 or parsed.query.find(exp.Join) is None:
        return None
    cure = (
        f"write latest({streams[1]}) to join each row with the newest rows of {streams[1]}, "
        f"or give both streams windows, such as tumble({streams[0]}, INTERVAL '1 minute')"
    )
    return "a join of streams", cure


def _clause(parsed: ParsedQuery) -> tuple[str, str] | None:
    query = parsed.query
    for name, words in _CLAUSES.items():
        if query.args.get(name):
            return words, _WINDOW
    return None


_CLAUSES: Final = {
    "group": "GROUP BY",
    "distinct": "DISTINCT",
    "order": "ORDER BY",
    "limit": "LIMIT",
    "offset": "OFFSET",
}
_RULES: Final[tuple[Callable[[ParsedQuery], tuple[str, str] | None], ...]] = (_join, _clause)
