"""Streams from a seed: `python -m datasets zipf`, `uniform`, `two-class`, `bursts`, `taq-like`."""

from __future__ import annotations

from typing import Annotated

import typer

from upstream.workloads.trading_day import BUSIEST, SHAPES, SYMBOLS

from .job import need_spark, usage_errors
from .options import (
    DEFAULT_KEYS,
    DEFAULT_RATE,
    DEFAULT_RATIO,
    DEFAULT_THETA,
    DEFAULT_UPDATES,
    DEFAULT_VALUE,
    ArrivalsName,
    Bursting,
    Cores,
    Json,
    KeyPrefix,
    Keys,
    Out,
    Partitions,
    Rate,
    Ratio,
    Seed,
    SlowKeys,
    Spread,
    Start,
    Theta,
    Updates,
    Value,
)

Symbols = Annotated[int, typer.Option("--symbols", help="How many symbols there are.")]
Busiest = Annotated[
    int,
    typer.Option("--busiest", help="How many updates the busiest symbol has; the slowest has one."),
]
Shape = Annotated[
    str,
    typer.Option(
        "--shape",
        metavar="NAME",
        help=f"How counts fall from the busiest to the slowest: {' or '.join(SHAPES)}. A power law "
        "gives most updates to few symbols; lognormal gives most to those in the middle, and "
        "twelve times as many.",
    ),
]
Day = Annotated[str, typer.Option("--date", metavar="YYYY-MM-DD", help="The date of the day.")]


def generate_zipf(
    *,
    out: Out,
    keys: Keys = DEFAULT_KEYS,
    theta: Theta = DEFAULT_THETA,
    updates: Updates = DEFAULT_UPDATES,
    rate: Rate = DEFAULT_RATE,
    arrivals: ArrivalsName = "poisson",
    start: Start = 0.0,
    value: Value = DEFAULT_VALUE,
    key_prefix: KeyPrefix = "",
    seed: Seed = 1,
    partitions: Partitions = None,
    cores: Cores = None,
    is_json: Json = False,
) -> None:
    """Generate updates of keys whose shares follow Zipf's law.

    The output is Parquet with columns `time` (seconds), `key`, and the values, in order of time by
    the names of the files, and a data card. The simulator takes the folder as `--trace`, and the
    service its tables as Arrow bodies. The data depend on the seed, not on the number of cores or
    partitions.
    """
    need_spark()
    from ..generators.key_shares import ZipfShares
    from ..generators.update_stream import arrivals_named
    from .generated import StreamOptions, write_generated

    with usage_errors():
        options = StreamOptions(updates, rate, start, value, key_prefix, seed, partitions)
        stream = options.generated(
            "zipf",
            f"Zipf, {keys:,} keys, theta {theta:g}",
            ZipfShares(keys, theta),
            arrivals_named(arrivals),
            {"keys": keys, "theta": theta, "arrivals": arrivals},
        )
    write_generated(stream, out, cores=cores, is_json=is_json)


def generate_uniform(
    *,
    out: Out,
    keys: Keys = DEFAULT_KEYS,
    updates: Updates = DEFAULT_UPDATES,
    rate: Rate = DEFAULT_RATE,
    arrivals: ArrivalsName = "poisson",
    start: Start = 0.0,
    value: Value = DEFAULT_VALUE,
    key_prefix: KeyPrefix = "",
    seed: Seed = 1,
    partitions: Partitions = None,
    cores: Cores = None,
    is_json: Json = False,
) -> None:
    """Generate updates of keys that all have the same share.

    The output is like that of `zipf`.
    """
    need_spark()
    from ..generators.key_shares import ZipfShares
    from ..generators.update_stream import arrivals_named
    from .generated import StreamOptions, write_generated

    with usage_errors():
        options = StreamOptions(updates, rate, start, value, key_prefix, seed, partitions)
        stream = options.generated(
            "uniform",
            f"Uniform, {keys:,} keys",
            ZipfShares(keys, 0.0),
            arrivals_named(arrivals),
            {"keys": keys, "arrivals": arrivals},
        )
    write_generated(stream, out, cores=cores, is_json=is_json)


