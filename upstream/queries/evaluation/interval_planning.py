"""Plans a join of streams without windows, whose condition limits how far apart joined rows are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Never

import pyarrow as pa

from ...errors import UnboundedQueryError
from ..chunks.grid import FOREVER
from ..chunks.ordered_reading import OrderedInput, OrderedReading
from ..pairs.reach import Reach
from ..pairs.tracked_join import TrackedJoin
from ..rewriting.block import source_nodes
from ..rewriting.interval_bounds import band_of
from ..rewriting.not_incremental import NotIncrementalError
from ..rewriting.paired import paired
from ..rewriting.rows_of_pairs import check_rows_of_pairs
from ..rewriting.time_arithmetic import are_of_one_kind
from ..sql.functions import functions_of
from ..sql.standing_needs import cause_and_cure
from ..sql.trees import chunk_index
from .interval import IntervalEvaluation
from .over_pairs import OverPairs

if TYPE_CHECKING:
    from ...rows.stream_definition import StreamDefinition
    from ...tables.log import LogReader
    from ..rewriting.interval_bounds import Band
    from ..rewriting.paired import PairedQuery
    from ..sql.trees import Query
    from .window_planning import Given

_KEEP_ALL: Final = "without a window, this query would have to keep all rows of"


class IntervalPlanner:
    """Plans one query over several streams, of which `numbers` are its inputs.

    Raises NotIncrementalError if it does not join them, and UnboundedQueryError if it would have to
    hold all rows.
    """

    def __init__(self, given: Given, numbers: Sequence[int], query: Query) -> None:
        self._given = given
        self._numbers = numbers
        self._definitions = {new: given.definitions[i] for new, i in enumerate(numbers)}
        self._cure = cause_and_cure(given.parsed)[1]
        self._paired = self._read_pairs(query)
        self._band = self._read_band()

    def evaluation(self, readers: Sequence[LogReader]) -> IntervalEvaluation:
        """Return what evaluates the query."""
        given, definitions, band = self._given, self._definitions, self._band
        ahead = {(newer, older): band.partners_end(older, newer) for older, newer in band.most}
        join = TrackedJoin(
            self._paired,
            {number: definition.schema for number, definition in definitions.items()},
            given.duck,
            given.failing,
            reach=Reach(ahead),
        )
        schemas = {number: each.schema for number, each in definitions.items()}
        inputs = [self._input(number, reader) for number, reader in enumerate(readers)]
        return IntervalEvaluation(
            OrderedReading(inputs),
            join,
            band=band,
            preserved=self._paired.preserved,
            over_pairs=OverPairs(self._paired, schemas, given.duck, given.schema.inner),
            failing=given.failing,
        )

    def _input(self, number: int, reader: LogReader) -> OrderedInput:
        given, definition = self._given, self._definitions[number]
        seconds = given.choices.allowed_lateness or 0.0
        lateness = round(min(seconds * (definition.units_per_second or 1), FOREVER))
        return OrderedInput(
            definition,
            reader,
            lateness=lateness,
            close_after=given.choices.close_after,
            since=given.clock.now(),
        )

    # What is refused

    def _read_pairs(self, query: Query) -> PairedQuery:
        given = self._given
        schemas = {f"chunk_{i}": each.schema for i, each in self._definitions.items()}
        pairs = paired(query, tuple(self._definitions), schemas, given.duck)
        try:
            check_rows_of_pairs(pairs.whole, functions_of(given.duck))
        except NotIncrementalError as error:
            reason = f"{_KEEP_ALL} the streams: in a join of streams, each row of the result must "
            reason += f"come from one row of each: {error.reason}"
            given.parsed.refuse(UnboundedQueryError, self._numbers[0], reason, self._cure)
        return pairs

    def _read_band(self) -> Band:
        definitions = list(self._definitions.values())
        for definition in definitions:
            if definition.time is None:
                reason = f"a join of streams goes by their times, and {definition.name} has none"
                self._refuse(reason, f"create {definition.name} with TIME (column)")
        if not are_of_one_kind(definitions):
            names = " and ".join(each.name for each in definitions)
            reason = f"in a join of streams, the times of {names} must be of one type"
            self._refuse(reason, "give them time columns of one type")
        for node in source_nodes(self._paired.pairs):
            if chunk_index(node) is None:
                reason = f"in a join of streams, {node.alias_or_name} must be a stream, not a query"
                self._refuse(reason, "join the stream itself, and write the conditions in WHERE")
        band = band_of(self._paired.pairs, self._definitions, self._given.duck)
        if (unlimited := band.unlimited()) is not None:
            self._refuse_unlimited(band, *unlimited)
        return band

    def _refuse_unlimited(self, band: Band, older: int, newer: int) -> Never:
        one, other = band.names[older], band.names[newer]
        reason = f"in a join of streams, the condition must limit by how much rows of {other} can "
        reason += f"be newer than the rows of {one} that they are joined with"
        hint = f"write … AND {_example(self._definitions[newer], other, one)}"
        if pa.types.is_float32(self._definitions[newer].time_type):
            hint = "declare the times as DOUBLE, because calculations with a FLOAT are too inexact"
        self._refuse(reason, hint, one)

    def _refuse(self, reason: str, hint: str, held: str = "the streams") -> Never:
        reason = f"{_KEEP_ALL} {held}: {reason}"
        refuse = self._given.parsed.refuse
        refuse(UnboundedQueryError, self._numbers[0], reason, f"{hint}; or {self._cure}")


def _example(definition: StreamDefinition, newer: str, older: str) -> str:
    """Return a condition that limits how far apart rows are."""
    time = definition.time_type
    length = "INTERVAL '5 seconds'" if pa.types.is_timestamp(time) else "5"
    of_newer, of_older = (f"{name}.{definition.time}" for name in (newer, older))
    return f"{of_newer} BETWEEN {of_older} AND {of_older} + {length}"
