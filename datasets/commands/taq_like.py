"""`python -m datasets taq-like`: a made-up trading day with the ends that the report tells."""

from __future__ import annotations

from typing import Annotated

import typer

from upstream.workloads.trading_day import BUSIEST, SHAPES, SYMBOLS

from ..generators.trading_day import DEFAULT_DATE, TradingDay, parse_date
from .generated import Generated, write_generated
from .job import usage_errors
from .options import Cores, Json, Out, Partitions, Seed

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
    date: Day = str(DEFAULT_DATE),
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
