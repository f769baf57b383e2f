"""The data card of a profile: what was read, and what the columns of its table of keys are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from ..output.card import Cell, Column, DataCard, Skew
from .report import Profile

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

MEANINGS: Final = {
    "key": "the key",
    "updates": "how many it has",
    "first_time": "the time of its first, in seconds",
    "last_time": "the time of its last, in seconds",
    "duplicates": "updates of the same time as another, beyond the first",
    "burstiness": "of the times between its updates: -1 even, 0 memoryless; null under 10 updates",
}
NOTES: Final = (
    "The columns are those of `keys/`, which has a row for each key.",
    "`ranks.csv` has ranks and updates, `profile.json` all the numbers, `profile.png` a plot.",
    "No row was dropped: a row without a time or a key is refused.",
)


def card_of(
    profile: Profile, schema: StructType, command: str, parameters: Mapping[str, Cell]
) -> DataCard:
    """Return the card of a profile, whose table of keys has this schema."""
    keys, arrivals = profile.keys, profile.arrivals
    kinds = ((field.name, field.dataType.simpleString()) for field in schema)
    return DataCard(
        title=f"Profile of {profile.name}",
        command=command,
        updates=arrivals.updates,
        keys=keys.keys,
        first_time=arrivals.first_time,
        last_time=arrivals.last_time,
        columns=tuple(Column(name, kind, MEANINGS[name]) for name, kind in kinds),
        skew=Skew(
            busiest_key=keys.busiest[0].key,
            busiest_updates=keys.busiest[0].updates,
            slowest_updates=keys.slowest_updates,
            share_of_busiest_1_percent=keys.share_of_busiest_1_percent,
            share_of_busiest_10_percent=keys.share_of_busiest_10_percent,
        ),
        parameters=parameters,
        read=arrivals.updates,
        notes=NOTES,
    )
