"""Where reading goes on that was saved: in the log that it was saved from, or in another one.

A feed that begins again in another engine sends the rows that no saved view contains. So the logs
of two engines number the same row differently. `Log.origin` is the difference. The first view that
is restored there determines it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import StatementError

if TYPE_CHECKING:
    from .log import Log


@dataclass(frozen=True, slots=True)
class Position:
    """How many rows and deletions of a log were read.

    `in_feed` is the number of rows from the beginning of the feed on, which may have been in
    another engine.
    """

    log: str
    rows: int
    deletions: int
    in_feed: int


@dataclass(frozen=True, slots=True)
class Start:
    """Where reading goes on in a log, and the origin that the log then has."""

    rows: int
    deletions: int
    origin: int | None


def position_in(log: Log, rows: int, deletions: int) -> Position:
    """Return a position to be saved."""
    return Position(log.identity, rows, deletions, rows + (log.origin or 0))


def resumed(stream: str, log: Log, saved: Position) -> Start:
    """Return where reading goes on; raise StatementError if rows would be lost or read twice."""
    if saved.log == log.identity:
        return Start(saved.rows, saved.deletions, log.origin)
    with log.lock:
        rows, deletions = log.rows, log.deleted
    if log.origin is None:
        if rows > saved.in_feed:
            reason = (
                f"{stream} has {rows:,} rows here, and the saved view contains {saved.in_feed:,}"
            )
            hint = f"of another engine: restore the view first, and feed {stream} afterwards"
            raise StatementError(reason, hint=hint)
        return Start(rows, deletions, saved.in_feed - rows)
    start = saved.in_feed - log.origin
    after = log.deletions_after(start)
    if not 0 <= start <= rows or after is None:
        reason = f"{stream} has rows {log.origin:,} to {log.origin + rows:,} here, "
        reason += f"and the saved view needs what follows row {saved.in_feed:,}"
        hint = "restore the views over a stream that were saved together, and feed it afterwards"
        raise StatementError(reason, hint=hint)
    return Start(start, after, log.origin)