def generate_two_class(
    *,
    out: Out,
    keys: Keys = DEFAULT_KEYS,
    slow_keys: SlowKeys = None,
    ratio: Ratio = DEFAULT_RATIO,
    updates: Updates = DEFAULT_UPDATES,
    rate: Rate = DEFAULT_RATE,
    arrivals: ArrivalsName = "poisson",
    start: Start = 0.0,
    value: Value = DEFAULT_VALUE,
    key_prefix: KeyPrefix = "",
    seed: Seed = 1,
    partitions: Partitions = None,
    cores: Cores = None,
    is_json: Json = False,
) -> None:
    """Generate updates of keys in two classes: within each, all have the same share.

    The output is like that of `zipf`.
    """
    need_spark()
    from ..generators.key_shares import TwoClassShares
    from ..generators.update_stream import arrivals_named
    from .generated import StreamOptions, write_generated

    with usage_errors():
        options = StreamOptions(updates, rate, start, value, key_prefix, seed, partitions)
        slow = keys // 2 if slow_keys is None else slow_keys
        stream = options.generated(
            "two-class",
            f"Two classes, {keys:,} keys, {slow:,} of them {ratio:g} times slower",
            TwoClassShares(keys, slow, ratio),
            arrivals_named(arrivals),
            {"keys": keys, "slow-keys": slow, "ratio": ratio, "arrivals": arrivals},
        )
    write_generated(stream, out, cores=cores, is_json=is_json)


def generate_bursts(
    *,
    out: Out,
    keys: Keys = DEFAULT_KEYS,
    theta: Theta = DEFAULT_THETA,
    bursting: Bursting = None,
    spread: Spread = 0.0,
    updates: Updates = DEFAULT_UPDATES,
    rate: Rate = DEFAULT_RATE,
    start: Start = 0.0,
    value: Value = DEFAULT_VALUE,
    key_prefix: KeyPrefix = "",
    seed: Seed = 1,
    partitions: Partitions = None,
    cores: Cores = None,
    is_json: Json = False,
) -> None:
    """Generate updates where the slowest keys are updated together, in bursts.

    The other keys arrive memorylessly in between. Each burst brings one update of each bursting
    key, in random order; bursts begin at memoryless times, as often as the keys' rates require. The
    output is like that of `zipf`.
    """
    need_spark()
    from ..generators.bursts import MOST_BURSTING, BurstArrivals
    from ..generators.key_shares import ZipfShares
    from .generated import StreamOptions, write_generated

    with usage_errors():
        options = StreamOptions(updates, rate, start, value, key_prefix, seed, partitions)
        tenth = min(max(1, keys // 10), MOST_BURSTING)
        together = tenth if bursting is None else bursting
        shares = ZipfShares(keys, theta)
        stream = options.generated(
            "bursts",
            f"Bursts of {together:,} keys, of {keys:,}, Zipf, theta {theta:g}",
            shares,
            BurstArrivals(shares, together, spread),
            {"keys": keys, "theta": theta, "bursting": together, "spread": spread},
        )
    write_generated(stream, out, cores=cores, is_json=is_json)


_MEANINGS = {
    "time": "seconds since 1970, UTC",
    "key": "the symbol, made up",
    "price": "a random walk for each symbol",
    "size": "in lots of a hundred, up to ten",
}


def generate_taq_like(
    *,
    out: Out,
    symbols: Symbols = SYMBOLS,
    busiest: Busiest = BUSIEST,
    shape: Shape = "power-law",
    date: Day = "2006-01-17",
    seed: Seed = 1,
    partitions: Partitions = None,
    cores: Cores = None,
    is_json: Json = False,
) -> None:
    """Generate a trading day like that of the report's Figure 8, without a licence for TAQ.

    The busiest symbol has exactly `--busiest` updates and the slowest has one, whatever the seed.
    Updates come from 9:30 to 16:00 New York time, most of them after the opening and before
    the close. The output is like that of `taq`, with columns `time`, `key`, `price` and `size`.
    """
    need_spark()
    from ..generators.trading_day import TradingDay, parse_date
    from .generated import Generated, write_generated

    with usage_errors():
        day = TradingDay(symbols, busiest, shape, parse_date(date), seed)
    stream = Generated(
        command="taq-like",
        title=f"Made-up trading day, {symbols:,} symbols, {shape}",
        seed=seed,
        options={"symbols": symbols, "busiest": busiest, "shape": shape, "date": str(day.date)},
        meanings=_MEANINGS,
        frame=lambda session: day.frame(session, partitions),
        notes=("The report tells the two ends only. What lies between is a choice.",),
    )
    write_generated(stream, out, cores=cores, is_json=is_json)
