"""`upstream create queue`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, TypeAlias

import msgspec
import typer

from upstream.client import QueueOptions, QueueView

from .arguments import Json, NewName, positive
from .connection import connected
from .name_completion import complete_stream
from .output import say, write_json

WINDOWS = "Windows (kind window)"


class Kind(StrEnum):
    """What a queue holds."""

    UPDATE = "update"
    APPEND = "append"
    ADAPTIVE = "adaptive"
    WINDOW = "window"


class Scheduler(StrEnum):
    """Which key is served next."""

    INDEX = "index"
    IN_PLACE = "in-place"
    FIFO = "fifo"
    LINECUTTING = "linecutting"


class Buffer(StrEnum):
    """When a queue of windows commits to a window."""

    LAZY = "lazy"
    EAGER = "eager"


class Aggregate(StrEnum):
    """What is made of a window."""

    COUNT = "count"
    SUM = "sum"
    MIN = "min"
    MAX = "max"
    MEAN = "mean"
    VARIANCE = "variance"
    FIRST = "first"
    LAST = "last"


Feeding: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--stream",
        help="What feeds it, made if need be. [default: the stream of the queue's name]",
        autocompletion=complete_stream,
    ),
]
OfKind: TypeAlias = Annotated[
    Kind | None,
    typer.Option(
        help="update: the newest of each key waits. append: everything does. adaptive: everything "
        "while the consumer keeps up. window: the newest window of each key. [default: update]"
    ),
]
By: TypeAlias = Annotated[
    Scheduler | None,
    typer.Option(
        help="index: keep mean staleness least. in-place: serve the key that has waited longest. "
        "fifo, linecutting: for comparison. [default: index]"
    ),
]
Weights: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--weight",
        metavar="PATTERN=NUMBER",
        help="How much the staleness of keys matters, such as GO*=3; may be repeated.",
    ),
]
LongestWait: TypeAlias = Annotated[
    float | None,
    typer.Option(callback=positive, metavar="SECONDS", help="Serve what has waited so long first."),
]
ProcessingCost: TypeAlias = Annotated[
    float | None,
    typer.Option(
        min=0.0, metavar="SECONDS", help="What a consumer needs for an update. [default: measured]"
    ),
]
Capacity: TypeAlias = Annotated[
    int | None, typer.Option(min=1, help="How much may wait. [default: no limit]")
]
Shedding: TypeAlias = Annotated[
    bool, typer.Option("--shedding", help="Full, drop at random (kind append with a capacity).")
]
TimeToLive: TypeAlias = Annotated[
    float | None,
    typer.Option(callback=positive, metavar="SECONDS", help="Drop what has waited for so long."),
]
Lease: TypeAlias = Annotated[
    float | None,
    typer.Option(
        callback=positive,
        metavar="SECONDS",
        help="Let wait again what was dequeued and not delivered within this time.",
    ),
]
Snapshot: TypeAlias = Annotated[
    bool, typer.Option("--snapshot", help="Begin with all newest values of the stream.")
]
Size: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--window-size",
        callback=positive,
        metavar="SECONDS",
        help="How long a window is, by the times of updates.",
        rich_help_panel=WINDOWS,
    ),
]
Slide: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--window-slide",
        callback=positive,
        metavar="SECONDS",
        help="How far apart windows start. [default: the size]",
        rich_help_panel=WINDOWS,
    ),
]
Tick: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--window-tick",
        callback=positive,
        metavar="SECONDS",
        help="How far apart times are, if that is known: windows close earlier.",
        rich_help_panel=WINDOWS,
    ),
]
Buffering: TypeAlias = Annotated[
    Buffer | None,
    typer.Option(
        "--window-buffer",
        help="lazy: the newest window that closed. eager: that started. [default: lazy]",
        rich_help_panel=WINDOWS,
    ),
]
Aggregating: TypeAlias = Annotated[
    Aggregate | None,
    typer.Option(
        "--aggregate", help="What is made of each window. [default: mean]", rich_help_panel=WINDOWS
    ),
]
Of: TypeAlias = Annotated[
    str | None,
    typer.Option("--of", help="The member of values to aggregate.", rich_help_panel=WINDOWS),
]


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
    """Create a queue, which hands out what is put into its stream: newest values, freshest first.

    The same again changes nothing; if it is there and different, that is refused (exit code 1).
    """
    window = {
        "size": size,
        "slide": slide,
        "tick": tick,
        "buffer": buffer,
        "aggregate": aggregate,
        "of": of,
    }
    given = {
        "stream": stream,
        "kind": kind or (Kind.WINDOW if size is not None else None),
        "scheduler": scheduler,
        "weights": _numbers_by_pattern(weights or ()),
        "longest_wait": longest_wait,
        "processing_cost": processing_cost,
        "window": _given(window),
        "capacity": capacity,
        "shedding": shedding,
        "time_to_live": time_to_live,
        "lease_seconds": lease,
        "snapshot": snapshot,
    }
    options = msgspec.convert(_given(given), QueueOptions)
    with connected(context) as client:
        view = client.create_queue(name, **options)
    if is_json:
        write_json(view)
    else:
        say(_sentence(view))


def _given(options: Mapping[str, object]) -> dict[str, object]:
    """Return the options that were given: the others take the service's defaults."""
    return {
        name: value
        for name, value in options.items()
        if not (value is None or value is False or value == {})
    }


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
                f"{weight} is not a pattern, an equals sign and a number, such as GO*=3",
                param_hint="--weight",
            )
    return numbers


def _sentence(view: QueueView) -> str:
    how = f", served by {view.scheduler}" if view.scheduler and view.kind != "append" else ""
    return f"Queue {view.name} is there: {view.kind}, fed by stream {view.stream}{how}."
