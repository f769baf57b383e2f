"""A sink that keeps each result as a Parquet file of its own.

    .epoch-000000000012.parquet   staged or sealed: hidden, and removed when a sink is opened
    epoch-000000000012.parquet    committed, by renaming

The number of the result is in the name. Its other properties are in the metadata of the file, as
texts: `upstream.number`, `upstream.window_start`, `upstream.window_end`, `upstream.revision`,
`upstream.missed` and `upstream.rows_failed`, and `upstream.epoch` and `upstream.error` if the
result has them. So the files are all that the sink has to know.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ...disk import Disk
from ...errors import ParameterError, QueryError, QueryTypeError
from ...rows.type_names import type_name
from .backlog import Result

if TYPE_CHECKING:
    import pyarrow as pa

_COMMITTED: Final = re.compile(r"epoch-(\d{12,})\.parquet")
_HIDDEN: Final = re.compile(r"\." + _COMMITTED.pattern)
_PROPERTIES: Final = (
    *("number", "epoch", "window_start", "window_end"),
    *("revision", "missed", "rows_failed", "error"),
)


class ParquetSink:
    """Keeps the results of one standing query in a directory, each as a Parquet file.

    The file of result 12 is `epoch-000000000012.parquet`. It appears complete, by renaming, and
    survives a crash of the machine. The metadata of its schema has the result's properties, such as
    `upstream.epoch`. Readers may remove old files, except the newest one: it says where a new query
    goes on. Parquet has no intervals, so a query whose results have some is refused.

    >>> from tempfile import TemporaryDirectory
    >>> from upstream import Engine, ManualClock
    >>> with TemporaryDirectory() as directory, Engine(clock=ManualClock()) as engine:
    ...     _ = engine.sql("CREATE STREAM beats (n BIGINT)")
    ...     sink = ParquetSink(directory)
    ...     text = "SELECT sum(n) AS n FROM rows(beats, 2)"
    ...     with engine.continuous_query(text, sink=sink) as query:
    ...         _ = engine.append("beats", {"n": [1, 2, 3]})
    ...         query.evaluate()
    ...         sink.committed, sink.path_of(0).name
    (0, 'epoch-000000000000.parquet')
    """

    __slots__ = ("_directory", "_disk", "_newest", "_repeats", "_staged")

    def __init__(self, directory: str | Path, *, disk: Disk | None = None) -> None:
        if not isinstance(directory, str | Path):
            raise ParameterError("directory", directory, "the path of a directory")
        self._directory = Path(directory)
        self._disk = Disk() if disk is None else disk
        self._disk.make_folder(self._directory)
        names = self._disk.names(self._directory)
        numbers = [int(found[1]) for name in names if (found := _COMMITTED.fullmatch(name))]
        number = max(numbers, default=None)
        self._newest = None if number is None else (number, self._epoch_of(number))
        """The number and the epoch of the newest committed result."""
        self._staged: dict[int, int | None] = {}
        """The epochs of the results that are staged, by number."""
        self._repeats = 0
        for name in names:
            if _HIDDEN.fullmatch(name):
                self._disk.remove(self._directory / name)

    def __repr__(self) -> str:
        """Return the directory and the newest number."""
        return f"<ParquetSink {str(self._directory)!r}, committed {self.committed}>"

    @property
    def committed(self) -> int | None:
        """The number of the newest committed result; None before the first one."""
        return None if self._newest is None else self._newest[0]

    @property
    def epoch(self) -> int | None:
        """The epoch of the newest committed result; None if it has none."""
        return None if self._newest is None else self._newest[1]

    @property
    def repeats(self) -> int:
        """How many results were dropped because their number was committed before."""
        return self._repeats

    def path_of(self, number: int) -> Path:
        """Return the file of a committed result."""
        return self._directory / f"epoch-{number:012}.parquet"

    def check(self, schema: pa.Schema) -> None:
        """Raise QueryTypeError if Parquet has no type for one of the columns of results."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        for field in schema:
            try:
                pq.write_table(pa.schema([field]).empty_table(), pa.BufferOutputStream())
            except (pa.ArrowNotImplementedError, pa.ArrowInvalid) as error:
                reason = f"Parquet cannot store the column {field.name}: {type_name(field.type)}"
                hint = "cast it to VARCHAR in the query, or leave it out"
                raise QueryTypeError(reason, hint=hint) from error

    def stage(self, number: int, result: Result) -> None:
        """Write a result to a hidden file, in place of one that was staged before."""
        if self._is_committed(number):
            self._repeats += 1
            return
        self._disk.write(self._hidden(number), _parquet_of(number, result))
        self._staged[number] = result.epoch

    def seal(self, number: int) -> None:
        """Let the hidden file survive a crash of the machine."""
        if not self._is_committed(number):
            self._check_staged(number)
            self._disk.sync(self._hidden(number))

    def commit(self, number: int) -> None:
        """Rename the hidden file, and let the name survive a crash of the machine."""
        if self._is_committed(number):
            return
        self._check_staged(number)
        hidden, path = self._hidden(number), self.path_of(number)
        if self._disk.exists(hidden) or not self._disk.exists(path):
            self._disk.rename(hidden, path)  # unless this was interrupted after it
        self._disk.sync_names(self._directory)
        self._newest = number, self._staged[number]
        self._staged = {each: epoch for each, epoch in self._staged.items() if each > number}

    def _is_committed(self, number: int) -> bool:
        return self._newest is not None and number <= self._newest[0]

    def _check_staged(self, number: int) -> None:
        if number not in self._staged:
            raise ParameterError("number", number, "that of a staged result")

    def _hidden(self, number: int) -> Path:
        path = self.path_of(number)
        return path.with_name(f".{path.name}")

    def _epoch_of(self, number: int) -> int | None:
        """Return the epoch of a committed result, from its file."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        path = self.path_of(number)
        content = self._disk.read(path)
        try:
            metadata = pq.read_schema(pa.BufferReader(content)).metadata or {}
        except (pa.ArrowInvalid, OSError) as error:
            hint = "remove it if the result may be made again"
            raise QueryError(f"{path} is damaged: {error}", hint=hint) from error
        if metadata.get(b"upstream.number") != str(number).encode():
            hint = "choose another directory"
            raise QueryError(f"{path} is not the file of result {number}", hint=hint)
        epoch = metadata.get(b"upstream.epoch")
        return None if epoch is None else int(epoch)


def _parquet_of(number: int, result: Result) -> memoryview:
    """Return the content of a file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    properties = {name: getattr(result, name) for name in _PROPERTIES} | {"number": number}
    metadata = {
        f"upstream.{name}": str(value) for name, value in properties.items() if value is not None
    }
    content = pa.BufferOutputStream()
    known = result.table.schema.metadata or {}
    pq.write_table(result.table.replace_schema_metadata({**known, **metadata}), content)
    return memoryview(content.getvalue())
