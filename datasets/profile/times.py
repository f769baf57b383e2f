"""Times as streams have them, as seconds: numbers, timestamps, or text that is either."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..errors import BadOptionError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

SECONDS_PER_UNIT: Final = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
NANOSECONDS: Final = "timestamps of nanoseconds"
_TIME_OF_DAY: Final = r"^\d{1,2}:\d\d"


@dataclass(frozen=True, slots=True)
class TimeColumn:
    """Which column has the times, and what its numbers count."""

    name: str = "time"
    unit: str = "s"

    def __post_init__(self) -> None:
        if self.unit not in SECONDS_PER_UNIT:
            raise BadOptionError("--time-unit", self.unit, " or ".join(SECONDS_PER_UNIT))


def as_seconds(frame: DataFrame, time: TimeColumn, *, is_nanoseconds: bool = False) -> Column:
    """Return the times of a frame as seconds; null where there is none.

    Text is of the kind that the first row has: a number, a time of day, or else a timestamp.
    BadOptionError if the times are no numbers, but a unit is given.
    """
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    column = F.col(f"`{time.name.replace('`', '``')}`")
    kind = frame.select(column).schema[0].dataType.simpleString()
    if kind == "string":
        return _text_as_seconds(frame, column, time)
    if is_nanoseconds:
        _check_no_unit(time)
        rest = column % 1_000_000_000  # apart, or so large a number would lose its last digits
        return (column - rest) / 1e9 + rest / 1e9
    if kind.startswith(("timestamp", "date")):
        _check_no_unit(time)
        return column.cast("timestamp").cast("double")
    if kind.startswith("decimal") or kind in _NUMBERS:
        return _scaled(column.cast("double"), time)
    raise BadOptionError("--time", time.name, f"numbers or timestamps, not {kind}")


def is_of_nanoseconds(file: Path, name: str) -> bool:
    """Tell whether a Parquet file has timestamps of nanoseconds, which Spark reads as numbers."""
    return kind_of_times(file, name) == NANOSECONDS


def kind_of_times(file: Path, name: str) -> str:
    """Return in words what the times of a Parquet file are, as far as they can be read together."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    kind = pq.read_schema(file).field(name).type
    if pa.types.is_timestamp(kind):
        return NANOSECONDS if kind.unit == "ns" else "timestamps"
    return "whole numbers" if pa.types.is_integer(kind) else f"of type {kind}"


_NUMBERS: Final = ("tinyint", "smallint", "int", "bigint", "float", "double")


def _text_as_seconds(frame: DataFrame, column: Column, time: TimeColumn) -> Column:
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    trimmed = F.trim(column)
    first = frame.select(column.alias("text")).where(column.isNotNull()).first()
    text = "" if first is None else str(first["text"]).strip()
    if _is_number(text):
        return _scaled(trimmed.try_cast("double"), time)
    if text:
        _check_no_unit(time)
    if re.match(_TIME_OF_DAY, text):
        is_time = trimmed.rlike(_TIME_OF_DAY)
        padded = F.when(trimmed.rlike(r"^\d:"), F.concat(F.lit("0"), trimmed)).otherwise(trimmed)
        on_day = F.concat(F.lit("1970-01-01 "), padded).try_cast("timestamp")
        return F.when(is_time, on_day.cast("double"))
    # Spark takes a lone time of day for one of today.
    is_date = trimmed.rlike(r"^\d{4}-\d")
    return F.when(is_date, trimmed.try_cast("timestamp").cast("double"))


def _scaled(seconds: Column, time: TimeColumn) -> Column:
    return seconds if time.unit == "s" else seconds * SECONDS_PER_UNIT[time.unit]


def _check_no_unit(time: TimeColumn) -> None:
    if time.unit != "s":
        raise BadOptionError(
            "--time-unit", time.unit, "no --time-unit, since the times are not numbers"
        )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
