"""The windows of a query as one grid of chunks, and the windows of each input in chunks.

This module also refuses windows that cannot be combined, and options that do not apply to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
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
"""NumPy's names of units of time, by how many of them a second has; a day is not among them."""


def refuse_choices_of_windows(parsed: ParsedQuery, choices: Choices) -> None:
    """Raise WindowError if a query without a window has options for windows."""
    for name in ("allowed_lateness", "close_after"):
        if getattr(choices, name) is not None:
            hint = "leave it out, or write hop(stream, …) or tumble(stream, …) where a stream is"
            reason = f"{name} applies to windows over time, and this query has no window"
            parsed.refuse(WindowError, 0, reason, hint)


def refuse_unfitting(parsed: ParsedQuery, number: int, choices: Choices) -> None:
    """Refuse an option that the window with this number cannot have."""
    clause = parsed.windows[number]
    if clause.kind is WindowKind.EPOCHS:
        _refuse_for_epochs(parsed, number, choices)
        return
    if choices.allowed_lateness is not None and (why := _is_never_late(clause)):
        reason = f"allowed_lateness applies to source-time windows: {why}"
        parsed.refuse(WindowError, number, reason, "leave it out")
    if choices.close_after is not None and (why := _closes_anyway(clause)):
        reason = f"close_after applies to source-time windows with a slide: {why}"
        parsed.refuse(WindowError, number, reason, "leave it out")


def _refuse_for_epochs(parsed: ParsedQuery, number: int, choices: Choices) -> None:
    """Refuse an option that the epochs with this number cannot have."""
    clause = parsed.windows[number]
    if choices.allowed_lateness is not None:
        hint = "leave it out"
        if clause.axis is Axis.SOURCE:
            hint += f", or read tumble({clause.stream}, …), whose results late rows correct"
        reason = "epochs cannot have allowed_lateness: an epoch is answered once"
        parsed.refuse(WindowError, number, reason, hint)
    if choices.close_after is not None and clause.axis is Axis.ARRIVAL:
        reason = "epochs on arrival cannot have close_after: they end by the clock"
        parsed.refuse(WindowError, number, reason, "leave it out")


def refuse_leaving_out(parsed: ParsedQuery, number: int) -> Never:
    """Refuse options that would leave rows out of an append query without a window."""
    reason = (
        "emit and emit_every cannot skip results here: without a window, an append query "
        "returns each row once"
    )
    hint = "leave them out, give the stream a window, or choose semantics='update'"
    parsed.refuse(StatementError, number, reason, hint)


def refuse_epochs_in_view(parsed: ParsedQuery) -> None:
    """Raise WindowError if the query of a view reads epochs."""
    for number, window in enumerate(parsed.windows):
        if window.kind is WindowKind.EPOCHS:
            reason = "a view cannot read epochs: each epoch is answered once, in order"
            hint = f"fill a stream from epochs({window.stream}, …) with CREATE STREAM … AS, and "
            parsed.refuse(WindowError, number, reason, hint + "read that stream here")


def _is_never_late(clause: WindowClause) -> str:
    """Return why no row can be too late for a window, or "" if one can be."""
    if clause.kind is WindowKind.LANDMARK:
        return "a landmark accepts late rows anyway"
    if clause.kind is WindowKind.SESSION:
        return "a row extends an open session, and a session that has ended does not change"
    if clause.axis is Axis.ROWS:
        return "no row is late for a window that counts rows"
    return "no row is late for a window on arrival" if clause.axis is Axis.ARRIVAL else ""


def _closes_anyway(clause: WindowClause) -> str:
    """Return why a window closes without a further row, or "" if it does not."""
    if clause.kind is WindowKind.LANDMARK and not clause.slide:
        return "a landmark without a slide never closes"
    if clause.axis is Axis.ROWS:
        return "windows that count rows close when they are full"
    return "windows on arrival close by the clock" if clause.axis is Axis.ARRIVAL else ""


