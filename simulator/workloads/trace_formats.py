"""The file formats of traces: Parquet, CSV or tab-separated.

Only the columns of times and keys are read, and a batch at a time, so that memory holds little more
than two numbers a row. A CSV file is parsed by one thread, because only then pyarrow says which
row has too many columns; it is read again to find the line of a bad row, and only then.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Generator, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from reprlib import repr as shorten
from typing import TYPE_CHECKING, Final, Protocol

from ..errors import TraceError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.csv import CSVStreamingReader

BLOCK_BYTES: Final = 1 << 20
"""How much of a CSV file is parsed at a time; no row can be longer."""

_DELIMITERS: Final = {".csv": ",", ".tsv": "\t"}
_ENDINGS: Final = ".parquet, .csv, .csv.gz, .tsv or .tsv.gz"
_NAMES_SHOWN: Final = 20
_BAD_ROW: Final = re.compile(r"Row #([0-9]+): Expected ([0-9]+) columns, got ([0-9]+)")
"""How pyarrow says it; its handler of bad rows would do, but fails on those that are not UTF-8."""


class TraceRows(Protocol):
    """A file of rows, to be read once."""

    path: Path

    def batches(self) -> Generator[tuple[pa.Array, pa.Array]]:
        """Yield the times and keys of the file, some rows at a time."""

    def error(self, reason: str, row: int) -> TraceError:
        """Return an error about a row of this file; rows count from 1."""


def rows_of(path: Path, *, time: str, key: str) -> TraceRows:
    """Return how to read a file, by the ending of its name."""
    name = path.name.lower()
    if name.endswith(".parquet"):
        return _ParquetRows(path, time=time, key=key)
    delimiter = _DELIMITERS.get(Path(name.removesuffix(".gz")).suffix)
    if delimiter is None:
        raise TraceError(path, f"the name of a trace must end in {_ENDINGS}")
    return _DelimitedRows(path, delimiter, time=time, key=key)


class _ParquetRows:
    def __init__(self, path: Path, *, time: str, key: str) -> None:
        self.path = path
        self._time = time
        self._key = key

    def batches(self) -> Generator[tuple[pa.Array, pa.Array]]:
        import pyarrow as pa
        from pyarrow.parquet import ParquetFile

        wanted = list(dict.fromkeys([self._time, self._key]))
        try:
            with ParquetFile(self.path) as file:
                _check_columns(self.path, file.schema_arrow.names, wanted)
                for batch in file.iter_batches(columns=wanted):
                    yield batch.column(self._time), batch.column(self._key)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            reason = f"it cannot be read as a Parquet file: {_first_line(error)}"
            raise TraceError(self.path, reason) from error

    def error(self, reason: str, row: int) -> TraceError:
        return TraceError(self.path, reason, row=row)


class _DelimitedRows:
    """The rows of a CSV file, which ends in a row of our own while it is read.

    A quote that is left open silently swallows the rest of a file. That row is then missing.
    """

    _MARK: Final = "\0"

    def __init__(self, path: Path, delimiter: str, *, time: str, key: str) -> None:
        self.path = path
        self._delimiter = delimiter
        self._time = time
        self._key = key

    def batches(self) -> Generator[tuple[pa.Array, pa.Array]]:
        import pyarrow as pa

        try:
            header = self._header()
            if header:
                _check_columns(self.path, header, [self._time, self._key])
                yield from self._without_mark(self._marked(len(header)))
        except (pa.ArrowException, OSError, csv.Error) as error:
            raise self._why(error) from error

    def error(self, reason: str, row: int) -> TraceError:
        line = None
        with suppress(OSError, csv.Error):
            line = next(islice(self._lines(), row, None), None)
        return TraceError(self.path, reason, row=row, line=line)

    def _marked(self, width: int) -> CSVStreamingReader:
        """Return a reader of the file with one more row."""
        from pyarrow import csv as arrow_csv
        from pyarrow import string

        wanted = list(dict.fromkeys([self._time, self._key]))
        last_row = f"\n{self._delimiter.join([self._MARK] * width)}\n"
        return arrow_csv.open_csv(
            _StreamAndMore(self._stream(), last_row.encode()),
            read_options=arrow_csv.ReadOptions(use_threads=False, block_size=BLOCK_BYTES),
            parse_options=arrow_csv.ParseOptions(
                delimiter=self._delimiter, newlines_in_values=True
            ),
            convert_options=arrow_csv.ConvertOptions(
                include_columns=wanted,
                column_types=dict.fromkeys(wanted, string()),
                check_utf8=False,  # the keys are checked later, where the row is known
            ),
        )

    def _without_mark(self, reader: CSVStreamingReader) -> Iterator[tuple[pa.Array, pa.Array]]:
        """Yield the columns of all rows but the last; TraceError if that is not ours."""
        rows = 0
        held = None
        for batch in reader:
            if batch.num_rows == 0:
                continue
            if held is not None:
                yield self._columns(held)
                rows += held.num_rows
            held = batch
        assert held is not None
        last = held.num_rows - 1
        mark = self._MARK.encode()
        if any(_bytes_of(column[last]) != mark for column in held.columns):
            raise self.error("a quote is opened here and never closed", rows + last + 1)
        yield self._columns(held[:last])

    def _columns(self, batch: pa.RecordBatch) -> tuple[pa.Array, pa.Array]:
        """Return times without blanks around them and keys as they are; both null where empty."""
        import pyarrow as pa
        import pyarrow.compute as pc

        times = pc.ascii_trim_whitespace(batch.column(self._time))
        keys = batch.column(self._key)
        nothing = pa.scalar(None, pa.string())
        return tuple(pc.if_else(pc.equal(column, ""), nothing, column) for column in (times, keys))

    def _why(self, error: Exception) -> TraceError:
        """Return the reason why pyarrow or `csv` could not read the file."""
        bad = _BAD_ROW.search(str(error))
        if bad is not None:
            row, expected, found = map(int, bad.groups())  # where the header is row 1
            return self.error(f"it has {found} columns, and the header has {expected}", row - 1)
        if "straddl" in str(error):
            return self._too_long()
        return TraceError(self.path, f"it cannot be read as a CSV file: {_first_line(error)}")

    def _too_long(self) -> TraceError:
        reason = f"a row is longer than {BLOCK_BYTES} bytes; is a quote left open?"
        rows = -1  # of data, so not of the header
        try:
            for _ in self._lines():
                rows += 1
        except csv.Error:  # about a value that is longer than it takes
            return self.error(reason, rows)
        return TraceError(self.path, reason)

    def _stream(self) -> pa.NativeFile:
        import pyarrow as pa

        compression = "gzip" if self.path.name.lower().endswith(".gz") else None
        return pa.input_stream(str(self.path), compression=compression)

    def _text(self) -> io.TextIOWrapper:
        return io.TextIOWrapper(self._stream(), "utf-8-sig", errors="replace", newline="")

    def _header(self) -> list[str]:
        """Return the names of the columns, [] if the file is empty."""
        with self._text() as text:
            names = next(filter(None, csv.reader(text, delimiter=self._delimiter)), [])
        if any("\0" in name for name in names):
            raise TraceError(self.path, "it is not text in UTF-8")
        return names

    def _lines(self) -> Iterator[int]:
        """Yield the line on which each row begins, that of the header first."""
        line = 1
        with self._text() as text:
            reader = csv.reader(text, delimiter=self._delimiter)
            try:
                for row in reader:
                    if row:
                        yield line
                    line = reader.line_num + 1
            except csv.Error:
                yield line
                raise


class _StreamAndMore:
    """A stream of bytes with some more at its end, for pyarrow to read."""

    closed = False

    def __init__(self, stream: pa.NativeFile, more: bytes) -> None:
        self._stream = stream
        self._more = more

    def read(self, size: int) -> bytes:
        found: bytes = self._stream.read(size)
        if len(found) == size:
            return found
        rest: bytes = self._stream.read(size - len(found))  # a stream may give less before its end
        if not rest:
            rest, self._more = self._more, b""
        return found + rest

    def close(self) -> None:
        self._stream.close()


def _check_columns(path: Path, names: list[str], wanted: list[str]) -> None:
    for name in wanted:
        count = names.count(name)
        if count > 1:
            raise TraceError(path, f"there are {count} columns named {name!r}")
        if count == 0:
            shown = [shorten(other) for other in names[:_NAMES_SHOWN]]
            more = ["…"] if len(names) > _NAMES_SHOWN else []
            raise TraceError(
                path, f"there is no column {name!r}; there are {', '.join(shown + more)}"
            )


def _bytes_of(text: pa.Scalar) -> bytes | None:
    import pyarrow as pa

    value: bytes | None = text.cast(pa.binary()).as_py()
    return value


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
