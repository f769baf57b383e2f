"""Which choices of a standing query do not fit its windows, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Never

from ...errors import StatementError, WindowError
from ..sql.window_clause import Axis, WindowClause, WindowKind

if TYPE_CHECKING:
    from ..sql import ParsedQuery
    from .query_choices import Choices


def refuse_choices_of_windows(parsed: ParsedQuery, choices: Choices) -> None:
    """Refuse, for a query without a window, what is about windows; WindowError."""
    for name in ("allowed_lateness", "close_after"):
        if getattr(choices, name) is not None:
            hint = "leave it out, or write hop(stream, …) or tumble(stream, …) where a stream is"
            raise WindowError(
                f"{name} is for windows over time, and this query has none",
                parsed.text,
                parsed.places[0],
                hint,
            )


def refuse_unfitting(parsed: ParsedQuery, number: int, choices: Choices) -> None:
    """Refuse what the windows of a query cannot have; `number` is that of one of them."""
    clause = parsed.windows[number]
    if choices.allowed_lateness is not None and (why := _is_never_late(clause)):
        _refuse(f"allowed_lateness is for windows on source time: {why}", parsed, number)
    if choices.close_after is not None and (why := _closes_anyway(clause)):
        _refuse(f"close_after is for windows on source time with a slide: {why}", parsed, number)


def refuse_leaving_out(parsed: ParsedQuery, number: int) -> Never:
    """Refuse to leave rows out of an append query without a window."""
    raise StatementError(
        "emit and emit_every cannot leave anything out here: without a window an append query "
        "gives each row once",
        parsed.text,
        parsed.places[number],
        hint="leave them out, give the stream a window, or choose semantics='update'",
    )


def _is_never_late(clause: WindowClause) -> str:
    """Return why no row is too late for a window; nothing if one can be."""
    if clause.kind is WindowKind.LANDMARK:
        return "a landmark takes late rows in any case"
    if clause.kind is WindowKind.SESSION:
        return "a row is of the session that is open, and one that has ended stays as it is"
    if clause.axis is Axis.ROWS:
        return "where rows are counted none is late"
    return "by arrival no row is late" if clause.axis is Axis.ARRIVAL else ""


def _closes_anyway(clause: WindowClause) -> str:
    """Return why a window does not wait for a row to close; nothing if it does."""
    if clause.kind is WindowKind.LANDMARK and not clause.slide:
        return "a landmark without one never closes"
    if clause.axis is Axis.ROWS:
        return "these close when they are full"
    return "these close by the clock" if clause.axis is Axis.ARRIVAL else ""


def _refuse(reason: str, parsed: ParsedQuery, number: int) -> Never:
    raise WindowError(reason, parsed.text, parsed.places[number], "leave it out")
