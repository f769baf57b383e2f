"""The arguments of a call of a window function, by name, and where each is in the text.

    tumble(stream, size[, offset => …][, zone => …][, empty => true][, by => arrival])
    hop(stream, size, slide[, offset => …][, zone => …][, empty => true][, by => arrival])
    session(stream, gap[, per => columns][, by => arrival])
    rows(stream, size[, slide])
    latest(stream[, rows => n][, per => columns][, expire_after => interval])
    landmark(stream[, slide][, by => arrival])
    epochs(stream, length[, offset => …][, zone => …][, by => arrival][, …])
    epochs(stream, rows => n | by => columns | punctuation => condition[, …])

Epochs of all sorts take `keep => n`, `pairing => '…'` and `empty => true` as well.
Positional arguments may be named as well (`size => …`).

Other engines name the time column after the stream: Flink's `TUMBLE(TABLE trades, DESCRIPTOR(time),
size)`, where `TABLE` was already removed, and RisingWave's `tumble(trades, time, size)`. The sizes
are then in the order of these engines, the slide before the size.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Final, Never

from sqlglot import exp

from ...errors import QueryError, WindowError
from .dialect import DIALECT
from .foreign_forms import OFFSET_ARGUMENT
from .names import did_you_mean
from .source_text import SourceText, places_in_brackets
from .trees import place_of
from .window_clause import WindowKind

_WITHOUT_CALL: Final = {WindowKind.STREAM, WindowKind.VIEW}
FUNCTIONS: Final = {kind.value: kind for kind in WindowKind if kind not in _WITHOUT_CALL}
"""The window functions by their names."""


@dataclass(frozen=True, slots=True)
class _Form:
    """How a window function is called: with sizes in order, and at least the first `least`.

    `named` are the other arguments. `elsewhere` is the order of other engines, where the time
    column comes first. `hints` are for arguments that it does not have.
    """

    example: str
    sizes: tuple[str, ...] = ()
    least: int = 0
    named: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    hints: Mapping[str, str] = field(default_factory=dict)

    def known(self) -> list[str]:
        """Return the names of all arguments after the stream."""
        return [*self.sizes, *(name for name in self.named if name != "timecol")]


_OF_EPOCHS: Final = ("rows", "punctuation", "keep", "pairing")
_MEANT: Final = {"chunks": "keep", "punctuate": "punctuation", "size": "length", "per": "by"}
_PERIODIC: Final = ("by", "timecol", "offset", "zone", "empty")
_FORMS: Final = {
    WindowKind.TUMBLE: _Form(
        "tumble(stream, INTERVAL '1 minute')",
        *(("size",), 1, _PERIODIC, ("size", "offset")),
        hints={"slide": "write hop(stream, size, slide) for windows that overlap"},
    ),
    WindowKind.HOP: _Form(
        "hop(stream, INTERVAL '10 minutes', INTERVAL '1 minute')",
        *(("size", "slide"), 2, _PERIODIC, ("slide", "size", "offset")),
    ),
    WindowKind.ROWS: _Form("rows(stream, 1000, 100)", ("size", "slide"), 1),
    WindowKind.LATEST: _Form(
        "latest(stream, rows => 3, per => symbol, expire_after => INTERVAL '10 minutes')",
        named=("rows", "per", "expire_after"),
    ),
    WindowKind.LANDMARK: _Form(
        "landmark(stream) or landmark(stream, INTERVAL '1 hour')", ("slide",), 0, ("by",)
    ),
    WindowKind.SESSION: _Form(
        "session(stream, INTERVAL '5 minutes', per => symbol)",
        *(("gap",), 1, ("by", "timecol", "per"), ("gap",)),
    ),
    WindowKind.EPOCHS: _Form(
        "epochs(stream, INTERVAL '60 seconds', keep => 12)",
        *(("length",), 0, ("by", "offset", "zone", "empty", *_OF_EPOCHS)),
        hints={name: f"did you mean {meant}?" for name, meant in _MEANT.items()},
    ),
}
_NEVER_EMPTY: Final = {
    WindowKind.ROWS: "a window of rows is never empty: it ends when it has its rows",
    WindowKind.SESSION: "a session is never empty: its first row begins it",
}


class WindowArguments:
    """The arguments of a call; raises WindowError if they do not fit."""

    __slots__ = ("_call", "_form", "_source", "_values", "kind", "place", "stream")

    def __init__(self, source: SourceText, call: exp.Anonymous) -> None:
        self._source = source
        self._call = call
        self.kind = FUNCTIONS[call.name.lower()]
        self._form = _FORMS[self.kind]
        self.place = place_of(call)
        self._values: dict[str, exp.Expr] = {}
        self.stream = self._read()

    def __getitem__(self, name: str) -> exp.Expr:
        """Return the argument of this name, which was given."""
        return self._values[name]

    def get(self, name: str) -> exp.Expr | None:
        """Return the argument of this name, if it was given."""
        return self._values.get(name)

    @property
    def alias(self) -> str:
        """The name that the query gives the call, or "" if it gives none."""
        around = self._call.parent
        return around.alias if isinstance(around, exp.Table | exp.Lateral) else ""

    @property
    def text(self) -> str:
        """The whole text of the query."""
        return self._source.text

    def time(self) -> exp.Expr | None:
        """Return the time column that was named as in other engines."""
        node = self._values.get("timecol")
        if node is not None and _is_descriptor(node) and len(node.expressions) == 1:
            node = node.expressions[0]
        return node

    def sizes(self) -> list[str]:
        """Return which sizes were given, in their order."""
        return [name for name in self._form.sizes if name in self._values]

    def _read(self) -> exp.Expr:
        """Read all arguments, and return the first, which names the stream."""
        arguments = list(self._call.expressions)
        self._check_arrows(arguments)
        if arguments and _name_of(arguments[0]) == "data":
            arguments[0] = arguments[0].expression
        if not arguments or _name_of(arguments[0]):
            self.refuse(f"the first argument of {self.kind} must be a stream", self._call)
        stream: exp.Expr = arguments.pop(0)
        names = self._form.sizes
        if (time := self._time_among(arguments)) is not None:
            names = self._form.elsewhere
            self._values["timecol"] = time
            arguments = sorted((each for each in arguments if each is not time), key=_is_named)
        self._read_sizes(arguments, names)
        for name in self._form.sizes[: self._form.least]:
            if name not in self._values:
                self.refuse(f"{self.kind} needs a {name}", self._call)
        if self.kind is WindowKind.SESSION and "timecol" in self._values:
            self._values.setdefault("per", exp.Tuple())  # other engines have no key of a stream
        return stream

    def _check_arrows(self, arguments: list[exp.Expr]) -> None:
        """Refuse `keep = 3`, which is a comparison, where `keep => 3` is meant."""
        for each in arguments:
            name = each.this.name.lower() if isinstance(each, exp.EQ) else ""
            if name in self._form.known():
                hint = f"write {name} => {each.expression.sql(DIALECT)}"
                self.refuse("arguments are named with =>, not with =", each, hint)

    def _read_sizes(self, arguments: list[exp.Expr], names: tuple[str, ...]) -> None:
        """Read positional arguments, and the named ones after them."""
        placed = list(takewhile(lambda each: not _is_named(each), arguments))
        if len(placed) > len(names):
            self._refuse_number(sum(not _is_named(each) for each in arguments))
        self._values |= zip(names, placed, strict=False)
        for argument in arguments[len(placed) :]:
            if not _is_named(argument):
                self.refuse("positional arguments must come before named ones", argument)
            self._read_named(argument)

    def _time_among(self, arguments: list[exp.Expr]) -> exp.Expr | None:
        """Return the argument that names the time column, as in other engines."""
        if not self._form.elsewhere:
            return None
        if (found := next((each for each in arguments if _is_descriptor(each)), None)) is not None:
            return found
        is_column = arguments and isinstance(arguments[0], exp.Column)
        return arguments[0] if is_column and len(arguments) > 1 else None

    def _read_named(self, argument: exp.Expr) -> None:
        name = _name_of(argument)
        if name not in (*self._form.sizes, *self._form.named):
            if name == "empty" and (reason := _NEVER_EMPTY.get(self.kind)) is not None:
                self.refuse(reason, argument)
            hint = self._form.hints.get(name) or did_you_mean(name, self._form.known())
            self.refuse(f"{self.kind} has no argument {name}", argument, hint)
        if name in self._values:
            self.refuse(f"{self.kind} has the argument {name} twice", argument)
        self._values[name] = argument.expression

    def _refuse_number(self, given: int) -> Never:
        takes = " and a ".join(self._form.sizes)
        takes = f"a {takes}" if takes else "no positional argument"
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
        hint = hint or f"write it as {self._form.example}"
        self._source.refuse(kind, reason, self._place_of(node or self._call), hint)

    def _place_of(self, node: exp.Expr) -> int | None:
        """Return where a part begins; an interval has no place, but its argument does."""
        if self.place is None or node is self._call:
            return self.place
        place = place_of(node)
        if place is not None and node.parent is not self._call:
            return place
        while node.parent is not None and node.parent is not self._call:
            node = node.parent
        behind = [token for token in self._source.tokens if token.start > self.place]
        [places, *_] = places_in_brackets(behind)
        number = next(i for i, each in enumerate(self._call.expressions) if each is node)
        return places[number] if number < len(places) else self.place


def _is_named(node: exp.Expr) -> bool:
    return isinstance(node, exp.Kwarg | exp.PropertyEQ)


def _name_of(node: exp.Expr) -> str:
    name = node.this.name.lower() if _is_named(node) else ""
    return "offset" if name == OFFSET_ARGUMENT else name


def _is_descriptor(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and node.name.lower() == "descriptor"
