"""What an engine has under names: streams, views, and the standing queries that read them.

What a view or a query reads cannot be dropped or replaced. A stream that a query fills has the
query's name, and nothing else writes to it.
"""

from __future__ import annotations

import weakref
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Protocol

from ..errors import (
    CommitError,
    NameTakenError,
    ParameterError,
    StatementError,
    UnknownNameError,
)
from ..tables.appended import Lead
from ..tables.engine_stream import Streams
from ..tables.log import Moment
from .scheduling import Runnable, ServedTogether
from .sql.names import found
from .sql.source_text import words_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set

    import pyarrow as pa

    from ..rows.stream_definition import StreamDefinition
    from ..tables.engine_stream import EngineStream
    from ..tables.relation import Condition, Relation, TimeRange
    from .continuous_query import ContinuousQuery
    from .evaluated_query import EvaluatedQuery
    from .maintained_view import MaintainedView


_MANY_ROWS: Final = 4_096
"""From so many waiting rows on, the thread that appends takes them into epochs. Smaller epochs are
evaluated in full."""


class Plan(Runnable, Protocol):
    """A Python plan, as far as an engine serves it."""

    @property
    def is_closed(self) -> bool:
        """Whether it was closed."""

    def close(self) -> object:
        """Stop it."""


class FilledRelation:
    """A stream that a query fills, as a relation: its query is evaluated before it is read."""

    __slots__ = ("_query", "_stream")

    def __init__(self, stream: EngineStream, query: ContinuousQuery) -> None:
        self._stream = stream
        self._query = query

    @property
    def definition(self) -> StreamDefinition:
        """The columns, the key and the time."""
        return self._stream.definition

    def scan(
        self,
        columns: Sequence[str] | None = None,
        conditions: Sequence[Condition] = (),
        between: TimeRange | None = None,
    ) -> pa.Table:
        """Return the newest row of each key, in the order of arrival."""
        if not self._query.is_closed:
            self._query.evaluate()
        return self._stream.scan(columns, conditions, between)


