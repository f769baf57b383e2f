"""What in a query over a stream without a window asks for all rows that ever came, and the cure."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from .statement import ParsedQuery
from .window_clause import WindowKind

_WINDOW: Final = (
    "give the stream a window, such as hop(stream, INTERVAL '10 minutes', INTERVAL '1 minute') or "
    "landmark(stream), or choose semantics='update' for an answer over the newest row of each key"
)


_CLAUSES: Final = {
    "group": "GROUP BY",
    "distinct": "DISTINCT",
    "order": "ORDER BY",
    "limit": "LIMIT",
    "offset": "OFFSET",
}


def cause_and_cure(parsed: ParsedQuery) -> tuple[str, str]:
    """Return what needs all rows, if that is known, and what to write instead."""
    streams = [each.stream for each in parsed.windows if each.kind is WindowKind.STREAM]
    if len(streams) > 1 and parsed.query.find(exp.Join) is not None:
        cure = (
            f"write latest({streams[1]}) to join each row with the newest rows of {streams[1]}, "
            f"or give both streams windows, such as tumble({streams[0]}, INTERVAL '1 minute')"
        )
        return "a join of streams", cure
    causes = (words for name, words in _CLAUSES.items() if parsed.query.args.get(name))
    return next(causes, ""), _WINDOW
