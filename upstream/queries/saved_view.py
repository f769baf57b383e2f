"""The file of a saved view: two lines of text, and tables as Arrow IPC streams.

    UpStream view 1 <SHA-256 of all that follows>
    {"name": "sizes", "text": "SELECT …", …}
    <one stream for each table>

The file is written beside its place and renamed, so a crash leaves the old one. A checksum over
everything finds what was cut or changed.
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from hashlib import sha256
from json import dumps, loads
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Final, cast

import pyarrow as pa

from ..disk import Disk
from ..errors import QueryError
from ..held_interrupt import HeldInterrupt
from ..tables.resuming import Position
from ..version import __version__
from .evaluation.view_state import SavedState

if TYPE_CHECKING:
    from .choices import OnError
    from .evaluation.view_state import Form

_KIND: Final = b"UpStream view "
_VERSION: Final = b"1"
_LONGEST_HEAD: Final = 128


@dataclass(frozen=True, slots=True)
class SavedView:
    """A view as it was saved: its definition, and what it had taken from its streams."""

    name: str
    text: str
    columns: tuple[str, ...]
    max_staleness: float | None
    on_error: OnError
    state: SavedState
    sign: str | None = None

    @property
    def sources(self) -> dict[str, Form]:
        """What the streams and views must be that it reads, by name."""
        found: dict[str, Form] = {**cast("dict[str, Form]", self.state.form["sources"])}
        return found


def write_view(path: Path, view: SavedView) -> None:
    """Write a file, in place of an older one."""
    content = _content(view)
    head = b"%s%s %s\n" % (_KIND, _VERSION, sha256(content).hexdigest().encode())
    beside = path.with_name(f"{path.name}.{token_hex(4)}.part")
    with HeldInterrupt():
        try:
            with beside.open("xb") as file:
                file.write(head)
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(path)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
        Disk().sync_names(path.parent)


def _content(view: SavedView) -> pa.Buffer:
    state = view.state
    header = {
        "library": __version__,
        **{name: getattr(view, name) for name in _PLAIN},
        "moment": state.moment,
        "form": state.form,
        "positions": {name: asdict(each) for name, each in state.positions.items()},
        "failed": state.failed,
        "tables": [*state.tables],
    }
    sink = pa.BufferOutputStream()
    sink.write(dumps(header).encode() + b"\n")
    for table in state.tables.values():
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
    return sink.getvalue()


_PLAIN: Final = ("name", "text", "columns", "max_staleness", "on_error", "sign")


def read_view(path: Path) -> SavedView:
    """Read a file; raise QueryError if it is no saved view, of another version, or damaged."""
    whole = path.read_bytes()
    head, _, _ = whole[:_LONGEST_HEAD].partition(b"\n")
    if not head.startswith(_KIND):
        raise QueryError(f"{path} is not the file of a saved view")
    version, _, checksum = head.removeprefix(_KIND).partition(b" ")
    if version != _VERSION:
        known = f"this version of the library reads version {_VERSION.decode()}"
        raise QueryError(f"{path} has version {version.decode(errors='replace')}; {known}")
    first = len(head) + 1
    if sha256(memoryview(whole)[first:]).hexdigest().encode() != checksum:
        hint = "restore another copy, or create the view anew"
        raise QueryError(f"{path} is damaged: it is not as it was written", hint=hint)
    return _view_in(whole, first)


def _view_in(whole: bytes, first: int) -> SavedView:
    """Return the view that begins at a place of a file."""
    end = whole.index(b"\n", first)
    header = loads(whole[first:end])
    source = pa.BufferReader(pa.py_buffer(whole).slice(end + 1))
    tables = {name: pa.ipc.open_stream(source).read_all() for name in header["tables"]}
    positions = {name: Position(**each) for name, each in header["positions"].items()}
    header["columns"] = tuple(header["columns"])
    plain = {name: header[name] for name in _PLAIN if name in header}
    state = SavedState(header["moment"], header["form"], positions, header["failed"], tables)
    return SavedView(**plain, state=state)
