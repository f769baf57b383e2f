"""The windows of a query as one grid of chunks, with the windows of each input counted in them.

What windows cannot have, of one another and of what the user chose, is refused here.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import TYPE_CHECKING, Final, Never

from ...errors import StatementError, WindowError
from ..chunks.grid import FOREVER, EvenGrid, MonthGrid
from ..chunks.windows import Schedule, Windows
from ..sql.window_clause import Axis, Unit, WindowKind
from ..sql.window_functions import MOST_STEPS

if TYPE_CHECKING:
    from ...rows.stream_definition import StreamDefinition
    from ..choices import Choices
    from ..chunks.grid import Grid
    from ..sql import ParsedQuery
    from ..sql.window_clause import WindowClause

_OF_MONTHS: Final = {1: "s", 1_000: "ms", 1_000_000: "us", 1_000_000_000: "ns"}
"""What NumPy calls units of time, by how many a second has; a day is none of them."""


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


def check_together(
    parsed: ParsedQuery, numbers: Sequence[int], definitions: Sequence[StreamDefinition]
) -> None:
    """Refuse windows that one query cannot have together; WindowError."""
    clauses = [parsed.windows[number] for number in numbers]
    for of, (reason, hint) in _ALIKE.items():
        first, *others = [of(clause) for clause in clauses]
        if any(other != first for other in others):
            raise WindowError(reason, parsed.text, parsed.places[numbers[-1]], hint)
    units = {
        definitions[each].units_per_second
        for each in numbers
        if parsed.windows[each].axis is Axis.SOURCE
    }
    if len(units) > 1:
        reason, hint = _ALIKE[_axis]
        raise WindowError(reason, parsed.text, parsed.places[numbers[-1]], hint)
    if len(numbers) > 1 and any(each.kind is WindowKind.SESSION for each in clauses):
        raise WindowError(
            "a query has sessions of one stream",
            parsed.text,
            parsed.places[numbers[-1]],
            hint="join them with latest(stream) or a table, or make two queries",
        )
    if any(each.answers_empty for each in clauses) and len({_slide(each) for each in clauses}) > 1:
        raise WindowError(
            "windows that are answered although nothing came have one slide in one query",
            parsed.text,
            parsed.places[numbers[-1]],
            hint="give all windows the same slide and offset, or leave empty out",
        )


def _kind(clause: WindowClause) -> object:
    kinds = (WindowKind.LANDMARK, WindowKind.SESSION)
    return clause.kind if clause.kind in kinds else None


def _landmark(clause: WindowClause) -> object:
    return clause.slide if clause.kind is WindowKind.LANDMARK else None


def _axis(clause: WindowClause) -> object:
    return clause.axis


def _calendar(clause: WindowClause) -> object:
    months = (clause.unit, clause.zone, clause.offset)
    return months if clause.unit is Unit.MONTHS else clause.unit


_ALIKE: Final = {
    _kind: (
        "a landmark or a session cannot be in one query with another window",
        "make two queries, or give both streams the same window",
    ),
    _landmark: (
        "landmarks of one query have to be of one slide",
        "make two queries, or give both streams the same window",
    ),
    _axis: (
        "the windows of one query have to be over times of one kind",
        "make two queries, or give both streams windows of one kind",
    ),
    _calendar: (
        "windows of months go with windows of months of the same zone and offset",
        "make two queries, or say how many months, or how many days, for both",
    ),
}
"""What has to be the same of all windows of a query, and what to say if it is not."""


def _slide(clause: WindowClause) -> tuple[int, int]:
    return clause.slide, clause.offset % (clause.slide or 1)


def grid_of(clauses: Sequence[WindowClause], definition: StreamDefinition) -> Grid:
    """Return the chunks that all windows of a query are made of."""
    first, *others = clauses
    if not first.slide:
        return EvenGrid(FOREVER)
    length = gcd(*(each.size for each in clauses), *(each.slide for each in clauses))
    if first.unit is Unit.MONTHS:
        per_second = definition.units_per_second if first.axis is Axis.SOURCE else 1_000_000
        assert per_second is not None
        unit = _OF_MONTHS[int(per_second)] if per_second >= 1 else "D"
        return MonthGrid(length, unit, first.zone, first.offset)
    length = gcd(length, *(each.offset - first.offset for each in others))
    return EvenGrid(length, first.offset % length)


def schedule_of(clauses: Sequence[WindowClause], grid: Grid) -> Schedule | None:
    """Return the windows of each input in chunks; None for a landmark without a slide."""
    return Schedule([_windows(each, grid) for each in clauses]) if clauses[0].slide else None


def _windows(clause: WindowClause, grid: Grid) -> Windows:
    if isinstance(grid, MonthGrid):
        return Windows(clause.size // grid.months, clause.slide // grid.months)
    assert isinstance(grid, EvenGrid)
    slide = clause.slide // grid.length
    if clause.kind is WindowKind.LANDMARK:
        return Windows(slide, slide)
    size = clause.size // grid.length
    phase = (clause.offset - grid.origin) // grid.length % slide
    return Windows(size, slide, phase, size if clause.axis is Axis.ROWS else None)


def check_steps(parsed: ParsedQuery, place: int | None, schedule: Schedule) -> None:
    """Refuse windows that would be made of too many chunks; WindowError."""
    most = max(each.size for each in schedule.windows)
    if most > MOST_STEPS:
        raise WindowError(
            f"a window would consist of {most:,} basic windows",
            parsed.text,
            place,
            hint="choose sizes, slides and offsets with a greater common divisor",
        )
