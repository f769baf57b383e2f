"""`python -m datasets zipf`, `uniform`, `two-class` and `bursts`: update streams from a seed."""

from __future__ import annotations

from ..errors import BadOptionError
from ..generators.arrivals import Arrivals
from ..generators.bursts import MOST_BURSTING, BurstArrivals
from ..generators.key_shares import EvenShares, TwoClassShares, ZipfShares
from ..generators.update_stream import STEADY_ARRIVALS
from .generated import write_generated
from .job import usage_errors
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
    StreamOptions,
    Theta,
    Updates,
    Value,
)


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
    with usage_errors():
        options = StreamOptions(updates, rate, start, value, key_prefix, seed, partitions)
        stream = options.generated(
            "zipf",
            f"Zipf, {keys:,} keys, theta {theta:g}",
            ZipfShares(keys, theta),
            _arrivals(arrivals),
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
    with usage_errors():
        options = StreamOptions(updates, rate, start, value, key_prefix, seed, partitions)
        stream = options.generated(
            "uniform",
            f"Uniform, {keys:,} keys",
            EvenShares(keys),
            _arrivals(arrivals),
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
    with usage_errors():
        options = StreamOptions(updates, rate, start, value, key_prefix, seed, partitions)
        slow = keys // 2 if slow_keys is None else slow_keys
        stream = options.generated(
            "two-class",
            f"Two classes, {keys:,} keys, {slow:,} of them {ratio:g} times slower",
            TwoClassShares(keys, slow, ratio),
            _arrivals(arrivals),
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


def _arrivals(name: str) -> Arrivals:
    if name not in STEADY_ARRIVALS:
        raise BadOptionError("--arrivals", name, " or ".join(STEADY_ARRIVALS))
    return STEADY_ARRIVALS[name]
