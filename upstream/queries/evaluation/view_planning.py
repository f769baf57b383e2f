"""Plans a continuous view: which part runs once, which when rows arrive, and which when asked.

a stream          all its rows since the view was made: grouped into partials as they arrive
latest(stream)    the newest row of each key, read when the view is asked
another view      its result, read when the view is asked
a table           below a stream: as it was when the view was made; else read when it is asked
a window          the view answers for the newest window that has closed
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from ...errors import StatementError, UnboundedQueryError, UnknownColumnError, WindowError
from ..partials.grouped_state import GroupedState
from ..partials.leading_places import LeadingPlaces
from ..results.failing_rows import FailingRowsOfInputs
from ..rewriting.collations import may_collate
from ..rewriting.explain_view import explain_view
from ..rewriting.leading_rows import leading_rows
from ..rewriting.relations import renamed_tables, tables_in
from ..rewriting.split import split
from ..rewriting.split_query import SplitQuery
from ..rewriting.trial import Trial
from ..sql import check, check_constants, read_query
from ..sql.functions import functions_of
from ..sql.reading_outside import volatile_in
from ..sql.standing_needs import tables_read, with_tables_behind
from .changing_leaf import ChangeableLeaf, PresentLeaf, changeable
from .finish import Finish
from .finish_tables import finish_tables
from .planned_windows import refuse_epochs_in_view
from .planning import WITHOUT_END, Plan, Planner, definitions_of
from .signed_stream import no_such_column, obstacle_to_taking_away, signed_stream
from .state_planning import StatePlanner
from .stream_state import ALL
from .tables_version import TablesVersion
from .view import ViewEvaluation
from .view_sources import ViewSources, is_all_rows
from .view_state import ViewState
from .window_planning import Given

if TYPE_CHECKING:
    import pyarrow as pa

    from ...clock import Clock
    from ...database.duck import Duck
    from ...tables.engine_stream import EngineStream
    from ..choices import Choices
    from ..partials.grouped_state import Read
    from ..rewriting.split_query import Leaf
    from ..sql import ParsedQuery
    from ..sql.trees import Query
    from .changing_leaf import Followable
    from .finish_tables import FinishTables
    from .followed_rows import FollowedRows
    from .increments import Leaf as IncrementalLeaf
    from .signed_stream import SignedStream, SignOption
    from .stream_leaf import StreamLeaf
    from .stream_state import Share, StreamState
    from .view_state import Beginning
    from .view_table import ViewSource


@dataclass(frozen=True, slots=True)
class ViewPlan:
    """How a view is evaluated.

    `evaluation` is None if the view reads windows. `static_tables` are the tables below its
    streams, which must stay as they were. `explanation` says which part runs when. `state` is what
    can be saved; None if the view reads windows. `shares` are its parts in the states of streams.
    """

    plan: Plan
    evaluation: ViewEvaluation | None
    static_tables: frozenset[str] = frozenset()
    explanation: str = ""
    state: ViewState | None = None
    shares: tuple[Share, ...] = ()


def plan_view(
    text: str,
    choices: Choices,
    streams: Mapping[str, EngineStream],
    views: Mapping[str, ViewSource],
    *,
    name: str,
    states: Sequence[StreamState],
    duck: Duck,
    clock: Clock,
    stopwatch: Clock,
    tables_version: Callable[[], int],
    undo: list[Callable[[], None]],
    beginning: Beginning | None = None,
    sign: SignOption | None = None,
) -> ViewPlan:
    """Plan a view; raise QueryError if it cannot be maintained, or would need unbounded memory.

    The view uses those of the `states` of other views that are what it would keep itself. With a
    `beginning`, it has the saved state, and reads on from there.

    `undo` receives what the caller has to call, the last one first, if there will be no view:
    otherwise streams would keep rows for it.
    """
    definitions = definitions_of(streams, views)
    with duck.keeping():
        parsed = read_query(text, definitions, duck)
        signed = None
        if sign is not None:
            signed = signed_stream(sign, parsed, definitions)
            definitions = signed.without_signs(definitions)
            parsed = read_query(text, definitions, duck)  # names may have another meaning
        try:
            schema = check(parsed, definitions, duck)
        except UnknownColumnError as error:
            raise error if signed is None else no_such_column(error, signed) from None
        check_constants(parsed, definitions, duck)
        clocks = {"clock": clock, "stopwatch": stopwatch}
        given = Given.of(parsed, schema, choices, definitions, duck=duck, **clocks)
        if _has_windows(parsed):
            return ViewPlan(_noted(Planner(given, streams, views).plan(), undo), None)
        sources = ViewSources(
            parsed,
            streams,
            views,
            duck=duck,
            clock=clock,
            undo=undo,
            beginning=beginning,
            definitions=definitions,
        )
        planner = StatePlanner(
            name, sources, states, duck=duck, tables_version=tables_version, undo=undo
        )
        view = _ViewPlanner(given, sources, planner, tables_version, undo, signed=signed).plan()
        if beginning is not None and view.state is not None:
            view.state.restore(beginning.state)
        return view


def _noted(plan: Plan, undo: list[Callable[[], None]]) -> Plan:
    """Note how a plan is undone."""
    undo.append(plan.evaluation.close)
    undo += [reader.close for reader in plan.readers]
    undo += [each.close for each in plan.side_tables]
    return plan


def _has_windows(parsed: ParsedQuery) -> bool:
    """Tell whether a view reads windows that close; raise if it reads all rows as well."""
    refuse_epochs_in_view(parsed)
    others = [i for i, window in enumerate(parsed.windows) if is_all_rows(window)]
    closing_ones = [
        window
        for window in parsed.windows
        if window.kind not in WITHOUT_END and not is_all_rows(window)
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
        sources: ViewSources,
        states: StatePlanner,
        tables_version: Callable[[], int],
        undo: list[Callable[[], None]],
        *,
        signed: SignedStream | None,
    ) -> None:
        self._states = states
        self._signed = signed
        self._given = given
        self._duck = given.duck
        self._sources = sources
        self._tables_version = tables_version
        self._undo = undo
        self._changing: dict[str, Followable] = {}
        """The leaves that follow newest rows, by the relations of the leaves."""
        self._functions = functions_of(self._duck)

    def plan(self) -> ViewPlan:
        """Plan the view."""
        sources = self._sources
        split_query = self._followed() or self._split(sources.with_newest_as_tables())
        streams = [leaf for leaf in split_query.leaves if self._is_of_stream(leaf)]
        for leaf in streams:
            self._check_leaf(leaf)
        read = [name for leaf in streams for name in tables_read(leaf.partial)]
        below = with_tables_behind(frozenset(read), self._duck) if read else frozenset()
        shares, kept = self._shares(streams)
        split_query = replace(
            split_query, leaves=tuple(_as_kept(leaf, kept) for leaf in split_query.leaves)
        )
        followed = sources.followed()
        tables = self._finish_tables(split_query)
        own = {
            leaf.relation: self._leaf(leaf, followed)
            for leaf in split_query.leaves
            if leaf.relation not in kept
        }
        evaluation = self._evaluation(split_query, tables, shares, kept, own, followed=followed)
        self._undo.append(evaluation.close)
        query = self._given.parsed.query
        failing = FailingRowsOfInputs([share.state.failing for share in shares])
        plan = Plan(
            split_query,
            evaluation,
            tuple(shares),
            self._given.schema,
            frozenset(window.stream for window in self._given.parsed.windows),
            tables_read(query) | self._functions.own_in(query),
            failing,
            (*sources.sides, *followed),
        )
        macros = (self._functions.own_in(leaf.partial) for leaf in streams)
        state = ViewState(
            sources,
            [(leaf, kept[leaf.relation]) for leaf in streams],
            sources.definitions,
            schema=self._given.schema.inner,
            macros=frozenset[str]().union(*macros),
            failing=failing,
            duck=self._duck,
        )
        explained = self._explained(split_query, [*kept.values()], own)
        return ViewPlan(plan, evaluation, below, explained, state, tuple(shares))

    def _split(self, query: Query) -> SplitQuery:
        if not self._sources.windows:
            return SplitQuery((), (), query, None, query, row_wise=False)
        return split(query, self._sources.windows, self._sources.chunks, self._duck)

    def _followed(self) -> SplitQuery | None:
        """Return the query if some leaf follows newest rows, or None if none can."""
        if not self._sources.newest:
            return None
        split_query = self._split(self._sources.with_newest_as_chunks())
        first = len(self._sources.names)
        for leaf in split_query.leaves:
            if min(leaf.windows) < first and (len(leaf.windows) > 1 or not _is_bounded(leaf)):
                return None
        changing = {leaf.relation: self._followable(leaf) for leaf in split_query.leaves}
        self._changing = {name: how for name, how in changing.items() if how is not None}
        return split_query if self._changing else None

    def _is_of_stream(self, leaf: Leaf) -> bool:
        """Tell whether a leaf reads all rows of a stream."""
        return min(leaf.windows) < len(self._sources.names)

    def _followable(self, leaf: Leaf) -> Followable | None:
        """Return how a leaf follows newest rows, or None if it reads others or cannot follow."""
        if self._is_of_stream(leaf) or tables_in(leaf.partial) & self._lent():
            return None
        collates = may_collate(self._given.parsed.query, self._duck)
        trial = Trial(self._duck, self._sources.chunks, collates=collates)
        return changeable(leaf, trial.with_steps())

    def _sign_of(self, leaf: Leaf) -> str | None:
        """Return the column of signs by which rows of a leaf may be taken away, or None."""
        if self._signed is None or not self._is_of_stream(leaf):
            return None
        return self._signed.column if self._stream_of(leaf) == self._signed.stream else None

    def _lent(self) -> set[str]:
        return {each.name for each in self._sources.sides}

    # What cannot be maintained

    def _check_leaf(self, leaf: Leaf) -> None:
        """Refuse a leaf that would keep all rows, or joins rows with what changes later."""
        if len(leaf.windows) > 1 or not _is_bounded(leaf):
            self._refuse_keeping(leaf)
        if tables_in(leaf.partial) & self._lent():
            self._refuse_changing(leaf)
        macro = self._functions.reading_in(leaf.partial)
        if macro:
            self._refuse_macro(leaf, macro)
        volatile = volatile_in(leaf.partial, self._duck)
        if volatile:
            self._refuse_volatile(leaf, volatile)
        stream = self._stream_of(leaf)
        if self._sign_of(leaf) and (obstacle := obstacle_to_taking_away(leaf, stream)):
            number = self._sources.number_of(stream)
            self._given.parsed.refuse(StatementError, number, *obstacle)

    def _refuse_keeping(self, leaf: Leaf) -> None:
        stream = self._stream_of(leaf)
        why = leaf.reason or "the result contains its rows"
        hint = f"aggregate the rows of {stream}, or bound them by LIMIT, DISTINCT ON or "
        hint += "row_number() OVER (PARTITION BY … ORDER BY …) <= 3, "
        hint += f"or read latest({stream}) or a window such as hop({stream}, …)"
        if self._sign_of(leaf):
            hint = f"aggregate the rows of {stream} by sums and counts, or read latest({stream})"
        if volatile := self._functions.volatile_in(self._given.parsed.query):
            hint = f"make a view of {stream} without {volatile}(), and read that one here"
        if len(leaf.windows) > 1:
            why = "a new row of one stream may match any row of the others"
            hint = "group each stream in a subquery before they are joined"
        reason = f"this view would have to keep all rows of {stream}: {why}"
        number = self._sources.number_of(stream)
        self._given.parsed.refuse(UnboundedQueryError, number, reason, hint)

    def _refuse_changing(self, leaf: Leaf) -> None:
        stream = self._stream_of(leaf)
        what = " or ".join(dict.fromkeys(self._sources.changing))
        reason = f"rows of {stream} are combined with {what}, which changes after they arrived"
        hint = f"group {stream} in a subquery first, by the columns that are compared with {what}"
        number = self._sources.number_of(stream)
        self._given.parsed.refuse(StatementError, number, reason, hint)

    def _refuse_macro(self, leaf: Leaf, macro: str) -> None:
        stream = self._stream_of(leaf)
        reason = f"rows of {stream} are combined with what {macro}() reads, which may change"
        hint = f"write the query of {macro}() in its place"
        number = self._sources.number_of(stream)
        self._given.parsed.refuse(StatementError, number, reason, hint)

    def _refuse_volatile(self, leaf: Leaf, function: str) -> None:
        """Refuse a view of DuckDB that calls a volatile function; other calls are in no leaf."""
        stream = self._stream_of(leaf)
        reason = f"rows of {stream} are combined with a view that calls {function}(), "
        reason += "which returns another value each time"
        hint = f"group {stream} in a subquery first, and read the view beside it"
        number = self._sources.number_of(stream)
        self._given.parsed.refuse(StatementError, number, reason, hint)

    def _stream_of(self, leaf: Leaf) -> str:
        return self._sources.names[min(leaf.windows)]

    # Parts

    def _shares(self, leaves: Sequence[Leaf]) -> tuple[list[Share], dict[str, StreamLeaf]]:
        """Return a share in the state of each stream, and what evaluates these leaves, by relation.

        What a leaf reads of tables is computed now. A leaf over newest rows reads the tables
        themselves: it can be computed again.
        """
        shares: list[Share] = []
        kept: dict[str, StreamLeaf] = {}
        for number in range(len(self._sources.names)):
            of_stream = [leaf for leaf in leaves if leaf.windows == (number,)]
            sign = self._sign_of(of_stream[0]) if of_stream else None
            share, found = self._states.share(number, of_stream, sign=sign)
            shares.append(share)
            kept |= {leaf.relation: each for leaf, each in zip(of_stream, found, strict=True)}
        return shares, kept

    def _evaluation(
        self,
        split_query: SplitQuery,
        tables: FinishTables | None,
        shares: Sequence[Share],
        kept: Mapping[str, StreamLeaf],
        own: Mapping[str, IncrementalLeaf],
        *,
        followed: Sequence[FollowedRows],
    ) -> ViewEvaluation:
        schema, chunks = self._given.schema.inner, self._sources.chunks
        sides = (*self._sources.sides, *followed)
        read = self._version_of(
            split_query.finish,
            *(leaf.partial for leaf in split_query.leaves if not self._is_of_stream(leaf)),
        )
        leaves: list[IncrementalLeaf] = []
        merged: list[Callable[[], pa.Table]] = []
        for leaf in split_query.leaves:
            if leaf.relation in kept:
                each, state = kept[leaf.relation], shares[leaf.windows[0]].state
                reading = self._reading(leaf, split_query, tables)
                leaves.append(each.merge)
                merged.append(partial(state.merged, each, reading))
            else:
                leaves.append(own[leaf.relation])
                merged.append(partial(own[leaf.relation].merged, ALL))
        finish = Finish(
            split_query,
            leaves,
            schema,
            self._duck,
            chunks=chunks,
            bounds={},
            # a statement may also have changed a setting, such as the time zone
            version=lambda: (self._tables_version(), read(), *(each.version for each in sides)),
            tables=tables,
        )
        return ViewEvaluation(
            shares,
            [*own.values()],
            merged,
            finish=finish,
            side_tables=sides,
            tables_version=read,
        )

    def _finish_tables(self, query: SplitQuery) -> FinishTables | None:
        """Compute what the finish reads of tables, if it can read that instead."""
        schemas = {leaf.relation: leaf.schema for leaf in query.leaves if leaf.schema is not None}
        return finish_tables(
            query,
            self._duck,
            changing=self._lent(),
            lent={**self._sources.chunks, **schemas},
            version=self._version_of(query.finish),
            undo=self._undo,
        )

    def _leaf(self, leaf: Leaf, followed: Sequence[FollowedRows]) -> IncrementalLeaf:
        """Return what evaluates a leaf over newest rows."""
        chunks, first = self._sources.chunks, len(self._sources.names)
        tables = self._version_of(leaf.partial)
        made = self._changing.get(leaf.relation)
        if made is not None:
            rows = followed[leaf.windows[0] - first]
            schema = chunks[f"chunk_{leaf.windows[0]}"]
            follower = ChangeableLeaf(
                leaf, made, schema, self._duck, present=rows.numbered, version=tables
            )
            rows.followed_by(follower)
            return follower
        read = {f"chunk_{number}": followed[number - first] for number in leaf.windows}
        sources = (*read.values(), *self._sources.sides)
        return PresentLeaf(
            leaf,
            {name: chunks[name] for name in read},
            self._duck,
            rows={name: each.table for name, each in read.items()},
            version=lambda: (tables(), *(each.version for each in sources)),
        )

    def _version_of(self, *queries: Query) -> TablesVersion:
        """Return what tells whether queries may read something else than before."""
        return TablesVersion(queries, self._duck, self._tables_version)

    def _reading(self, leaf: Leaf, query: SplitQuery, tables: FinishTables | None) -> Read:
        """Return what reads the groups of a state that the finish of this view needs."""
        if self._sign_of(leaf) is not None:
            return GroupedState.table
        if tables is not None and leaf.relation in tables.relations:
            return lambda state: state.of_groups(tables.keys(leaf.relation))
        leading = leading_rows(leaf, query, Trial(self._duck, self._sources.chunks))
        if leading is None:
            return GroupedState.table
        places = LeadingPlaces(leading)
        return lambda state: state.first(places)

    def _explained(
        self,
        split_query: SplitQuery,
        kept: Sequence[StreamLeaf],
        own: Mapping[str, IncrementalLeaf],
    ) -> str:
        parts = [part for each in kept for part in each.planned.parts.made]
        static = [" joined with ".join(part.reads) for part in parts]
        beside = sorted(tables_read(split_query.finish))
        newest = self._sources.newest
        followed = {f"latest({each.stream})" for each in newest}
        beside = [*(each for each in self._sources.changing if each not in followed), *beside]
        comes_and_goes = [name for name, by in own.items() if isinstance(by, ChangeableLeaf)]
        present = [name for name, by in own.items() if isinstance(by, PresentLeaf)]
        signs = {
            leaf.relation: sign for leaf in split_query.leaves if (sign := self._sign_of(leaf))
        }
        is_lasting = self._version_of(split_query.finish).is_lasting
        return explain_view(
            split_query,
            static,
            beside,
            comes_and_goes,
            present,
            signs=signs,
            is_lasting=is_lasting,
        )


def _is_bounded(leaf: Leaf) -> bool:
    """Tell whether the partials of a leaf can be merged, so that not all rows are kept."""
    return leaf.groups is not None or leaf.keep is not None


def _as_kept(leaf: Leaf, kept: Mapping[str, StreamLeaf]) -> Leaf:
    """Return a leaf with the partial that is evaluated; it reads static parts and no tables."""
    if leaf.relation not in kept:
        return leaf
    names = {"chunk_0": f"chunk_{leaf.windows[0]}"}
    evaluated = renamed_tables(kept[leaf.relation].planned.leaf.partial, names)
    return replace(leaf, partial=evaluated)
