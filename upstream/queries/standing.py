"""Creates standing queries, and the streams of their results.

A query is planned and checked completely before anything changes. A stream of results exists from
then on, with its query under the same name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import (
    NameTakenError,
    ParameterError,
    StatementError,
    UnknownStreamError,
    UnknownTableError,
)
from ..held_interrupt import HeldInterrupt
from ..tables.engine_stream import EngineStream
from .continuous_query import ContinuousQuery
from .evaluated_query import EvaluatedQuery
from .evaluation.planning import plan
from .evaluation.shared_windows import Families
from .into import ResultsInto
from .results.commit import Commit
from .results.result_stream import ResultStream
from .results.sink import SinkWriter
from .sql import is_reserved, stream_of_results
from .sql.names import reserved
from .sql.window_clause import Axis

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from ..clock import Clock
    from ..database.duck import Duck
    from .catalogue import Catalogue
    from .choices import Choices
    from .continuous_query import Callback
    from .evaluation.planning import Plan
    from .query_records import QueryRecords
    from .results.record_keeper import RecordKeeper
    from .results.sink import Sink


class StandingQueries:
    """Adds standing queries to a catalogue."""

    __slots__ = ("_catalogue", "_clock", "_duck", "_families", "_lock", "_records", "_stopwatch")

    def __init__(
        self,
        catalogue: Catalogue,
        duck: Duck,
        *,
        clock: Clock,
        stopwatch: Clock,
        lock: AbstractContextManager[bool],
        records: QueryRecords | None = None,
    ) -> None:
        self._catalogue = catalogue
        self._duck = duck
        self._clock = clock
        self._stopwatch = stopwatch
        self._lock = lock
        self._records = records
        """The records of queries over epochs, if the engine has a directory."""
        self._families = Families()
        """The queries over windows that new ones may join."""

    def create(
        self,
        text: str,
        choices: Choices,
        name: str | None = None,
        callback: Callback | None = None,
        *,
        into: ResultsInto | None = None,
        sink: Sink | None = None,
    ) -> ContinuousQuery:
        """Create a query; the caller, its callback, a sink or a new stream takes the results."""
        if callback is not None and not callable(callback):
            raise ParameterError("callback", callback, "a function that takes a result")
        if sink is not None:
            return self._create_with_sink(text, choices, name, _only(sink, callback, into))
        if into is None:
            keeps_record = self._records is not None and name is not None
            name = self._catalogue.free_query_name(name)
            evaluated = self._joined(text, choices)
            if evaluated is None:
                planned = self._plan(text, choices, self._families)
                record = self._record(name, text, planned, choices) if keeps_record else None
                evaluated = self._evaluated(text, planned, Commit(choices, record=record), choices)
            with HeldInterrupt():
                return self._added(text, evaluated, name, choices.weight, callback)
        if name not in {None, into.name}:
            raise ParameterError("name", name, "that of the stream, or left out")
        if callback is not None:
            raise ParameterError("callback", callback, "left out: the stream takes the results")
        return self.create_into(text, into, choices)

    def create_into(
        self, text: str, into: ResultsInto, choices: Choices, *, replaces: bool = False
    ) -> ContinuousQuery:
        """Create a query and the stream that it fills; a stream of this name may be replaced."""
        known = self._free_name(into, replaces=replaces)
        _check_options(into, choices)
        try:
            planned = self._plan(text, choices)
        except (UnknownStreamError, UnknownTableError) as error:
            if error.reason.lower().endswith(f" named {into.name.lower()}"):
                _refuse_cycle(into, [into.name, into.name])
            raise
        try:
            path = self._catalogue.path_between(
                planned.streams, into.name if known is None else known
            )
            if path is not None:
                _refuse_cycle(into, [into.name, *path])
            if known is not None:
                self.check_unread(known, into.text, into.place)
            stream = self._stream(into, planned)
        except BaseException:
            planned.close()
            raise
        evaluated = self._evaluated(text.strip(), planned, Commit(choices, stream), choices)
        with HeldInterrupt():
            if known is not None:
                self.drop(known)
            self._catalogue.streams.add(stream.stream)
            return self._added(evaluated.text, evaluated, into.name, choices.weight)

    def _create_with_sink(
        self, text: str, choices: Choices, name: str | None, sink: Sink
    ) -> ContinuousQuery:
        """Create a query whose results a sink takes."""
        name = self._catalogue.free_query_name(name)
        if choices.emit == "asked":
            raise ParameterError("emit", choices.emit, "another one: the sink would get no results")
        if any(each.sink is sink for each in self._catalogue.evaluated()):
            raise ParameterError("sink", sink, "a sink that no other query has")
        writer = SinkWriter(sink, name)
        planned = self._plan(text, choices)
        try:
            writer.check(planned.schema.outer)
            if writer.given_epoch is not None:
                _check_repeatable(text, planned)
        except BaseException:
            planned.close()
            raise
        evaluated = self._evaluated(text, planned, Commit(choices, sink=writer), choices)
        with HeldInterrupt():
            return self._added(text, evaluated, name, choices.weight)

    def check_unread(self, name: str, text: str, place: int | None) -> None:
        """Raise StatementError if a stream is read by queries or views."""
        if readers := self._catalogue.readers_of(name):
            raise StatementError(
                f"queries or views read the stream {name}: {', '.join(readers)}",
                text,
                place,
                hint="close these queries, or drop these views, first",
            )

    def drop(self, name: str) -> None:
        """Remove a stream that no query reads, and close the query that fills it."""
        with HeldInterrupt():
            if (query := self._catalogue.filler_of(name)) is not None:
                query.close()
            self._catalogue.streams.remove(name).close()

    def _free_name(self, into: ResultsInto, *, replaces: bool) -> str | None:
        """Return the stream that is to be replaced; raise an error if the name is not free."""
        known = self._catalogue.streams.found(into.name)
        if known is not None and not replaces:
            raise NameTakenError("stream", known)
        if self._duck.has_table(into.name):
            raise NameTakenError("table", into.name)
        if (view := self._catalogue.found_view(into.name)) is not None:
            raise NameTakenError("view", view)
        if is_reserved(into.name):
            into.refuse(StatementError, reserved(into.name), "choose another name")
        filler = None if known is None else self._catalogue.filler_of(known)
        if filler is None or filler.name != into.name:
            self._catalogue.free_query_name(into.name)
        return known

    def _stream(self, into: ResultsInto, planned: Plan) -> ResultStream:
        if into.deletes and planned.incomplete:
            reason = f"keys cannot be deleted: {planned.incomplete}, and not all keys"
            hint = "read latest(stream), or a window, so that each result has all keys"
            into.refuse(StatementError, reason, hint)
        result = planned.schema.outer
        definition = stream_of_results(into, result, planned.bound)
        stream = EngineStream(definition, self._clock, self._lock)
        return ResultStream(stream, columns=len(result), deletes=into.deletes)

    def _plan(self, text: str, choices: Choices, families: Families | None = None) -> Plan:
        self._catalogue.evaluate_fillers(text)
        return plan(
            text,
            choices,
            self._catalogue.streams,
            self._catalogue.views,
            duck=self._duck,
            clock=self._clock,
            stopwatch=self._stopwatch,
            families=families,
        )

    def _joined(self, text: str, choices: Choices) -> EvaluatedQuery | None:
        """Return an evaluation that gives the results of a new query, if there is one."""
        if not isinstance(text, str):
            return None  # an error, which reading it raises
        self._catalogue.end_moment()
        self._catalogue.evaluate_fillers(text)
        found = [each for each in self._catalogue.evaluated() if each.can_be_joined(text, choices)]
        defined = self._catalogue.defined(text) if found else ()
        return next((each for each in found if each.means_the_same(defined)), None)

    def _evaluated(
        self,
        text: str,
        planned: Plan,
        commit: Commit,
        choices: Choices,
    ) -> EvaluatedQuery:
        return EvaluatedQuery(
            text,
            planned,
            choices=choices,
            clock=self._clock,
            stopwatch=self._stopwatch,
            others=self._catalogue,
            lock=self._lock,
            commit=commit,
            defined=self._catalogue.defined(text),
        )

    def _record(self, name: str, text: str, planned: Plan, choices: Choices) -> RecordKeeper | None:
        """Return what keeps the record of a query over epochs; None for another query."""
        if self._records is None or planned.feed is None:
            return None
        try:
            for stream in planned.streams:
                if self._catalogue.filler_of(stream) is not None:
                    reason = f"the query {name!r} cannot keep a record: {stream} is filled by a "
                    hint = "leave the name out, so that no record is kept"
                    raise StatementError(reason + "query, and cannot be fed again", text, hint=hint)
            return self._records.keeper(name, text, planned, choices, self._catalogue.streams)
        except BaseException:
            planned.close()
            raise

    def _added(
        self,
        text: str,
        evaluated: EvaluatedQuery,
        name: str,
        weight: float,
        callback: Callback | None = None,
    ) -> ContinuousQuery:
        """Add a query that takes the results of an evaluation."""
        reader = evaluated.reader(name, weight=weight, callback=callback)
        query = ContinuousQuery(
            text,
            evaluated,
            reader,
            on_close=self._catalogue.forget_query,
            records=self._records,
        )
        self._catalogue.add_query(query, evaluated)
        return query


def _only(sink: Sink, callback: Callback | None, into: ResultsInto | None) -> Sink:
    """Return the sink; raise ParameterError if anything else is to take the results too."""
    if callback is not None:
        raise ParameterError("callback", callback, "left out: the sink takes the results")
    if into is not None:
        raise ParameterError("into", into.name, "left out: the sink takes the results")
    return sink


def _check_repeatable(text: str, planned: Plan) -> None:
    """Raise StatementError for epochs of which a sink cannot tell whether it has them."""
    if any(window.axis is Axis.ORDINAL for window in planned.split.windows):
        reason = (
            "the sink has epochs already, and epochs that are not cut by time are numbered from 0 "
            "by each query: a repeated one cannot be told from a new one"
        )
        hint = "give the query a sink that has no results, or cut the epochs by time"
        raise StatementError(reason, text, hint=hint)


def _check_options(into: ResultsInto, choices: Choices) -> None:
    """Raise StatementError for options that the results for a stream cannot have."""
    if choices.emit == "asked":
        reason = "with emit='asked' a query has no results, so its stream would stay empty"
        into.refuse(StatementError, reason, "leave emit out")
    if into.deletes and not into.key:
        reason = "keys can only be deleted from a stream with a key"
        into.refuse(StatementError, reason, "write KEY (column), or leave deletes out")
    if into.deletes and choices.allowed_lateness is not None and choices.semantics == "append":
        reason = "deletes and allowed_lateness do not fit: an older result can come after a newer"
        into.refuse(StatementError, reason, "choose semantics = 'update', or leave one out")


def _refuse_cycle(into: ResultsInto, path: list[str]) -> None:
    reason = f"{into.name} would be filled from itself: {' reads '.join(path)}"
    into.refuse(StatementError, reason, "write the results to another stream")
