"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

MAX_SEED: Final = 2**32 - 1

Out = Annotated[
    Path,
    typer.Option("--out", metavar="DIR", help="The folder to write; it must not exist."),
]
Seed = Annotated[
    int, typer.Option("--seed", min=0, max=MAX_SEED, help="Seed of the random numbers.")
]
Cores = Annotated[
    int | None,
    typer.Option("--cores", min=1, help="How many cores Spark may use. [default: all]"),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]


DEFAULT_KEYS: Final = 1_000
DEFAULT_UPDATES: Final = 1_000_000
DEFAULT_RATE: Final = 1_000.0
DEFAULT_THETA: Final = 0.9
DEFAULT_RATIO: Final = 10.0
DEFAULT_VALUE: Final = "value:double"

Keys = Annotated[int, typer.Option("--keys", help="How many keys the stream has.")]
Theta = Annotated[
    float,
    typer.Option(
        "--theta",
        help="Skew: the share of the key of rank r is proportional to r to the power -theta. "
        "0 is even, 1 is Zipf's law.",
    ),
]
SlowKeys = Annotated[
    int | None,
    typer.Option("--slow-keys", help="How many keys are slow; they come last. [default: half]"),
]
Ratio = Annotated[
    float, typer.Option("--ratio", help="How many times less often a slow key is updated.")
]
Bursting = Annotated[
    int | None,
    typer.Option(
        "--bursting",
        help="How many keys burst together; they are the slowest. [default: a tenth of the keys]",
    ),
]
Spread = Annotated[
    float,
    typer.Option(
        "--spread",
        help="How many seconds a burst lasts; at most the mean time between bursts.",
    ),
]
Updates = Annotated[int, typer.Option("--updates", help="How many updates to generate.")]
Rate = Annotated[
    float, typer.Option("--rate", help="Mean number of updates per second, over all keys.")
]
Start = Annotated[
    float, typer.Option("--start", help="The time at which the stream starts, in seconds.")
]
ArrivalsName = Annotated[
    str,
    typer.Option(
        "--arrivals",
        metavar="NAME",
        help="`poisson`: memoryless; `fixed`: at equal intervals.",
    ),
]
Value = Annotated[
    str,
    typer.Option(
        "--value",
        metavar="NAME:TYPE[,NAME:TYPE…]",
        help="The columns of values. Types: `double`, a price within 1 % of its key's level; "
        "`int`, 0 to 999; `bigint`, 0 to 10¹² - 1; `string`, 8 hexadecimal digits; `boolean`.",
    ),
]
KeyPrefix = Annotated[
    str,
    typer.Option(
        "--key-prefix",
        metavar="TEXT",
        help="Make keys strings: this text and a number, padded to equal length. "
        "[default: keys are the numbers from 0, the busiest]",
        show_default=False,
    ),
]
Partitions = Annotated[
    int | None,
    typer.Option(
        "--partitions",
        min=1,
        help="How many partitions Spark uses, at most one per file; the data stay the same. "
        "[default: one per file]",
    ),
]
