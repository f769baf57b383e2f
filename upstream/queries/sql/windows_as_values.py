"""Arroyo's windows, which stand among the values: `SELECT tumble(INTERVAL '1 minute') AS window`.

They are over the stream of the FROM beside them. Here that stream gets the window, and the value is
a struct of its bounds, of which `window.start` and `window.end` are the parts. Where Arroyo reads a
slide and a width, `hop` has a size and a slide; a session is of the columns that are grouped by.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Never

from sqlglot import exp

from ...errors import WindowError
from ...rows.stream_definition import StreamDefinition
from .foreign_forms import WINDOW_NAME
from .names import found
from .source_text import SourceText, place_of
from .trees import column, key
from .window_bounds import WINDOW_END, WINDOW_START

_ARGUMENTS: Final = {"tumble": 1, "hop": 2, "session": 1}
"""The functions, with how many intervals they take."""
_PARTS: Final = {"start": WINDOW_START, "end": WINDOW_END}


def read_windows_as_values(
    source: SourceText, query: exp.Query, streams: Mapping[str, StreamDefinition]
) -> None:
    """Give streams the windows that stand among the values, in place; WindowError if it is unclear.

    To be called before streams become chunks.
    """
    for select in list(query.find_all(exp.Select)):
        calls = [
            call
            for call in select.find_all(exp.Anonymous)
            if call.parent_select is select and _is_window(call)
        ]
        if calls:
            _Windowed(source, select, calls, streams).exchange()
    is_renamed = source.for_duckdb != source.text
    for name in query.find_all(exp.Identifier) if is_renamed else ():
        if name.name == WINDOW_NAME:
            name.set("this", "window")
            name.set("quoted", True)


def _is_window(call: exp.Anonymous) -> bool:
    number = _ARGUMENTS.get(call.name.lower())
    are_intervals = all(isinstance(each, exp.Interval) for each in call.expressions)
    return number == len(call.expressions) and are_intervals


class _Windowed:
    """A SELECT with a window among its values."""

    def __init__(
        self,
        source: SourceText,
        select: exp.Select,
        calls: list[exp.Anonymous],
        streams: Mapping[str, StreamDefinition],
    ) -> None:
        self._source = source
        self._select = select
        self._calls = calls
        self._streams = streams

    def exchange(self) -> None:
        """Give the stream of FROM the window, and read its bounds where the window was."""
        first = self._calls[0]
        if any(key(call) != key(first) for call in self._calls):
            self._refuse("a SELECT has one window", self._calls[1], "make two queries")
        stream = self._stream()
        alias = stream.alias_or_name
        window = first.copy()
        sizes = window.expressions if window.name.lower() != "hop" else window.expressions[::-1]
        per = [self._per()] if window.name.lower() == "session" else []
        window.set("expressions", [exp.Column(this=stream.this.copy()), *sizes, *per])
        self._exchange_parts(alias)
        for call in self._calls:
            call.replace(_struct(alias))
        stream.set("this", window)

    def _stream(self) -> exp.Table:
        """Return the only stream in FROM."""
        read = self._select.args.get("from_")
        nodes = [read.this] if read is not None else []
        nodes += [join.this for join in self._select.args.get("joins") or ()]
        streams = [
            node
            for node in nodes
            if isinstance(node, exp.Table)
            and isinstance(node.this, exp.Identifier)
            and not node.db
            and found(node.name, self._streams) is not None
        ]
        if len(streams) != 1:
            name = self._calls[0].name.lower()
            reason = f"{name}(INTERVAL …) is over the one stream in FROM, and here "
            reason += "is none" if not streams else f"are {len(streams)}"
            hint = f"write FROM {name}(stream, INTERVAL …), and window_start for its bound"
            self._refuse(reason, self._calls[0], hint)
        return streams[0]

    def _exchange_parts(self, alias: str) -> None:
        """Read `window.start` where a select item calls the window so."""
        names = {
            item.alias.lower() for item in self._select.expressions if item.this in self._calls
        }
        for reference in list(self._select.find_all(exp.Column)):
            bound = _PARTS.get(reference.name.lower())
            if bound is None or reference.table.lower() not in names:
                continue
            new: exp.Expr = exp.Column(this=reference.this.copy(), table=exp.to_identifier(alias))
            new.this.set("this", bound)
            if isinstance(reference.parent, exp.Select):
                new = exp.Alias(this=new, alias=exp.to_identifier(reference.name, quoted=True))
            reference.replace(new)

    def _per(self) -> exp.Expr:
        """Return the columns that are grouped by beside the window."""
        group = self._select.args.get("group")
        columns: list[exp.Expr] = []
        for item in group.expressions if group is not None else ():
            meant = self._meant(item)
            if meant in self._calls:
                continue
            if not isinstance(meant, exp.Column):
                hint = "group by columns, or write FROM session(stream, INTERVAL …, per => columns)"
                self._refuse("a session is of the columns that are grouped by", item, hint)
            columns.append(exp.Column(this=meant.this.copy()))
        if group is not None and group.args.get("all"):
            hint = "name the columns in GROUP BY"
            self._refuse("a session is of the columns that are grouped by", self._calls[0], hint)
        return exp.Kwarg(this=exp.var("per"), expression=exp.Tuple(expressions=columns))

    def _meant(self, item: exp.Expr) -> exp.Expr:
        """Return the select item that a number or an alias in GROUP BY stands for."""
        items = self._select.expressions
        if isinstance(item, exp.Literal) and item.is_int and 0 < int(item.name) <= len(items):
            item = items[int(item.name) - 1]
        elif isinstance(item, exp.Column) and not item.table:
            for each in items:
                if each.alias.lower() == item.name.lower():
                    item = each
                    break
        meant: exp.Expr = item.unalias()
        return meant

    def _refuse(self, reason: str, node: exp.Expr, hint: str) -> Never:
        self._source.refuse(WindowError, reason, place_of(node), hint)


def _struct(alias: str) -> exp.Expr:
    """Return a struct of the bounds of a window."""
    parts = [
        exp.PropertyEQ(this=exp.to_identifier(name, quoted=True), expression=column(bound, alias))
        for name, bound in _PARTS.items()
    ]
    return exp.Anonymous(this="struct_pack", expressions=parts)