class Catalogue:
    """The streams, views, standing queries and Python plans of an engine, by name.

    Mappings are replaced as a whole, so any thread may read them while another one defines or
    closes something under the engine's lock.
    """

    __slots__ = (
        "_evaluated",
        "_fillers",
        "_moment",
        "_numbered",
        "_tables_version",
        "_working_ahead",
        "plans",
        "queries",
        "streams",
        "views",
    )

    def __init__(self) -> None:
        self.streams = Streams()
        self.views: Mapping[str, MaintainedView] = {}
        self.queries: Mapping[str, ContinuousQuery] = {}
        self.plans: Mapping[str, Plan] = {}
        self._evaluated: Mapping[str, EvaluatedQuery] = {}
        """What evaluates each standing query, by its name."""
        self._working_ahead: tuple[EvaluatedQuery, ...] = ()
        """Those of them that take rows in when many were appended."""
        self._fillers: Mapping[str, ContinuousQuery] = {}
        """The queries that fill streams, by stream."""
        self._numbered = 0
        self._tables_version = 0
        self._moment: Callable[[], Moment | None] = _no_moment
        """Returns the moment that is seen of all streams, if there is one."""

    # What SQL can read

    @property
    def relations(self) -> Mapping[str, Relation]:
        """What SQL can read besides DuckDB's tables."""
        fillers = self._fillers
        if not fillers:
            return {**self.streams, **self.views} if self.views else self.streams
        filled = {name: FilledRelation(self.streams[name], each) for name, each in fillers.items()}
        return {**self.streams, **filled, **self.views}

    @contextmanager
    def at_one_moment(self) -> Iterator[None]:
        """Let everything that is read inside the block be of the moment when it began.

        Other threads may append meanwhile. Without this, a query that reads a stream by two roads
        could see an insert by one of them only. Streams that queries fill are filled inside the
        block, and by the same thread.
        """
        if self._moment() is not None:
            yield
            return
        moment = Moment()
        self._moment = weakref.ref(moment)
        for name, entry in self.streams.items():
            if name not in self._fillers:
                entry.log.hold(moment)
        yield
        del moment

    def end_moment(self) -> None:
        """Let everything be seen again, if an exception has kept a block from ending."""
        if self._moment is not _no_moment and self._moment() is not None:
            for entry in self.streams.values():
                entry.log.release()
            self._moment = _no_moment

    def tables_version(self) -> int:
        """Return how many statements may have changed DuckDB's tables."""
        return self._tables_version

    def defined(self, text: str) -> tuple[object, ...]:
        """Return what the names in a text mean; it differs whenever that may have changed."""
        words = words_of(text)
        named = ((name, each) for name, each in self.relations.items() if name.lower() in words)
        return self._tables_version, *((name, each.definition) for name, each in named)

    def note_change_of_tables(self) -> None:
        """Note that a statement may change DuckDB's tables."""
        self._tables_version += 1

    # Views

    def found_view(self, name: str) -> str | None:
        """Return a view's name as it was defined, for a name in any case; None if it is unknown."""
        return found(name, self.views)

    def view(self, name: str) -> MaintainedView:
        """Return the view of a name in any case; raise UnknownNameError if it does not exist."""
        views, known = self.views, self.found_view(name)
        if known is None or known not in views:
            raise UnknownNameError("view", name)
        return views[known]

    def add_view(self, view: MaintainedView) -> None:
        """Add a view under its name."""
        self.views = {**self.views, view.name: view}

    def remove_view(self, name: str) -> MaintainedView:
        """Remove the view that was defined with this name, and return it."""
        removed = self.views[name]
        self.views = {each: view for each, view in self.views.items() if each != name}
        return removed

    # Standing queries and plans

    def query(self, name: str) -> ContinuousQuery:
        """Return the standing query of this name; raise UnknownNameError if it does not exist."""
        if name not in self.queries:
            raise UnknownNameError("query", name)
        return self.queries[name]

    def free_query_name(self, name: str | None) -> str:
        """Return a name for a query, which no other query has; raise NameTakenError if one has."""
        if name is None:
            self._numbered += 1
            return self.free_query_name(f"query-{self._numbered}")
        if not (isinstance(name, str) and name):
            raise ParameterError("name", name, "a string that is not empty")
        self.plans = {each: plan for each, plan in self.plans.items() if not plan.is_closed}
        if name in self.queries or name in self.plans:
            raise NameTakenError("query", name)
        if (view := self.found_view(name)) is not None:
            raise NameTakenError("view", view)
        return name

    def add_query(self, query: ContinuousQuery, evaluated: EvaluatedQuery) -> None:
        """Add a standing query under its name, with what evaluates it."""
        self.queries = {**self.queries, query.name: query}
        self._evaluated = {**self._evaluated, query.name: evaluated}
        self._working_ahead = self._that_work_ahead()
        if query.into is not None:
            self._fillers = {**self._fillers, query.into: query}

    def add_plan(self, plan: Plan) -> None:
        """Add a Python plan under its name; raise NameTakenError if a query has it."""
        self.free_query_name(plan.name)
        self.plans = {**self.plans, plan.name: plan}

    def forget_query(self, query: ContinuousQuery) -> None:
        """Remove a standing query that was closed."""
        self.queries = {name: each for name, each in self.queries.items() if each is not query}
        self._evaluated = {
            name: each for name, each in self._evaluated.items() if name in self.queries
        }
        self._working_ahead = self._that_work_ahead()
        self._fillers = {name: each for name, each in self._fillers.items() if each is not query}

    def _that_work_ahead(self) -> tuple[EvaluatedQuery, ...]:
        return tuple(each for each in self._evaluated.values() if each.works_ahead)

    # Queries that fill streams

    def filler_of(self, stream: str) -> ContinuousQuery | None:
        """Return the query whose results are the rows of this stream, which has its name."""
        return self._fillers.get(stream)

    def feeders_of(self, streams: Set[str]) -> Sequence[EvaluatedQuery]:
        """Return the queries that fill these streams, directly or through others, in order.

        A query is created after the streams that it reads, so the order of creation is one in which
        each query comes after those that feed it.
        """
        fillers = self._fillers
        if not fillers:
            return ()
        feeding = self._paths_from(streams)
        found = self._evaluated
        return [found[query.name] for stream, query in fillers.items() if stream in feeding]

    def evaluate_fillers(self, text: str) -> None:
        """Evaluate the queries that fill the streams that a new query names.

        So it reads what comes after all results that are due.
        """
        words = words_of(text) if self._fillers else ()
        for stream, query in self._fillers.items():
            if stream.lower() in words:
                query.evaluate()

    def path_between(self, streams: Iterable[str], goal: str) -> list[str] | None:
        """Return how one of these streams is filled from `goal`: the streams on the way, or None.

        The path ends with `goal`.
        """
        before = self._paths_from(streams)
        if goal not in before:
            return None
        path: list[str] = [goal]
        while (stream := before[path[0]]) is not None:
            path.insert(0, stream)
        return path

    def check_writable(self, name: str, text: str = "", place: int | None = None) -> None:
        """Raise StatementError if a stream is filled by a query, so that nothing else may be."""
        if self.filler_of(name) is not None:
            raise StatementError(
                f"{name} is filled by a query",
                text,
                place,
                hint=f"close it first, with engine.query({name!r}).close(), or use another stream",
            )

    def _paths_from(self, streams: Iterable[str]) -> dict[str, str | None]:
        """Return what these streams and views read, each with the one that it leads to."""
        found: dict[str, str | None] = dict.fromkeys(streams)
        waiting = list(found)
        while waiting:
            stream = waiting.pop()
            query = self.filler_of(stream) or self.views.get(stream)
            for source in query.streams if query is not None else ():
                if source not in found:
                    found[source] = stream
                    waiting.append(source)
        return found

    # Who reads what

    def readers_of(self, name: str) -> list[str]:
        """Return the names of the standing queries and views that read a stream or a view."""
        return [each.name for each in self._readers() if name in each.streams]

    def reading(self, name: str) -> list[EvaluatedQuery]:
        """Return what reads a stream or a view: the evaluations of queries, and views."""
        return [each for each in self.evaluated() if name in each.streams]

    def lead_of(self, name: str) -> Lead:
        """Return how far a stream is ahead of those that it is joined with, at most."""
        return max((each.lead_of(name) for each in self.reading(name)), default=Lead())

    def evaluated(self) -> list[EvaluatedQuery]:
        """Return what is evaluated: for standing queries, each evaluation once, and the views."""
        return [*dict.fromkeys(self._evaluated.values()), *self.views.values()]

    def served(self) -> list[Runnable]:
        """Return what a scheduler serves; queries that share their windows are served together."""
        found: dict[object, list[EvaluatedQuery]] = {}
        for each in self.evaluated():
            found.setdefault(each.shared or each, []).append(each)
        served = [ServedTogether(each) if len(each) > 1 else each[0] for each in found.values()]
        return [*served, *(plan for plan in self.plans.values() if not plan.is_closed)]

    def readers_of_table(self, name: str) -> list[str]:
        """Return the names of the queries and views that read a table, given in lower case."""
        return [each.name for each in self._readers() if name in each.tables]

    def _readers(self) -> list[ContinuousQuery | MaintainedView]:
        return [*self.queries.values(), *self.views.values()]

    def views_over_table(self, name: str) -> list[str]:
        """Return the names of the views whose streams met the rows of a table."""
        return [view.name for view in self.views.values() if name in view.static_tables]

    @property
    def keeps_up(self) -> bool:
        """Whether anything may take rows in when they are appended."""
        return bool(self.views or self._working_ahead)

    def to_keep_up(self, stream: str) -> list[Callable[[], object]]:
        """Return what takes rows of a stream in that should not wait until results are asked for.

        Views and epochs have results soon after they are asked for, or after an epoch has ended.
        """
        views = [view for view in self.views.values() if stream in view.streams]
        found: list[Callable[[], object]] = [each.keep_up for each in views if each.wants_upkeep()]
        epochs = [each for each in self._working_ahead if stream in each.streams]
        return found + [each.relieve for each in epochs if each.rows_waiting() >= _MANY_ROWS]

    def evaluate_readers(self, stream: str) -> bool:
        """Let everything that reads a stream read what waits there; tell whether none failed."""
        relieved = [reader.relieve() for reader in self.reading(stream)]
        return all(relieved)

    def make_room(self, stream: EngineStream) -> None:
        """Let what reads a stream read it, if many rows wait there.

        Raise CommitError if the stream is full and the sink or the record of a reader fails.
        """
        if stream.is_crowded():
            for reader in self.reading(stream.definition.name):
                try:
                    reader.evaluate_alone()
                except CommitError:
                    if stream.is_full():
                        raise


def _no_moment() -> None:
    """Return None."""
