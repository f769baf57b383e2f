"""Bodies of Arrow: the columns of a stream of record batches, as they are.

Dictionary-encoded keys stay codes, and values stay in their columns until it is known which of them
survive conflation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import types

from upstream import Key
from upstream.columns import read_times

from .. import reasons
from ..batch import Batch, Now, Rejection
from ..errors import InvalidKeyError, UnsupportedColumnError
from ..keys import read_key
from ..reasons import Limits
from .faults import Fault, cells_of, find_key_faults, find_value_faults, sizes
from .layout import Layout, is_list
from .stream import read_table

MOST_CELLS: Final = 1 << 22
"""How many values the columns of a body may have in all, with those in lists: booleans take a bit
each and nulls nothing, but not in Python."""
MOST_DECODED_BYTES: Final = 1 << 26
"""The most bytes of dictionary-encoded values once each row has its own."""

Floats = NDArray[np.float64]


def read_arrow(body: bytes, limits: Limits, now: Now) -> Batch:
    """Return the updates of a body; `now` is the time of rows whose time is null.

    Raises MalformedBodyError if it is not a stream, and UnsupportedColumnError if its columns are
    not those of updates.
    """
    layout, table = read_table(body, limits)
    values = _values(table, layout)
    if cells_of(values) > MOST_CELLS:
        raise UnsupportedColumnError(
            None, f"there are more than {MOST_CELLS} values in all; send them in several requests"
        )
    faults = find_value_faults(values, limits)
    times: Floats | None = None
    if layout.time is not None:
        times = _times(_column(table, layout.time), now)
        is_finite = np.isfinite(times)
        if not is_finite.all():
            faults.append(Fault(reasons.TIME, ~is_finite))
    keys = _column(table, layout.key)
    if is_list(keys.type):
        keys, key_faults = read_composite_keys(keys, limits)
    else:
        key_faults = find_key_faults(keys, limits)
    faults += key_faults
    if not faults:
        return Batch(keys=keys, values=values, times=_sequence(times), rows=len(values))
    return _good_rows(keys, values, times, faults)


def read_composite_keys(column: pa.Array, limits: Limits) -> tuple[list[Key], list[Fault]]:
    """Return keys that are lists as tuples, and which of them are not valid."""
    keys: list[Key] = []
    bad: dict[str, NDArray[np.bool_]] = {}
    for row, key in enumerate(column.to_pylist()):
        try:
            keys.append(read_key(key, limits))
        except InvalidKeyError as error:
            keys.append(None)
            bad.setdefault(error.reason, np.zeros(len(column), dtype=np.bool_))[row] = True
    return keys, [Fault(reason, rows) for reason, rows in bad.items()]


def _column(table: pa.Table, place: int) -> pa.Array:
    """Return a column in one piece, with its own type."""
    chunked = table.column(place)
    return chunked.chunk(0) if chunked.num_chunks == 1 else chunked.combine_chunks()


def _values(table: pa.Table, layout: Layout) -> pa.Array:
    _check_decoded_bytes(table, layout)
    columns = [_decoded(table, place) for place in layout.values]
    if layout.is_one_value:
        return columns[0]
    return pa.StructArray.from_arrays(columns, names=list(layout.names))


def _decoded(table: pa.Table, place: int) -> pa.Array:
    """Return a value column, with a value of its own for each row."""
    column = _column(table, place)
    return column.dictionary_decode() if types.is_dictionary(column.type) else column


def _check_decoded_bytes(table: pa.Table, layout: Layout) -> None:
    """Raise UnsupportedColumnError if a few codes stand for too many bytes."""
    total = 0
    for place in layout.values:
        column = _column(table, place)
        if types.is_dictionary(column.type) and len(column.dictionary):
            codes = column.indices.fill_null(0).to_numpy(zero_copy_only=False)
            total += int(sizes(column.dictionary)[codes].sum())
            if total > MOST_DECODED_BYTES:
                raise UnsupportedColumnError(
                    place, "too long once decoded; send it in several requests"
                )


def _times(column: pa.Array, now: Now) -> Floats:
    """Return times as floats; missing ones are the service's time."""
    if not types.is_floating(column.type):
        known = read_times(column.drop_null())
    else:
        known = column.drop_null().to_numpy().astype(np.float64, copy=False)
    if not column.null_count:
        return known
    times = np.full(len(column), now())
    times[column.is_valid().to_numpy(zero_copy_only=False)] = known
    return times


def _sequence(times: Floats | None) -> Sequence[float] | None:
    """Return `times` as a Sequence, which NumPy's arrays are in all but name."""
    return cast(Sequence[float] | None, times)


def _good_rows(
    keys: pa.Array | list[Key], values: pa.Array, times: Floats | None, faults: list[Fault]
) -> Batch:
    """Return the rows without a fault, and the others as rejected for their last fault."""
    reason_of: dict[int, str] = {}
    for fault in faults:
        reason_of.update(dict.fromkeys(np.flatnonzero(fault.rows).tolist(), fault.reason))
    is_good = np.ones(len(values), dtype=np.bool_)
    is_good[list(reason_of)] = False
    kept = np.flatnonzero(is_good)
    rows = pa.array(kept)
    indices: list[int] = kept.tolist()
    return Batch(
        keys=[keys[row] for row in indices] if isinstance(keys, list) else keys.take(rows),
        values=values.take(rows),
        times=_sequence(None if times is None else times[kept]),
        rows=len(values),
        rejections=[Rejection(row, reason_of[row]) for row in sorted(reason_of)],
        indices=indices,
    )
