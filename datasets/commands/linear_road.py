"""`python -m datasets linear-road`: the input of the Linear Road benchmark, as a trace."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from ..errors import BadOptionError
from ..linear_road.road import Run
from ..output.folder import output_folder
from .job import errors_shown, job, need_spark, show_card, usage_errors
from .options import Cores, Json, Out, Seed

Expressways = Annotated[
    int, typer.Option("--xways", min=1, max=10_000, help="How many expressways there are.")
]
Minutes = Annotated[float, typer.Option("--minutes", help="How many minutes the run lasts.")]
Rate = Annotated[
    float,
    typer.Option(
        "--rate",
        help="Position reports a second on each expressway at the end; it grows evenly from a "
        "hundredth of that.",
    ),
]
AccidentRate = Annotated[
    float, typer.Option("--accidents", help="Accidents an hour on each expressway.")
]
Requests = Annotated[
    float,
    typer.Option(
        "--requests",
        help="The share of position reports that come with a request: half of these for the "
        "account balance, a tenth for daily expenditure, the rest for travel times.",
    ),
]
TravelTimes = Annotated[
    bool,
    typer.Option(
        "--travel-times",
        help="Also write requests for travel times, which most implementations omit.",
    ),
]
History = Annotated[
    Path | None,
    typer.Option(
        "--history",
        metavar="DIR",
        help="Also write this folder: what each car paid on each of 69 days: `car`, `day`, "
        "`expressway`, `toll`.",
    ),
]
Partitions = Annotated[
    int | None,
    typer.Option(
        "--partitions",
        min=1,
        max=100_000,
        help="How many partitions Spark uses; the rows stay the same. [default: by their number]",
    ),
]


def generate_linear_road(
    *,
    out: Out,
    expressways: Expressways = 1,
    minutes: Minutes = 180.0,
    rate: Rate = 1700.0,
    accidents: AccidentRate = 3.0,
    requests: Requests = 0.01,
    has_travel_times: TravelTimes = False,
    history: History = None,
    seed: Seed = 1,
    partitions: Partitions = None,
    cores: Cores = None,
    is_json: Json = False,
) -> None:
    """Generate the input of the Linear Road benchmark: cars that report where they are, and ask.

    Each car on an expressway reports its position every 30 seconds, from the entry ramp to the
    exit. The more cars in a segment, the slower they are; behind two cars that collided they crawl
    until these are cleared away. With some reports come requests. Without options it is the
    benchmark's own run: three hours, up to 1,700 reports a second.

    Columns, with the benchmark's names: `time` (Time), `key` (VID), `type` (Type), `speed` (Spd),
    `expressway` (XWay), `lane` (Lane), `direction` (Dir), `segment` (Seg), `position` (Pos),
    `query` (QID), `from_segment` (Sinit), `to_segment` (Send), `day_of_week` (DOW),
    `minute_of_day` (TOD), `day` (Day). What a type does not use is -1.
    """
    with usage_errors():
        run = Run(
            expressways=expressways,
            minutes=minutes,
            rate=rate,
            accidents=accidents,
            requests=requests,
            has_travel_times=has_travel_times,
            seed=seed,
        )
        if history is not None and _is_within(history, out):
            raise BadOptionError("--history", history, "a folder that is not within that of --out")
    need_spark()
    from ..linear_road.generate import write_run

    with ExitStack() as stack:
        stack.enter_context(errors_shown())
        folder = stack.enter_context(output_folder(out))
        tolls = stack.enter_context(output_folder(history)) if history is not None else None
        session = stack.enter_context(job("generating linear-road", cores=cores))
        card = write_run(session, run, partitions, folder, tolls)
    show_card(card, out, is_json=is_json)


def _is_within(inner: Path, outer: Path) -> bool:
    """Tell whether one path is the other, or below it, or above it."""
    one, other = inner.resolve(), outer.resolve()
    return one.is_relative_to(other) or other.is_relative_to(one)
