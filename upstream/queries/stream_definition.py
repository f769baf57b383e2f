"""What a stream of a query engine is: named columns with types, the key among them, and the time.

Rows from outside are conformed to it before any of them is taken: a batch fits as a whole, or it
is an error that names the column and the row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class StreamDefinition:
    """A stream: its columns, the columns of its key, and its time column if it has one."""

    name: str
    schema: pa.Schema
    key: tuple[str, ...]
    time: str | None

    def conform(self, data: pa.Table | pa.RecordBatch) -> pa.Table:
        """Return rows with exactly the columns of the schema; StreamTypeError if they do not fit.

        Columns are found by name, in any order and case; what is missing is NULL, except for key
        and time. Only conversions that lose nothing are made.
        """
        raise NotImplementedError

    def times(self, rows: pa.Table) -> NDArray[np.int64]:
        """Return the times of conformed rows, in the unit of the time column.

        Microseconds for TIMESTAMP and DOUBLE (seconds), days for DATE, else as they are.
        """
        raise NotImplementedError

    def time_value(self, number: int) -> object:
        """Return a time, given in the unit, as a scalar of Arrow in the time column's type."""
        raise NotImplementedError

    @property
    def time_type(self) -> pa.DataType:
        """The type of the time column, which the bounds of windows have too."""
        raise NotImplementedError

    @property
    def seconds_per_unit(self) -> float:
        """How long a unit of time is; 1 where times are mere numbers."""
        raise NotImplementedError
