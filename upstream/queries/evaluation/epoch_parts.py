"""The parts by which the epochs of a query differ from other windows.

Epochs are windows that slide chunk by chunk: the chunks that an input keeps are its window. What is
different is how chunks are cut, that their rows have columns for the epoch and its bounds, and
which chunks of several inputs meet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Final

from ..chunks.chunk_times import ChunkTimes
from ..chunks.cutter import Cutter
from ..chunks.input_cuts import InputCuts, OrderCuts, cuts_along
from ..chunks.ordinal_cuts import ByCount, ByObject, ByPunctuation, OrdinalCuts
from ..sql.window_clause import MICROSECONDS, Axis, EpochCut, PairingName, Unit
from .epoch_columns import EpochBounds, EpochColumns
from .punctuation_condition import PunctuationCondition

if TYPE_CHECKING:
    import pyarrow as pa

    from ...database.duck import Duck
    from ...rows.stream_definition import StreamDefinition
    from ...rows.stream_times import WindowBound
    from ...tables.log import LogReader
    from ..chunks.cutter import Piece
    from ..chunks.grid import Grid
    from ..chunks.ordinal_cuts import Division
    from ..results.failing_rows import FailingRows
    from ..sql.window_clause import WindowClause

PORTIONS: Final = 8
"""A chunk is evaluated in up to so many portions before it is complete. So little is left to do
after that, and a chunk costs no more statements than this, apart from the last of its rows."""


def paired_clauses(clauses: Sequence[WindowClause]) -> list[WindowClause]:
    """Return the windows that meet, by the pairing that the query names."""
    pairing = next((each.pairing for each in clauses if each.pairing is not None), None)
    single = [number for number, each in enumerate(clauses) if each.keep == 1]
    newest = single[0] if len(single) == 1 else 0
    return [
        replace(each, size=each.slide)
        if pairing is PairingName.NEWEST
        or (pairing is PairingName.NEWEST_WINDOW and number == newest)
        else each
        for number, each in enumerate(clauses)
    ]


class EpochParts:
    """The cuts and the columns of the inputs of one query.

    `hidden` are the columns of epochs that the query names, by input, and `schemas` are those of
    the rows with these columns.
    """

    __slots__ = (
        "_clauses",
        "_columns",
        "_conditions",
        "_definitions",
        "_duck",
        "_failing",
        "_grid",
        "_times",
    )

    def __init__(
        self,
        clauses: Sequence[WindowClause],
        definitions: Sequence[StreamDefinition],
        grid: Grid,
        *,
        hidden: Mapping[int, Sequence[str]],
        schemas: Sequence[pa.Schema],
        failing: FailingRows,
        duck: Duck,
    ) -> None:
        self._clauses = clauses
        self._definitions = definitions
        self._grid = grid
        self._failing = failing
        self._duck = duck
        self._conditions: list[PunctuationCondition] = []
        is_ordinal = clauses[0].axis is Axis.ORDINAL
        self._times = [ChunkTimes(each) for each in definitions] if is_ordinal else []
        self._columns = {
            number: EpochColumns(
                schemas[number], names, grid, self._times[number] if is_ordinal else None
            )
            for number, names in hidden.items()
        }

    def bounds(self, value: Callable[[int], WindowBound]) -> EpochBounds:
        """Return what knows the numbers and bounds of epochs; `value` makes a bound of a time.

        Times of different kinds cannot be compared, so only those of the first kind are bounds.
        """
        kinds = [
            each.schema.field(each.time).type if each.time else None for each in self._definitions
        ]
        times = [each for each, kind in zip(self._times, kinds, strict=False) if kind == kinds[0]]
        return EpochBounds(self._grid, value, times)

    def cuts(self, number: int, reader: LogReader) -> InputCuts:
        """Return what cuts the batches of an input."""
        clause, definition = self._clauses[number], self._definitions[number]
        if clause.cut is EpochCut.TIME:
            return cuts_along(clause.axis, definition, Cutter(self._grid), reader)
        ordinals = OrdinalCuts(self._division(clause, definition))
        return OrderCuts(ordinals, partial(self._fail, number))

    def describe(self, *, has_new_pairs: bool, why_buffered: str) -> tuple[str, ...]:
        """Say what is buffered, what an epoch answers with, and why."""
        buffers = [
            f"{each.stream} cut {_spoken(each, definition)}, {_chunks(each.keep)}"
            for each, definition in zip(self._clauses, self._definitions, strict=True)
        ]
        answer = "the query over the buffered chunks"
        answer += f": {why_buffered}" if why_buffered else ""
        if has_new_pairs:
            answer = "its new pairs: each pair once, when the later of its chunks is complete"
            answer += f" (pairing '{PairingName.WINDOW}')"
        return f"epoch by epoch: {'; '.join(buffers)}", f"an epoch answers with {answer}"

    def _division(self, clause: WindowClause, definition: StreamDefinition) -> Division:
        if clause.cut is EpochCut.COUNT:
            return ByCount(clause.rows)
        if clause.cut is EpochCut.OBJECT:
            return ByObject(clause.per)
        condition = PunctuationCondition(clause.condition, definition.schema, self._duck)
        self._conditions.append(condition)
        return ByPunctuation(condition)

    def _fail(self, number: int, chunk: int, count: int, error: str | None) -> None:
        self._failing.add(Counter({((number, chunk),): count}), error)

    # What is noted of rows

    def marked(self, number: int, chunk: int, rows: pa.Table) -> pa.Table:
        """Return rows of a chunk with the columns of epochs that the query names."""
        columns = self._columns.get(number)
        return rows if columns is None else columns.marked(chunk, rows)

    def completing(self, number: int) -> Callable[[pa.Table], pa.Table] | None:
        """Return a function that adds the columns which are known once a chunk is complete.

        None if the rows of an input have all columns before.
        """
        columns = self._columns.get(number)
        return columns.completed if columns is not None and columns.are_late else None

    def noting(self, number: int, pieces: Sequence[Piece], arrival: float) -> Callable[[], None]:
        """Return a function that notes the times of pieces."""
        if not self._times:
            return _nothing
        times = self._times[number]
        return partial(times.took, times.of(pieces, arrival))

    def forget(self, number: int, before: int) -> None:
        """Forget the chunks of an input before this one."""
        if self._times:
            self._times[number].forget(before)

    def close(self) -> None:
        """Release the statements of punctuations in DuckDB."""
        for condition in self._conditions:
            condition.close()


def _spoken(clause: WindowClause, definition: StreamDefinition) -> str:
    """Return how a stream is cut, in words."""
    if clause.cut is EpochCut.COUNT:
        return _every(clause.rows, "row")
    if clause.cut is EpochCut.OBJECT:
        return f"by {', '.join(clause.per)}"
    if clause.cut is EpochCut.PUNCTUATION:
        return f"after rows with {clause.condition}"
    on = "arrival" if clause.axis is Axis.ARRIVAL else definition.time
    if clause.unit is Unit.MONTHS:
        months = _every(clause.slide, "month")
        return f"{months if clause.slide % 12 else _every(clause.slide // 12, 'year')} of {on}"
    is_arrival = clause.axis is Axis.ARRIVAL
    per_second = MICROSECONDS if is_arrival else definition.units_per_second
    if per_second is None:
        return f"every {clause.slide:,} of {on}"
    seconds = Fraction(clause.slide) / per_second
    unit, length = next((each for each in _UNITS.items() if seconds % each[1] == 0), _SECOND)
    return f"{_every(seconds / length, unit)} of {on}"


_SECOND: Final = ("second", 1)
_UNITS: Final = {"day": 86_400, "hour": 3_600, "minute": 60}
"""Seconds of the units in which lengths are written if they divide them."""


def _every(count: Fraction | int, unit: str) -> str:
    return f"every {unit}" if count == 1 else f"every {float(count):,.12g} {unit}s"


def _chunks(count: int) -> str:
    return "the current chunk is kept" if count == 1 else f"{count:,} chunks are kept"


def _nothing() -> None:
    """Note nothing, since the grid knows the times of chunks."""
