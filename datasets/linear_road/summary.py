"""What happens in the traffic that was written, counted as a consumer of it would see it."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from .accidents import FEWEST_REPORTS
from .traffic import FREE_CARS
from .tuples import POSITION_REPORT, TYPES

TOLL_SPEED = 40
"""Below this mean speed the benchmark takes a toll, in segments with more than 50 cars."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What a consumer of the traffic can count."""

    rows_by_type: dict[str, int]
    accidents: int
    """Places where two cars or more stood still at once for four reports or more."""
    segment_minutes: int
    """Minutes of a segment and direction in which there was a car."""
    toll_minutes: int
    """Those with more than 50 cars at less than 40 miles an hour."""

    def notes(self) -> tuple[str, ...]:
        """Return the counts in sentences."""
        counted = ", ".join(f"{count:,} {name}" for name, count in self.rows_by_type.items())
        share = self.toll_minutes / max(1, self.segment_minutes)
        traffic = (
            f"There are {self.accidents:,} accidents, and {share:.1%} of the minutes of segments "
            f"with cars have more than {FREE_CARS} of them at less than {TOLL_SPEED} miles an "
            "hour, which is when the benchmark takes tolls."
        )
        return f"There are {counted}.", "", traffic


def summarize(rows: DataFrame) -> Summary:
    """Count what there is to see in the tuples of a run."""
    types = {row["type"]: row["count"] for row in rows.groupBy("type").count().collect()}
    reports = rows.where(F.col("type") == POSITION_REPORT)
    minutes = reports.groupBy(
        "expressway", "direction", "segment", F.floor(F.col("time") / 60).alias("minute")
    ).agg(F.countDistinct("key").alias("cars"), F.avg("speed").alias("speed"))
    has_toll = (F.col("cars") > FREE_CARS) & (F.col("speed") < TOLL_SPEED)
    counted = minutes.agg(F.count("*"), F.count_if(has_toll)).first()
    assert counted is not None
    return Summary(
        rows_by_type={name: types[number] for number, name in TYPES.items() if number in types},
        accidents=accidents_seen(reports).count(),
        segment_minutes=int(counted[0]),
        toll_minutes=int(counted[1]),
    )


def accidents_seen(reports: DataFrame) -> DataFrame:
    """Return where and from when two cars or more stood at one place for four reports or more."""
    place = ("expressway", "direction", "lane", "position")
    standing = reports.where(F.col("speed") == 0).groupBy(*place, "key")
    cars = standing.agg(F.count("*").alias("reports"), F.min("time").alias("since"))
    # Two accidents at the very same place are an hour apart, if ever.
    cars = cars.where(F.col("reports") >= FEWEST_REPORTS)
    together = cars.groupBy(*place, F.floor(F.col("since") / 3600).alias("hour"))
    return together.agg(F.count("*").alias("cars"), F.min("since").alias("since")).where(
        F.col("cars") >= 2
    )
