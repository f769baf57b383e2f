"""The arguments of a call of a window function, by their names, and where each is in the text.

    tumble(stream, size[, offset => …][, zone => …][, empty => true][, by => arrival])
    hop(stream, size, slide[, offset => …][, zone => …][, empty => true][, by => arrival])
    session(stream, gap[, per => columns][, by => arrival])
    rows(stream, size[, slide])
    latest(stream[, rows => n][, per => columns])
    landmark(stream[, slide][, by => arrival])

What has a place may be named as well (`size => …`).
"""

from __future__ import annotations

from typing import Final, Never

from sqlglot import exp

from ...errors import QueryError, WindowError
from .source_text import OFFSET_ARGUMENT, SourceText, place_of
from .window_clause import WindowKind

FUNCTIONS: Final = {kind.value: kind for kind in WindowKind if kind is not WindowKind.STREAM}
"""The window functions by their names."""

_FORMS: Final = {
    WindowKind.TUMBLE: "tumble(stream, INTERVAL '1 minute')",
    WindowKind.HOP: "hop(stream, INTERVAL '10 minutes', INTERVAL '1 minute')",
    WindowKind.ROWS: "rows(stream, 1000, 100)",
    WindowKind.LATEST: "latest(stream, rows => 3, per => symbol)",
    WindowKind.LANDMARK: "landmark(stream) or landmark(stream, INTERVAL '1 hour')",
    WindowKind.SESSION: "session(stream, INTERVAL '5 minutes', per => symbol)",
}
_PLACED: Final[dict[WindowKind, tuple[str, ...]]] = {  # in the order in which they come
    WindowKind.TUMBLE: ("size",),
    WindowKind.HOP: ("size", "slide"),
    WindowKind.ROWS: ("size", "slide"),
    WindowKind.LATEST: (),
    WindowKind.LANDMARK: ("slide",),
    WindowKind.SESSION: ("gap",),
}
_LEAST: Final = {
    WindowKind.TUMBLE: 1,
    WindowKind.HOP: 2,
    WindowKind.ROWS: 1,
    WindowKind.SESSION: 1,
}
"""How many of them there have to be."""
_NAMED: Final[dict[WindowKind, tuple[str, ...]]] = {
    WindowKind.TUMBLE: ("by", "offset", "zone", "empty"),
    WindowKind.HOP: ("by", "offset", "zone", "empty"),
    WindowKind.ROWS: (),
    WindowKind.LATEST: ("rows", "per"),
    WindowKind.LANDMARK: ("by",),
    WindowKind.SESSION: ("by", "per"),
}
_NEVER_EMPTY: Final = {
    WindowKind.ROWS: "a window of rows is never empty: it ends when it has its rows",
    WindowKind.SESSION: "a session is never empty: its first row begins it",
}


class WindowArguments:
    """What was written in the brackets of a call; WindowError where that does not fit."""

    __slots__ = ("_call", "_source", "_values", "kind", "place", "stream")

    def __init__(self, source: SourceText, call: exp.Anonymous) -> None:
        self._source = source
        self._call = call
        self.kind = FUNCTIONS[call.name.lower()]
        self.place = place_of(call)
        self._values: dict[str, exp.Expr] = {}
        self.stream = self._read()

    def __getitem__(self, name: str) -> exp.Expr:
        """Return the argument of this name, which was given."""
        return self._values[name]

    def get(self, name: str) -> exp.Expr | None:
        """Return the argument of this name, if it was given."""
        return self._values.get(name)

    def sizes(self) -> list[str]:
        """Return which sizes were given, in their order."""
        return [name for name in _PLACED[self.kind] if name in self._values]

    def _read(self) -> exp.Expr:
        """Read all, and return the first, which says what the window is over."""
        arguments = list(self._call.expressions)
        if not arguments or _is_named(arguments[0]):
            self.refuse(f"{self.kind} of what? its first argument is a stream", self._call)
        stream = arguments.pop(0)
        names = _PLACED[self.kind]
        given = 0
        while arguments and not _is_named(arguments[0]):
            if given == len(names):
                self._refuse_number(given + sum(not _is_named(each) for each in arguments))
            self._values[names[given]] = arguments.pop(0)
            given += 1
        for argument in arguments:
            if not _is_named(argument):
                self.refuse("what has no name comes before what has one", argument)
            self._read_named(argument)
        for name in names[: _LEAST.get(self.kind, 0)]:
            if name not in self._values:
                self.refuse(f"{self.kind} needs a {name}", self._call)
        assert isinstance(stream, exp.Expr)
        return stream

    def _read_named(self, argument: exp.Expr) -> None:
        name = argument.this.name.lower()
        name = "offset" if name == OFFSET_ARGUMENT else name
        if name not in (*_PLACED[self.kind], *_NAMED[self.kind]):
            reason = _NEVER_EMPTY.get(self.kind) if name == "empty" else None
            self.refuse(reason or f"{self.kind} has no argument {name}", argument)
        if name in self._values:
            self.refuse(f"{self.kind} has the argument {name} twice", argument)
        self._values[name] = argument.expression

    def _refuse_number(self, given: int) -> Never:
        takes = " and a ".join(_PLACED[self.kind])
        takes = f"a {takes}" if takes else "nothing without a name"
        are = "argument is" if given == 1 else "arguments are"
        reason = f"{self.kind} takes {takes} after the stream, and {given} {are} given"
        self.refuse(reason, self._call)

    def refuse(
        self,
        reason: str,
        node: exp.Expr | None = None,
        hint: str = "",
        kind: type[QueryError] = WindowError,
    ) -> Never:
        """Raise an error at a part of the call, or at the call itself."""
        hint = hint or f"write it as {_FORMS[self.kind]}"
        self._source.refuse(kind, reason, self._place_of(node or self._call), hint)

    def _place_of(self, node: exp.Expr) -> int | None:
        """Return where a part begins: an interval does not know it, but its argument does."""
        if self.place is None or node is self._call:
            return self.place
        place = place_of(node)
        if place is not None and node.parent is not self._call:
            return place
        while node.parent is not None and node.parent is not self._call:
            node = node.parent
        places = self._source.argument_places(self.place)
        number = next(i for i, each in enumerate(self._call.expressions) if each is node)
        return places[number] if number < len(places) else self.place


def _is_named(node: exp.Expr) -> bool:
    return isinstance(node, exp.Kwarg | exp.PropertyEQ)
