"""What an engine has under names: streams, views, and the standing queries that read them.

What a view or a query reads cannot be dropped or replaced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ..errors import NameTakenError, ParameterError, UnknownNameError
from ..tables.engine_stream import Streams
from .scheduling import Runnable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..tables.relation import Relation
    from .continuous_query import ContinuousQuery
    from .maintained_view import MaintainedView


class Plan(Runnable, Protocol):
    """A Python plan, as far as an engine serves it."""

    @property
    def is_closed(self) -> bool:
        """Whether it was closed."""

    def close(self) -> object:
        """Stop it."""


class Catalogue:
    """The streams, views, standing queries and Python plans of an engine, by name.

    Mappings are replaced as a whole, so any thread may read them while another one defines or
    closes something under the engine's lock.
    """

    __slots__ = ("_numbered", "_tables_version", "plans", "queries", "streams", "views")

    def __init__(self) -> None:
        self.streams = Streams()
        self.views: Mapping[str, MaintainedView] = {}
        self.queries: Mapping[str, ContinuousQuery] = {}
        self.plans: Mapping[str, Plan] = {}
        self._numbered = 0
        self._tables_version = 0

    # What SQL can read

    @property
    def relations(self) -> Mapping[str, Relation]:
        """What SQL can read besides DuckDB's tables."""
        return {**self.streams, **self.views} if self.views else self.streams

    def tables_version(self) -> int:
        """Return how many statements may have changed DuckDB's tables."""
        return self._tables_version

    def note_change_of_tables(self) -> None:
        """Note that a statement may change DuckDB's tables."""
        self._tables_version += 1

    # Views

    def found_view(self, name: str) -> str | None:
        """Return a view's name as it was defined, for a name in any case; None if it is unknown."""
        views = self.views
        return next((each for each in views if each.lower() == name.lower()), None)

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
        """Return the names of the standing queries and views that read a stream or a view."""
        return [each.name for each in self._readers() if name in each.streams]

    def readers_of_table(self, name: str) -> list[str]:
        """Return the names of the queries and views that read a table, given in lower case."""
        return [each.name for each in self._readers() if name in each.tables]

    def _readers(self) -> list[ContinuousQuery | MaintainedView]:
        return [*self.queries.values(), *self.views.values()]

    def views_over_table(self, name: str) -> list[str]:
        """Return the names of the views whose streams met the rows of a table."""
        return [view.name for view in self.views.values() if name in view.static_tables]

    def views_to_keep_up(self, stream: str) -> list[MaintainedView]:
        """Return the views over a stream that should take in what waits before they are read."""
        views = self.views.values()
        return [view for view in views if stream in view.streams and view.wants_upkeep()]

    def evaluate_readers(self, stream: str) -> None:
        """Let everything that reads a stream read what waits there."""
        for reader in self._readers():
            if stream in reader.streams:
                reader.evaluate()
