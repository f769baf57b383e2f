"""Puts together the parts that evaluate a query over windows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from ...errors import UnboundedQueryError
from ..chunks.cutter import Cutter
from ..chunks.grid import FOREVER
from ..chunks.input_cuts import cuts_along
from ..chunks.progress import Progress
from ..chunks.reading import Input, Reading
from ..chunks.sessions import GapEnds, Sessions
from ..chunks.walk import Walk
from ..chunks.windows import EndTimes
from ..pairs.join_leaf import JoinLeaf
from ..pairs.pairing import Pairing
from ..results.answer import BY_INCREMENTS
from ..results.failing_rows import FailingRows
from ..rewriting.relations import reads_tables
from ..rewriting.shared_finish import finish_in_common
from ..rewriting.shared_partial import in_common, runs
from ..rewriting.trial import Trial
from ..sql.functions import functions_of
from ..sql.window_bounds import bounds_name, bounds_schema
from ..sql.window_clause import Axis, WindowKind
from .answer_ahead import AnswerAhead
from .bounds import Bounds
from .chosen_way import MOST_JOINED_ROWS, MOST_ROWS, ChosenWay, Portions
from .epoch_feed import EpochFeed
from .epoch_parts import PORTIONS as EPOCH_PORTIONS
from .epoch_parts import EpochParts, paired_clauses
from .finish import Finish
from .increments import ChunkLeaf, Increments
from .landmark import LandmarkEvaluation
from .pair_increments import PairIncrements
from .planned_windows import check_steps, check_together, grid_of, refuse_unfitting, schedule_of
from .session import SessionEvaluation
from .shared_finishes import SharedFinishes
from .shared_leaf import OwnLeaf, SharedLeaf, is_dense
from .shared_windows import Family, MergedWindows, SharedWindows, WindowsOfQuery
from .sharing import reads_streams_alone
from .windowed import WindowedEvaluation

MOST_REVISABLE: Final = 100_000
"""After a long silence, at most this many empty windows are remembered for late rows."""

if TYPE_CHECKING:
    import pyarrow as pa

    from ...clock import Clock
    from ...database.duck import Duck
    from ...database.result_schema import ResultSchema
    from ...rows.stream_definition import StreamDefinition
    from ...rows.stream_times import WindowBound
    from ...tables.log import LogReader
    from ..choices import Choices
    from ..chunks.progress import Ends
    from ..chunks.windows import Schedule
    from ..results.answer import Evaluation
    from ..rewriting.new_pairs import NewPairs
    from ..rewriting.split_query import SplitQuery
    from ..sql import ParsedQuery
    from ..sql.window_clause import WindowClause
    from .bounds import WindowBounds
    from .finish import Finishing, Merging
    from .increments import Leaf
    from .windowed import WindowIncrements

    Planned = tuple[Evaluation, Callable[[], None] | None]


@dataclass(frozen=True, slots=True)
class Given:
    """What a query is planned from: how it was read, and what evaluates it.

    `definitions` are those of the streams of its windows, and `schemas` are those of the tables
    that are lent to it.
    """

    parsed: ParsedQuery
    schema: ResultSchema
    choices: Choices
    definitions: Sequence[StreamDefinition]
    schemas: Mapping[str, pa.Schema]
    duck: Duck
    clock: Clock
    stopwatch: Clock
    failing: FailingRows

    @classmethod
    def of(
        cls,
        parsed: ParsedQuery,
        schema: ResultSchema,
        choices: Choices,
        definitions: Mapping[str, StreamDefinition],
        *,
        duck: Duck,
        clock: Clock,
        stopwatch: Clock,
    ) -> Given:
        """Return what is given for a query over streams and views with these definitions."""
        streams = [definitions[window.stream] for window in parsed.windows]
        lent, failing = parsed.schemas(definitions), FailingRows()
        return cls(parsed, schema, choices, streams, lent, duck, clock, stopwatch, failing)


class WindowPlanner:
    """Plans the evaluation of a query over the windows with these numbers.

    Raises WindowError if they cannot be combined.
    """

    def __init__(self, given: Given, numbers: Sequence[int]) -> None:
        parsed = given.parsed
        check_together(parsed, numbers, given.definitions)
        refuse_unfitting(parsed, numbers[0], given.choices)
        self._given = given
        self._numbers = numbers
        self._clauses = [parsed.windows[number] for number in numbers]
        self._definitions = [given.definitions[number] for number in numbers]
        self._schemas = [given.schemas[f"chunk_{number}"] for number in numbers]
        self._duck = given.duck
        if self._clauses[0].kind is WindowKind.EPOCHS:
            self._clauses = paired_clauses(self._clauses)
        self._grid = grid_of(self._clauses, self._definitions[0])
        self._schedule = schedule_of(self._clauses, self._grid)
        if self._schedule is not None:
            check_steps(parsed, numbers[-1], self._schedule)
        self._read_bounds = {
            i: bounds_schema(clause, definition)
            for i, (clause, definition) in enumerate(
                zip(self._clauses, self._definitions, strict=True)
            )
            if numbers[i] in parsed.bounds
        }
        self.why_buffered = ""
        """Why epochs of several inputs are answered over the buffered chunks, for descriptions."""
        self._epochs: EpochParts | None = None
        if self._clauses[0].kind is WindowKind.EPOCHS:
            hidden = {i: names for i, n in enumerate(numbers) if (names := parsed.hidden.get(n))}
            self._epochs = EpochParts(
                *(self._clauses, self._definitions, self._grid),
                hidden=hidden,
                schemas=self._schemas,
                failing=given.failing,
                duck=given.duck,
            )

    @property
    def bounds(self) -> dict[str, pa.Schema]:
        """The tables of the bounds that the query reads."""
        return {bounds_name(i): schema for i, schema in self._read_bounds.items()}

    def evaluation(
        self, split: SplitQuery, readers: Sequence[LogReader], schema: pa.Schema
    ) -> Planned:
        """Return the evaluation over these windows, and a function that resets it, or None."""
        if self._clauses[0].kind is WindowKind.SESSION:
            return self._sessions(split, readers[0], schema), None
        inputs = [self._input(i, reader) for i, reader in enumerate(readers)]
        if self._clauses[0].kind is WindowKind.LANDMARK:
            return self._landmark(split, inputs, schema)
        assert self._schedule is not None
        return self._sliding(split, inputs, schema, self._schedule), None

    def _sliding(
        self, split: SplitQuery, inputs: Sequence[Input], schema: pa.Schema, schedule: Schedule
    ) -> WindowedEvaluation:
        leaves = [self._leaf(split, i, schedule) for i in range(len(split.leaves))]
        finish = self._finish(split, leaves, schema)
        increments = Increments(leaves, finish, self._given.failing)
        is_whole = self._is_whole(split)
        return self._windowed(inputs, increments, finish, schedule, is_whole=is_whole)

    def of_pairs(
        self, pairs: NewPairs, readers: Sequence[LogReader], schema: pa.Schema
    ) -> WindowedEvaluation:
        """Return the evaluation of epochs that answer with their new pairs."""
        assert self._schedule is not None
        increments = PairIncrements(
            pairs.paired,
            dict(enumerate(self._schemas)),
            {i: clause.keep for i, clause in enumerate(self._clauses)},
            self._duck,
            schema=schema,
            failing=self._given.failing,
            is_row_wise=pairs.split.row_wise,
        )
        inputs = [self._input(i, reader) for i, reader in enumerate(readers)]
        finish = self._finish(pairs.split, [], schema)
        return self._windowed(inputs, increments, finish, self._schedule, is_whole=False)

    def _windowed(
        self,
        inputs: Sequence[Input],
        increments: WindowIncrements,
        finish: Finishing,
        schedule: Schedule,
        *,
        is_whole: bool | None,
        failing: FailingRows | None = None,
    ) -> WindowedEvaluation:
        reading = Reading(
            inputs,
            self._schemas,
            keeps_rows=is_whole is not False,
            lateness=self._lateness(),
            epochs=self._epochs,
        )
        answers_empty = any(each.answers_empty for each in self._clauses)
        late = self._lateness()
        revisable = 0 if late is None else min(self._grid.chunk_of(late) + 2, MOST_REVISABLE)
        return WindowedEvaluation(
            reading,
            Walk(schedule, reading.occupied, answers_empty=answers_empty, revisable=revisable),
            increments,
            finish=finish,
            way=self._way(is_whole=is_whole, is_joined=len(inputs) > 1),
            lateness=self._lateness(),
            bounds=self._bounds(),
            portions=Portions() if self._epochs is None else Portions(EPOCH_PORTIONS),
            stopwatch=self._given.stopwatch,
            failing=self._given.failing if failing is None else failing,
            ahead=self._ahead(increments),
            skips=self._skips(increments),
            about=self._about(increments),
            noun=self._clauses[0].kind.noun,
            feed=self._feed(inputs, increments),
        )

    def _skips(self, increments: WindowIncrements) -> bool:
        """Tell whether the rows of epochs that are not answered need not be taken in."""
        is_update = self._given.choices.semantics == "update"
        return self._epochs is not None and is_update and increments.can_skip

    def _feed(self, inputs: Sequence[Input], increments: WindowIncrements) -> EpochFeed | None:
        """Return from which rows on epochs can be read again."""
        if self._epochs is None:
            return None
        is_inner = increments.can_skip
        return EpochFeed(inputs, self._clauses, self._given.choices, is_inner=is_inner)

    def _about(self, increments: WindowIncrements) -> tuple[str, ...]:
        """Return what is said first when the query is described."""
        if self._epochs is None:
            return ()
        has_new_pairs = isinstance(increments, PairIncrements)
        return self._epochs.describe(has_new_pairs=has_new_pairs, why_buffered=self.why_buffered)

    def _way(self, *, is_whole: bool | None, is_joined: bool) -> ChosenWay:
        if self._epochs is None:
            return ChosenWay(is_whole=is_whole, is_joined=is_joined)
        # the work on larger epochs is done before they end
        return ChosenWay(is_whole=is_whole, is_joined=False, most_rows=MOST_JOINED_ROWS)

    def _ahead(self, increments: WindowIncrements) -> AnswerAhead | None:
        """Return what computes results of epochs ahead, if nothing else than rows changes them."""
        parsed = self._given.parsed
        if self._epochs is None or increments.way != BY_INCREMENTS:
            return None
        is_alone = len(self._numbers) == len(parsed.windows)
        return AnswerAhead() if is_alone and reads_streams_alone(parsed, self._duck) else None

    def _bounds(self) -> WindowBounds:
        if self._epochs is not None:
            return self._epochs.bounds(self._value())
        return Bounds(self._grid, self._value(), self._read_bounds)

    def of_family(
        self, split: SplitQuery, alone: Evaluation, reader: LogReader, schema: pa.Schema
    ) -> tuple[Family, WindowsOfQuery] | None:
        """Return a query that can share its windows with others of a family.

        None if each row has to be read for this query alone. The results of the query must depend
        on nothing but the rows of its streams.
        """
        [clause], choices = self._clauses[:1], self._given.choices
        if not isinstance(alone, WindowedEvaluation) or len(self._clauses) > 1:
            return None
        if choices.evaluation == "whole" or len(split.leaves) != 1:
            return None
        functions = functions_of(self._duck)
        leaf = in_common(split.leaves[0], functions)
        of_stream = self._definitions[0].schema
        if leaf is None or not is_dense(leaf.leaf):
            return None
        if not runs(leaf, Trial(self._duck, {"chunk_0": of_stream})):
            return None
        own = OwnLeaf(leaf, of_stream, self._duck, self._given.failing)
        windows = WindowsOfQuery(
            alone,
            reader,
            own=own,
            finish=self._finish(split, [own], schema),
            bounds=self._bounds(),
            keep=choices.most_answers,
            in_common=finish_in_common(split, functions) if not self._read_bounds else None,
        )
        return Family(clause, leaf.family), windows

    def shared(self, reader: LogReader) -> SharedWindows:
        """Return the windows for several queries of a family."""
        assert self._schedule is not None
        leaf = SharedLeaf(0, self._definitions[0].schema, self._duck)
        failing, finish = FailingRows(), MergedWindows()
        evaluation = self._windowed(
            [self._input(0, reader)],
            Increments([leaf], finish, failing),
            finish,
            self._schedule,
            is_whole=False,
            failing=failing,
        )
        return SharedWindows(evaluation, leaf, SharedFinishes(self._duck), reader)

    def _finish(self, split: SplitQuery, leaves: Sequence[Merging], schema: pa.Schema) -> Finish:
        chunks = {f"chunk_{i}": schema for i, schema in enumerate(self._schemas)}
        return Finish(split, leaves, schema, self._duck, chunks=chunks, bounds=self.bounds)

    def _leaf(self, split: SplitQuery, number: int, schedule: Schedule) -> Leaf:
        leaf = split.leaves[number]
        if len(leaf.windows) == 1:
            return ChunkLeaf(leaf, self._schemas[leaf.windows[0]], self._duck)
        schemas = {i: self._schemas[i] for i in leaf.windows}
        return JoinLeaf(
            leaf,
            schemas,
            self._duck,
            pairing=Pairing(schedule, leaf.windows),
            failing=self._given.failing,
        )

    def _landmark(self, split: SplitQuery, inputs: Sequence[Input], schema: pa.Schema) -> Planned:
        leaves: list[ChunkLeaf] = []
        for leaf in split.leaves:
            if (leaf.groups is None and leaf.keep is None) or len(leaf.windows) > 1:
                why = leaf.reason or "the result contains its rows"
                if len(leaf.windows) > 1:
                    why = "a new row may join any of them"
                reason = f"this query would have to keep all rows since the landmark: {why}"
                hint = (
                    "aggregate the rows, keep the first of each group (row_number() … <= 3, "
                    "DISTINCT ON, LIMIT), or use a sliding window: hop(stream, …)"
                )
                number = self._numbers[leaf.windows[0]]
                self._given.parsed.refuse(UnboundedQueryError, number, reason, hint)
            definition = self._definitions[leaf.windows[0]]
            leaves.append(ChunkLeaf(leaf, definition.schema, self._duck, cumulative=True))
        finish = self._finish(split, leaves, schema)
        evaluation = LandmarkEvaluation(
            inputs,
            Increments(leaves, finish, self._given.failing),
            leaves,
            has_slide=self._schedule is not None,
            finish=finish,
            value=self._value(),
            failing=self._given.failing,
        )
        return evaluation, evaluation.reset

    def _sessions(
        self, split: SplitQuery, reader: LogReader, schema: pa.Schema
    ) -> SessionEvaluation:
        [clause], [definition] = self._clauses, self._definitions
        leaves = [ChunkLeaf(leaf, definition.schema, self._duck) for leaf in split.leaves]
        finish = self._finish(split, leaves, schema)
        return SessionEvaluation(
            definition,
            reader,
            self._progress(clause, definition, GapEnds(clause.size)),
            Sessions(definition.schema, clause.per, clause.size),
            Increments(leaves, finish, failing_now := FailingRows()),
            finish=finish,
            failing_now=failing_now,
            bounds_schema=self._read_bounds.get(0),
            value=self._value(),
            failing=self._given.failing,
        )

    def _input(self, number: int, reader: LogReader) -> Input:
        clause, definition = self._clauses[number], self._definitions[number]
        ends = None if self._schedule is None else EndTimes(self._grid, self._schedule)
        progress = self._progress(clause, definition, ends)
        # Nothing leaves a landmark, so no row is too late for one.
        is_landmark = clause.kind is WindowKind.LANDMARK
        if self._epochs is not None:
            cuts = self._epochs.cuts(number, reader)
            return Input(reader, self._grid, progress, cuts, stream=definition.name)
        lateness = FOREVER if is_landmark else self._lateness()
        cuts = cuts_along(clause.axis, definition, Cutter(self._grid, lateness), reader)
        return Input(reader, self._grid, progress, cuts, stream=definition.name)

    def _progress(
        self, clause: WindowClause, definition: StreamDefinition, ends: Ends | None
    ) -> Progress:
        return Progress(
            clause.axis,
            ends,
            seconds_per_unit=definition.seconds_per_unit if clause.axis is Axis.SOURCE else 1.0,
            close_after=self._given.choices.close_after,
            since=self._given.clock.now(),
        )

    def _is_whole(self, split: SplitQuery) -> bool | None:
        """Return how windows are evaluated; None if that depends on their size."""
        if self._given.choices.evaluation != "measured":
            return self._given.choices.evaluation == "whole"
        if reads_tables(split):
            return False  # a table may change, and would then differ for old rows
        if self._clauses[0].axis is Axis.ROWS and self._clauses[0].size > MOST_ROWS:
            return False
        return None

    def _lateness(self) -> int | None:
        seconds = self._given.choices.allowed_lateness
        if seconds is None:
            return None
        return round(min(seconds * (self._definitions[0].units_per_second or 1), FOREVER))

    def _value(self) -> Callable[[int], WindowBound]:
        """Return the function that makes a bound from a time on the axis of the windows."""
        axis = self._clauses[0].axis
        if axis is Axis.ROWS:
            return int
        definition = self._definitions[0]
        is_arrival = axis is Axis.ARRIVAL or (axis is Axis.ORDINAL and definition.time is None)
        return _arrival if is_arrival else definition.time_value


def _arrival(microseconds: int) -> datetime:
    epoch = datetime(1970, 1, 1)  # noqa: DTZ001  # as a TIMESTAMP is
    return epoch + timedelta(microseconds=microseconds)
