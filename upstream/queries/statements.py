"""Runs one statement: about streams, or about DuckDB's tables.

A statement about a stream is checked completely before anything changes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from ..errors import NameTakenError, QueryError, StatementError, UnknownStreamError
from ..rows.arrow_data import no_rows
from ..tables.engine_stream import EngineStream
from . import sql
from .one_time import OneTimeSql
from .sql.standing_needs import changed_tables, check_settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from ..clock import Clock
    from ..database.duck import Duck
    from .catalogue import Catalogue
    from .sql import CreateStream, CreateStreamAs, DropStream, InsertInto
    from .standing import StandingQueries


class Statements:
    """Runs statements on what a catalogue has; `append` adds rows to a stream."""

    __slots__ = ("_append", "_catalogue", "_clock", "_duck", "_lock", "_standing")

    def __init__(
        self,
        catalogue: Catalogue,
        duck: Duck,
        *,
        clock: Clock,
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

    def run(self, text: str) -> pa.Table:
        """Run one statement, and return its result."""
        statement = sql.parse(text, self._duck)
        once = OneTimeSql(self._duck, self._catalogue.relations)
        match statement:
            case sql.CreateStream():
                self._create_stream(statement)
            case sql.CreateStreamAs():
                self._create_stream_as(statement)
            case sql.DropStream():
                self._drop_stream(statement)
            case sql.InsertInto():
                name = self._catalogue.streams.found(statement.stream)
                return once.execute(statement) if name is None else self._insert(statement, name)
            case sql.OtherStatement():
                self._check_unused(changed_tables(statement, self._duck), text)
                check_settings(statement, self._duck, standing=self._catalogue.queries)
                return once.answer(text) if statement.is_exact else once.execute(statement)
        return no_rows()

    # Streams

    def _create_stream(self, statement: CreateStream) -> None:
        streams = self._catalogue.streams
        known = streams.found(statement.name)
        if known is not None and statement.if_not_exists:
            return
        if known is not None and not statement.or_replace:
            raise NameTakenError("stream", known)
        if self._duck.has_table(statement.name):
            raise NameTakenError("table", statement.name)
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
            raise error.in_text(text) from error.__cause__

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
        rows = once.rows_of(statement, self._catalogue.streams[name].definition)
        return pa.table({"Count": pa.array([self._append(name, rows)], pa.int64())})

    # Tables

    def _check_unused(self, tables: frozenset[str], text: str) -> None:
        """Refuse to change a table that a standing query reads."""
        for table in sorted(tables):
            if readers := self._catalogue.readers_of_table(table):
                raise StatementError(
                    f"standing queries read the table {table}: {', '.join(readers)}",
                    text,
                    hint="close them first; rows can be inserted and deleted at any time",
                )
