"""The structure of JSON text, found without decoding it.

Decoders are recursive, so they cannot tell how deep text is that is nested too deep, or find what
follows it. Here only brackets and strings are looked at; the text is assumed to be JSON otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

BLOCK_BYTES: Final = 1 << 16
"""How many bytes are looked at together; the arrays for them fit into the processor's cache."""

_QUOTE: Final = ord('"')
_COMMA: Final = ord(",")
_STEPS: Final = np.zeros(256, dtype=np.int8)
_STEPS[list(b"[{")] = 1
_STEPS[list(b"]}")] = -1
_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")


def depth_of(text: bytes) -> int:
    """Return the depth of the most deeply nested array or object."""
    return max((int(block.depths.max()) for block in _blocks(text)), default=0)


class Elements:
    """The places of a JSON array's elements; ValueError if brackets or quotes do not match.

    >>> list(Elements(b'[1, {"a": [2, 3]}, "],["]').texts())
    [b'1', b' {"a": [2, 3]}', b' "],["']
    """

    __slots__ = ("_array", "_cuts", "_end")

    def __init__(self, array: bytes) -> None:
        self._array = array
        start, self._end = array.find(b"["), array.rfind(b"]")
        cuts = [np.array([start])]
        depth = is_open = 0
        for block in _blocks(array):
            if int(block.depths.min()) < 0:
                raise ValueError
            commas = np.flatnonzero(block.characters == _COMMA)
            # Brackets count from the opening bracket of the array.
            is_cut = (block.depths[commas] == 1) & ~block.is_quoted[commas]
            cuts.append(commas[is_cut] + block.start)
            depth, is_open = int(block.depths[-1]), int(block.is_quoted[-1])
        if depth or is_open or not 0 <= start < self._end:
            raise ValueError
        if array[:start].strip() or array[self._end + 1 :].strip():
            raise ValueError
        self._cuts = np.concatenate(cuts)

    def __len__(self) -> int:
        """Return the number of elements; an empty array has one that is empty."""
        return len(self._cuts)

    def texts(self) -> Iterator[bytes]:
        """Yield the text of each element."""
        cuts = self._cuts.tolist()
        for cut, following in zip(cuts, [*cuts[1:], self._end], strict=True):
            yield self._array[cut + 1 : following]


def without_surrogates(text: bytes) -> bytes:
    """Return text of the same length, without halves of surrogate pairs.

    It is valid JSON if nothing else was wrong: the replacements are valid within strings only.
    """
    return _SURROGATE.sub(b"______", text.replace(rb"\\", b"__"))


class _Block(NamedTuple):
    """A part of a text, with the state at each of its bytes."""

    start: int
    characters: NDArray[np.uint8]
    is_quoted: NDArray[np.bool_]
    """Whether the byte is in a string."""
    depths: NDArray[np.int64]
    """The depth of nesting after the byte."""


def _blocks(text: bytes) -> Iterator[_Block]:
    # Every quotation mark that is left begins or ends a string.
    unescaped = text.replace(rb"\\", b"  ").replace(rb"\"", b"  ")
    quotes = depth = 0
    for start in range(0, len(text), BLOCK_BYTES):
        characters = np.frombuffer(unescaped[start : start + BLOCK_BYTES], dtype=np.uint8)
        so_far = np.cumsum(characters == _QUOTE) + quotes
        is_quoted = (so_far & 1).astype(np.bool_)
        steps = _STEPS[characters]
        steps[is_quoted] = 0
        depths = np.cumsum(steps, dtype=np.int64) + depth
        quotes, depth = int(so_far[-1]), int(depths[-1])
        yield _Block(start, characters, is_quoted, depths)
