"""Numbers by patterns of keys: weights, for instance, of which one pattern covers many keys.

A pattern is a shell's: `*` stands for anything, `?` for one character, `[AB]` for one of some. It
is matched against the key's text: a string is its own, any other key's is its JSON text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import translate

import msgspec

from upstream import Key

MOST_CHARACTERS = 2_048
"""How long all patterns of a kind may be together: a key is held against each sign of them."""

_SIGNS = re.compile(r"\[!?\]?[^\]]*\]|.", re.DOTALL)
"""One sign of a pattern: a character, or a set of them, in which `*` means itself."""


def text_of(key: Key) -> str:
    """Return what patterns are matched against.

    >>> text_of("IBM"), text_of(("IBM", 1))
    ('IBM', '["IBM",1]')
    """
    return key if isinstance(key, str) else msgspec.json.encode(key).decode()


class KeyPatterns:
    """A function of keys, told by patterns: an exact text first, else the first that matches.

    >>> weight = KeyPatterns({"IBM": 3.0, "I*": 2.0}, otherwise=1.0)
    >>> weight("IBM"), weight("INTC"), weight("MSFT")
    (3.0, 2.0, 1.0)
    """

    __slots__ = ("_exact", "_match", "_numbers", "_otherwise")

    def __init__(self, numbers: Mapping[str, float], *, otherwise: float) -> None:
        self._exact = dict(numbers)
        patterns = [pattern for pattern in numbers if is_pattern(pattern)]
        self._numbers = [numbers[pattern] for pattern in patterns]
        # All in one expression, since a queue asks for each of its keys.
        expression = "|".join(f"({_expression(pattern)})" for pattern in patterns)
        self._match = re.compile(expression, re.DOTALL).fullmatch if patterns else None
        self._otherwise = otherwise

    def __call__(self, key: Key) -> float:
        """Return the key's number. O(patterns)."""
        text = text_of(key)
        exact = self._exact.get(text)
        if exact is not None:
            return exact
        found = None if self._match is None else self._match(text)
        if found is None or found.lastindex is None:
            return self._otherwise
        return self._numbers[found.lastindex - 1]


def is_pattern(text: str) -> bool:
    """Tell whether a text may stand for several keys."""
    return any(sign in text for sign in "*?[")


def _expression(pattern: str) -> str:
    """Return the regular expression of a pattern, one that never goes back over a `*`.

    What follows a `*` is sought as early as can be: if the rest does not match from there, it does
    not from anywhere later. Only the last piece has to stand at the end.
    """
    pieces = [""]
    for sign in _SIGNS.findall(pattern):
        if sign == "*":
            pieces.append("")
        else:
            pieces[-1] += sign
    first, *others = pieces
    if not others:
        return _piece(first)
    *middle, last = others
    sought = "".join(f"(?>.*?{_piece(piece)})" for piece in middle if piece)
    return f"{_piece(first)}{sought}.*{_piece(last)}"


def _piece(pattern: str) -> str:
    """Return the regular expression of a pattern without `*`, as `fnmatch` understands it."""
    return translate(pattern).removeprefix("(?s:").removesuffix(r")\Z")
