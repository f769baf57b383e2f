"""Options of a statement: `WITH (name = value, …)`."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from sqlglot import TokenType

from ...errors import QuerySyntaxError

if TYPE_CHECKING:
    from .source_text import SourceText
    from .statement import OptionValue
    from .token_reader import TokenReader

_SECONDS: Final = {
    **dict.fromkeys(("millisecond", "milliseconds", "ms"), 0.001),
    **dict.fromkeys(("second", "seconds", "s"), 1.0),
    **dict.fromkeys(("minute", "minutes", "m"), 60.0),
    **dict.fromkeys(("hour", "hours", "h"), 3_600.0),
    **dict.fromkeys(("day", "days", "d"), 86_400.0),
}
_INTERVAL: Final = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*", re.IGNORECASE)


def options_in(source: SourceText, reader: TokenReader) -> dict[str, tuple[OptionValue, int]]:
    """Read `(name = value, …)`: each value, with its place."""
    options: dict[str, tuple[OptionValue, int]] = {}
    separator = "("
    while reader.skip(separator):
        place = reader.place
        name = reader.name("the name of an option").lower()
        if name in options:
            source.refuse(QuerySyntaxError, f"the option {name} is given twice", place)
        if not (reader.skip("=") or reader.skip("=>") or reader.skip(":=")):
            reader.refuse(f"expected = after {name}")
        place = reader.place
        options[name] = _value(source, reader), place
        separator = ","
    if not options or not reader.skip(")"):
        reader.refuse("expected options, such as WITH (on_error = 'skip')")
    return options


def _value(source: SourceText, reader: TokenReader) -> OptionValue:
    """Read a text, a number, TRUE or FALSE, or an interval."""
    if reader.skip("TRUE"):
        return True
    if reader.skip("FALSE"):
        return False
    place = reader.place
    if reader.skip("INTERVAL"):
        return _interval(source, str(reader.token("an interval").text), place, reader)
    token = reader.token("a value")
    if token.token_type == TokenType.STRING:
        return str(token.text)
    if token.token_type == TokenType.NUMBER:
        return float(token.text) if not token.text.isdecimal() else int(token.text)
    if token.token_type != TokenType.VAR:
        source.refuse(QuerySyntaxError, "expected a text, a number, TRUE or FALSE", place)
    return str(token.text)


def _interval(source: SourceText, text: str, place: int, reader: TokenReader) -> timedelta:
    """Return an interval such as '5 seconds', or 5 and the word after it."""
    if text.isdecimal():
        text += " " + str(reader.token("a unit of time").text)
    found = _INTERVAL.fullmatch(text)
    unit = found[2].lower() if found else ""
    if found is None or unit not in _SECONDS:
        hint = "write INTERVAL '5 seconds'"
        source.refuse(QuerySyntaxError, "this is not a length of time", place, hint)
    return timedelta(seconds=float(found[1]) * _SECONDS[unit])
