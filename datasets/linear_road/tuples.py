"""The benchmark's input tuples as columns: which field is called what here, and how rows are made.

Fields that a type of tuple does not use are -1, as in the benchmark.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from .road import FEET_PER_SEGMENT, REPORT_SECONDS, SEGMENTS, Run
from .traffic import Cars, Direction

if TYPE_CHECKING:
    import pyarrow as pa

POSITION_REPORT: Final = 0
ACCOUNT_BALANCE: Final = 2
DAILY_EXPENDITURE: Final = 3
TRAVEL_TIME: Final = 4
TYPES: Final = {
    POSITION_REPORT: "position reports",
    ACCOUNT_BALANCE: "account balance requests",
    DAILY_EXPENDITURE: "daily expenditure requests",
    TRAVEL_TIME: "travel time requests",
}
UNUSED: Final = -1
HISTORY_DAYS: Final = 69
"""The days before today, which requests for expenditure are about; 1 is yesterday."""
SHARES: Final = ((ACCOUNT_BALANCE, 0.5), (DAILY_EXPENDITURE, 0.1), (TRAVEL_TIME, 0.4))
"""What requests are for, as in the benchmark."""


@dataclass(frozen=True, slots=True)
class Field:
    """A column, and the benchmark's field that it has."""

    name: str
    of_benchmark: str
    kind: str
    meaning: str


FIELDS: Final = (
    Field("time", "Time", "double", "seconds since the start of the run, whole ones"),
    Field("key", "VID", "bigint", "the car"),
    Field("type", "Type", "int", "0 position report, 2 account balance, 3 daily expenditure, "
          "4 travel time"),
    Field("speed", "Spd", "int", "miles an hour, 0 to 100: the mean since the report before"),
    Field("expressway", "XWay", "int", "from 0"),
    Field("lane", "Lane", "int", "0 entry, 1 to 3 travel, 4 exit"),
    Field("direction", "Dir", "int", "0 east, positions grow; 1 west, they fall"),
    Field("segment", "Seg", "int", "the mile, 0 to 99"),
    Field("position", "Pos", "int", "feet from the western end, 0 to 527,999"),
    Field("query", "QID", "int", "the request, each has its own number"),
    Field("from_segment", "Sinit", "int", "where the journey that is asked about starts"),
    Field("to_segment", "Send", "int", "where it ends"),
    Field("day_of_week", "DOW", "int", "1 to 7"),
    Field("minute_of_day", "TOD", "int", "1 to 1440"),
    Field("day", "Day", "int", "1 is yesterday, 69 is ten weeks ago"),
)  # fmt: skip
NAMES: Final = tuple(field.name for field in FIELDS)
SCHEMA: Final = ", ".join(f"`{field.name}` {field.kind}" for field in FIELDS)
MEANINGS: Final = {field.name: f"{field.of_benchmark}: {field.meaning}" for field in FIELDS}

Columns = dict[str, NDArray[np.int64]]


def tuples_of(run: Run, unit: int) -> Iterator[Columns]:
    """Yield the tuples of one direction, those of 30 seconds at a time, in no order of time."""
    direction = Direction(run, unit)
    asked = 0
    for beat, cars in direction.beats():
        reports = _reports(run, unit, beat, cars)
        is_asking = direction.random.random(len(cars)) < run.requests
        requests = _requests(reports, is_asking, direction.random)
        requests["query"] = unit + run.directions * (asked + np.arange(len(requests["query"])))
        asked += len(requests["query"])
        if not run.has_travel_times:
            is_kept = requests["type"] != TRAVEL_TIME
            requests = {name: column[is_kept] for name, column in requests.items()}
        yield {name: np.concatenate((reports[name], requests[name])) for name in NAMES}


def record_batches(run: Run, units: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Return the tuples of the directions whose numbers are given; Spark calls this."""
    import pyarrow as pa

    types = {"double": pa.float64(), "bigint": pa.int64(), "int": pa.int32()}
    schema = pa.schema([(field.name, types[field.kind]) for field in FIELDS])
    for batch in units:
        for unit in batch.column(0).to_pylist():
            for columns in tuples_of(run, unit):
                arrays = [pa.array(columns[each.name]).cast(each.type) for each in schema]
                yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _reports(run: Run, unit: int, beat: int, cars: Cars) -> Columns:
    """Return the position reports of cars."""
    columns = {name: np.full(len(cars), UNUSED, dtype=np.int64) for name in NAMES}
    columns["time"] = beat * REPORT_SECONDS + cars["second"].astype(np.int64)
    columns["key"] = unit + run.directions * cars["number"]
    columns["type"][:] = POSITION_REPORT
    columns["expressway"][:], columns["direction"][:] = divmod(unit, 2)
    for name in ("speed", "lane", "position"):
        columns[name] = cars[name].astype(np.int64)
    columns["segment"] = columns["position"] // FEET_PER_SEGMENT
    return columns


def _requests(
    reports: Columns, is_asking: NDArray[np.bool_], random: np.random.Generator
) -> Columns:
    """Return what cars ask as they report; each draws the same, whatever it asks for."""
    count = int(is_asking.sum())
    types, shares = zip(*SHARES, strict=True)
    columns = {name: np.full(count, UNUSED, dtype=np.int64) for name in NAMES}
    columns["time"] = reports["time"][is_asking]
    columns["key"] = reports["key"][is_asking]
    columns["type"] = random.choice(types, count, p=shares)
    is_daily = columns["type"] == DAILY_EXPENDITURE
    is_travel = columns["type"] == TRAVEL_TIME
    drawn = {
        "day": (is_daily, random.integers(1, HISTORY_DAYS + 1, count)),
        "from_segment": (is_travel, random.integers(0, SEGMENTS, count)),
        "to_segment": (is_travel, random.integers(0, SEGMENTS, count)),
        "day_of_week": (is_travel, random.integers(1, 8, count)),
        "minute_of_day": (is_travel, random.integers(1, 1441, count)),
        "expressway": (is_daily | is_travel, reports["expressway"][is_asking]),
    }
    for name, (is_used, values) in drawn.items():
        columns[name] = np.where(is_used, values, UNUSED)
    return columns
