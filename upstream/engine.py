"""The engine: streams and tables in one place, with one-time and standing SQL queries.

It puts the parts of `upstream.queries` together. Statements are read there, and standing queries
are split and evaluated there by an embedded DuckDB. Nothing runs in the background and no thread is
started: `append` stores rows, and a call that asks for results evaluates queries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import timedelta
from functools import partial
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING

from .clock import Stopwatch, SystemClock
from .errors import ClosedError, ParameterError, StreamFullError
from .extras import require
from .held_interrupt import HeldInterrupt
from .queries.choices import (
    Choices,
    Emit,
    OnError,
    Semantics,
    Way,
    checked_seconds,
    seconds_of,
)
from .queries.into import results_into
from .queries.scheduling import make_query_scheduler, serve
from .queries.view import ContinuousView
from .rows.arrow_data import as_arrow, rows_to_append
from .tables.appended import Appended

if TYPE_CHECKING:
    import pyarrow as pa

    from .clock import Clock
    from .plans import PlanQuery
    from .queries.continuous_query import Callback, ContinuousQuery
    from .queries.results.sink import Sink
    from .queues import Stream
    from .rows.stream_definition import StreamDefinition
    from .tables.engine_stream import EngineStream


class Engine:
    """Streams, tables, and queries over them; embedded, in this process.

    `scheduler` sets the order in which `run` serves queries. With `"staleness"`, the query with the
    most staleness per second of its cost is next; the alternative is `"round-robin"`. `threads` is
    the number of threads that DuckDB may use; more than one pays for large windows that are
    evaluated in full. `stopwatch` is the clock that measures the cost of queries, since `clock` may
    stand still. `now()` and similar functions return the time of `clock`. Nothing is downloaded.

    SQL may read and write files of this machine, attach databases and change settings. With
    `files=False` it may do none of that. Never run SQL from other people in an engine without this
    restriction.

    Windows are named in FROM, in place of a stream:

        tumble(trades, INTERVAL '1 minute')                        every minute
        hop(trades, INTERVAL '10 minutes', INTERVAL '1 minute')    ten minutes, each minute
        tumble(trades, INTERVAL '1 month', zone => 'Europe/Rome')  months of the calendar
        session(trades, INTERVAL '5 minutes', per => symbol)       ends after 5 minutes of silence
        rows(trades, 1000, 100)                                    1,000 rows, every 100 rows
        latest(trades, rows => 3, per => symbol)                   the newest 3 rows per symbol
        latest(trades, expire_after => INTERVAL '1 hour')          of symbols heard of for an hour
        landmark(trades), landmark(trades, INTERVAL '1 hour')      all rows, always or each hour
        epochs(trades, INTERVAL '1 minute', keep => 5)             the last 5 minutes, each minute
        epochs(trades, rows => 100), epochs(trades, by => symbol)  100 rows, or rows with one value
        epochs(trades, punctuation => price = 0)                   ends with a row that meets this

    Windows use the stream's time column or, with `by => arrival`, the time when rows were appended.
    Windows of a fixed length are aligned to the epoch; `offset => INTERVAL '6 hours'` shifts them.
    With `empty => true`, windows without rows have results too. A query may read the columns
    `window_start` and `window_end`. Windows of different sizes and slides can be joined; the query
    then has a result whenever one of them ends.

    An epoch is a numbered chunk of a stream. Streams with the same cuts are joined chunk by chunk;
    `keep` is how many chunks are kept, by default one. `pairing` is `'newest'`, `'newest-window'`
    or `'window'`, with which each pair of rows is answered once. `punctuate` ends an epoch. Rows
    have the columns `epoch`, `window_start` and `window_end`.

    With a `directory`, queries over epochs that have a name of their own go on after a restart.
    Each epoch is committed to a file there: its number, how far the streams were read, and the
    results that were not taken. The new engine defines the same streams and tables, creates the
    query again with the same name and text, and feeds each stream, with its punctuations, after
    the rows that `query.positions` counts. No epoch is lost or numbered twice. A result may come
    again that was taken after the last commit; its number says so. A query keeps no record if a
    stream or a sink takes its results.

    Any thread may call any method. One thread evaluates at a time, and `append` does not wait for
    it.

    >>> from upstream import ManualClock
    >>> engine = Engine(clock=ManualClock())
    >>> _ = engine.sql(
    ...     "CREATE STREAM trades (time TIMESTAMP, symbol TEXT, price DOUBLE) KEY (symbol)"
    ... )
    >>> query = engine.continuous_query(
    ...     "SELECT symbol, avg(price) AS price"
    ...     " FROM tumble(trades, INTERVAL '1 minute') GROUP BY symbol"
    ... )
    >>> _ = engine.sql(
    ...     "INSERT INTO trades VALUES ('2026-01-02 09:30:10', 'IBM', 24.0),"
    ...     " ('2026-01-02 09:30:50', 'IBM', 26.0), ('2026-01-02 09:31:00', 'IBM', 30.0)"
    ... )
    >>> [result] = query.results()
    >>> print(result.window_start, result.table.to_pylist())
    2026-01-02 09:30:00 [{'symbol': 'IBM', 'price': 25.0}]
    >>> engine.close()

    The same feed in two engines with one directory:

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as directory:
    ...     for _ in range(2):
    ...         with Engine(clock=ManualClock(), directory=directory) as engine:
    ...             _ = engine.sql("CREATE STREAM beats (n BIGINT)")
    ...             text = "SELECT sum(n) AS n FROM epochs(beats, rows => 2)"
    ...             query = engine.continuous_query(text, name="sums")
    ...             first = query.positions["beats"]
    ...             _ = engine.append("beats", {"n": [1, 2, 3, 4, 5][first:]})
    ...             first, [(each.number, each.table["n"][0].as_py()) for each in query.results()]
    (0, [(0, 3), (1, 7)])
    (2, [])
    """

    def __init__(
        self,
        *,
        clock: Clock | None = None,
        scheduler: str = "staleness",
        threads: int = 1,
        files: bool = True,
        stopwatch: Clock | None = None,
        directory: str | Path | None = None,
    ) -> None:
        require("Engine", ("duckdb", "pyarrow", "sqlglot"), "queries")
        from .database.duck import Duck
        from .queries.catalogue import Catalogue
        from .queries.query_records import QueryRecords
        from .queries.standing import StandingQueries
        from .queries.statements import Statements

        if not (isinstance(threads, int) and threads >= 1):
            raise ParameterError("threads", threads, "a whole number, 1 or more")
        self._clock: Clock = SystemClock() if clock is None else clock
        self._stopwatch: Clock = Stopwatch() if stopwatch is None else stopwatch
        self._scheduler = make_query_scheduler(scheduler)
        self._records = None if directory is None else QueryRecords(directory)
        self._duck = Duck(threads=threads, files=files, clock=self._clock)
        self._catalogue = Catalogue()
        self._is_closed = False
        self._lock = RLock()
        """Held by the one thread that evaluates."""
        self._standing = StandingQueries(
            self._catalogue,
            self._duck,
            clock=self._clock,
            stopwatch=self._stopwatch,
            lock=self._lock,
            records=self._records,
        )
        self._statements = Statements(
            self._catalogue,
            self._duck,
            clock=self._clock,
            stopwatch=self._stopwatch,
            lock=self._lock,
            standing=self._standing,
            append=self.append,
        )

    def __repr__(self) -> str:
        """Return the numbers of streams and queries."""
        return f"<Engine with {len(self.streams)} streams and {len(self.queries)} queries>"

    def __enter__(self) -> Engine:
        """Return the engine, which is closed at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    # Statements

    def sql(self, text: str) -> pa.Table:
        """Run one statement, and return its result as an Arrow table.

        A query reads the newest row of each key of a stream, and tables as they are. Sums of
        integers are int64. A larger sum is an error; write sum(x)::DECIMAL(38, 0) to allow it.
        `DELETE FROM` a stream deletes the keys whose newest row meets the condition. `COPY` a
        stream `FROM 'file'` appends the rows of a file, all or none. Besides the statements of
        DuckDB there are INSERT INTO a stream, DROP STREAM, and

            CREATE STREAM trades (at TIMESTAMP, symbol TEXT, price DOUBLE) KEY (symbol) TIME (at)

        Without KEY, all rows have the same key. Without TIME, the time is the only TIMESTAMP
        column, or the one named time. A DOUBLE (seconds), a DATE or an integer has to be named as
        the time, and so has one of several TIMESTAMPs. A stream without a time can only have
        windows over arrival and over rows. A standing query can fill a stream:

            CREATE STREAM means KEY (symbol) [TIME (column)] [WITH (semantics = 'update', …)] AS
            SELECT symbol, avg(price) AS mean FROM tumble(trades, INTERVAL '1 minute') GROUP BY ALL

        Its columns are those of the result and, for windows, `window_end`, which is the time unless
        the result has another one. Whatever reads the stream lets the query be evaluated first.
        A view over streams is kept up to date as rows arrive, and read like a table:

            CREATE [OR REPLACE] VIEW [IF NOT EXISTS] means [(symbol, mean)]
            [WITH (max_staleness = INTERVAL '5 seconds', on_error = 'skip')] AS
            SELECT symbol, avg(price) FROM trades GROUP BY symbol

        A stream in it is all its rows since then, and `latest(trades)` the newest row of each key.
        With `sign = 'op'`, rows of the stream that has the column `op` are added where it is 1, and
        take an equal row away where it is -1.
        `EXPLAIN means` says which part of the query runs when. `view("means").save(path)` saves it.
        """
        self._check_open()
        with self._lock:
            return self._statements.run(text)

    def append(self, stream: str, data: object) -> Appended:
        """Append rows to a stream and return how many there were.

        `data` is an Arrow table or record batch, a DataFrame of pandas or polars, a mapping of
        names to columns, or a list of mappings. Times may be texts such as 2026-01-02 09:30:00. If
        any row does not fit, StreamTypeError is raised and no row is accepted.

        Standing queries read the rows when they are asked for results; views and epochs also when
        thousands wait and no thread evaluates. Any thread may append, even while another thread
        evaluates a query, and does not wait for it. If millions of rows wait because an evaluation
        takes too long, StreamFullError is raised and no row is accepted.

        The number that is returned also says how far the stream is ahead of those that queries join
        it with: `rows_ahead` of its rows wait for them, and it is `epochs_ahead` of the epoch that
        is open. If they never catch up, StreamFullError is raised in the end.
        """
        self._check_open()
        entry = self._to_fill(stream)
        rows = rows_to_append(data, entry.definition)
        self._check_room(entry)
        count = entry.append(rows)
        if entry.is_crowded():
            self._relieve(entry)
        elif self._catalogue.keeps_up:
            self._keep_up(entry)
        return Appended(count, partial(self._catalogue.lead_of, entry.definition.name))

    def _to_fill(self, name: str) -> EngineStream:
        if (view := self._catalogue.found_view(name)) is not None:
            expected = f"the name of a stream; {view} is a view, which is filled by its query"
            raise ParameterError("stream", name, expected)
        entry = self._catalogue.streams.named(name)
        self._catalogue.check_writable(entry.definition.name)
        return entry

    def delete(self, stream: str, keys: object) -> int:
        """Delete keys of a stream and return how many were given; a key may be unknown.

        `keys` is data as for `append`, with the key columns only. The newest row of each key is
        taken away, and with it all rows of the key that `latest` has. A later row begins the key
        anew, at any time. Windows and landmarks read rows only, so they keep what has arrived. In
        SQL this is `DELETE FROM stream WHERE …`, also for a stream without a key.
        """
        self._check_open()
        entry = self._to_fill(stream)
        if not entry.definition.key:
            expected = "a stream with a key; its only key is deleted by DELETE FROM in SQL"
            raise ParameterError("stream", stream, expected)
        rows = entry.definition.conform_keys(rows_to_append(keys, entry.definition))
        self._check_room(entry)
        entry.delete(rows)
        if entry.is_crowded():
            self._relieve(entry)
        return int(rows.num_rows)

    def punctuate(self, stream: str) -> None:
        """End the open epoch of each `epochs` over a stream; the rows that follow begin the next.

        By time, the epoch of the stream's newest row ends, and later rows of it are late. An epoch
        in which the stream has no row does not end by this; use `close_after` for that. By count,
        object or condition, the open epoch ends even without rows. May raise StreamFullError.
        """
        self._check_open()
        entry = self._to_fill(stream)
        if self._records is not None:
            self._records.check_punctuation(entry.definition.name)
        self._check_room(entry)
        entry.punctuate()
        if entry.is_crowded():
            self._relieve(entry)

    def _check_room(self, entry: EngineStream) -> None:
        """Raise StreamFullError if a stream has no room, and cannot get any now."""
        if entry.is_full() and not (self._relieve(entry) and not entry.is_full()):
            raise StreamFullError(entry.definition.name, entry.log.stored_rows)

    def _relieve(self, entry: EngineStream) -> bool:
        """Evaluate what reads a stream, and tell whether that was possible.

        It is not while another thread is evaluating, and if a sink fails.
        """
        if not self._lock.acquire(blocking=False):
            return False
        try:
            return self._catalogue.evaluate_readers(entry.definition.name)
        finally:
            self._lock.release()

    def _keep_up(self, entry: EngineStream) -> None:
        """Take rows into what should not wait for a reader, if no other thread works."""
        steps = self._catalogue.to_keep_up(entry.definition.name)
        if steps and self._lock.acquire(blocking=False):
            try:
                for take_in in steps:
                    take_in()
            finally:
                self._lock.release()

    def create_table(self, name: str, data: object) -> None:
        """Create an ordinary table from Arrow, pandas or polars data, or from the path of a file.

        A path ends with .parquet, .csv, .tsv or .json (also with .gz), and may be a pattern such as
        `trades/*.parquet`.
        """
        self._check_open()
        given = data if isinstance(data, str | Path) else as_arrow(data)
        self._statements.create_table(name, given)

    # Standing queries

    def continuous_query(
        self,
        sql: str,
        semantics: Semantics = "append",
        *,
        name: str | None = None,
        emit: Emit = "slide",
        emit_every: float | timedelta | None = None,
        allowed_lateness: float | timedelta | None = None,
        close_after: float | timedelta | None = None,
        keep: int = 1_000,
        callback: Callback | None = None,
        weight: float = 1.0,
        evaluation: Way = "measured",
        on_error: OnError = "skip",
        into: str | None = None,
        key: Sequence[str] = (),
        time: str | None = None,
        deletes: bool = False,
        sink: Sink | None = None,
    ) -> ContinuousQuery:
        """Create a standing query; it reads what is appended from now on.

        With `append` semantics every result counts, and up to `keep` results wait to be taken. With
        `update` only the newest one does. Without a window, `append` returns each new row once, or
        each pair of rows if the join limits how far apart in time they are. `update` returns the
        newest row of each key, unless it does not pass WHERE or was deleted. A column without an
        alias is named after its text.

        `emit` says when there are results: at each slide of the window (`"slide"`), when they
        change (`"changed"`), or only for calls of `ask()` (`"asked"`). `emit_every` is the least
        time between results. Only the first empty window after one with rows has a result.

        A late row is dropped and counted, unless it is at most `allowed_lateness` behind the
        newest. Then its windows have results again; with `update`, only the newest window. After
        `close_after` without rows, windows close without a further row, and joins of streams do not
        wait for one. These times are in seconds, or in the unit of a time column of numbers.

        Rows on which the query fails, as in a cast of a text that is not a number, are left out and
        counted in `result.rows_failed`; with `on_error="fail"` the result is an error. `evaluation`
        is `"increments"`, `"whole"` (in full), or `"measured"` (whichever is cheaper). `callback`
        receives results when `run` serves the query; `weight` is the importance of its staleness.
        `sink` takes each result once, by its number; see `Sink`. `into` names a new stream for the
        results with this `key` and `time`; with `deletes`, a key that leaves them is deleted.
        """
        self._check_open()
        choices = Choices(
            semantics=semantics,
            evaluation=evaluation,
            emit=emit,
            emit_every=checked_seconds("emit_every", emit_every),
            keep=keep,
            allowed_lateness=checked_seconds("allowed_lateness", allowed_lateness),
            close_after=checked_seconds("close_after", close_after),
            on_error=on_error,
            weight=weight,
        )
        with self._lock:
            into_stream = results_into(into, key, time, deletes=deletes)
            return self._standing.create(sql, choices, name, callback, into=into_stream, sink=sink)

    def stream(self, name: str) -> Stream:
        """Return a library stream that this stream feeds, for Python plans.

        Its keys are the values of the key columns. Its values are the rows as dicts. If a query
        fills the stream, the rows arrive whenever the query is evaluated, as `run` does.
        """
        self._check_open()
        with self._lock:
            entry = self._catalogue.streams.named(name)
            if (query := self._catalogue.filler_of(entry.definition.name)) is not None:
                query.evaluate()
            return entry.for_plans()

    def add_plan(self, plan: PlanQuery) -> None:
        """Let `run` serve a Python plan beside the standing queries, until the plan is closed."""
        self._check_open()
        with self._lock:
            self._catalogue.add_plan(plan)

    def run(self, seconds: float | timedelta) -> int:
        """Serve all queries, the most worthwhile first, and return the number of runs.

        It ends when nothing is left to do, or when `seconds` have passed. It does not wait for new
        rows: only callbacks and other threads can append while it runs. If the results of a query
        cannot be stored, the others are served, and then SinkError or RecordError is raised.
        """
        self._check_open()
        seconds = seconds_of("seconds", seconds)
        with self._lock:
            self._catalogue.end_moment()
        return serve(self._catalogue.served, self._scheduler, self._clock, seconds)

    def close(self) -> None:
        """Close all queries and plans, and the database; with a directory, record what was taken.

        If a record cannot be written, everything is closed, and RecordError is raised.
        """
        with self._lock, HeldInterrupt():
            if self._is_closed:
                return
            self._is_closed = True
            with ExitStack() as closing:  # all is closed, although a disk may fail
                if self._records is not None:
                    closing.callback(self._records.close)
                closing.callback(self._duck.close)
                closing.callback(self._statements.close)
                for stream in self._catalogue.streams.values():
                    closing.callback(stream.close)
                for query in reversed(self.queries):
                    closing.callback(query.close)
                for view in reversed([*self._catalogue.views.values()]):
                    closing.callback(view.close)
                for plan in reversed([*self._catalogue.plans.values()]):
                    closing.callback(plan.close)

    @property
    def queries(self) -> tuple[ContinuousQuery, ...]:
        """The standing queries."""
        return tuple(self._catalogue.queries.values())

    def query(self, name: str) -> ContinuousQuery:
        """Return the standing query of this name; raise UnknownNameError if it does not exist."""
        return self._catalogue.query(name)

    @property
    def views(self) -> Mapping[str, ContinuousView]:
        """The views over streams, by name."""
        return {name: ContinuousView(view) for name, view in self._catalogue.views.items()}

    def view(self, name: str) -> ContinuousView:
        """Return the view of this name in any case; raise UnknownNameError if there is none."""
        return ContinuousView(self._catalogue.view(name))

    def restore_view(self, path: str | Path) -> ContinuousView:
        """Create a view again from the file that `ContinuousView.save` wrote.

        Its streams must exist, with the same columns, and so must the views that it reads. In the
        engine that saved it, it reads the rows after the saved position. If these are not kept any
        more, PositionNotKeptError is raised.

        In another engine, restore all views that were saved at the same moment first, and feed the
        streams afterwards. `positions` says after how many rows a feed goes on; deletions of keys
        after the last of these rows can be repeated. StatementError is raised if rows would be lost
        or read twice, as far as the numbers of rows show it: a stream here may not have more rows
        than the view contains. Tables whose rows have met the rows of streams must be as they were
        when the view was saved. Versions of DuckDB and settings such as the time zone must be the
        same. QueryError is raised if the file is damaged. After an error, nothing has changed.
        """
        self._check_open()
        with self._lock:
            return self.view(self._statements.restore_view(Path(path)))

    @property
    def streams(self) -> Mapping[str, StreamDefinition]:
        """The definitions of the streams, by name."""
        return self._catalogue.streams.definitions()

    def _check_open(self) -> None:
        if self._is_closed:
            raise ClosedError("engine")
