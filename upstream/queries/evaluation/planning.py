"""How a query is to be evaluated: which evaluation, over which parts, and what cannot be.

    windows of the query            semantics    evaluation
    tumble, hop, rows               either       by window: partials, or whole if that is cheaper
    landmark                        either       one partial that grows
    latest, nothing else            either       the newest rows, evaluated anew
    no window                       append       each new row once, where each stands alone
    no window                       update       the newest row of each key

`latest` beside one of the others is a table whose rows change: a row of the stream meets those that
are the newest when it is evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from ...errors import StatementError, UnboundedQueryError, WindowError
from ...queries.sql.lending import prepare
from ...tables.newest_rows import NewestRows
from ..choices import OnError, Semantics, Way, check_name_of_choice, checked_seconds
from ..chunks.timeline import Timeline
from ..chunks.window_input import FOREVER, WindowInput
from ..pairs.join_leaf import JoinLeaf
from ..results.emission import Emission
from ..rewriting import split
from ..rewriting.early_aggregation import aggregated_early
from ..sql.tables_in_use import tables_read
from ..sql.unbounded_causes import cause_and_cure
from ..sql.window_clause import Axis, WindowClause, WindowKind
from .cheaper_way import MOST_ROWS
from .failing_rows import FailingRows
from .finish import Finish, MergedSchema
from .landmark import LandmarkEvaluation
from .newest import NewestEvaluation
from .row_wise import RowWiseEvaluation
from .side_table import SideTable
from .step_leaf import LeafEvaluation, StepLeaf
from .unfitting_choices import refuse_choices_of_windows, refuse_leaving_out, refuse_unfitting
from .windowed import WindowedEvaluation

if TYPE_CHECKING:
    from sqlglot import exp

    from ...clock import Clock
    from ...database.duck import Duck
    from ...database.prepared import Prepared
    from ...database.result_schema import ResultSchema
    from ...rows.stream_definition import StreamDefinition
    from ...rows.window_bound import WindowBound
    from ...tables.log import Log, LogReader
    from ..results.answer import Evaluation
    from ..rewriting.split_query import SplitQuery
    from ..sql import ParsedQuery

_SLIDING = (WindowKind.TUMBLE, WindowKind.HOP, WindowKind.ROWS)


@dataclass(frozen=True, slots=True)
class Choices:
    """What the user chose for a query, beside its text."""

    semantics: Semantics = "append"
    way: Way = "measured"
    allowed_lateness: float | timedelta | None = None
    close_after: float | timedelta | None = None
    emission: Emission = field(default_factory=Emission)
    on_error: OnError = "skip"

    def checked(self) -> Choices:
        """Return the same with times in seconds; ParameterError if it cannot be meant."""
        check_name_of_choice("semantics", self.semantics, Semantics)
        check_name_of_choice("evaluation", self.way, Way)
        check_name_of_choice("on_error", self.on_error, OnError)
        return replace(
            self,
            allowed_lateness=checked_seconds("allowed_lateness", self.allowed_lateness),
            close_after=checked_seconds("close_after", self.close_after),
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """A query that can be evaluated: how it is split, what evaluates it, and what that reads."""

    split: SplitQuery
    evaluation: Evaluation
    readers: tuple[LogReader, ...]
    schema: ResultSchema
    streams: frozenset[str]
    tables: frozenset[str]
    failing: FailingRows
    side_tables: tuple[SideTable, ...] = ()
    is_by_row: bool = False
    has_landmark: bool = False
    has_windows: bool = False


class Planner:
    """Finds how one query is to be evaluated."""

    def __init__(
        self,
        parsed: ParsedQuery,
        schema: ResultSchema,
        choices: Choices,
        *,
        definitions: Mapping[str, StreamDefinition],
        logs: Mapping[str, Log],
        duck: Duck,
        clock: Clock,
        stopwatch: Clock,
    ) -> None:
        self._parsed = parsed
        self._schema = schema
        self._choices = choices
        self._definitions = [definitions[window.stream] for window in parsed.windows]
        self._logs = [logs[window.stream] for window in parsed.windows]
        self._duck = duck
        self._clock = clock
        self._stopwatch = stopwatch
        self._failing = FailingRows()
        self._readers: list[LogReader] = []

    def plan(self) -> Plan:
        """Plan the query; QueryError if it cannot be evaluated in bounded memory."""
        try:
            return self._plan()
        except BaseException:
            for reader in self._readers:
                reader.close()  # else the streams would be kept for a query that is not there
            raise

    def _plan(self) -> Plan:
        kinds = {window.kind for window in self._parsed.windows}
        if kinds & set(_SLIDING) or WindowKind.LANDMARK in kinds:
            return self._plan_windows()
        refuse_choices_of_windows(self._parsed, self._choices)
        if self._choices.semantics == "append" and WindowKind.STREAM in kinds:
            return self._plan_row_wise()
        return self._plan_newest()

    # Windows

    def _plan_windows(self) -> Plan:
        windows = self._parsed.windows
        numbers = [
            i for i, window in enumerate(windows) if window.kind in (*_SLIDING, WindowKind.LANDMARK)
        ]
        self._require_one_window(numbers)
        query, side_tables = self._without_side_tables(numbers)
        split_query = self._split(query, numbers)
        clause = windows[numbers[0]]
        refuse_unfitting(self._parsed, numbers[0], self._choices)
        lateness = self._lateness(self._definitions[numbers[0]])
        inputs = [self._input(i, lateness) for i in numbers]
        if clause.kind is WindowKind.LANDMARK:
            evaluation: Evaluation = self._landmark(split_query, inputs, numbers)
        else:
            evaluation = self._sliding(split_query, inputs, numbers, lateness)
        is_landmark = clause.kind is WindowKind.LANDMARK
        return replace(
            self._plan_of(split_query, evaluation, [each.reader for each in inputs]),
            side_tables=side_tables,
            has_landmark=is_landmark,
            has_windows=True,
        )

    def _require_one_window(self, numbers: list[int]) -> None:
        """Refuse a query over windows that are not closed together."""
        first, *others = [
            (
                window.kind is WindowKind.LANDMARK,
                window.axis,
                window.size,
                window.slide,
                self._unit(i) if window.axis is Axis.SOURCE else None,
            )
            for i, window in ((i, self._parsed.windows[i]) for i in numbers)
        ]
        if any(other != first for other in others):
            raise WindowError(
                "the windows of one query have to be of one size and slide, over times of one kind",
                self._parsed.text,
                self._parsed.places[numbers[-1]],
                hint="make two queries, or give both streams the same window",
            )

    def _unit(self, number: int) -> object:
        return self._definitions[number].units_per_second

    def _reader(self, number: int) -> LogReader:
        reader = self._logs[number].reader()
        self._readers.append(reader)
        return reader

    def _input(self, number: int, lateness: int | None) -> WindowInput:
        return WindowInput(
            self._parsed.windows[number],
            self._definitions[number],
            self._reader(number),
            lateness=lateness,
            close_after=_seconds(self._choices.close_after),
            since=self._clock.now(),
        )

    def _sliding(
        self,
        split_query: SplitQuery,
        inputs: list[WindowInput],
        numbers: list[int],
        lateness: int | None,
    ) -> WindowedEvaluation:
        schemas = [self._definitions[i].schema for i in numbers]
        leaves: list[tuple[tuple[int, ...], LeafEvaluation]] = []
        for leaf in split_query.leaves:
            if len(leaf.windows) == 1:
                schema = schemas[leaf.windows[0]]
                evaluation: LeafEvaluation = StepLeaf(leaf, schema, self._duck, self._failing)
            else:
                of_leaf = {i: schemas[i] for i in leaf.windows}
                early = aggregated_early(leaf, of_leaf, self._duck)
                evaluation = JoinLeaf(leaf, early, of_leaf, self._duck, self._failing)
            leaves.append((leaf.windows, evaluation))
        clause = inputs[0].clause
        first = 0 if clause.axis is Axis.ROWS else None
        chunks = {f"chunk_{i}": schema for i, schema in enumerate(schemas)}
        return WindowedEvaluation(
            inputs,
            schemas,
            timeline=Timeline.of(clause, first=first),
            leaves=leaves,
            finish=self._finish(split_query, [leaf for _, leaf in leaves]),
            whole=prepare(self._duck, split_query.whole, chunks),
            is_whole=self._is_whole(split_query, clause),
            lateness=lateness,
            bound=self._bound(numbers[0]),
            clock=self._clock,
            stopwatch=self._stopwatch,
            failing=self._failing,
        )

    def _landmark(
        self, split_query: SplitQuery, inputs: list[WindowInput], numbers: list[int]
    ) -> LandmarkEvaluation:
        leaves: list[StepLeaf] = []
        for leaf in split_query.leaves:
            if leaf.groups is None or len(leaf.windows) > 1:
                why = leaf.reason or "its rows are in the result one by one"
                if len(leaf.windows) > 1:
                    why = "a row that comes may join any of them"
                raise UnboundedQueryError(
                    f"this query would have to keep all rows since the landmark: {why}",
                    self._parsed.text,
                    self._parsed.places[numbers[leaf.windows[0]]],
                    hint="aggregate the rows, or use a window that slides: hop(stream, …)",
                )
            schema = self._definitions[numbers[leaf.windows[0]]].schema
            leaves.append(StepLeaf(leaf, schema, self._duck, self._failing, cumulative=True))
        return LandmarkEvaluation(
            inputs,
            leaves,
            finish=self._finish(split_query, leaves),
            whole=self._prepared_whole(split_query, numbers),
            bound=self._bound(numbers[0]),
            failing=self._failing,
        )

    def _finish(self, split_query: SplitQuery, leaves: Sequence[LeafEvaluation]) -> Finish:
        merged = [MergedSchema(leaf.schema, leaf.merge()) for leaf in leaves]
        return Finish(split_query, merged, self._schema.inner, self._duck)

    def _is_whole(self, split_query: SplitQuery, clause: WindowClause) -> bool | None:
        """Return how windows are evaluated, None if that is to be measured."""
        from sqlglot import exp

        way = self._choices.way
        if way != "measured":
            return way == "whole"
        known = {f"chunk_{i}" for i in range(len(split_query.windows))}
        known |= {each.alias for each in split_query.whole.find_all(exp.CTE)}
        if any(table.name not in known for table in split_query.whole.find_all(exp.Table)):
            return False  # a table may change, and would then be another for the rows of old
        if clause.axis is Axis.ROWS and clause.size > MOST_ROWS:
            return False
        return None

    def _lateness(self, definition: StreamDefinition) -> int | None:
        seconds = _seconds(self._choices.allowed_lateness)
        if seconds is None:
            return None
        return round(min(seconds * (definition.units_per_second or 1), FOREVER))

    def _bound(self, number: int) -> Callable[[int], WindowBound]:
        """Return what makes a bound of a window of a number on its axis."""
        axis = self._parsed.windows[number].axis
        if axis is Axis.ROWS:
            return int
        return _arrival if axis is Axis.ARRIVAL else self._definitions[number].time_value

    # No windows that close

    def _plan_row_wise(self) -> Plan:
        numbers = [
            i for i, window in enumerate(self._parsed.windows) if window.kind is WindowKind.STREAM
        ]
        if self._choices.emission != Emission(keep=self._choices.emission.keep):
            refuse_leaving_out(self._parsed, numbers[0])
        query, side_tables = self._without_side_tables(numbers)
        split_query = self._split(query, numbers)
        if not split_query.row_wise:
            cause, cure = cause_and_cure(self._parsed)
            why = next((leaf.reason for leaf in split_query.leaves if leaf.reason), cause)
            raise UnboundedQueryError(
                "over a stream without a window, this query would have to keep all rows"
                + (f": {why}" if why else ""),
                self._parsed.text,
                self._parsed.places[numbers[0]],
                hint=cure,
            )
        readers = [self._reader(i) for i in numbers]
        evaluation = RowWiseEvaluation(
            readers,
            whole=self._prepared_whole(split_query, numbers),
            schema=self._schema.inner,
            failing=self._failing,
        )
        plan = self._plan_of(split_query, evaluation, readers)
        return replace(plan, side_tables=side_tables, is_by_row=True)

    def _plan_newest(self) -> Plan:
        windows = self._parsed.windows
        numbers = list(range(len(windows)))
        split_query = self._split(self._parsed.query, numbers)
        readers = [self._reader(i) for i in numbers]
        is_by_row = split_query.row_wise and all(
            window.kind is WindowKind.STREAM for window in windows
        )
        if is_by_row and self._choices.emission.emit == "changed":
            raise StatementError(
                "each result of this query is about news, so that there is nothing to compare",
                self._parsed.text,
                hint="leave emit='changed' out",
            )
        evaluation = NewestEvaluation(
            readers,
            [self._newest_rows(i) for i in numbers],
            whole=self._prepared_whole(split_query, numbers),
            schema=self._schema.inner,
            is_by_row=is_by_row,
            failing=self._failing,
        )
        return replace(self._plan_of(split_query, evaluation, readers), is_by_row=is_by_row)

    def _newest_rows(self, number: int) -> NewestRows:
        window = self._parsed.windows[number]
        return NewestRows(self._definitions[number], window.rows or 1, window.per or None)

    def _prepared_whole(self, split_query: SplitQuery, numbers: list[int]) -> Prepared:
        schemas = {f"chunk_{new}": self._definitions[i].schema for new, i in enumerate(numbers)}
        return prepare(self._duck, split_query.whole, schemas)

    # Parts

    def _plan_of(
        self, split_query: SplitQuery, evaluation: Evaluation, readers: Sequence[LogReader]
    ) -> Plan:
        return Plan(
            split_query,
            evaluation,
            tuple(readers),
            self._schema,
            frozenset(window.stream for window in self._parsed.windows),
            tables_read(self._parsed.query),
            self._failing,
        )

    def _split(self, query: exp.Query, numbers: list[int]) -> SplitQuery:
        windows = tuple(self._parsed.windows[i] for i in numbers)
        schemas = {f"chunk_{new}": self._definitions[i].schema for new, i in enumerate(numbers)}
        return split(query, windows, schemas, self._duck)

    def _without_side_tables(self, numbers: list[int]) -> tuple[exp.Query, tuple[SideTable, ...]]:
        """Make tables of the streams that are read as their newest rows, and number the others."""
        names = {f"chunk_{i}": f"chunk_{new}" for new, i in enumerate(numbers)}
        side_tables: list[SideTable] = []
        for i, window in enumerate(self._parsed.windows):
            if i in numbers:
                continue
            if window.kind is WindowKind.STREAM and self._choices.semantics == "append":
                raise UnboundedQueryError(
                    f"all rows of {window.stream} would have to be kept to meet those of a window",
                    self._parsed.text,
                    self._parsed.places[i],
                    hint=f"use latest({window.stream}), or give it the same window",
                )
            schema = self._definitions[i].schema
            side_table = SideTable(self._reader(i), self._newest_rows(i), schema, self._duck)
            names[f"chunk_{i}"] = side_table.name
            side_tables.append(side_table)
        return renamed_tables(self._parsed.query, names), tuple(side_tables)


def renamed_tables(query: exp.Query, names: Mapping[str, str]) -> exp.Query:
    """Return a query that reads tables under other names; what it calls them stays."""
    from sqlglot import exp

    query = query.copy()
    for table in list(query.find_all(exp.Table)):
        if table.name in names and not table.db:
            if not table.alias:
                table.set("alias", exp.TableAlias(this=exp.to_identifier(table.name, quoted=True)))
            table.set("this", exp.to_identifier(names[table.name], quoted=True))
    return query


def _seconds(value: float | timedelta | None) -> float | None:
    return value.total_seconds() if isinstance(value, timedelta) else value


def _arrival(microseconds: int) -> datetime:
    epoch = datetime(1970, 1, 1)  # noqa: DTZ001  # as a TIMESTAMP is
    return epoch + timedelta(microseconds=microseconds)
