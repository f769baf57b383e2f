"""CREATE VIEW, DROP VIEW and EXPLAIN of a name, for views over streams.

A view that reads no stream, and no view over streams, is DuckDB's.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final, Literal, get_args

import pyarrow as pa

from ..errors import (
    NameTakenError,
    QueryError,
    QuerySyntaxError,
    StatementError,
    UnknownNameError,
    UnknownTableError,
)
from ..held_interrupt import HeldInterrupt
from ..tables.resuming import resumed
from . import sql
from .choices import Choices, OnError
from .evaluation.signed_stream import SignOption
from .evaluation.view_planning import plan_view
from .evaluation.view_state import Beginning, source_form
from .maintained_view import MaintainedView
from .saved_view import read_view
from .sql.names import found
from .sql.source_text import words_of
from .sql.standing_options import SIGN

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from ..clock import Clock
    from ..database.duck import Duck
    from ..rows.stream_definition import StreamDefinition
    from .catalogue import Catalogue
    from .evaluation.view_state import Form
    from .saved_view import SavedView
    from .sql import CreateView, DropView, ExplainName
    from .sql.statement import OptionValue

_OPTIONS: Final = ("max_staleness", "on_error", SIGN)


class ViewStatements:
    """Runs statements about the views of a catalogue."""

    __slots__ = ("_catalogue", "_clock", "_duck", "_lock", "_stopwatch")

    def __init__(
        self,
        catalogue: Catalogue,
        duck: Duck,
        *,
        clock: Clock,
        stopwatch: Clock,
        lock: AbstractContextManager[bool],
    ) -> None:
        self._catalogue = catalogue
        self._duck = duck
        self._clock = clock
        self._stopwatch = stopwatch
        self._lock = lock

    def run(self, statement: CreateView | DropView) -> bool:
        """Run a statement; return whether it was about a view over streams."""
        if isinstance(statement, sql.DropView):
            return self._drop(statement)
        try:
            return self._define(statement, self._catalogue.found_view(statement.name))
        except QueryError as error:
            if error.text != statement.query:
                raise
            raise error.within(statement.text) from None

    def _define(self, statement: CreateView, known: str | None) -> bool:
        if not self._is_continuous(statement):
            if known is not None:
                self._refuse_taking_over(statement, known)
            _refuse_options(statement)
            return False
        if known is None or not statement.if_not_exists:
            self._create(statement, known)
        return True

    def explain(self, statement: ExplainName) -> pa.Table:
        """Describe a view or a standing query, in the columns of DuckDB's EXPLAIN."""
        catalogue = self._catalogue
        view = catalogue.found_view(statement.name)
        query = found(statement.name, catalogue.queries)
        if view is not None:
            kind, text = "continuous_view", catalogue.views[view].explain()
        elif query is not None:
            kind, text = "standing_query", catalogue.queries[query].explain()
        else:
            reason = f"there is no view or standing query named {statement.name}"
            hint = sql.did_you_mean(statement.name, [*catalogue.views, *catalogue.queries])
            raise UnknownTableError(reason, statement.text, statement.place, hint)
        return pa.table({"explain_key": [kind], "explain_value": [text]})

    # Restoring

    def restore(self, path: Path) -> str:
        """Create a view from a file, and return its name; see `Engine.restore_view`."""
        saved = read_view(path)
        statement = _creation(saved)
        self._check_sources(saved)
        streams = self._catalogue.streams
        self._catalogue.evaluate_fillers(saved.text)
        positions = saved.state.positions.items()
        starts = {name: resumed(name, streams[name].log, each) for name, each in positions}
        self._create(
            statement, self._catalogue.found_view(saved.name), Beginning(saved.state, starts)
        )
        return saved.name

    def _check_sources(self, saved: SavedView) -> None:
        """Raise an error if a stream or a view is missing, or is another one than before."""
        definitions = self._definitions()
        for name, form in saved.sources.items():
            found = definitions.get(name)
            kind = "view" if form["is_view"] else "stream"
            if found is None or found.is_view != form["is_view"]:
                raise UnknownNameError(kind, name)
            now = source_form(found)
            if differences := _differences(form, now):
                reason = f"the {kind} {name} is another one than when {saved.name} was saved: "
                raise StatementError(reason + "; ".join(differences), saved.text)
        for name, position in saved.state.positions.items():
            filler = self._catalogue.filler_of(name)
            if filler is not None and position.log != self._catalogue.streams[name].log.identity:
                reason = f"{name} is filled by a query, whose state is not saved with the view"
                hint = "such a view can only be restored in the engine that saved it"
                raise StatementError(reason, saved.text, hint=hint)

    # CREATE VIEW

    def _is_continuous(self, statement: CreateView) -> bool:
        """Tell whether the query reads a stream, or a view over streams."""
        definitions = self._definitions()
        if not {name.lower() for name in definitions} & words_of(statement.query):
            return False
        return bool(sql.read_query(statement.query, definitions).windows)

    def _create(
        self, statement: CreateView, known: str | None, beginning: Beginning | None = None
    ) -> None:
        self._check_name(statement, known)
        if statement.words:
            reason = f"a view over streams cannot be {statement.words[0]}"
            hint = "write CREATE VIEW; it is kept up to date as rows arrive"
            raise StatementError(
                reason, statement.text, statement.text.find(statement.words[0]), hint
            )
        choices = Choices(semantics="update", emit="asked", on_error=_on_error(statement))
        undo: list[Callable[[], None]] = []
        try:
            view = self._planned(statement, choices, undo, beginning)
            if known is not None and known in view.streams:
                hint = f"write DROP VIEW {known} first, or give the new view another name"
                reason = f"the view {known} cannot read itself"
                raise StatementError(reason, statement.text, statement.place, hint)
            _check_columns(statement, view.definition.schema)
            with HeldInterrupt():
                old = None if known is None else self._catalogue.remove_view(known)
                self._catalogue.add_view(view)
                for name, start in () if beginning is None else beginning.starts.items():
                    self._catalogue.streams[name].log.origin = start.origin
                undo.clear()
                if old is not None:
                    old.close()
        except BaseException:
            with HeldInterrupt():
                for each in reversed(undo):
                    each()
            raise

    def _planned(
        self,
        statement: CreateView,
        choices: Choices,
        undo: list[Callable[[], None]],
        beginning: Beginning | None,
    ) -> MaintainedView:
        """Return a view that is in no catalogue yet; `undo` receives what closes it."""
        if beginning is None:
            self._catalogue.evaluate_fillers(statement.query)
        views = self._catalogue.views
        planned = plan_view(
            statement.query,
            choices,
            self._catalogue.streams,
            views,
            name=statement.name,
            states=[share.state for view in views.values() for share in view.shares],
            duck=self._duck,
            clock=self._clock,
            stopwatch=self._stopwatch,
            tables_version=self._catalogue.tables_version,
            undo=undo,
            beginning=beginning,
            sign=_sign(statement),
        )
        return MaintainedView(
            statement.name,
            statement.query.strip(),
            planned,
            schema=_named(statement, planned.plan.schema.outer),
            max_staleness=_max_staleness(statement),
            sign=None if (sign := _sign(statement)) is None else sign.column,
            choices=choices,
            clock=self._clock,
            stopwatch=self._stopwatch,
            lock=self._lock,
            others=self._catalogue,
        )

    def _check_name(self, statement: CreateView, known: str | None) -> None:
        stream = self._catalogue.streams.found(statement.name)
        if stream is not None:
            raise NameTakenError("stream", stream)
        if (query := found(statement.name, self._catalogue.queries)) is not None:
            raise NameTakenError("query", query)
        if known is not None:
            if not statement.or_replace:
                raise NameTakenError("view", known)
            self._check_unread(known, statement, "replaced")
        elif self._duck.has_table(statement.name):
            raise NameTakenError("table", statement.name)

    def _refuse_taking_over(self, statement: CreateView, known: str) -> None:
        """Refuse a view of DuckDB that would have the name of a view over streams."""
        if not statement.or_replace and not statement.if_not_exists:
            raise NameTakenError("view", known)
        reason = f"{known} is a view over streams, and the new query reads no stream"
        hint = f"write DROP VIEW {known} first"
        raise StatementError(reason, statement.text, statement.place, hint)

    def _check_unread(self, name: str, statement: CreateView | DropView, done: str) -> None:
        readers = self._catalogue.readers_of(name)
        if readers:
            reason = f"the view {name} cannot be {done}, since others read it: "
            reason += ", ".join(readers)
            hint = "close these queries, or drop these views, first"
            raise StatementError(reason, statement.text, statement.place, hint)

    def _definitions(self) -> Mapping[str, StreamDefinition]:
        return {name: each.definition for name, each in self._catalogue.relations.items()}

    # DROP VIEW

    def _drop(self, statement: DropView) -> bool:
        known = self._catalogue.found_view(statement.name)
        if known is None:
            stream = self._catalogue.streams.found(statement.name)
            if stream is not None:
                hint = f"write DROP STREAM {stream}"
                reason = f"{stream} is a stream, and not a view"
                raise StatementError(reason, statement.text, statement.place, hint)
            return False
        self._check_unread(known, statement, "dropped")
        with HeldInterrupt():
            self._catalogue.remove_view(known).close()
        return True


