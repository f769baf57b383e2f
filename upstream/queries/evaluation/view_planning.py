"""Plans a continuous view: which part runs once, which when rows arrive, and which when asked.

a stream          all its rows since the view was made: grouped into partials as they arrive
latest(stream)    the newest row of each key, read when the view is asked
another view      its result, read when the view is asked
a table           below a stream: as it was when the view was made; else read when it is asked
a window          the view answers for the newest window that has closed
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING

from ...errors import StatementError, UnboundedQueryError, WindowError
from ...held_interrupt import HeldInterrupt
from ...tables.newest_rows import NewestRows
from ..results.failing_rows import FailingRows
from ..rewriting.relations import renamed_tables, tables_in
from ..rewriting.split import split
from ..rewriting.split_query import SplitQuery
from ..rewriting.static_parts import as_table, with_static_parts
from ..rewriting.trial import Trial
from ..sql import check, check_constants, read_query
from ..sql.functions import functions_of
from ..sql.lending import prepare
from ..sql.standing_needs import reads_functions, tables_read
from ..sql.trees import without_order
from ..sql.window_clause import WindowClause, WindowKind
from .finish import Finish
from .increments import ChunkLeaf, Increments
from .newest import SideTable
from .planning import WITHOUT_END, Plan, Planner, definitions_of
from .view import ViewEvaluation
from .view_table import ViewTable
from .window_planning import Given

if TYPE_CHECKING:
    import pyarrow as pa

    from ...clock import Clock
    from ...database.duck import Duck
    from ...tables.engine_stream import EngineStream
    from ...tables.log import LogReader
    from ..choices import Choices
    from ..rewriting.split_query import Leaf
    from ..rewriting.static_parts import StaticPart
    from ..sql import ParsedQuery
    from ..sql.trees import Query
    from .view_table import ViewSource


@dataclass(frozen=True, slots=True)
class ViewPlan:
    """How a view is evaluated.

    `static_tables` are the tables below its streams, which must stay as they were; `static_parts`
    names what was computed of them. `beside` names what the upper part reads besides partials:
    tables, views and newest rows. `evaluation` is None if the view reads windows.
    """

    plan: Plan
    evaluation: ViewEvaluation | None
    static_tables: frozenset[str] = frozenset()
    static_parts: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    release: Callable[[], None] = lambda: None


def plan_view(
    text: str,
    choices: Choices,
    streams: Mapping[str, EngineStream],
    views: Mapping[str, ViewSource],
    *,
    duck: Duck,
    clock: Clock,
    stopwatch: Clock,
    tables_version: Callable[[], int],
    undo: list[Callable[[], None]],
) -> ViewPlan:
    """Plan a view; raise QueryError if it cannot be maintained, or would need unbounded memory.

    `undo` receives what the caller has to call, the last one first, if there will be no view:
    otherwise streams would keep rows for it.
    """
    definitions = definitions_of(streams, views)
    with duck.keeping():
        parsed = read_query(text, definitions, duck)
        schema = check(parsed, definitions, duck)
        check_constants(parsed, definitions, duck)
        of_windows = [definitions[window.stream] for window in parsed.windows]
        given = Given(parsed, schema, choices, of_windows, duck, clock, stopwatch, FailingRows())
        if _has_windows(parsed):
            return ViewPlan(_noted(Planner(given, streams, views).plan(), undo), None)
        return _ViewPlanner(given, streams, views, tables_version, undo).plan()


def _noted(plan: Plan, undo: list[Callable[[], None]]) -> Plan:
    """Note how a plan is undone."""
    undo += [plan.evaluation.close, *(each.close for each in (*plan.readers, *plan.side_tables))]
    return plan


def _is_all_rows(window: WindowClause) -> bool:
    is_landmark = window.kind is WindowKind.LANDMARK and not window.slide
    return is_landmark or window.kind is WindowKind.STREAM


def _has_windows(parsed: ParsedQuery) -> bool:
    """Tell whether a view reads windows that close; raise if it reads all rows as well."""
    others = [i for i, window in enumerate(parsed.windows) if _is_all_rows(window)]
    closing_ones = [
        window
        for window in parsed.windows
        if window.kind not in WITHOUT_END and not _is_all_rows(window)
    ]
    if closing_ones and others:
        stream = parsed.windows[others[0]].stream
        reason = f"a view over {closing_ones[0].kind}(…) cannot also read all rows of {stream}"
        hint = f"make a view of {stream} first, and read that view here"
        parsed.refuse(WindowError, others[0], reason, hint)
    return bool(closing_ones)


class _ViewPlanner:
    """Plans a view over all rows of streams, newest rows, views and tables."""

    def __init__(
        self,
        given: Given,
        streams: Mapping[str, EngineStream],
        views: Mapping[str, ViewSource],
        tables_version: Callable[[], int],
        undo: list[Callable[[], None]],
    ) -> None:
        self._given = given
        self._parsed = given.parsed
        self._duck = given.duck
        self._streams = streams
        self._views = views
        self._tables_version = tables_version
        self._undo = undo
        self._parts: list[StaticPart] = []
        self._functions = functions_of(self._duck)

    def plan(self) -> ViewPlan:
        """Plan the view."""
        query, side_tables, names = self._renamed()
        split_query = self._split(query, names)
        self._check_leaves(split_query, {each.name for each in side_tables})
        below = frozenset(name for leaf in split_query.leaves for name in tables_read(leaf.partial))
        leaves = [self._with_static_parts(leaf, names, side_tables) for leaf in split_query.leaves]
        split_query = replace(split_query, leaves=tuple(leaves))
        readers = [self._reader(name) for name in names]
        finish_tables = tables_read(split_query.finish)
        evaluation = self._evaluation(split_query, names, readers, side_tables)
        self._undo.append(evaluation.close)
        plan = Plan(
            split_query,
            evaluation,
            tuple(readers),
            self._given.schema,
            frozenset(window.stream for window in self._parsed.windows),
            tables_read(self._parsed.query) | self._functions.own_in(self._parsed.query),
            self._given.failing,
            tuple(side_tables),
        )
        texts = tuple(part.text for part in self._parts)
        beside = (*self._changing(), *sorted(finish_tables))
        return ViewPlan(plan, evaluation, below, texts, beside, self._drop_parts)

    def _renamed(self) -> tuple[Query, list[SideTable | ViewTable], list[str]]:
        """Return the query over one chunk per stream, its side tables, and the streams."""
        names: list[str] = []
        side_tables: list[SideTable | ViewTable] = []
        renames: dict[str, str] = {}
        for i, window in enumerate(self._parsed.windows):
            if _is_all_rows(window):
                if window.stream not in names:
                    names.append(window.stream)
                renames[f"chunk_{i}"] = f"chunk_{names.index(window.stream)}"
            else:
                side_tables.append(self._side_table(i))
                renames[f"chunk_{i}"] = side_tables[-1].name
        return without_order(renamed_tables(self._parsed.query, renames)), side_tables, names

    def _side_table(self, number: int) -> SideTable | ViewTable:
        window = self._parsed.windows[number]
        made: SideTable | ViewTable
        if window.kind is WindowKind.VIEW:
            with HeldInterrupt():
                made = ViewTable(self._views[window.stream], self._duck)
                self._undo.append(made.close)
            return made
        definition = self._streams[window.stream].definition
        newest = NewestRows(definition, window.rows or 1, window.per or None)
        with HeldInterrupt():
            rows, reader = self._streams[window.stream].newest_and_reader()
            self._undo.append(reader.close)
        if {*window.per} <= {*definition.key}:
            newest.add(rows)
        with HeldInterrupt():
            made = SideTable(reader, newest, definition.schema, self._duck)
            self._undo[-1] = made.close  # which closes the reader
        return made

    def _reader(self, name: str) -> LogReader:
        with HeldInterrupt():
            reader = self._streams[name].log.reader()
            self._undo.append(reader.close)
        return reader

    def _split(self, query: Query, names: Sequence[str]) -> SplitQuery:
        if not names:
            return SplitQuery((), (), query, None, query, row_wise=False)
        windows = tuple(WindowClause(WindowKind.LANDMARK, name) for name in names)
        return split(query, windows, self._schemas(names), self._duck)

    def _schemas(self, names: Sequence[str]) -> dict[str, pa.Schema]:
        return {f"chunk_{i}": self._streams[name].definition.schema for i, name in enumerate(names)}

    # What cannot be maintained

    def _check_leaves(self, split_query: SplitQuery, changing: set[str]) -> None:
        """Refuse leaves that would keep all rows, or join rows with what changes later."""
        for leaf in split_query.leaves:
            if len(leaf.windows) > 1 or leaf.groups is None:
                self._refuse_keeping(leaf, split_query)
            beside = tables_in(leaf.partial) & changing
            if beside:
                self._refuse_changing(leaf, split_query)
            macro = self._functions.reading_in(leaf.partial)
            if macro:
                self._refuse_macro(leaf, split_query, macro)

    def _refuse_keeping(self, leaf: Leaf, split_query: SplitQuery) -> None:
        stream = split_query.windows[leaf.windows[0]].stream
        why = leaf.reason or "the result contains its rows"
        hint = f"aggregate the rows of {stream}, or read latest({stream}) or a window such as "
        hint += f"hop({stream}, …)"
        if len(leaf.windows) > 1:
            why = "a new row of one stream may match any row of the others"
            hint = "group each stream in a subquery before they are joined"
        reason = f"this view would have to keep all rows of {stream}: {why}"
        self._parsed.refuse(UnboundedQueryError, self._number(stream), reason, hint)

    def _refuse_changing(self, leaf: Leaf, split_query: SplitQuery) -> None:
        stream = split_query.windows[leaf.windows[0]].stream
        what = " or ".join(dict.fromkeys(self._changing()))
        reason = f"rows of {stream} are combined with {what}, which changes after they arrived"
        hint = f"group {stream} in a subquery first, by the columns that are compared with {what}"
        self._parsed.refuse(StatementError, self._number(stream), reason, hint)

    def _refuse_macro(self, leaf: Leaf, split_query: SplitQuery, macro: str) -> None:
        stream = split_query.windows[leaf.windows[0]].stream
        reason = f"rows of {stream} are combined with what {macro}() reads, which may change"
        hint = f"write the query of {macro}() in its place"
        self._parsed.refuse(StatementError, self._number(stream), reason, hint)

    def _changing(self) -> list[str]:
        """Return what the view reads that is neither all rows of a stream nor a table."""
        return [
            each.stream if each.kind is WindowKind.VIEW else f"latest({each.stream})"
            for each in self._parsed.windows
            if not _is_all_rows(each)
        ]

    def _number(self, stream: str) -> int:
        """Return the number of the first window over all rows of a stream."""
        return next(
            i
            for i, window in enumerate(self._parsed.windows)
            if window.stream == stream and _is_all_rows(window)
        )

    # Parts

    def _with_static_parts(
        self, leaf: Leaf, names: Sequence[str], side_tables: Sequence[SideTable | ViewTable]
    ) -> Leaf:
        """Compute what the leaf reads of tables, and let it read that instead."""
        trial = Trial(self._duck, self._schemas(names))
        changing = {each.name for each in side_tables}
        leaf, parts = with_static_parts(leaf, trial, self._duck.new_name, changing)
        if parts:
            self._undo.append(self._drop_parts)
        for part in parts:
            self._parts.append(part)  # even if it is not computed to the end
            with closing(prepare(self._duck, as_table(part), {})) as statement:
                statement.run()
        return leaf

    def _drop_parts(self) -> None:
        while self._parts:
            self._duck.drop_own_table(self._parts[-1].name)
            self._parts.pop()

    def _evaluation(
        self,
        split_query: SplitQuery,
        names: Sequence[str],
        readers: Sequence[LogReader],
        side_tables: Sequence[SideTable | ViewTable],
    ) -> ViewEvaluation:
        schemas = self._schemas(names)
        leaves = [
            ChunkLeaf(leaf, schemas[f"chunk_{leaf.windows[0]}"], self._duck, cumulative=True)
            for leaf in split_query.leaves
        ]
        schema = self._given.schema.inner
        finish = Finish(split_query, leaves, schema, self._duck, chunks=schemas, bounds={})
        return ViewEvaluation(
            readers,
            Increments(leaves, finish, self._given.failing),
            finish=finish,
            side_tables=side_tables,
            tables_version=self._version_of(split_query.finish),
            failing=self._given.failing,
        )

    def _version_of(self, finish: Query) -> Callable[[], int]:
        """Return what tells whether a finish may see something else than before.

        Nothing tells when a file changes, or the clock: such a finish runs whenever it is asked.
        """
        tables = tables_read(finish)
        may_read_files = reads_functions(finish) or not all(map(str.isidentifier, tables))
        if may_read_files or self._functions.volatile_in(finish):
            return count().__next__
        if tables or self._functions.own_in(finish):
            return self._tables_version
        return lambda: 0
