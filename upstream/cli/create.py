"""`upstream create stream` and `upstream create queue`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, TypeAlias

import msgspec
import typer
from typer.models import OptionInfo

from upstream.client import QueueOptions, QueueView, StreamOptions

from .arguments import Json, NewName, complete_stream, positive
from .connection import connected
from .output import report

WINDOWS = "Windows (for queues of the kind window)"

WINDOW_MEMBERS = ("size", "slide", "tick", "buffer", "aggregate", "of")


def seconds(meaning: str, *names: str, panel: str | None = None) -> OptionInfo:
    """Return an option that takes a number of seconds above 0."""
    option: OptionInfo = typer.Option(
        *names, callback=positive, metavar="SECONDS", help=meaning, rich_help_panel=panel
    )
    return option


Feeding: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--stream",
        help="The stream that feeds the queue; it is created if it does not exist. "
        "[default: the stream with the queue's name]",
        autocompletion=complete_stream,
    ),
]
OfKind: TypeAlias = Annotated[
    Literal["update", "append", "adaptive", "window"] | None,
    typer.Option(
        help="update: the newest update of each key waits. append: every update waits. adaptive: "
        "every update waits while the consumer keeps up. window: the newest window of each key "
        "waits. [default: update]"
    ),
]
By: TypeAlias = Annotated[
    Literal["index", "in-place", "fifo", "linecutting"] | None,
    typer.Option(
        help="index: serve the key that reduces staleness most. in-place: serve the key that has "
        "waited longest. fifo and linecutting: for comparison. [default: index]"
    ),
]
Weights: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--weight",
        metavar="PATTERN=NUMBER",
        help="How much the staleness of keys matters, such as GO*=3. Repeatable.",
    ),
]
LongestWait: TypeAlias = Annotated[
    float | None, seconds("Serve a key first once it has waited this long.")
]
ProcessingCost: TypeAlias = Annotated[
    float | None,
    typer.Option(
        min=0.0,
        metavar="SECONDS",
        help="How long the consumer needs for one update. [default: measured]",
    ),
]
Capacity: TypeAlias = Annotated[
    int | None, typer.Option(min=1, help="How many updates may wait. [default: no limit]")
]
Shedding: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--shedding", help="When full, drop a random update (kind append with a capacity)."
    ),
]
TimeToLive: TypeAlias = Annotated[
    float | None, seconds("Drop an update that has waited this long.")
]
Lease: TypeAlias = Annotated[
    float | None,
    seconds("Grant leases: an update that is not delivered within this time waits again."),
]
Snapshot: TypeAlias = Annotated[
    bool, typer.Option("--snapshot", help="Begin with the newest value of every key of the stream.")
]
Size: TypeAlias = Annotated[
    float | None,
    seconds("The length of a window, by the times of updates.", "--window-size", panel=WINDOWS),
]
Slide: TypeAlias = Annotated[
    float | None,
    seconds(
        "The time from one window's start to the next. [default: the size]",
        "--window-slide",
        panel=WINDOWS,
    ),
]
Tick: TypeAlias = Annotated[
    float | None,
    seconds(
        "The time between updates, if it is constant; windows then close earlier.",
        "--window-tick",
        panel=WINDOWS,
    ),
]
Buffering: TypeAlias = Annotated[
    Literal["lazy", "eager"] | None,
    typer.Option(
        "--window-buffer",
        help="lazy: hold the newest window that closed. eager: the newest that started. "
        "[default: lazy]",
        rich_help_panel=WINDOWS,
    ),
]
Aggregating: TypeAlias = Annotated[
    Literal["count", "sum", "min", "max", "mean", "variance", "first", "last"] | None,
    typer.Option("--aggregate", help="What to compute. [default: mean]", rich_help_panel=WINDOWS),
]
Of: TypeAlias = Annotated[
    str | None,
    typer.Option("--of", help="The member of the values to aggregate.", rich_help_panel=WINDOWS),
]


Retain: TypeAlias = Annotated[
    bool | None,
    typer.Option(
        "--retain/--no-retain",
        help="Keep the newest value of every key, or only while it waits in a queue.",
    ),
]
ForgetAfter: TypeAlias = Annotated[
    float | None, seconds("Forget a key after this long without an update.")
]
PoolBytes: TypeAlias = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="BYTES",
        help="Keep all values in a pool of this size. When it is full, new keys are rejected.",
    ),
]
MostAhead: TypeAlias = Annotated[
    float | None,
    seconds(
        "Reject updates whose time is further ahead of the service's clock than this. "
        "[default: a day, if the stream's times are near that clock]"
    ),
]
AnyTime: TypeAlias = Annotated[
    bool, typer.Option("--any-time", help="Accept all times, however far ahead.")
]


def create_stream(
    context: typer.Context,
    *,
    name: NewName,
    retain: Retain = None,
    forget_after: ForgetAfter = None,
    pool_bytes: PoolBytes = None,
    most_ahead: MostAhead = None,
    takes_any_time: AnyTime = False,
    is_json: Json = False,
) -> None:
    """Create a stream, into which updates are put.

    Repeating the same definition changes nothing. A different one is refused (exit code 1).

    For example:

    - `upstream create stream sensors --forget-after 3600`
    """
    if takes_any_time and most_ahead is not None:
        raise typer.BadParameter("--any-time and --most-ahead exclude each other; give one of them")
    given = {
        "retain": retain,
        "forget_after": forget_after,
        "pool_bytes": pool_bytes,
        "most_ahead": most_ahead,
    }
    options = msgspec.convert(_given(given), StreamOptions)
    if takes_any_time:
        options["most_ahead"] = None
    with connected(context) as client:
        view = client.create_stream(name, **options)
    report(view, f"Stream {view.name} is defined.", is_json=is_json)


def create_queue(
    context: typer.Context,
    *,
    name: NewName,
    stream: Feeding = None,
    kind: OfKind = None,
    scheduler: By = None,
    weights: Weights = None,
    longest_wait: LongestWait = None,
    processing_cost: ProcessingCost = None,
    capacity: Capacity = None,
    shedding: Shedding = False,
    time_to_live: TimeToLive = None,
    lease: Lease = None,
    snapshot: Snapshot = False,
    size: Size = None,
    slide: Slide = None,
    tick: Tick = None,
    buffer: Buffering = None,
    aggregate: Aggregating = None,
    of: Of = None,
    is_json: Json = False,
) -> None:
    """Create a queue, which hands out newest values in the order that keeps them fresh.

    Repeating the same definition changes nothing. A different one is refused (exit code 1).

    For example:

    - `upstream create queue prices`
    - `upstream create queue slow --stream prices --lease 30`
    - `upstream create queue peaks --stream prices --window-size 60 --aggregate max`
    """
    window = zip(WINDOW_MEMBERS, (size, slide, tick, buffer, aggregate, of), strict=True)
    given = {
        "stream": stream,
        "kind": kind or ("window" if size is not None else None),
        "scheduler": scheduler,
        "weights": _numbers_by_pattern(weights or ()) or None,
        "longest_wait": longest_wait,
        "processing_cost": processing_cost,
        "window": _given(dict(window)) or None,
        "capacity": capacity,
        "shedding": shedding or None,
        "time_to_live": time_to_live,
        "lease_seconds": lease,
        "snapshot": snapshot or None,
    }
    options = msgspec.convert(_given(given), QueueOptions)
    with connected(context) as client:
        view = client.create_queue(name, **options)
    report(view, _sentence(view), is_json=is_json)


def _given(options: Mapping[str, object]) -> dict[str, object]:
    """Return the options that were given; the service has defaults for the others."""
    return {name: value for name, value in options.items() if value is not None}


def _numbers_by_pattern(weights: Sequence[str]) -> dict[str, float]:
    numbers = {}
    for weight in weights:
        pattern, equals, number = weight.rpartition("=")
        try:
            numbers[pattern] = float(number)
        except ValueError:
            equals = ""
        if not equals or not math.isfinite(numbers[pattern]):
            raise typer.BadParameter(
                f"{weight} is not of the form PATTERN=NUMBER, such as GO*=3",
                param_hint="--weight",
            )
    return numbers


def _sentence(view: QueueView) -> str:
    how = f", scheduler {view.scheduler}" if view.scheduler and view.kind != "append" else ""
    return f"Queue {view.name} is defined: kind {view.kind}, stream {view.stream}{how}."