def check_together(
    parsed: ParsedQuery, numbers: Sequence[int], definitions: Sequence[StreamDefinition]
) -> None:
    """Raise WindowError for windows that one query cannot have together."""
    refuse = partial(parsed.refuse, WindowError, numbers[-1])
    clauses = [parsed.windows[number] for number in numbers]
    for of, (reason, hint) in _ALIKE.items():
        first, *others = [of(clause) for clause in clauses]
        if any(other != first for other in others):
            noun = clauses[0].kind.noun
            refuse(reason.format(noun), hint.format(noun))
    units = {
        definitions[each].units_per_second
        for each in numbers
        if parsed.windows[each].axis is Axis.SOURCE
    }
    if len(units) > 1:
        reason, hint = (text.format(clauses[0].kind.noun) for text in _ALIKE[_axis])
        refuse(reason, hint)
    if clauses[0].kind is WindowKind.EPOCHS:
        _check_epochs(parsed, numbers)
    if len(numbers) > 1 and any(each.kind is WindowKind.SESSION for each in clauses):
        hint = "join them with latest(stream) or a table, or write two queries"
        refuse("a query can have sessions of one stream only", hint)
    if any(each.answers_empty for each in clauses) and len({_slide(each) for each in clauses}) > 1:
        hint = "give all windows the same slide and offset, or leave empty out"
        refuse("with empty => true, all windows of a query need the same slide and offset", hint)


def _check_epochs(parsed: ParsedQuery, numbers: Sequence[int]) -> None:
    """Refuse epochs of different lengths, and pairings that do not fit."""
    clauses = [parsed.windows[number] for number in numbers]
    refuse = partial(parsed.refuse, WindowError)
    if len({(each.slide, each.offset) for each in clauses}) > 1:
        hint = "give all of them the same length and offset, or write two queries"
        refuse(numbers[-1], "the epochs of one query must have the same length and offset", hint)
    named = {parsed.windows[each].pairing: each for each in numbers if parsed.windows[each].pairing}
    if named and len(numbers) == 1:
        hint = "leave it out, or join epochs of two streams"
        refuse(numbers[0], "a pairing needs epochs of two streams, or of one stream twice", hint)
    if len(named) > 1:
        names = " and ".join(f"'{name}'" for name in named)
        hint = "name the pairing once, or the same for all of them"
        refuse(numbers[-1], f"the epochs of one query have one pairing, not {names}", hint)


def _is_epochs(clause: WindowClause) -> object:
    return clause.kind is WindowKind.EPOCHS


def _cut(clause: WindowClause) -> object:
    return clause.cut if clause.kind is WindowKind.EPOCHS else None


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
    _is_epochs: (
        "epochs cannot be combined with another window",
        "give both streams epochs, or write two queries",
    ),
    _cut: (
        "the epochs of one query must be cut in the same way",
        "cut all streams by time, by count, by object or by punctuation, or write two queries",
    ),
    _kind: (
        "a landmark or a session cannot be combined with another window",
        "write two queries, or give both streams the same window",
    ),
    _landmark: (
        "the landmarks of one query must have the same slide",
        "write two queries, or give both streams the same window",
    ),
    _axis: (
        "the {0}s of one query must be over times of one kind",
        "write two queries, or give both streams {0}s of one kind",
    ),
    _calendar: (
        "{0}s of months can only be combined with {0}s of months of the same zone and offset",
        "write two queries, or give both {0}s in months, or both in days",
    ),
}
"""What must be the same for all windows of a query, and the error if it is not; {0} is the word
for one of them."""


def _slide(clause: WindowClause) -> tuple[int, int]:
    return clause.slide, clause.offset % (clause.slide or 1)


def grid_of(clauses: Sequence[WindowClause], definition: StreamDefinition) -> Grid:
    """Return the grid of the chunks that all windows of a query consist of."""
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
    """Return the windows of each input in chunks, or None for a landmark without a slide."""
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


def check_steps(parsed: ParsedQuery, number: int, schedule: Schedule) -> None:
    """Raise WindowError if a window would consist of too many chunks."""
    most = max(each.size for each in schedule.windows)
    if most > MOST_STEPS:
        hint = "choose sizes, slides and offsets with a larger common divisor"
        parsed.refuse(WindowError, number, f"a window would consist of {most:,} chunks", hint)
