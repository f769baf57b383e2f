"""A trading day, generated: what the report's NYSE data looks like, for those without a licence.

The report (section 5.3, figure 8) has the trades and quotes of a day of January 2006: more than
3,000 symbols, of which the busiest was updated 4,305 times and the slowest once. The simulator
makes up such a day in the same words: the same two shapes between these two ends, the same hours,
busy after the opening and before the close, each symbol independent of the others. The formulas
are written once there and once here, since neither may import the other; a test compares them.

How often each symbol updates is exact, not drawn. So rows are made symbol by symbol, and have to be
brought in order of time: this is the one generator that moves its rows.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from ..errors import BadOptionError
from .alias_table import AliasTable
from .randomness import below, driver_random, uniform
from .value_columns import HIGHEST_LEVEL, LOWEST_LEVEL

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SYMBOLS: Final = 3_000
BUSIEST: Final = 4_305
MOST_BUSIEST: Final = 10_000_000
OPENS: Final = 9.5 * 3600
CLOSES: Final = 16.0 * 3600
"""Seconds since midnight, in New York."""
DEFAULT_DATE: Final = dt.date(2006, 1, 17)
LETTERS: Final = "BCDFGHJKLMNPQRSTVWXZ"
"""Consonants, so that no symbol spells a word."""

_LETTERS_OF_SYMBOL: Final = 4
_OPENING_BURST: Final = 3.0
_CLOSING_BURST: Final = 2.0
"""How much more there is in the first and the last moment, in times of what there is at noon."""
_BURST_SECONDS: Final = 1800.0
"""How soon the opening burst fades, and the closing burst grows: by a factor of e."""
_CELLS: Final = 4_000
"""Into how many pieces the day is cut; updates are even in each."""
_LARGEST_STEP: Final = 2
_STEP: Final = 2e-4
"""A price moves by a whole number of these, relative to itself, from one update to the next."""
_UPDATES_PER_FILE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class TradingDay:
    """What a day is made of; BadOptionError for what makes no sense."""

    symbols: int = SYMBOLS
    busiest: int = BUSIEST
    shape: str = "power-law"
    date: dt.date = DEFAULT_DATE
    seed: int = 1

    def __post_init__(self) -> None:
        if self.shape not in SHAPES:
            raise BadOptionError("--shape", self.shape, " or ".join(SHAPES))
        most = len(LETTERS) ** _LETTERS_OF_SYMBOL
        if not 2 <= self.symbols <= most:
            raise BadOptionError("--symbols", self.symbols, f"a number from 2 to {most:,}")
        if not 1 <= self.busiest <= MOST_BUSIEST:
            raise BadOptionError("--busiest", self.busiest, f"a number from 1 to {MOST_BUSIEST:,}")

    def updates_by_rank(self) -> Integers:
        """Return how many updates the symbol of each rank has, from the busiest to one.

        >>> TradingDay(symbols=4, busiest=100).updates_by_rank().tolist()
        [100, 10, 3, 1]
        """
        counts: Integers = np.rint(self.busiest ** SHAPES[self.shape](self.symbols))
        return counts.astype(np.int64)

    def opens(self) -> float:
        """Return when the market opens, in seconds since 1970, UTC."""
        opening = dt.time(int(OPENS // 3600), int(OPENS % 3600 // 60))
        zone = ZoneInfo("America/New_York")
        return dt.datetime.combine(self.date, opening, tzinfo=zone).timestamp()

    def frame(self, session: SparkSession, partitions: int | None = None) -> DataFrame:
        """Return `time`, `key`, `price` and `size`, in order of time, partition by partition."""
        import pyarrow as pa
        from pyspark.sql import Window
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        counts = self.updates_by_rank()
        first = counts.cumsum() - counts
        table = pa.table({"key": self._names(), "first": first, "updates": counts})
        last = F.col("first") + F.col("updates") - 1
        rows = session.createDataFrame(table).select(
            "key", "first", F.explode(F.sequence("first", last)).alias("row")
        )
        timed = self._with_time(rows)
        in_turn = Window.partitionBy("key").orderBy("time", "row")
        steps = below(2 * _LARGEST_STEP + 1, uniform(self.seed, "steps", F.col("row")))
        walked = F.sum(steps - _LARGEST_STEP).over(in_turn)
        level = uniform(self.seed, "levels", F.col("first"))
        start = LOWEST_LEVEL * F.pow(F.lit(HIGHEST_LEVEL / LOWEST_LEVEL), level)
        price = F.floor(start * F.exp(walked * F.lit(_STEP)) * 100.0 + 0.5) / 100.0
        lots = below(10, uniform(self.seed, "sizes", F.col("row"))) + 1
        size = (lots * 100).cast("int")
        priced = timed.select("time", "key", price.alias("price"), size.alias("size"), "row")
        files = partitions or -(-int(counts.sum()) // _UPDATES_PER_FILE)
        ordered = priced.repartitionByRange(files, "time", "row").sortWithinPartitions(
            "time", "row"
        )
        return ordered.drop("row")

    def _with_time(self, rows: DataFrame) -> DataFrame:
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        row = F.col("row")
        cells = AliasTable.of(busyness()).draw(rows, uniform(self.seed, "cells", row), "cell")
        place = F.col("cell") + uniform(self.seed, "times", row)
        seconds = place * F.lit((CLOSES - OPENS) / _CELLS)
        return cells.withColumn("time", F.lit(self.opens()) + seconds)

    def _names(self) -> list[str]:
        """Draw as many different symbols."""
        letters = len(LETTERS)
        random = driver_random(self.seed, "symbols")
        numbers = random.choice(letters**_LETTERS_OF_SYMBOL, self.symbols, replace=False).tolist()
        places = [letters**place for place in range(_LETTERS_OF_SYMBOL)]
        return ["".join(LETTERS[n // place % letters] for place in places) for n in numbers]


def parse_date(text: str) -> dt.date:
    """Return the day that an option names; BadOptionError if it is none."""
    try:
        return dt.date.fromisoformat(text)
    except ValueError as error:
        raise BadOptionError("--date", text, "a day such as 2006-01-17") from error


def intensity(seconds: Floats) -> Floats:
    """Return how busy the market is at times of the day, in times of what it is at noon.

    >>> intensity(np.array([OPENS, 12.75 * 3600, CLOSES])).round(1).tolist()
    [4.0, 1.0, 3.0]
    """
    opening = _OPENING_BURST * np.exp((OPENS - seconds) / _BURST_SECONDS)
    closing = _CLOSING_BURST * np.exp((seconds - CLOSES) / _BURST_SECONDS)
    return np.asarray(1.0 + opening + closing, dtype=np.float64)


def busyness() -> Floats:
    """Return how busy each piece of the day is, relative to the others."""
    busy = intensity(np.linspace(OPENS, CLOSES, _CELLS + 1))
    return busy[1:] + busy[:-1]


def _power_law(symbols: int) -> Floats:
    logarithms: Floats = np.log(np.arange(1.0, symbols + 1.0))
    return 1.0 - logarithms / float(logarithms[-1])


def _lognormal(symbols: int) -> Floats:
    normal = NormalDist()
    quantiles = [normal.inv_cdf((symbols - rank + 0.5) / symbols) for rank in range(1, symbols + 1)]
    return (np.array(quantiles) / quantiles[0] + 1.0) / 2.0


SHAPES: Final[dict[str, Callable[[int], Floats]]] = {
    "power-law": _power_law,
    "lognormal": _lognormal,
}
"""By name, the logarithm of the updates by rank, from 1 for the busiest to 0 for a single one."""
