"""What an engine has under names: streams, and the standing queries that read them.

A stream that a query reads cannot be dropped, and a table that a query reads cannot be replaced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ..errors import NameTakenError, ParameterError, UnknownNameError
from ..tables.engine_stream import Streams
from .scheduling import Runnable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..rows.stream_definition import StreamDefinition
    from ..tables.relation import Relation
    from .continuous_query import ContinuousQuery


class Plan(Runnable, Protocol):
    """A Python plan, as far as an engine serves it."""

    @property
    def is_closed(self) -> bool:
        """Whether it was closed."""

    def close(self) -> object:
        """Stop it."""


class Catalogue:
    """The streams, standing queries and Python plans of an engine, by name.

    Mappings are replaced as a whole, so any thread may read them while another one defines or
    closes something under the engine's lock.
    """

    __slots__ = ("_numbered", "plans", "queries", "streams")

    def __init__(self) -> None:
        self.streams = Streams()
        self.queries: Mapping[str, ContinuousQuery] = {}
        self.plans: Mapping[str, Plan] = {}
        self._numbered = 0

    # What SQL can read

    @property
    def relations(self) -> Mapping[str, Relation]:
        """What SQL can read besides DuckDB's tables."""
        return self.streams

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

    def add_plan(self, plan: Plan) -> None:
        """Add a Python plan under its name; raise NameTakenError if a query has it."""
        self.free_query_name(plan.name)
        self.plans = {**self.plans, plan.name: plan}

    def forget_query(self, query: ContinuousQuery) -> None:
        """Remove a standing query that was closed."""
        self.queries = {name: each for name, each in self.queries.items() if each is not query}

    # Who reads what

    def readers_of(self, name: str) -> list[str]:
        """Return the names of the standing queries that read a stream."""
        return [query.name for query in self.queries.values() if name in query.streams]

    def readers_of_table(self, name: str) -> list[str]:
        """Return the names of the standing queries that read a table, given in lower case."""
        return [query.name for query in self.queries.values() if name in query.tables]
