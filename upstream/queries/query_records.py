"""The records of standing queries over epochs, in the directory of an engine.

    data/lock                  held by the one engine that uses the directory
    data/queries/sums.record   the record of the query "sums", replaced with each commit

The feed of a stream is all its rows, from the first one that the first engine received. A record
says after how many of them its query goes on. A new engine receives them from the least of these
numbers on, which is the `origin` of the stream here. So every number of a row can be translated,
and a query leaves out the rows before its own position.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from ..disk import Disk
from ..errors import ParameterError, QueryError
from .results.query_record import QueryForm, QueryRecord, read_record
from .results.record_keeper import HIDDEN, RecordFile, RecordKeeper

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..rows.stream_definition import StreamDefinition
    from .choices import Choices
    from .chunks.feed_positions import FeedStart
    from .evaluation.epoch_feed import EpochFeed
    from .evaluation.planning import Plan

_FOLDER: Final = "queries"
_SUFFIX: Final = ".record"
_LONGEST_NAME: Final = 250
"""Names of files have at most 255 bytes, also while they are hidden."""
_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")
"""What stands for itself in the name of a file; some file systems do not tell A from a."""
_OPTIONS: Final = ("semantics", "on_error")
"""The options that the results depend on."""
_HINT: Final = "leave the name out, so that no record is kept, or open the engine without directory"


class Source(Protocol):
    """A stream, as far as records know it."""

    @property
    def definition(self) -> StreamDefinition:
        """The columns, the key and the time."""

    @property
    def log(self) -> object:
        """What counts its rows."""


class QueryRecords:
    """The records in one directory, which no other engine may use meanwhile."""

    __slots__ = ("_disk", "_folder", "_keepers", "_lock", "_logs", "_origins", "_records")

    def __init__(self, directory: str | Path, disk: Disk | None = None) -> None:
        if not isinstance(directory, str | Path):
            raise ParameterError("directory", directory, "the path of a directory")
        self._disk = Disk() if disk is None else disk
        self._folder = Path(directory) / _FOLDER
        self._disk.make_folder(self._folder)
        lock = self._disk.lock(Path(directory) / "lock")
        if lock is None:
            hint = "close the other engine first, or choose another directory"
            raise QueryError(f"another engine uses the directory {directory}", hint=hint)
        self._lock = lock
        try:
            self._records = self._read()
        except BaseException:
            lock.release()
            raise
        self._keepers: dict[str, RecordKeeper] = {}
        """What writes the records of the queries that this engine has or had, by name."""
        self._logs: dict[str, object] = {}
        """What counted the rows of each stream when the first query read it."""
        self._origins = least(self._records.values())

    def _read(self) -> dict[str, QueryRecord]:
        """Read all records, by name; remove what was not written completely."""
        found: dict[str, QueryRecord] = {}
        for name in self._disk.names(self._folder):
            path = self._folder / name
            if name.endswith(_SUFFIX) and name.startswith(HIDDEN):
                self._disk.remove(path)
            elif name.endswith(_SUFFIX):
                record = read_record(path, self._disk.read(path))
                if self._path(record.name) != path:
                    hint = f"give it its name back: {self._path(record.name).name}"
                    raise QueryError(f"{path} is the record of {record.name!r}", hint=hint)
                found[record.name] = record
        return found

    def _path(self, name: str) -> Path:
        """Return the file of a query; every name has one of its own on every file system."""
        encoded = "".join(each if each in _PLAIN else _encoded(each) for each in name)
        return self._folder / f"{encoded}{_SUFFIX}"

    @property
    def _newest(self) -> list[QueryRecord]:
        written = {name: keeper.record for name, keeper in self._keepers.items()}
        return [*{**self._records, **written}.values()]

    def positions(self, streams: Iterable[str]) -> dict[str, int]:
        """Return after how many rows of streams a feed goes on, so that no query misses any."""
        found = least(self._newest)
        return {stream: found[stream] for stream in sorted(streams) if stream in found}

    def check_punctuation(self, stream: str) -> None:
        """Raise QueryError if a punctuation would not be seen in a record."""
        for record in self._newest:
            if any(each.stream == stream and each.chunk is not None for each in record.starts):
                raise QueryError(
                    f"{stream} cannot be punctuated: the epochs of the query {record.name!r} are "
                    "numbered in the order of arrival, and its record counts rows only",
                    hint="write epochs(…, punctuation => condition): then a row ends an epoch",
                )

    def keeper(
        self, name: str, text: str, plan: Plan, choices: Choices, streams: Mapping[str, Source]
    ) -> RecordKeeper:
        """Let a query go on where its record says, or begin a record; return what writes it.

        `streams` are those of the engine. Raises QueryError if the query is another one than that
        of the record, or cannot go on exactly.
        """
        feed, path = plan.feed, self._path(name)
        assert feed is not None
        if len(path.name) > _LONGEST_NAME:
            raise ParameterError("name", name, "a shorter name, since a file has it")
        _check_recordable(name, text, plan, feed)
        sources = {start.stream: streams[start.stream] for start in feed.here()}
        for stream, source in sources.items():
            if self._logs.setdefault(stream, source.log) is not source.log:
                reason = f"the stream {stream} was created again, so its rows are counted anew"
                raise QueryError(reason, text, hint="create the query in a new engine")
        described = {stream: _described(each.definition) for stream, each in sources.items()}
        options = {option: str(getattr(choices, option)) for option in _OPTIONS}
        form = QueryForm(text.strip(), options, described, plan.schema.outer)
        here = tuple(self._moved(feed.here(), 1))
        known = self._keepers[name].record if name in self._keepers else self._records.get(name)
        record = QueryRecord(name, form, here) if known is None else known
        _check_same(record, form, path)
        _check_position(record, here, path)
        keeper = RecordKeeper(RecordFile(path, self._disk), record, feed, self._origins)
        if known is None:
            keeper.begin()
        feed.begin_at(self._moved(record.starts, -1))
        self._keepers[name] = keeper
        return keeper

    def _moved(self, starts: Sequence[FeedStart], sign: int) -> list[FeedStart]:
        """Translate positions in the streams here to positions in the feed, or back (-1)."""
        return [
            each._replace(position=each.position + sign * self._origins.get(each.stream, 0))
            for each in starts
        ]

    def close(self) -> None:
        """Let other engines use the directory."""
        self._lock.release()


def least(records: Iterable[QueryRecord]) -> dict[str, int]:
    """Return the least position of each stream."""
    found: dict[str, int] = {}
    for record in records:
        for stream, position in record.positions.items():
            found[stream] = min(position, found.get(stream, position))
    return found


def _encoded(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode(errors="surrogatepass"))


def _described(definition: StreamDefinition) -> str:
    """Return what has to be the same of a stream."""
    columns = ", ".join(f"{field.name} {field.type}" for field in definition.schema)
    return f"({columns}) KEY ({', '.join(definition.key)}) TIME ({definition.time})"


def _check_recordable(name: str, text: str, plan: Plan, feed: EpochFeed) -> None:
    reason = feed.refusal
    if plan.side_tables:
        reason = "it reads latest(…) or a view, whose rows are not in the record"
    if reason:
        raise QueryError(f"the query {name!r} cannot keep a record: {reason}", text, hint=_HINT)


def _check_same(record: QueryRecord, form: QueryForm, path: Path) -> None:
    """Raise QueryError if a query is not that of a record."""
    hint = f"choose another name, or remove {path} to let the new query begin anew"
    was = record.form
    if was.text != form.text:
        reason = f"{path} is the record of another query with this name: {was.text}"
        raise QueryError(reason, form.text, hint=hint)
    for option, value in form.options.items():
        if was.options.get(option) != value:
            reason = f"{path} is the record of this query with {option}={was.options.get(option)!r}"
            raise QueryError(reason, form.text, hint=hint)
    for stream, described in form.streams.items():
        if was.streams.get(stream) != described:
            reason = f"{path} is of a stream {stream} that was {was.streams.get(stream)}"
            raise QueryError(reason, form.text, hint=hint)
    if not was.schema.equals(form.schema):
        reason = f"{path} has results with other columns: {', '.join(map(str, was.schema))}"
        raise QueryError(reason, form.text, hint=hint)


def _check_position(record: QueryRecord, here: Sequence[FeedStart], path: Path) -> None:
    """Raise QueryError if rows that a query has to read again have passed."""
    for start, now in zip(record.starts, here, strict=True):
        if start.position < now.position:
            raise QueryError(
                f"the query {record.name!r} goes on after {start.position:,} rows of "
                f"{start.stream}, and {now.position:,} have passed",
                record.form.text,
                hint="create the query in a new engine, before rows are appended, or remove "
                f"{path} to let it begin anew",
            )
