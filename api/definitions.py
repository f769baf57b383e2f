"""Definitions of streams and queues, as clients send them, and the queues made from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from upstream import (
    AdaptiveQueue,
    AppendQueue,
    EagerWindowBuffer,
    LazyWindowBuffer,
    OnDemandMemory,
    PagePool,
    ParameterError,
    RandomShedding,
    Scheduler,
    StalenessIndexScheduler,
    StreamQueue,
    UpdateQueue,
    UpStreamError,
    WindowQueue,
    WindowSpecification,
    make_scheduler,
)

from .key_patterns import MOST_CHARACTERS, KeyPatterns, is_pattern
from .window_results import WindowResults

AnyQueue = StreamQueue | WindowResults
Wrap = Callable[[Scheduler], Scheduler]
ToldCost = Callable[[], float | None]

IN_PROCESS_LIMIT: Final = 1_000_000
"""How many updates of a queue may be in process; beyond it the oldest count as delivered."""
MOST_WEIGHTS: Final = 1_000
MOST_WEIGHT_PATTERNS: Final = 64
"""Every pattern is tried for every key."""
PAGE_BYTES: Final = 4_096


def _is_text(text: str) -> str:
    text.encode()  # a lone surrogate is a ValueError here, and would be an error in every answer
    return text


Text = Annotated[str, StringConstraints(max_length=1_024), AfterValidator(_is_text)]
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$")]
Seconds = Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False)]
Age = Annotated[float, Field(ge=1e-3, le=1e9, allow_inf_nan=False)]
"""Seconds by the clock of arrivals, which resolves about a microsecond."""
NotNegative = Annotated[float, Field(ge=0, le=1e15, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1, le=1_000_000_000)]


class PoolTooLargeError(UpStreamError, ValueError):
    """A page pool would be larger than the memory that is available."""

    def __init__(self) -> None:
        super().__init__("pool_bytes: not enough memory; choose a smaller page pool")


_OF_DEFINITIONS: Final = ConfigDict(extra="forbid", frozen=True, strict=True)
"""Unknown members are refused, and a definition never changes."""


class StreamDefinition(BaseModel):
    """A stream of keyed updates."""

    model_config = _OF_DEFINITIONS

    retain: bool = Field(
        default=True,
        description="Keep the newest value of each key, even if no queue needs it.",
    )
    forget_after: Age | None = Field(
        default=None, description="Forget a key after this many seconds without an update."
    )
    pool_bytes: Annotated[int, Field(ge=PAGE_BYTES, le=1 << 36)] | None = Field(
        default=None,
        description="Keep the values in a page pool of this many bytes. When it is full, updates "
        "of new keys are rejected. Without it, values take as much memory as they need.",
    )
    most_ahead: NotNegative | Literal["auto"] | None = Field(
        default="auto",
        description="Reject updates whose times are more than this many seconds ahead of the "
        "service's clock: they would make later updates of their keys late. `null` means no bound. "
        "`auto` means one day, once half of the stream's times of the last year are near the "
        "clock. So milliseconds sent by mistake are rejected, and a stream with a time scale of "
        "its own has no bound.",
    )

    def memory(self) -> OnDemandMemory | None:
        """Return the page pool for the stream's values, None for ordinary Python objects.

        Raises PoolTooLargeError if the machine does not have that much memory.
        """
        if self.pool_bytes is None:
            return None
        try:
            return OnDemandMemory(PagePool(self.pool_bytes, page_bytes=PAGE_BYTES))
        except MemoryError:
            raise PoolTooLargeError from None


class WindowDefinition(BaseModel):
    """Windows of a key's updates, by source time, and the aggregate of each window."""

    model_config = _OF_DEFINITIONS

    size: Seconds = Field(description="The length of a window in seconds.")
    slide: Seconds | None = Field(
        default=None,
        description="Seconds from the start of a window to the start of the next. By default the "
        "size, so that windows do not overlap.",
    )
    tick: Seconds | None = Field(
        default=None,
        description="The distance between times, if they are multiples of it. A window then "
        "closes with the update at its last tick, rather than with the first update after it.",
    )
    buffer: Literal["lazy", "eager"] = Field(
        default="lazy",
        description="Which window of a key is served: `lazy` the newest that has closed, `eager` "
        "the newest that has started.",
    )
    aggregate: Literal["count", "sum", "min", "max", "mean", "variance", "first", "last"] = Field(
        default="mean", description="What is computed of the values in a window."
    )
    of: Text | None = Field(
        default=None,
        description="The member of the values to aggregate, if they are objects.",
    )

    def check(self) -> None:
        """Raise ValueError if the members do not fit together; it does not repeat them."""
        try:
            self.specification()
        except ParameterError as error:
            raise ValueError(
                f"window: {error.name} does not fit the others; size and slide must be whole "
                "multiples of the tick, and comparable"
            ) from None

    def specification(self) -> WindowSpecification:
        """Return the windows' specification; raises ParameterError if its parts do not fit."""
        return WindowSpecification(
            self.size, self.size if self.slide is None else self.slide, self.tick
        )


