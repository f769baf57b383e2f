"""What a view reads: all rows of streams, the newest rows of streams, and other views.

In the query, a stream becomes a chunk, and another view a table that is lent. Newest rows become a
chunk whose changes leaves follow, or else a table that is lent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ...errors import StatementError
from ...held_interrupt import HeldInterrupt
from ...tables.newest_reader import NewestReader
from ...tables.newest_rows import NewestRows
from ..rewriting.relations import renamed_tables
from ..sql.trees import without_order
from ..sql.window_clause import WindowClause, WindowKind
from .followed_rows import FollowedRows
from .newest import SideTable
from .view_table import ViewTable

if TYPE_CHECKING:
    import pyarrow as pa

    from ...clock import Clock
    from ...database.duck import Duck
    from ...rows.stream_definition import StreamDefinition
    from ...tables.engine_stream import EngineStream
    from ...tables.log import Log, LogReader
    from ..sql import ParsedQuery
    from ..sql.trees import Query
    from .view_state import Beginning
    from .view_table import ViewSource


def is_all_rows(window: WindowClause) -> bool:
    """Tell whether a view reads all rows of a stream here."""
    is_landmark = window.kind is WindowKind.LANDMARK and not window.slide
    return is_landmark or window.kind is WindowKind.STREAM


class ViewSources:
    """Opens what a view reads. `undo` receives what closes it again, the last one first.

    `definitions` are those of streams of which the query does not read all columns.
    """

    def __init__(
        self,
        parsed: ParsedQuery,
        streams: Mapping[str, EngineStream],
        views: Mapping[str, ViewSource],
        *,
        duck: Duck,
        clock: Clock,
        undo: list[Callable[[], None]],
        beginning: Beginning | None = None,
        definitions: Mapping[str, StreamDefinition] | None = None,
    ) -> None:
        self._beginning = beginning
        self.opened: dict[str, list[LogReader]] = {}
        """All readers of each stream."""
        self.newest_rows: dict[str, NewestRows] = {}
        """The newest rows that are read, by what is read of which stream."""
        self._parsed = parsed
        self._streams = streams
        self._views = views
        self._definitions = definitions or {}
        self._duck = duck
        self._clock = clock
        self._undo = undo
        self.names: list[str] = []
        """The streams of which all rows are read: chunk i has the rows of the one with number i."""
        self.newest: list[WindowClause] = []
        """The newest rows that are read. If leaves follow them, their chunks come after those."""
        self.sides: list[SideTable | ViewTable] = []
        """What is read as a table."""
        self.query = without_order(self._renamed())
        """The query, in which newest rows still have no place."""

    def _renamed(self) -> Query:
        """Number streams and newest rows, and lend views."""
        renames: dict[str, str] = {}
        for i, window in enumerate(self._parsed.windows):
            if is_all_rows(window):
                if window.stream not in self.names:
                    self.names.append(window.stream)
                renames[f"chunk_{i}"] = f"chunk_{self.names.index(window.stream)}"
            elif window.kind is WindowKind.VIEW:
                renames[f"chunk_{i}"] = self._view_table(window.stream).name
            else:
                if window not in self.newest:
                    self.newest.append(window)
                renames[f"chunk_{i}"] = _newest_name(self.newest.index(window))
        return renamed_tables(self._parsed.query, renames)

    def with_newest_as_chunks(self) -> Query:
        """Return the query in which newest rows are chunks."""
        numbers = range(len(self.newest))
        first = len(self.names)
        return renamed_tables(self.query, {_newest_name(i): f"chunk_{first + i}" for i in numbers})

    def with_newest_as_tables(self) -> Query:
        """Return the query in which newest rows are tables; they are no chunks any more."""
        renames: dict[str, str] = {}
        for i, window in enumerate(self.newest):
            renames[_newest_name(i)] = self._side_table(window).name
        self.newest = []
        return renamed_tables(self.query, renames)

    @property
    def chunks(self) -> dict[str, pa.Schema]:
        """The schemas of all chunks, by name."""
        streams = [*self.names, *(window.stream for window in self.newest)]
        return {f"chunk_{i}": self._schema_of(name) for i, name in enumerate(streams)}

    def _schema_of(self, stream: str) -> pa.Schema:
        """Return the columns of a stream that the query may read."""
        known = self._definitions.get(stream, self._streams[stream].definition)
        return known.schema

    @property
    def definitions(self) -> list[StreamDefinition]:
        """The definitions of what is read, with all columns, for each window of the query."""
        read = [window.stream for window in self._parsed.windows]
        views = {name: view.definition for name, view in self._views.items()}
        return [views.get(name) or self._streams[name].definition for name in read]

    @property
    def windows(self) -> tuple[WindowClause, ...]:
        """The windows of all chunks: nothing ever leaves them."""
        streams = [*self.names, *(window.stream for window in self.newest)]
        return tuple(WindowClause(WindowKind.LANDMARK, name) for name in streams)

    @property
    def changing(self) -> list[str]:
        """What is read that is neither all rows of a stream nor a table, as users write it."""
        return [
            each.stream if each.kind is WindowKind.VIEW else f"latest({each.stream})"
            for each in self._parsed.windows
            if not is_all_rows(each)
        ]

    def number_of(self, stream: str) -> int:
        """Return the number of the first window of the query over a stream."""
        windows = enumerate(self._parsed.windows)
        found = [i for i, window in windows if window.stream == stream]
        return next((i for i in found if is_all_rows(self._parsed.windows[i])), found[0])

    # Opening

    def followed(self) -> list[FollowedRows]:
        """Return the newest rows whose chunks leaves follow."""
        return [FollowedRows(self._newest_of(each, follows_changes=True)) for each in self.newest]

    def reader(self, stream: str) -> LogReader:
        """Return a new reader of all rows of a stream; the caller has to close it."""
        start = None if self._beginning is None else self._beginning.starts[stream].rows
        return self.log_of(stream).reader(start)

    @property
    def is_restored(self) -> bool:
        """Whether the view begins with a saved state."""
        return self._beginning is not None

    def log_of(self, stream: str) -> Log:
        """Return the log of a stream."""
        return self._streams[stream].log

    def _view_table(self, name: str) -> ViewTable:
        with HeldInterrupt():
            made = ViewTable(self._views[name], self._duck)
            self._undo.append(made.close)
        self.sides.append(made)
        return made

    def _side_table(self, window: WindowClause) -> SideTable:
        newest = self._newest_of(window, follows_changes=False)
        schema = self._streams[window.stream].definition.schema
        with HeldInterrupt():
            made = SideTable(newest, schema, self._duck)
            self._undo[-1] = made.close  # which closes the reader
        self.sides.append(made)
        return made

    def _newest_of(self, window: WindowClause, *, follows_changes: bool) -> NewestReader:
        """Return newest rows, which begin with those that there are now."""
        definition = self._streams[window.stream].definition
        newest = NewestRows(
            definition,
            window.rows or 1,
            window.per or None,
            expire_after=window.expire_after,
            follows_changes=follows_changes,
        )
        if self._beginning is not None:
            follower = self._restored(window, newest, self._beginning)
        else:
            with HeldInterrupt():
                rows, reader = self._streams[window.stream].newest_and_reader()
                self._undo.append(reader.close)
            follower = NewestReader(reader, newest)
            if {*window.per} <= {*definition.key}:
                follower.begin_with(rows, self._clock.now())
        self.opened.setdefault(window.stream, []).append(follower.reader)
        self.newest_rows[_description_of(window)] = newest
        return follower

    def _restored(
        self, window: WindowClause, newest: NewestRows, beginning: Beginning
    ) -> NewestReader:
        """Return newest rows that begin with saved ones."""
        saved, start = beginning.state, beginning.starts[window.stream]
        if window.expire_after is not None and self._clock.now() < saved.moment:
            reason = f"the clock is at {self._clock.now():,.3f} s, before the moment at which the "
            reason += f"view was saved, {saved.moment:,.3f} s, so its keys would expire too late"
            raise StatementError(reason, hint="use a clock that counts from the same moment")
        newest.restore(saved.table(_description_of(window)))
        with HeldInterrupt():
            log = self.log_of(window.stream)
            reader = log.reader(start.rows, deletions=start.deletions)
            self._undo.append(reader.close)
        return NewestReader(reader, newest)


def _description_of(window: WindowClause) -> str:
    """Return what newest rows are read, as a name for them."""
    per = f"rows => {window.rows or 1}, per => ({', '.join(window.per)})"
    return f"latest({window.stream}, {per}, expire_after => {window.expire_after})"


def _newest_name(number: int) -> str:
    return f"__newest_{number}"
