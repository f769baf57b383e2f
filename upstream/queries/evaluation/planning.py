"""Decides how a query is evaluated: by which class, over which parts, and what is refused.

    windows of the query            semantics    evaluation
    tumble, hop, rows               either       by window: partials, or in full if that is cheaper
    landmark                        either       one partial that grows
    latest, nothing else            either       the newest rows, evaluated anew
    no window                       append       each new row once, if each is independent
    no window, streams joined       append       each pair once, if they are close in time
    no window                       update       the newest row of each key

`latest` or a view beside one of the others is a table whose rows change: a row of the stream is
joined with the rows that are there when it is evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Never

from ...errors import StatementError, UnboundedQueryError, WindowError
from ...tables.appended import Lead
from ...tables.log import LogReader
from ...tables.newest_reader import NewestReader
from ...tables.newest_rows import NewestRows
from ..rewriting.new_pairs import NewPairs, new_pairs
from ..rewriting.not_incremental import NotIncrementalError
from ..rewriting.relations import renamed_tables
from ..rewriting.split import split
from ..sql import check, check_constants, check_key, read_query
from ..sql.lending import prepare
from ..sql.standing_needs import JOIN_OF_STREAMS, cause_and_cure, tables_read
from ..sql.window_bounds import WINDOW_END, bounds_name, bounds_schema
from ..sql.window_clause import PairingName, WindowKind
from .interval_planning import IntervalPlanner
from .newest import NewestEvaluation, SideTable
from .planned_windows import refuse_choices_of_windows, refuse_leaving_out
from .row_wise import RowWiseEvaluation
from .shared_windows import ReaderOfWindows
from .sharing import reads_streams_alone, windows_go_by_rows
from .view_table import ViewTable
from .window_planning import Given, WindowPlanner
from .windowed import WindowedEvaluation

if TYPE_CHECKING:
    import pyarrow as pa

    from ...clock import Clock
    from ...database.duck import Duck
    from ...database.prepared import Prepared
    from ...database.result_schema import ResultSchema
    from ...rows.stream_definition import StreamDefinition
    from ...tables.engine_stream import EngineStream
    from ..choices import Choices
    from ..results.answer import Evaluation
    from ..results.failing_rows import Failures
    from ..rewriting.split_query import SplitQuery
    from ..sql.trees import Query
    from .epoch_feed import EpochFeed
    from .refreshed import Reading, Refreshed
    from .shared_windows import Families
    from .view_table import ViewSource

WITHOUT_END: Final = frozenset({WindowKind.LATEST, WindowKind.STREAM, WindowKind.VIEW})
"""The kinds of windows that never close."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A query that can be evaluated: how it is split, what evaluates it, and what that reads.

    `streams` are the names of streams and views. `reset` begins landmarks again. `bound` is the
    type of the bounds of windows, if there are any. `leads` returns how far each reader is ahead of
    the others, if their rows wait for one another. `feed` says from which rows on epochs can be
    read again. `incomplete` says why a result is not the whole answer; it is "" if each one is.
    `is_shareable` says that its results depend on nothing but the rows of its streams.
    """

    split: SplitQuery
    evaluation: Evaluation
    readers: tuple[Reading, ...]
    schema: ResultSchema
    streams: frozenset[str]
    tables: frozenset[str]
    failing: Failures
    side_tables: tuple[Refreshed, ...] = ()
    reset: Callable[[], None] | None = None
    bound: pa.DataType | None = None
    leads: Callable[[], Sequence[Lead]] | None = None
    feed: EpochFeed | None = None
    incomplete: str = ""
    is_shareable: bool = False

    @property
    def works_ahead(self) -> bool:
        """Whether rows are better taken in before results are requested."""
        windows = self.split.windows
        return bool(windows) and windows[0].kind is WindowKind.EPOCHS

    def lead_of(self, stream: str) -> Lead:
        """Return how far a stream is ahead of the others, as of the last evaluation."""
        if self.leads is None:
            return Lead()
        names = [window.stream for window in self.split.windows]
        found = [lead for name, lead in zip(names, self.leads(), strict=False) if name == stream]
        return max(found, default=Lead())

    def paused(self) -> list[LogReader]:
        """Return the readers of streams that are not read on until others have caught up."""
        return [each for each in self.readers if isinstance(each, LogReader) and each.is_paused]

    def close(self) -> None:
        """Stop reading the streams, and release what is in DuckDB."""
        for reader in self.readers:
            reader.close()
        for side_table in self.side_tables:
            side_table.close()
        self.evaluation.close()


def plan(
    text: str,
    choices: Choices,
    streams: Mapping[str, EngineStream],
    views: Mapping[str, ViewSource],
    *,
    duck: Duck,
    clock: Clock,
    stopwatch: Clock,
    families: Families | None = None,
) -> Plan:
    """Plan a query; raise QueryError if it cannot stand or would need unbounded memory.

    It may share its windows with queries of these families.
    """
    definitions = definitions_of(streams, views)
    with duck.keeping():
        parsed = read_query(text, definitions, duck)
        schema = check(parsed, definitions, duck)  # first of all finds names that do not exist
        if all(window.kind is WindowKind.VIEW for window in parsed.windows):
            raise StatementError(
                "a standing query must read a stream, and this one reads none",
                text,
                hint="name a stream, or use sql() for a one-time query",
            )
        check_constants(parsed, definitions, duck)
        check_key(parsed, definitions, choices.semantics, duck)
        given = Given.of(
            parsed, schema, choices, definitions, duck=duck, clock=clock, stopwatch=stopwatch
        )
        return Planner(given, streams, views, families).plan()


def definitions_of(
    streams: Mapping[str, EngineStream], views: Mapping[str, ViewSource]
) -> dict[str, StreamDefinition]:
    """Return the definitions of streams and views, by name."""
    found = {name: stream.definition for name, stream in streams.items()}
    return found | {name: view.definition for name, view in views.items()}


class Planner:
    """Plans one query over streams, and views as tables beside them."""

    def __init__(
        self,
        given: Given,
        streams: Mapping[str, EngineStream],
        views: Mapping[str, ViewSource],
        families: Families | None = None,
    ) -> None:
        self._given = given
        self._families = families
        self._parsed = given.parsed
        self._schema = given.schema
        self._choices = given.choices
        self._definitions = given.definitions
        self._streams = streams
        self._views = views
        self._duck = given.duck
        self._failing = given.failing
        self._undo: list[Callable[[], None]] = []

    def plan(self) -> Plan:
        """Plan the query; raise QueryError if it would need unbounded memory."""
        try:
            return self._plan()
        except BaseException:
            for undo in self._undo:
                undo()  # otherwise streams would keep rows for a query that does not exist
            raise

    def _plan(self) -> Plan:
        kinds = {window.kind for window in self._parsed.windows}
        if kinds - WITHOUT_END:
            return self._plan_windows()
        if self._choices.semantics == "append" and WindowKind.STREAM in kinds:
            return self._plan_row_wise()
        refuse_choices_of_windows(self._parsed, self._choices)
        return self._plan_newest()

    def _plan_windows(self) -> Plan:
        numbers = [
            i for i, window in enumerate(self._parsed.windows) if window.kind not in WITHOUT_END
        ]
        windows = WindowPlanner(self._given, numbers)
        query, side_tables = self._without_side_tables(numbers)
        found_pairs = self._new_pairs(query, numbers)
        pairs = found_pairs if isinstance(found_pairs, NewPairs) else None
        windows.why_buffered = found_pairs if isinstance(found_pairs, str) else ""
        split_query = pairs.split if pairs else self._split(query, numbers, windows.bounds)
        readers = [self._reader(i) for i in numbers]
        reset: Callable[[], None] | None = None
        evaluation: Evaluation
        if pairs is None:
            evaluation, reset = windows.evaluation(split_query, readers, self._schema.inner)
        else:
            evaluation = windows.of_pairs(pairs, readers, self._schema.inner)
        found = self._plan_of(split_query, evaluation, readers, side_tables, reset)
        first = self._parsed.windows[numbers[0]]
        bound = bounds_schema(first, self._definitions[numbers[0]]).field(WINDOW_END).type
        incomplete = "each result contains only new pairs" if pairs else ""
        if first.kind is WindowKind.SESSION:
            incomplete = "each result is one session"
        windowed = evaluation if isinstance(evaluation, WindowedEvaluation) else None
        leads, feed = (windowed.leads, windowed.feed) if windowed else (None, None)
        is_shareable = windows_go_by_rows(self._parsed, self._choices) and self._is_alone(found)
        found = replace(found, bound=bound, incomplete=incomplete, leads=leads, feed=feed)
        found = replace(found, is_shareable=is_shareable)
        return self._together(found, windows, readers) if is_shareable else found

    def _new_pairs(self, query: Query, numbers: Sequence[int]) -> NewPairs | str:
        """Return the query over new pairs or, if epochs do not answer with these, the reason."""
        windows = [self._parsed.windows[i] for i in numbers]
        if windows[0].kind is not WindowKind.EPOCHS or len(windows) == 1:
            return ""
        found = new_pairs(query, windows, self._schemas_of(numbers), self._duck)
        if isinstance(found, NewPairs):
            return found
        if any(each.pairing is PairingName.WINDOW for each in windows):
            hint = "leave pairing out: then the query is over the chunks that the inputs keep"
            reason = f"the pairs of this query cannot be told apart: {found}"
            self._parsed.refuse(WindowError, numbers[0], reason, hint)
        return found

    def _schemas_of(self, numbers: Sequence[int]) -> dict[str, pa.Schema]:
        """Return the schemas of chunks by their new numbers."""
        lent = self._given.schemas
        return {f"chunk_{new}": lent[f"chunk_{i}"] for new, i in enumerate(numbers)}

    def _together(self, alone: Plan, planner: WindowPlanner, readers: Sequence[LogReader]) -> Plan:
        """Let the query share its windows with others, if there can be any."""
        families = self._families
        if families is None:
            return alone
        made = planner.of_family(alone.split, alone.evaluation, readers[0], self._schema.inner)
        if made is None:
            return alone
        family, query = made
        self._undo[:] = [query.close]  # which closes the reader
        families.join(family, query, planner.shared)
        return replace(alone, evaluation=query, readers=(ReaderOfWindows(query),))

    # No windows that close

    def _plan_row_wise(self) -> Plan:
        numbers = [
            i for i, window in enumerate(self._parsed.windows) if window.kind is WindowKind.STREAM
        ]
        if (self._choices.emit, self._choices.emit_every) != ("slide", None):
            refuse_leaving_out(self._parsed, numbers[0])
        query, side_tables = self._without_side_tables(numbers)
        split_query = self._split(query, numbers)
        if not split_query.row_wise:
            return self._plan_joined(split_query, numbers, side_tables)
        refuse_choices_of_windows(self._parsed, self._choices)
        readers = [self._reader(i) for i in numbers]
        evaluation = RowWiseEvaluation(
            readers,
            whole=self._prepared_whole(split_query, numbers),
            schema=self._schema.inner,
            failing=self._failing,
        )
        found = self._plan_of(split_query, evaluation, readers, side_tables)
        return replace(found, incomplete="each result contains only new rows")

    def _plan_joined(
        self,
        split_query: SplitQuery,
        numbers: list[int],
        side_tables: tuple[SideTable | ViewTable, ...],
    ) -> Plan:
        """Plan a join of streams, or refuse a query that would have to keep all rows."""
        try:
            planner = IntervalPlanner(self._given, numbers, split_query.whole)
        except NotIncrementalError as error:
            self._refuse_keeping_all(split_query, numbers, error.reason)
        readers = [self._reader(i) for i in numbers]
        evaluation = planner.evaluation(readers)
        found = self._plan_of(split_query, evaluation, readers, side_tables)
        words = "each result contains only new rows"
        return replace(found, incomplete=words, leads=evaluation.leads)

    def _refuse_keeping_all(
        self, split_query: SplitQuery, numbers: list[int], of_join: str
    ) -> Never:
        """Refuse a query with the reason; `of_join` is the one that it has as a join of streams."""
        refuse_choices_of_windows(self._parsed, self._choices)
        cause, cure = cause_and_cure(self._parsed)
        why = next((leaf.reason for leaf in split_query.leaves if leaf.reason), cause)
        if cause == JOIN_OF_STREAMS:
            why = f"{cause}: {of_join}"
        reason = "without a window, this query would have to keep all rows of the stream"
        reason += f": {why}" if why else ""
        self._parsed.refuse(UnboundedQueryError, numbers[0], reason, cure)

    def _plan_newest(self) -> Plan:
        windows = self._parsed.windows
        numbers = [i for i, window in enumerate(windows) if window.kind is not WindowKind.VIEW]
        query, side_tables = self._without_side_tables(numbers)
        split_query = self._split(query, numbers)
        newest = [self._newest_reader(i) for i in numbers]
        is_by_row = split_query.row_wise and all(
            windows[i].kind is WindowKind.STREAM for i in numbers
        )
        if is_by_row and self._choices.emit == "changed":
            raise StatementError(
                "each result of this query contains only news, so results cannot be compared",
                self._parsed.text,
                hint="leave emit='changed' out",
            )
        evaluation = NewestEvaluation(
            newest,
            whole=self._prepared_whole(split_query, numbers),
            schema=self._schema.inner,
            is_by_row=is_by_row,
            failing=self._failing,
        )
        readers = [each.reader for each in newest]
        found = self._plan_of(split_query, evaluation, readers, side_tables)
        if is_by_row:
            return replace(found, incomplete="each result contains only news")
        is_shareable = self._choices.semantics == "update" and self._is_alone(found)
        return replace(found, is_shareable=is_shareable)

    def _newest_reader(self, number: int) -> NewestReader:
        window = self._parsed.windows[number]
        newest = NewestRows(
            self._definitions[number],
            window.rows or 1,
            window.per or None,
            expire_after=window.expire_after,
        )
        return NewestReader(self._reader(number, follows_deletions=True), newest)

    def _reader(self, number: int, *, follows_deletions: bool = False) -> LogReader:
        window = self._parsed.windows[number]
        reader = self._streams[window.stream].log.reader(
            follows_deletions=follows_deletions,
            follows_punctuations=window.kind is WindowKind.EPOCHS,
        )
        self._undo.append(reader.close)
        return reader

    def _prepared_whole(self, split_query: SplitQuery, numbers: list[int]) -> Prepared:
        schemas = {f"chunk_{new}": self._definitions[i].schema for new, i in enumerate(numbers)}
        return prepare(self._duck, split_query.whole, schemas)

    # Parts

    def _plan_of(
        self,
        split_query: SplitQuery,
        evaluation: Evaluation,
        readers: Sequence[LogReader],
        side_tables: tuple[Refreshed, ...] = (),
        reset: Callable[[], None] | None = None,
    ) -> Plan:
        return Plan(
            split_query,
            evaluation,
            tuple(readers),
            self._schema,
            frozenset(window.stream for window in self._parsed.windows),
            tables_read(self._parsed.query),
            self._failing,
            side_tables,
            reset,
        )

    def _is_alone(self, found: Plan) -> bool:
        """Tell whether nothing is read beside the windows."""
        is_plain = not found.side_tables and found.reset is None
        return is_plain and reads_streams_alone(self._parsed, self._duck)

    def _split(
        self,
        query: Query,
        numbers: Sequence[int],
        bounds: Mapping[str, pa.Schema] | None = None,
    ) -> SplitQuery:
        windows = tuple(self._parsed.windows[i] for i in numbers)
        schemas = self._schemas_of(numbers)
        return split(query, windows, {**schemas, **(bounds or {})}, self._duck)

    def _without_side_tables(
        self, numbers: list[int]
    ) -> tuple[Query, tuple[SideTable | ViewTable, ...]]:
        """Make tables of views and of streams whose newest rows are read; number the others."""
        names = {f"chunk_{i}": f"chunk_{new}" for new, i in enumerate(numbers)}
        names |= {bounds_name(i): bounds_name(new) for new, i in enumerate(numbers)}
        side_tables: list[SideTable | ViewTable] = []
        for i, window in enumerate(self._parsed.windows):
            if i in numbers:
                continue
            if window.kind is WindowKind.VIEW:
                side_tables.append(ViewTable(self._views[window.stream], self._duck))
                self._undo.append(side_tables[-1].close)
                names[f"chunk_{i}"] = side_tables[-1].name
                continue
            if window.kind is WindowKind.STREAM and self._choices.semantics == "append":
                stream = window.stream
                is_epochs = self._parsed.windows[numbers[0]].kind is WindowKind.EPOCHS
                what = "epochs" if is_epochs else "a window"
                reason = f"all rows of {stream} would have to be kept for the join with {what}"
                hint = "give it epochs, too, " if is_epochs else "give it the same window, "
                hint += f"or use latest({stream})"
                self._parsed.refuse(UnboundedQueryError, i, reason, hint)
            schema = self._definitions[i].schema
            side_table = SideTable(self._newest_reader(i), schema, self._duck)
            self._undo[-1] = side_table.close  # which closes the reader
            names[f"chunk_{i}"] = side_table.name
            side_tables.append(side_table)
        return renamed_tables(self._parsed.query, names), tuple(side_tables)
