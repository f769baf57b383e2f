"""What an engine has under names: streams, and the standing queries that read them.

A stream that a query reads cannot be dropped, and a table that a query reads cannot be replaced. A
stream that a query fills has the query's name, and nothing else writes to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ..errors import NameTakenError, ParameterError, StatementError, UnknownNameError
from ..tables.engine_stream import Streams
from .scheduling import Runnable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence, Set

    import pyarrow as pa

    from ..rows.stream_definition import StreamDefinition
    from ..tables.engine_stream import EngineStream
    from ..tables.relation import Condition, Relation, TimeRange
    from .continuous_query import ContinuousQuery


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
        self._query.evaluate()
        return self._stream.scan(columns, conditions, between)


class Catalogue:
    """The streams, standing queries and Python plans of an engine, by name.

    Mappings are replaced as a whole, so any thread may read them while another one defines or
    closes something under the engine's lock.
    """

    __slots__ = ("_fillers", "_numbered", "plans", "queries", "streams")

    def __init__(self) -> None:
        self.streams = Streams()
        self.queries: Mapping[str, ContinuousQuery] = {}
        self.plans: Mapping[str, Plan] = {}
        self._fillers: Mapping[str, ContinuousQuery] = {}
        """The queries that fill streams, by stream."""
        self._numbered = 0

    # What SQL can read

    @property
    def relations(self) -> Mapping[str, Relation]:
        """What SQL can read besides DuckDB's tables."""
        fillers = self._fillers
        if not fillers:
            return self.streams
        return {
            name: FilledRelation(stream, fillers[name]) if name in fillers else stream
            for name, stream in self.streams.items()
        }

    def definitions(self) -> dict[str, StreamDefinition]:
        """Return the definition of each relation, by name."""
        return {name: relation.definition for name, relation in self.relations.items()}

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
        return name

    def add_query(self, query: ContinuousQuery) -> None:
        """Add a standing query under its name."""
        self.queries = {**self.queries, query.name: query}
        if query.into is not None:
            self._fillers = {**self._fillers, query.into: query}

    def add_plan(self, plan: Plan) -> None:
        """Add a Python plan under its name; raise NameTakenError if a query has it."""
        self.free_query_name(plan.name)
        self.plans = {**self.plans, plan.name: plan}

    def forget_query(self, query: ContinuousQuery) -> None:
        """Remove a standing query that was closed."""
        self.queries = {name: each for name, each in self.queries.items() if each is not query}
        self._fillers = {name: each for name, each in self._fillers.items() if each is not query}

    # Queries that fill streams

    def filler_of(self, stream: str) -> ContinuousQuery | None:
        """Return the query whose results are the rows of this stream, which has its name."""
        return self._fillers.get(stream)

    def feeders_of(self, streams: Set[str]) -> Sequence[ContinuousQuery]:
        """Return the queries that fill these streams, directly or through others, in order.

        A query is created after the streams that it reads, so the order of creation is one in which
        each query comes after those that feed it.
        """
        fillers = self._fillers
        if fillers.keys().isdisjoint(streams):
            return ()
        feeding = self._paths_from(streams)
        return [query for stream, query in fillers.items() if stream in feeding]

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
        """Return what these streams are filled from, each with the stream that it leads to."""
        found: dict[str, str | None] = dict.fromkeys(streams)
        waiting = list(found)
        while waiting:
            stream = waiting.pop()
            filler = self.filler_of(stream)
            for source in filler.streams if filler is not None else ():
                if source not in found:
                    found[source] = stream
                    waiting.append(source)
        return found

    # Who reads what

    def readers_of(self, name: str) -> list[str]:
        """Return the names of the standing queries that read a stream."""
        return [query.name for query in self.queries_reading(name)]

    def queries_reading(self, stream: str) -> list[ContinuousQuery]:
        """Return the standing queries that read a stream."""
        return [query for query in self.queries.values() if stream in query.streams]

    def readers_of_table(self, name: str) -> list[str]:
        """Return the names of the standing queries that read a table, given in lower case."""
        return [query.name for query in self.queries.values() if name in query.tables]
