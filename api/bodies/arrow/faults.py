"""Which rows of Arrow columns have a value that JSON cannot represent, or that is too large.

Faults are found by operations on whole columns. The common one, which asks whether there is any
fault at all, is the fastest. Nested columns are looked at from their innermost values outwards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import types

from .. import reasons
from ..reasons import Limits
from .layout import is_list, is_text

Mask: TypeAlias = NDArray[np.bool_]
Sizes: TypeAlias = NDArray[np.int64]
_Find: TypeAlias = Callable[[pa.Array], list[Mask]]

_NUMBER_BYTES = 24
"""The most bytes of a number as JSON."""
_BRACKET_BYTES = 2


class Fault(NamedTuple):
    """A reason to reject rows, and the rows."""

    reason: str
    rows: Mask


def find_key_faults(keys: pa.Array, limits: Limits) -> list[Fault]:
    """Return why some keys are not valid; keys are strings, integers, or codes of these."""
    distinct = keys.dictionary if types.is_dictionary(keys.type) else keys
    found = [Fault(f"key: {reasons.NUL}", rows) for rows in _with_nul(distinct)]
    found += [Fault(reasons.bad_key(limits), rows) for rows in _bad_keys(distinct, limits)]
    if found and distinct is not keys:
        codes = keys.indices.fill_null(0).to_numpy(zero_copy_only=False)
        found = [Fault(reason, rows[codes]) for reason, rows in found if len(rows)]
    if keys.null_count:
        found.append(Fault(reasons.bad_key(limits), _mask(keys.is_null())))
    return [fault for fault in found if fault.rows.any()]


def find_value_faults(values: pa.Array, limits: Limits) -> list[Fault]:
    """Return why some values are not valid."""
    found = [Fault(f"value: {reasons.NUL}", rows) for rows in _with_nul(values)]
    found += [Fault(reasons.NOT_JSON, rows) for rows in _not_finite(values)]
    if most_bytes(values) > limits.value_bytes:
        found.append(Fault(reasons.too_long(limits), sizes(values) > limits.value_bytes))
    return [fault for fault in found if fault.rows.any()]


def cells_of(array: pa.Array) -> int:
    """Return how many values there are in all, including those in lists and structs."""
    kind = array.type
    if is_list(kind):
        return len(array) + cells_of(array.flatten())
    if types.is_struct(kind):
        fields = (array.field(place) for place in range(kind.num_fields))
        return len(array) + sum(map(cells_of, fields))
    return len(array)


def most_bytes(array: pa.Array) -> int:
    """Return about the most bytes that any row takes as JSON."""
    kind = array.type
    if is_text(kind):
        return int(_text_lengths(array).max(initial=0)) + _BRACKET_BYTES
    if is_list(kind):
        longest = int(pc.max(pc.list_value_length(array)).as_py() or 0)
        return longest * (most_bytes(array.flatten()) + 1) + _BRACKET_BYTES
    if types.is_struct(kind):
        return _BRACKET_BYTES + sum(
            _name_bytes(kind.field(place)) + most_bytes(array.field(place))
            for place in range(kind.num_fields)
        )
    return _NUMBER_BYTES


def sizes(array: pa.Array) -> Sizes:
    """Return about how many bytes each row takes as JSON."""
    kind = array.type
    if is_text(kind):
        return _text_lengths(array) + _BRACKET_BYTES
    if is_list(kind):
        return _sums(sizes(array.flatten()) + 1, array) + _BRACKET_BYTES
    if types.is_struct(kind):
        total = np.full(len(array), _BRACKET_BYTES, dtype=np.int64)
        for place in range(kind.num_fields):
            total += sizes(array.field(place)) + _name_bytes(kind.field(place))
        return total
    return np.full(len(array), _NUMBER_BYTES, dtype=np.int64)


def _name_bytes(field: pa.Field) -> int:
    return len(field.name.encode()) + len('"":,')


def _bad_keys(keys: pa.Array, limits: Limits) -> list[Mask]:
    """Return which keys are null, too long or too great, in at most two masks."""
    found = [_mask(keys.is_null())] if keys.null_count else []
    if is_text(keys.type):
        if most_bytes(keys) > limits.key_bytes:
            found.append(_integers(pc.utf8_length(keys)) > limits.key_bytes)
    elif types.is_uint64(keys.type):
        found.append(_mask(pc.greater(keys, np.uint64(2**63 - 1))))
    return found


def _with_nul(array: pa.Array) -> list[Mask]:
    """Return which rows have a string with NUL, as at most one mask."""
    if is_text(array.type):
        if _has_no_zero_byte(array):
            return []
        return [_mask(pc.match_substring(array, "\0"))]
    return _of_members(array, _with_nul)


def _not_finite(array: pa.Array) -> list[Mask]:
    """Return which rows have NaN or an infinity, as at most one mask."""
    if types.is_floating(array.type):
        if not array.null_count and np.isfinite(array.to_numpy()).all():
            return []
        return [_mask(pc.invert(pc.is_finite(array)))]
    return _of_members(array, _not_finite)


def _of_members(array: pa.Array, find: _Find) -> list[Mask]:
    """Return what `find` finds in the members of lists and structs, for the rows they belong to."""
    kind = array.type
    if is_list(kind):
        return [_sums(rows.astype(np.int64), array) > 0 for rows in find(array.flatten())]
    if types.is_struct(kind):
        # A value below a null does not exist, whatever its bytes are.
        valid = _mask(array.is_valid()) if array.null_count else True
        return [
            rows & valid for place in range(kind.num_fields) for rows in find(array.field(place))
        ]
    return []


def _sums(of_elements: Sizes, lists: pa.Array) -> Sizes:
    """Return the sum over the elements of each list."""
    ends = np.cumsum(_integers(pc.list_value_length(lists)))
    sums = np.concatenate(([0], np.cumsum(of_elements)))
    return np.diff(sums[ends], prepend=0)


def _text_lengths(strings: pa.Array) -> Sizes:
    """Return how many bytes each string has; several times as fast as `binary_length`."""
    rows = len(strings)
    if not rows:
        return np.zeros(0, dtype=np.int64)
    width: type[np.int32 | np.int64] = np.int32 if types.is_string(strings.type) else np.int64
    offsets = np.frombuffer(strings.buffers()[1], dtype=width, count=strings.offset + rows + 1)
    lengths = np.diff(offsets[strings.offset :]).astype(np.int64)
    if strings.null_count:
        lengths[_mask(strings.is_null())] = 0
    return lengths


def _has_no_zero_byte(strings: pa.Array) -> bool:
    """Tell whether the strings have no zero byte; unused bytes may have one, too."""
    data = strings.buffers()[2]
    return data is None or bool(np.frombuffer(data, dtype=np.uint8).all())


def _integers(array: pa.Array) -> Sizes:
    return cast(Sizes, array.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64))


def _mask(array: pa.Array) -> Mask:
    if array.null_count:
        array = array.fill_null(False)
    return cast(Mask, array.to_numpy(zero_copy_only=False))
