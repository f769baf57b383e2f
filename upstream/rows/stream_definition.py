"""The definition of an engine's stream: named columns with types, its key, and its time.

Times are integers in the time column's own unit, in which windows are measured: microseconds for a
TIMESTAMP and for DOUBLE seconds, days for a DATE, and the numbers themselves for integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .conforming import conform
from .stream_times import WindowBound, time_value, times_of, units_per_second

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class StreamDefinition:
    """A stream: its columns, the columns of its key, and its time column if it has one.

    A view has the definition of a stream without key and time.
    """

    name: str
    schema: pa.Schema
    key: tuple[str, ...]
    time: str | None
    is_view: bool = False

    def conform(self, data: pa.Table) -> pa.Table:
        """Return rows with exactly the schema's columns; raise StreamTypeError if they do not fit.

        Columns are found by name, in any order and case. A missing column is NULL, but key and time
        are required. Only conversions that lose nothing are made.
        """
        table = conform(data, self.name, self.schema, self.required)
        if self.time is not None:
            times_of(table.column(self.time), self.name, self.time)
        return table

    def conform_keys(self, data: pa.Table) -> pa.Table:
        """Return keys with exactly the key columns; raise StreamTypeError if they do not fit."""
        import pyarrow as pa

        schema = pa.schema([self.schema.field(name) for name in self.key])
        return conform(data, self.name, schema, self.key)

    @property
    def required(self) -> tuple[str, ...]:
        """The columns that every row needs."""
        return self.key if self.time is None or self.time in self.key else (*self.key, self.time)

    def times(self, rows: pa.Table) -> NDArray[np.int64]:
        """Return the times of conformed rows in the unit of the time column.

        Nothing is copied, except for DOUBLE and DATE, and for rows in several chunks.
        """
        assert self.time is not None
        return times_of(rows.column(self.time), self.name, self.time)

    def time_value(self, number: int) -> WindowBound:
        """Return a time in the unit of the column as a value of the column's type."""
        return time_value(number, self.time_type)

    @property
    def time_type(self) -> pa.DataType:
        """The type of the time column, which the bounds of windows also have."""
        assert self.time is not None
        return self.schema.field(self.time).type

    @property
    def units_per_second(self) -> Fraction | None:
        """How many units of time a second has; None if times are numbers without a unit."""
        return units_per_second(self.time_type)

    @property
    def seconds_per_unit(self) -> float:
        """The length of a unit of time in seconds; 1 if times are numbers without a unit."""
        return float(1 / (self.units_per_second or Fraction(1)))

    def column_named(self, name: str) -> str | None:
        """Return the schema's name of the column with this name in any case, or None."""
        for column in self.schema.names:
            if column.lower() == name.lower():
                return str(column)
        return None