def _creation(saved: SavedView) -> CreateView:
    """Return the statement that creates a view again."""
    options: dict[str, tuple[OptionValue, int]] = {"on_error": (saved.on_error, 0)}
    if saved.max_staleness is not None:
        options["max_staleness"] = timedelta(seconds=saved.max_staleness), 0
    if saved.sign is not None:
        options[SIGN] = saved.sign, 0
    return sql.CreateView(
        text=saved.text,
        name=saved.name,
        query=saved.text,
        columns=saved.columns,
        options=options,
        words=(),
        or_replace=False,
        if_not_exists=False,
        place=0,
    )


def _differences(before: Form, now: Form) -> list[str]:
    """Say in which columns, key and time two streams differ."""
    columns, others = before["columns"], now["columns"]
    assert isinstance(columns, dict)
    assert isinstance(others, dict)
    types = {
        name: (columns.get(name, "missing"), others.get(name, "missing"))
        for name in dict.fromkeys([*columns, *others])
    }
    found = [f"its column {name} was {a}, and is {b}" for name, (a, b) in types.items() if a != b]
    if not found and [*columns] != [*others]:
        found = [f"its columns were in the order {', '.join(columns)}"]
    what = [each for each in ("key", "time") if before[each] != now[each]]
    return [*found, *(f"its {each} was {before[each]}, and is {now[each]}" for each in what)]


