"""Texts as words of 64 bits, so that thousands of them are numbered at once.

A text is cut into pieces of seven bytes. A piece and its length are one word, and the pieces are
the way down a tree in which each node has a number; that of the last is the text's word. Symbols
and names are two or three pieces. Texts that are long go through a dict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from .integer_codes import IntegerCodes

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from .arrow_words import Integers

    Bytes = NDArray[np.uint8]

_WORD: Final = 8
_PIECE: Final = _WORD - 1
_LONGEST: Final = 4 * _PIECE
_HALF: Final = 32
_LENGTH_SHIFT: Final = 8 * _PIECE


class TextWords:
    """The words of texts, different for different texts."""

    __slots__ = ("_long", "_nodes", "_pieces")

    def __init__(self) -> None:
        self._pieces = IntegerCodes()
        self._nodes = IntegerCodes()
        """Numbers of pairs of the node above and the piece."""
        self._long: dict[bytes, int] = {}

    def words_of(self, array: pa.Array) -> Integers:
        """Return the word of each text; what it is for NULL has no meaning."""
        starts, lengths, data = _bytes_of(array)
        words = self._walk(starts, lengths, data)
        for index in np.flatnonzero(lengths > _LONGEST).tolist():
            text = data[starts[index] : starts[index] + lengths[index]].tobytes()
            words[index] = -1 - self._long.setdefault(text, len(self._long))
        return words

    def _walk(self, starts: Integers, lengths: Integers, data: Bytes) -> Integers:
        """Return the node that each text that is not long leads to.

        Nodes of the first piece have odd numbers, and those below them even ones.
        """
        nodes = self._pieces.codes_of(_pieces(starts, lengths, data)) * 2 + 1
        done = _PIECE
        going = np.flatnonzero((lengths > done) & (lengths <= _LONGEST))
        while going.size:
            pieces = _pieces(starts[going] + done, lengths[going] - done, data)
            pairs = (nodes[going] << _HALF) | self._pieces.codes_of(pieces)
            nodes[going] = self._nodes.codes_of(pairs) * 2 + 2
            done += _PIECE
            going = going[lengths[going] > done]
        return nodes


def _bytes_of(array: pa.Array) -> tuple[Integers, Integers, Bytes]:
    """Return where texts start, how long they are, and all bytes, with some to spare."""
    from pyarrow import types

    is_large = types.is_large_string(array.type) or types.is_large_binary(array.type)
    _, offsets, data = array.buffers()
    bounds = np.frombuffer(offsets or bytes(8), np.int64 if is_large else np.int32)
    bounds = bounds[array.offset : array.offset + len(array) + 1].astype(np.int64)
    used = np.frombuffer(data or b"", np.uint8)[bounds[0] : bounds[-1]]
    starts = bounds[:-1] - bounds[0]
    return starts, np.diff(bounds), np.concatenate([used, np.zeros(_WORD, np.uint8)])


def _pieces(starts: Integers, lengths: Integers, data: Bytes) -> Integers:
    """Return the next seven bytes of each text, or what is left of it, with their number."""
    words_anywhere: Integers = np.ndarray(data.size - _WORD + 1, "<i8", data, strides=(1,))
    taken = np.minimum(lengths, _PIECE)
    mask = (1 << 8 * taken) - 1
    words: Integers = (words_anywhere[starts] & mask) | (taken << _LENGTH_SHIFT)
    return words
