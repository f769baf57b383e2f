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

    __slots__ = ("_exact", "_otherwise", "_patterns")

    def __init__(self, numbers: Mapping[str, float], *, otherwise: float) -> None:
        self._exact = dict(numbers)
        self._patterns = [
            (re.compile(translate(pattern)), number)
            for pattern, number in numbers.items()
            if any(sign in pattern for sign in "*?[")
        ]
        self._otherwise = otherwise

    def __call__(self, key: Key) -> float:
        """Return the key's number. O(patterns)."""
        text = text_of(key)
        exact = self._exact.get(text)
        if exact is not None:
            return exact
        for pattern, number in self._patterns:
            if pattern.match(text):
                return number
        return self._otherwise
