"""Runs one statement: about streams, about views, or about DuckDB's tables.

A statement about a stream or a view is checked completely before anything changes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from ..database.failure import DatabaseError
from ..errors import (
    NameTakenError,
    ParameterError,
    QueryError,
    StatementError,
    UnknownStreamError,
)
from ..rows.arrow_data import no_rows
from ..tables.engine_stream import EngineStream
from . import sql
from .known_queries import KnownQueries
from .one_time import OneTimeSql
from .sql.duck_messages import headline_of
from .sql.source_text import place_of_word
from .sql.standing_needs import changed_tables, check_settings, tables_with_other_rows
from .stream_rows import StreamRows
from .view_statements import ViewStatements

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from ..clock import Clock
    from ..database.duck import Duck
    from .catalogue import Catalogue
    from .sql import CreateStream, CreateStreamAs, DropStream, InsertInto, OtherStatement
    from .standing import StandingQueries


class Statements:
    """Runs statements on what a catalogue has; `append` adds rows to a stream."""

    __slots__ = (
        "_append",
        "_catalogue",
        "_clock",
        "_duck",
        "_known",
        "_lock",
        "_rows",
        "_standing",
        "_views",
    )

    def __init__(
        self,
        catalogue: Catalogue,
        duck: Duck,
        *,
        clock: Clock,
        stopwatch: Clock,
        lock: AbstractContextManager[bool],
        standing: StandingQueries,
        append: Callable[[str, pa.Table], int],
    ) -> None:
        self._catalogue = catalogue
        self._duck = duck
        self._clock = clock
        self._lock = lock
        self._standing = standing
        self._append = append
        self._known = KnownQueries(catalogue)
        self._rows = StreamRows(catalogue, duck, append=append, ask=self.run)
        self._views = ViewStatements(catalogue, duck, clock=clock, stopwatch=stopwatch, lock=lock)

    def create_table(self, name: str, data: pa.Table | str | Path) -> None:
        """Create an ordinary table from rows, or from the path of a file."""
        if self._catalogue.streams.found(name) is not None:
            raise NameTakenError("stream", name)
        if self._catalogue.found_view(name) is not None:
            raise NameTakenError("view", name)
        if not name:
            raise ParameterError("name", name, "a name that is not empty")
        if sql.is_reserved(name):
            expected = "another name, since this one is reserved for rewritten queries"
            raise ParameterError("name", name, expected)
        try:
            self._catalogue.note_change_of_tables()
            self._duck.create_table(name, data)
        except DatabaseError as error:
            reason = f"the table {name} cannot be created: {headline_of(str(error))}"
            raise QueryError(reason) from error

    def restore_view(self, path: Path) -> str:
        """Create a view from a file, and return its name."""
        self._catalogue.end_moment()
        try:
            return self._views.restore(path)
        finally:
            self._known.forget_outdated()

    def run(self, text: str) -> pa.Table:
        """Run one statement, and return its result."""
        self._catalogue.end_moment()
        with self._catalogue.at_one_moment():
            answer = self._known.answer(text)
        if answer is not None:
            return answer
        try:
            return self._run(text)
        finally:
            self._known.forget_outdated()

    def _run(self, text: str) -> pa.Table:
        statement = sql.parse(text, self._duck)
        if isinstance(statement, sql.CreateView | sql.DropView):
            if self._views.run(statement):
                return no_rows()
            statement = sql.parse_as_duckdb(text, self._duck)
        match statement:
            case sql.CreateStream() | sql.CreateStreamAs() | sql.DropStream():
                self._define(statement)
            case sql.ExplainName():
                return self._views.explain(statement)
            case sql.InsertInto():
                name = self._catalogue.streams.found(statement.stream)
                return self._execute(statement) if name is None else self._insert(statement, name)
            case sql.OtherStatement():
                if (count := self._rows.run(statement)) is not None:
                    return count
                return self._ask(text) if statement.is_exact else self._execute(statement)
        return no_rows()

    def _ask(self, text: str) -> pa.Table:
        """Answer a query, and keep it ready for the next time."""
        query = OneTimeSql(self._duck, self._catalogue.relations).ready(text)
        try:
            with self._catalogue.at_one_moment():
                answer = query.answer()
        except BaseException:
            query.close()
            raise
        if query.is_lasting:
            self._known.add(text, query)
        else:
            query.close()
        return answer

    def close(self) -> None:
        """Forget the queries that are kept ready."""
        self._known.close()

    def _execute(self, statement: InsertInto | OtherStatement) -> pa.Table:
        """Let DuckDB run a statement that may change its tables."""
        if isinstance(statement, sql.OtherStatement):
            self._check_unused(changed_tables(statement, self._duck), statement.text)
            standing = [*self._catalogue.queries, *self._catalogue.views]
            check_settings(statement, self._duck, standing=standing)
        self._check_not_below(tables_with_other_rows(statement, self._duck), statement.text)
        try:
            with self._catalogue.at_one_moment():
                return OneTimeSql(self._duck, self._catalogue.relations).execute(statement)
        finally:
            self._catalogue.note_change_of_tables()

    # Streams

    def _define(self, statement: CreateStream | CreateStreamAs | DropStream) -> None:
        match statement:
            case sql.CreateStream():
                self._create_stream(statement)
            case sql.CreateStreamAs():
                self._create_stream_as(statement)
            case sql.DropStream():
                self._drop_stream(statement)

    def _create_stream(self, statement: CreateStream) -> None:
        streams = self._catalogue.streams
        known = streams.found(statement.name)
        if known is not None and statement.if_not_exists:
            return
        if known is not None and not statement.or_replace:
            raise NameTakenError("stream", known)
        if self._duck.has_table(statement.name):
            raise NameTakenError("table", statement.name)
        if (view := self._catalogue.found_view(statement.name)) is not None:
            raise NameTakenError("view", view)
        definition = sql.definition_of(statement, self._duck)
        if known is not None:
            self._drop(known, statement)
        streams.add(EngineStream(definition, self._clock, self._lock))

    def _create_stream_as(self, statement: CreateStreamAs) -> None:
        into, text = statement.into, statement.text
        if statement.if_not_exists and self._catalogue.streams.found(into.name) is not None:
            return
        choices, deletes = sql.choices_of(statement.options, text)
        into = replace(into, deletes=deletes)
        try:
            self._standing.create_into(
                statement.query, into, choices, replaces=statement.or_replace
            )
        except QueryError as error:
            raise error.within(text) from None

    def _drop_stream(self, statement: DropStream) -> None:
        known = self._catalogue.streams.found(statement.name)
        if known is not None:
            self._drop(known, statement)
        elif not statement.if_exists:
            reason = f"there is no stream named {statement.name}"
            hint = sql.did_you_mean(statement.name, self._catalogue.streams)
            raise UnknownStreamError(reason, statement.text, statement.place, hint)

    def _drop(self, name: str, statement: CreateStream | DropStream) -> None:
        self._standing.check_unread(name, statement.text, statement.place)
        self._standing.drop(name)

    def _insert(self, statement: InsertInto, name: str) -> pa.Table:
        self._catalogue.check_writable(name, statement.text, statement.place)
        once = OneTimeSql(self._duck, self._catalogue.relations)
        with self._catalogue.at_one_moment():
            rows = once.rows_of(statement, self._catalogue.streams[name].definition)
        return pa.table({"Count": pa.array([self._append(name, rows)], pa.int64())})

    # Tables

    def _check_unused(self, tables: frozenset[str], text: str) -> None:
        """Refuse to change a table that a standing query reads."""
        for table in sorted(tables):
            if readers := self._catalogue.readers_of_table(table):
                raise StatementError(
                    f"queries or views read the table {table}: {', '.join(readers)}",
                    text,
                    place_of_word(text, table),
                    hint="close or drop them first; rows can be inserted and deleted at any time",
                )

    def _check_not_below(self, tables: frozenset[str], text: str) -> None:
        """Refuse to change the rows of a table that rows of a view's stream have met."""
        for table in sorted(tables):
            if views := self._catalogue.views_over_table(table):
                raise StatementError(
                    f"the rows of {table} cannot change: rows of a stream were combined with them "
                    f"in the view {', '.join(views)}",
                    text,
                    place_of_word(text, table),
                    hint="drop the view first, or write it so that it groups the stream before "
                    f"it reads {table}",
                )
