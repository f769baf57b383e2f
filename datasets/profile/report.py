"""The profile of a stream: as JSON, as text for a terminal, and its data card."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from ..errors import BadFileError
from ..output.card import Cell, Column, DataCard, Skew, Trace, write_card
from ..spark.progress import job_progress
from .arrivals import ArrivalProfile, profile_arrivals
from .keys import KeyProfile, key_table, profile_keys
from .source import Source


@dataclass(frozen=True, slots=True)
class Profile:
    """How uneven a stream is, over keys and over time."""

    name: str
    keys: KeyProfile
    arrivals: ArrivalProfile

    def as_json(self) -> dict[str, object]:
        """Return what `--json` prints: flat where it is one number."""
        keys, arrivals = asdict(self.keys), asdict(self.arrivals)
        zipf = keys.pop("zipf") or {"theta": None, "keys": 0}
        return {
            "name": self.name,
            "seconds": self.arrivals.seconds,
            "mean_rate": self.arrivals.mean_rate,
            **arrivals,
            **keys,
            "zipf_theta": zipf["theta"],
            "zipf_keys": zipf["keys"],
            "out_of_order_share": self.arrivals.out_of_order / self.arrivals.updates,
            "duplicate_share": self.keys.duplicates / self.arrivals.updates,
        }

    def as_facts(self) -> list[tuple[str, str]]:
        """Return what a person wants to know, in words."""
        return [*_facts_of_keys(self.keys), *_facts_of_arrivals(self.arrivals, self.keys)]


def _facts_of_keys(keys: KeyProfile) -> list[tuple[str, str]]:
    busiest = keys.busiest[0]
    percentiles = ", ".join(
        f"{updates:,} ({percent} %)" for percent, updates in keys.percentiles.items()
    )
    zipf = "too few keys with ten updates to tell"
    if keys.zipf is not None:
        zipf = f"{keys.zipf.theta:.3f}, of the {keys.zipf.keys:,} keys with ten updates or more"
    burstiness = ", ".join(
        f"{key.key} {_shown(key.burstiness)}" for key in keys.busiest if key.burstiness is not None
    )
    return [
        ("keys", f"{keys.keys:,}"),
        ("busiest key", f"{busiest.key}, {busiest.updates:,} updates"),
        ("slowest key", f"{keys.slowest_updates:,} updates"),
        ("updates per key, mean", f"{keys.mean_updates:,.1f}"),
        ("updates per key, percentiles", percentiles),
        ("share of the busiest 1 % of keys", f"{keys.share_of_busiest_1_percent:.1%}"),
        ("share of the busiest 10 %", f"{keys.share_of_busiest_10_percent:.1%}"),
        ("Gini coefficient", f"{keys.gini:.3f} (0: all keys alike)"),
        ("theta of Zipf's law", zipf),
        ("burstiness of keys, median", f"{_shown(keys.burstiness_median)} (-1 even, 0 memoryless)"),
        ("burstiness of the busiest", burstiness or "too few updates to tell"),
    ]


def _facts_of_arrivals(arrivals: ArrivalProfile, keys: KeyProfile) -> list[tuple[str, str]]:
    mean = arrivals.mean_rate
    share = arrivals.out_of_order / arrivals.updates
    duplicates = keys.duplicates / arrivals.updates
    per = f"per {arrivals.interval:g} s"
    return [
        ("updates", f"{arrivals.updates:,}"),
        ("first and last time", f"{arrivals.first_time:,.3f} s, {arrivals.last_time:,.3f} s"),
        ("length", f"{arrivals.seconds:,.3f} s"),
        ("mean rate", "no time passes" if mean is None else f"{mean:,.6g}/s"),
        (f"peak rate, {per}", f"{_shown(arrivals.peak_rate)}/s"),
        ("peak over mean", _shown(arrivals.peak_over_mean)),
        (f"dispersion of counts {per}", f"{_shown(arrivals.dispersion)} (1 memoryless)"),
        ("variation of times between", f"{_shown(arrivals.gap_variation)} (1 memoryless)"),
        ("before the row above", f"{arrivals.out_of_order:,} updates, {share:.3%}"),
        ("same key and time as another", f"{keys.duplicates:,} updates, {duplicates:.3%}"),
    ]


def _shown(number: float | None) -> str:
    return "-" if number is None else f"{number:,.4g}"


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


def measure(
    session: SparkSession,
    source: Source,
    interval: float | None,
    folder: Path | None,
    command: str,
) -> Profile:
    """Profile a stream; write the table of its keys and a data card, if there is a folder.

    BadFileError if there are no updates.
    """
    name = source.path.absolute().name
    with ExitStack() as stack:
        with job_progress(session, "Reading times"):
            rows = stack.enter_context(source.read(session))
            arrivals = profile_arrivals(rows, interval=interval)
        if arrivals is None:
            raise BadFileError(source.path, "there are no updates in it")
        with job_progress(session, "Counting keys"):
            table = key_table(rows.frame).cache()
            profile = Profile(name, profile_keys(table), arrivals)
            if folder is not None:
                table.write.parquet(str(folder / "keys"))
                parameters = {**source.parameters(), "interval": arrivals.interval}
                write_card(card_of(profile, table.schema, command, parameters), folder)
            table.unpersist()
    return profile


def card_of(
    profile: Profile, schema: StructType, command: str, parameters: Mapping[str, Cell]
) -> DataCard:
    """Return the card of a profile, whose table of keys has this schema."""
    keys, arrivals = profile.keys, profile.arrivals
    kinds = ((field.name, field.dataType.simpleString()) for field in schema)
    return DataCard(
        title=f"Profile of {profile.name}",
        command=command,
        trace=Trace(
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
        ),
        parameters=parameters,
        read=arrivals.updates,
        notes=NOTES,
    )
