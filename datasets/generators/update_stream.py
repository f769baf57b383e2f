"""A keyed update stream: when updates arrive, for which keys, with which values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from ..errors import BadOptionError
from .arrivals import Arrivals, Cut, FixedInterval, PoissonArrivals, Span
from .bursts import BurstArrivals
from .key_shares import KeyShares
from .value_columns import ValueColumn

MOST_UPDATES: Final = 10_000_000_000
FASTEST: Final = 1e12
LATEST_SECONDS: Final = 1e11
"""The year 5138; the simulator takes what is beyond for milliseconds."""

STEADY_ARRIVALS: Final[dict[str, Arrivals]] = {
    "poisson": PoissonArrivals(),
    "fixed": FixedInterval(),
}
"""By the names that they have in the simulator."""


def arrivals_named(name: str) -> Arrivals:
    """Return the steady arrivals that an option names; BadOptionError for any other name."""
    if name not in STEADY_ARRIVALS:
        raise BadOptionError("--arrivals", name, " or ".join(STEADY_ARRIVALS))
    return STEADY_ARRIVALS[name]


@dataclass(frozen=True, slots=True)
class UpdateStream:
    """All that a stream is drawn from; BadOptionError for what makes no sense."""

    shares: KeyShares
    arrivals: Arrivals | BurstArrivals
    span: Span
    values: tuple[ValueColumn, ...]
    seed: int
    key_prefix: str = ""

    def __post_init__(self) -> None:
        check_span(self.span)
        if isinstance(self.arrivals, BurstArrivals):
            self.arrivals.check(self.span)
        if any(ord(letter) < 32 for letter in self.key_prefix):
            raise BadOptionError("--key-prefix", repr(self.key_prefix), "text that can be printed")

    def frame(self, session: SparkSession, cut: Cut | None = None) -> DataFrame:
        """Return `time`, `key` and the values, in order of time, partition after partition."""
        arrived = self.arrivals.frame(session, self.span, seed=self.seed, cut=cut or Cut())
        drawer = self.arrivals if isinstance(self.arrivals, BurstArrivals) else self.shares
        rows = drawer.draw(arrived, seed=self.seed)
        row, key = F.col("row"), F.col("key")
        values = (each.expression(row, key, seed=self.seed) for each in self.values)
        return rows.select("time", self._name_of(key).alias("key"), *values)

    def _name_of(self, key: Column) -> Column:
        """Return what a key is called: a prefix, and as many digits as the last one has."""
        if not self.key_prefix:
            return key
        digits = len(str(self.shares.keys - 1))
        return F.concat(F.lit(self.key_prefix), F.lpad(key.cast("string"), digits, "0"))


def check_span(span: Span) -> None:
    """Raise BadOptionError for a stretch of a stream that makes no sense."""
    if not 1 <= span.updates <= MOST_UPDATES:
        expected = f"a whole number from 1 to {MOST_UPDATES:,}"
        raise BadOptionError("--updates", span.updates, expected)
    if not 0 < span.rate <= FASTEST:
        expected = f"updates per second, above 0 and at most {FASTEST:g}"
        raise BadOptionError("--rate", f"{span.rate:g}", expected)
    if not abs(span.start) <= LATEST_SECONDS:
        expected = f"seconds, at most {LATEST_SECONDS:g}"
        raise BadOptionError("--start", f"{span.start:g}", expected)
    end = span.start + span.updates / span.rate
    if not (math.isfinite(end) and end <= LATEST_SECONDS):
        expected = f"a faster one: the last update would be at {end:.3g} s, after the year 5000"
        raise BadOptionError("--rate", f"{span.rate:g}", expected)
