"""Numbers by patterns of keys, such as weights.

A pattern is a shell's, as in Python's `fnmatch`: `*` matches anything, `?` one character, `[AB]`
one of these, `[!AB]` any other one. It is translated here, since `fnmatch` ends its expressions
differently in different versions of Python. A pattern is matched against the key's text: a string
itself, or the JSON text of another key.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from upstream import Key

MOST_CHARACTERS = 2_048
"""The most characters of all patterns together, since a key is compared with each of them."""

_SIGNS = re.compile(r"\[!?+\]?+[^\]]*+\]|.", re.DOTALL)
"""One sign of a pattern: a character, or a set of them, in which `*` means itself. A `]` right
behind the opening of a set is in it."""


def text_of(key: Key) -> str:
    """Return the text of a key that patterns are matched against.

    >>> text_of("IBM"), text_of(("IBM", 1))
    ('IBM', '["IBM",1]')
    """
    return key if isinstance(key, str) else msgspec.json.encode(key).decode()


class KeyPatterns:
    """A function of keys by patterns: an exact text first, else the first pattern that matches.

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
    """Tell whether a text may match several keys."""
    return any(sign in text for sign in "*?[")


def _expression(pattern: str) -> str:
    """Return the regular expression of a pattern, without backtracking over a `*`.

    The text after a `*` is matched as early as possible: if the rest does not match from there, it
    does not match later. Only the last piece must be at the end.
    """
    pieces: list[list[str]] = [[]]
    for sign in _SIGNS.findall(pattern):
        if sign == "*":
            pieces.append([])
        else:
            pieces[-1].append(_sign(sign))
    first, *others = map("".join, pieces)
    if not others:
        return first
    *middle, last = others
    sought = "".join(f"(?>.*?{piece})" for piece in middle if piece)
    return f"{first}{sought}.*{last}"


def _sign(sign: str) -> str:
    """Return the regular expression of one sign other than `*`."""
    if sign == "?":
        return "."
    return _set(sign[1:-1]) if len(sign) > 1 else re.escape(sign)


def _set(characters: str) -> str:
    """Return the regular expression of a set, given the text between its brackets.

    A range that ends before it starts is empty.
    """
    negated = characters.startswith("!")
    position = int(negated)
    held = ""
    while position < len(characters):
        first = characters[position]
        if characters[position + 1 : position + 2] == "-" and position + 2 < len(characters):
            last = characters[position + 2]
            if first <= last:
                held += f"{re.escape(first)}-{re.escape(last)}"
            position += 3
        else:
            held += re.escape(first)
            position += 1
    if not held:
        return "." if negated else "(?!)"
    return f"[^{held}]" if negated else f"[{held}]"
