"""The file of a query over epochs: where it goes on after a restart, and the results that wait.

    UpStream query 1 <SHA-256 of all that follows>
    {"name": "sums", "text": "SELECT …", …}
    <the rows of all results that wait, one after the other, as an Arrow IPC stream>

A checksum over everything finds what was cut or changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from hashlib import sha256
from json import dumps, loads
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import numpy as np
import pyarrow as pa

from ...errors import QueryError
from ...version import __version__
from ..chunks.feed_positions import FeedStart
from .answer import Answer
from .backlog import Made

if TYPE_CHECKING:
    from ...rows.stream_times import WindowBound

_KIND: Final = b"UpStream query "
_VERSION: Final = b"1"
_LONGEST_HEAD: Final = 128

_Bound = tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class QueryForm:
    """What has to be the same for a query to go on: its text, its options and its streams.

    `streams` are descriptions of the definitions, by name; `schema` is that of the results.
    """

    text: str
    options: Mapping[str, str]
    streams: Mapping[str, str]
    schema: pa.Schema


@dataclass(frozen=True, slots=True)
class QueryRecord:
    """What one commit leaves for the time after a restart.

    `starts` say where each input begins again; positions are counted from the beginning of the
    feed. `made` is the number of the next result, and `epoch` that of the newest result. `consumed`
    is the number of the newest result that was taken, and `waiting` are the results after it.
    `expected` is the ordinal from which on results are missed, and `next_ordinal` that of the next
    result.
    """

    name: str
    form: QueryForm
    starts: tuple[FeedStart, ...]
    made: int = 0
    epoch: int | None = None
    consumed: int | None = None
    waiting: tuple[Made, ...] = ()
    expected: int = 0
    next_ordinal: int = 0

    @property
    def positions(self) -> dict[str, int]:
        """After how many rows of each stream the query goes on."""
        found: dict[str, int] = {}
        for start in self.starts:
            found[start.stream] = min(start.position, found.get(start.stream, start.position))
        return found

    def content(self) -> memoryview:
        """Return the content of the file."""
        form = self.form
        header = {
            "library": __version__,
            "name": self.name,
            "text": form.text,
            "options": {**form.options},
            "streams": {**form.streams},
            "starts": [[*start] for start in self.starts],
            **{name: getattr(self, name) for name in _NUMBERS},
            "waiting": [_described(each) for each in self.waiting],
        }
        rows = pa.concat_tables(
            [form.schema.empty_table(), *(each.answer.table for each in self.waiting)]
        )
        sink = pa.BufferOutputStream()
        sink.write(dumps(header).encode() + b"\n")
        with pa.ipc.new_stream(sink, rows.schema) as stream:
            stream.write_table(rows)
        content = memoryview(sink.getvalue())
        head = b"%s%s %s\n" % (_KIND, _VERSION, sha256(content).hexdigest().encode())
        return memoryview(head + content)


def read_record(path: Path, content: bytes) -> QueryRecord:
    """Return the record in a file; raise QueryError if it is damaged or of another version."""
    hint = f"put a copy back, or remove {path} to let the query begin anew"
    head, _, _ = content[:_LONGEST_HEAD].partition(b"\n")
    if not head.startswith(_KIND):
        raise QueryError(f"{path} is not the record of a query", hint=hint)
    version, _, checksum = head.removeprefix(_KIND).partition(b" ")
    if version != _VERSION:
        known = f"this version of the library reads version {_VERSION.decode()}"
        reason = f"{path} has version {version.decode(errors='replace')}; {known}"
        raise QueryError(reason, hint=f"use the library that wrote it, or remove {path}")
    first = len(head) + 1
    if sha256(memoryview(content)[first:]).hexdigest().encode() != checksum:
        raise QueryError(f"{path} is damaged: it is not as it was written", hint=hint)
    return _record_in(content, first)


def _record_in(content: bytes, first: int) -> QueryRecord:
    """Return the record that begins at a place of a file."""
    end = content.index(b"\n", first)
    header = loads(content[first:end])
    rows = pa.ipc.open_stream(pa.py_buffer(content).slice(end + 1)).read_all()
    form = QueryForm(header["text"], header["options"], header["streams"], rows.schema)
    waiting, place = [], 0
    for each in header["waiting"]:
        waiting.append(_made_from(each, rows.slice(place, each["rows"])))
        place += each["rows"]
    return QueryRecord(
        header["name"],
        form,
        tuple(FeedStart(*start) for start in header["starts"]),
        waiting=tuple(waiting),
        **{name: header[name] for name in _NUMBERS},
    )


_NUMBERS: Final = ("made", "epoch", "consumed", "expected", "next_ordinal")
_PLAIN: Final = ("due", "revision", "error", "rows_failed", "failure", "epoch")


def _described(made: Made) -> dict[str, object]:
    """Return all about a result but its rows."""
    answer = made.answer
    return {
        "number": made.number,
        "ordinal": made.ordinal,
        "start": _of_bound(answer.start),
        "end": _of_bound(answer.end),
        "rows": answer.table.num_rows,
        **{name: getattr(answer, name) for name in _PLAIN},
    }


def _made_from(described: Mapping[str, object], rows: pa.Table) -> Made:
    start, end = (_bound_from(cast("_Bound", described[name])) for name in ("start", "end"))
    plain = {name: described[name] for name in _PLAIN}
    answer = Answer(start, end, table=rows, **plain)  # type: ignore[arg-type]  # as described
    return Made(cast("int", described["number"]), cast("int", described["ordinal"]), answer)


def _of_bound(bound: WindowBound) -> _Bound:
    """Return a bound as a type and texts."""
    match bound:
        case None:
            return None
        case np.datetime64():
            return "datetime64", str(bound.astype(np.int64)), np.datetime_data(bound)[0]
        case datetime() | date():
            return type(bound).__name__, bound.isoformat()
    return type(bound).__name__, repr(bound)


def _bound_from(described: _Bound) -> WindowBound:
    if described is None:
        return None
    kind, value, *unit = described
    match kind:
        case "datetime64":
            return cast("np.datetime64", np.array(int(value)).astype(f"M8[{unit[0]}]")[()])
        case "datetime":
            return datetime.fromisoformat(value)
        case "date":
            return date.fromisoformat(value)
    return int(value) if kind == "int" else float(value)