def _refuse_options(statement: CreateView) -> None:
    """Refuse the options of views over streams for a view that reads none."""
    for name, (_, place) in statement.options.items():
        if name in _OPTIONS:
            reason = f"only a view over streams has the option {name}, and this one reads no stream"
            hint = "leave the option out, or read a stream"
            raise StatementError(reason, statement.text, place, hint)


def _on_error(statement: CreateView) -> OnError:
    """Return what happens to rows on which the query fails; refuse options that do not exist."""
    for name, (_, place) in statement.options.items():
        if name not in _OPTIONS:
            hint = sql.did_you_mean(name, _OPTIONS)
            raise QuerySyntaxError(f"a view has no option {name}", statement.text, place, hint)
    value, place = statement.options.get("on_error", ("fail", 0))
    chosen: dict[object, Literal["skip", "fail"]] = {"skip": "skip", "fail": "fail"}
    if value not in chosen:
        expected = " or ".join(repr(each) for each in get_args(OnError))
        raise QuerySyntaxError(f"on_error must be {expected}", statement.text, place)
    return chosen[value]


def _max_staleness(statement: CreateView) -> float | None:
    """Return how old the first row may be that a result lacks, in seconds."""
    if "max_staleness" not in statement.options:
        return None
    value, place = statement.options["max_staleness"]
    if isinstance(value, timedelta):
        return value.total_seconds()
    hint = "write max_staleness = INTERVAL '5 seconds'"
    raise QuerySyntaxError("max_staleness is a length of time", statement.text, place, hint)


def _sign(statement: CreateView) -> SignOption | None:
    """Return the column that tells whether a row is added or taken away."""
    if SIGN not in statement.options:
        return None
    value, place = statement.options[SIGN]
    if isinstance(value, str) and value:
        return SignOption(value, statement.text, place)
    hint = "write sign = 'op', for a column op of the values 1 and -1"
    raise QuerySyntaxError("sign is the name of a column", statement.text, place, hint)


def _named(statement: CreateView, result: pa.Schema) -> pa.Schema:
    """Return the columns of a view: first those that are named; refuse too many names."""
    names = statement.columns or ()
    if len(names) > len(result):
        reason = f"{len(names)} columns are named, and the query returns {len(result)}"
        raise StatementError(reason, statement.text, statement.place)
    names = (*names, *result.names[len(names) :])
    return pa.schema([field.with_name(name) for field, name in zip(result, names, strict=True)])


def _check_columns(statement: CreateView, schema: pa.Schema) -> None:
    """Refuse two columns of one name."""
    seen: set[str] = set()
    for name in schema.names:
        if name.lower() in seen:
            hint = "name the columns of the query with AS"
            reason = f"the view would have two columns named {name}"
            raise StatementError(reason, statement.text, statement.place, hint)
        seen.add(name.lower())