class QueueDefinition(BaseModel):
    """A queue: which updates wait in it, and in which order they are served."""

    model_config = _OF_DEFINITIONS

    stream: Name | None = Field(
        default=None,
        description="The stream that feeds it. By default the stream of the queue's name, which is "
        "created if it does not exist.",
    )
    kind: Literal["update", "append", "adaptive", "window"] = Field(
        default="update",
        description="`update` holds at most one update per key, the newest. `append` holds every "
        "update. `adaptive` holds every update until `capacity` wait, and then conflates. `window` "
        "serves an aggregate of a window of each key.",
    )
    scheduler: Literal["index", "in-place", "fifo", "linecutting"] = Field(
        default="index",
        description="Which waiting key is served next: `index` the one that saves most staleness, "
        "`in-place` the one that has waited longest, `fifo` the one whose newest update is oldest, "
        "`linecutting` as in-place, with rare keys first. An append queue serves updates in the "
        "order of their arrival.",
    )
    weights: dict[Text, NotNegative] = Field(
        default_factory=dict,
        max_length=MOST_WEIGHTS,
        description="How much the staleness of a key counts, by key or by pattern (`GO*`). Other "
        "keys count 1.",
    )
    longest_wait: Age | None = Field(
        default=None, description="Serve a key first once it has waited this many seconds."
    )
    processing_cost: NotNegative | None = Field(
        default=None,
        description="Seconds that the consumer needs for an update. Measured by default.",
    )
    window: WindowDefinition | None = Field(
        default=None, description="The windows of a queue of kind `window`, which needs them."
    )
    capacity: Count | None = Field(
        default=None,
        description="How many keys may wait, or how many updates in an append or adaptive queue. "
        "Beyond that an adaptive queue conflates, and other queues reject updates.",
    )
    shedding: bool = Field(
        default=False,
        description="Let a full append queue drop a random update instead of rejecting new ones.",
    )
    time_to_live: Age | None = Field(
        default=None, description="Drop updates that have waited this many seconds."
    )
    lease_seconds: Age | None = Field(
        default=None,
        description="A dequeued update waits again if it is not delivered within this many "
        "seconds. Without leases, a dequeued update counts as delivered once it is answered.",
    )
    snapshot: bool = Field(
        default=False,
        description="Begin with the newest value of every key of the stream, not with the next "
        "update. Push connections do so in any case, unless they ask for `snapshot=false`.",
    )
    keep_for_dequeue: bool | None = Field(
        default=None,
        description="Whether updates wait for a dequeue while only push connections use the "
        "queue. If not, the queue holds nothing and begins at its first dequeue. By default an "
        "update queue does not keep them, since its stream has the newest values. A queue of "
        "another kind keeps them if updates wait when the first connection opens.",
    )

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        for is_wrong, what in (
            (
                self.kind == "window" and self.window is None,
                "a queue of kind window needs a window",
            ),
            (self.kind != "window" and self.window is not None, "window needs kind window"),
            (self.weights and self.scheduler != "index", "weights need scheduler index"),
            (
                sum(map(is_pattern, self.weights)) > MOST_WEIGHT_PATTERNS,
                f"weights may have at most {MOST_WEIGHT_PATTERNS} patterns",
            ),
            (
                sum(map(len, filter(is_pattern, self.weights))) > MOST_CHARACTERS,
                f"the patterns of weights may have at most {MOST_CHARACTERS} characters in total",
            ),
            (self.longest_wait and self.scheduler != "index", "longest_wait needs scheduler index"),
            (
                self.shedding and (self.kind != "append" or self.capacity is None),
                "shedding needs kind append and a capacity",
            ),
            (
                self.kind == "adaptive" and self.scheduler == "fifo",
                "an adaptive queue cannot have scheduler fifo",
            ),
            (
                self.kind == "adaptive" and self.capacity == 1,
                "an adaptive queue needs a capacity of at least 2",
            ),
            (
                self.kind == "window"
                and (self.capacity, self.time_to_live, self.lease_seconds) != (None, None, None),
                "a window queue cannot have capacity, time_to_live or lease_seconds",
            ),
        ):
            if is_wrong:
                raise ValueError(what)
        if self.window is not None:
            self.window.check()
        return self

    def make_queue(
        self, *, wrap: Wrap | None = None, told_cost: ToldCost | None = None
    ) -> AnyQueue:
        """Return a new queue that is not attached to a stream yet.

        `wrap` may put its scheduler into another one. `told_cost` returns the processing cost, if
        the definition does not have it.
        """
        cost = told_cost if self.processing_cost is None else self.processing_cost
        match self.kind:
            case "append":
                return AppendQueue(
                    capacity=self.capacity,
                    shedding=RandomShedding() if self.shedding else None,
                    time_to_live=self.time_to_live,
                    processing_cost=cost,
                    in_process_limit=IN_PROCESS_LIMIT,
                )
            case "adaptive":
                return AdaptiveQueue(
                    self._scheduler(wrap),
                    max_waiting=1_000 if self.capacity is None else self.capacity,
                    time_to_live=self.time_to_live,
                    processing_cost=cost,
                    in_process_limit=IN_PROCESS_LIMIT,
                )
            case "window":
                return self._make_window_queue(wrap)
            case _:
                return UpdateQueue(
                    self._scheduler(wrap),
                    capacity=self.capacity,
                    time_to_live=self.time_to_live,
                    processing_cost=cost,
                    in_process_limit=IN_PROCESS_LIMIT,
                )

    def _make_window_queue(self, wrap: Wrap | None) -> WindowResults:
        window = self.window
        assert window is not None, "a window queue without a window"
        buffer = LazyWindowBuffer if window.buffer == "lazy" else EagerWindowBuffer
        queue = WindowQueue(
            window.specification(),
            buffer,
            self._scheduler(wrap),
            processing_cost=self.processing_cost,
            in_process_limit=IN_PROCESS_LIMIT,
        )
        return WindowResults(queue, window.aggregate, of=window.of)

    def _scheduler(self, wrap: Wrap | None) -> Scheduler:
        scheduler = make_scheduler(self.scheduler)
        if self.scheduler == "index":
            weight = KeyPatterns(self.weights, otherwise=1.0) if self.weights else None
            scheduler = StalenessIndexScheduler(self.longest_wait, weight=weight)
        return scheduler if wrap is None else wrap(scheduler)
