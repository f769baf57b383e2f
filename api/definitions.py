"""What clients say a stream or a queue should be, and the making of it."""

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
"""How many updates a queue remembers as handed out, beyond which the oldest count as delivered."""
MOST_WEIGHTS: Final = 1_000
MOST_WEIGHT_PATTERNS: Final = 64
"""A queue asks all of them about every key."""
PAGE_BYTES: Final = 4_096


def _is_text(text: str) -> str:
    text.encode()  # a lone surrogate is a ValueError here, and would be an error in every answer
    return text


Text = Annotated[str, StringConstraints(max_length=1_024), AfterValidator(_is_text)]
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$")]
Seconds = Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False)]
Age = Annotated[float, Field(ge=1e-3, le=1e9, allow_inf_nan=False)]
"""Seconds by the clock of arrivals, which does not tell much less than a microsecond apart."""
NotNegative = Annotated[float, Field(ge=0, le=1e15, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1, le=1_000_000_000)]


class PoolTooLargeError(UpStreamError, ValueError):
    """A page pool is to be larger than the memory that can be had."""

    def __init__(self) -> None:
        super().__init__("pool_bytes: there is not so much memory; choose a smaller page pool")


class Definition(BaseModel):
    """What definitions have in common: no members but those that are known, and no changes."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class StreamDefinition(Definition):
    """A stream of keyed updates."""

    retain: bool = Field(
        default=True,
        description="Keep the newest value of each key, whether or not a queue needs it.",
    )
    forget_after: Age | None = Field(
        default=None, description="Forget keys that have not updated for so many seconds."
    )
    pool_bytes: Annotated[int, Field(ge=PAGE_BYTES, le=1 << 36)] | None = Field(
        default=None,
        description="Keep the values in a page pool of this many bytes. Full, it rejects new keys.",
    )

    most_ahead: NotNegative | Literal["auto"] | None = Field(
        default="auto",
        description="Reject times that are more than this many seconds ahead of the service's "
        "clock, since later updates of the key would be late; null for no bound. `auto` is a day, "
        "once half of the stream's times that are not older than a year are near the clock: "
        "milliseconds among seconds are rejected, and a stream with a time scale of its own has "
        "no bound.",
    )

    def memory(self) -> OnDemandMemory | None:
        """Return the memory for the stream's values, None for Python's own.

        PoolTooLargeError if the machine has not got so much.
        """
        if self.pool_bytes is None:
            return None
        try:
            return OnDemandMemory(PagePool(self.pool_bytes, page_bytes=PAGE_BYTES))
        except MemoryError:
            raise PoolTooLargeError from None


class WindowDefinition(Definition):
    """Windows of a key's updates, by source time, and what is computed of each."""

    size: Seconds
    slide: Seconds | None = Field(
        default=None, description="Seconds between starts; the size if missing."
    )
    tick: Seconds | None = Field(
        default=None, description="The distance of times; a window then closes with its last tick."
    )
    buffer: Literal["lazy", "eager"] = Field(
        default="lazy",
        description="lazy: the newest window that closed. eager: the newest that started.",
    )
    aggregate: Literal["count", "sum", "min", "max", "mean", "variance", "first", "last"] = "mean"
    of: Text | None = Field(default=None, description="The member of the value to aggregate.")

    def check(self) -> None:
        """Raise ValueError if they make no sense; it does not repeat what was given."""
        try:
            self.specification()
        except ParameterError as error:
            raise ValueError(
                f"window: {error.name} does not fit the others; size and slide must be whole "
                "multiples of the tick, and comparable"
            ) from None

    def specification(self) -> WindowSpecification:
        """Return which windows there are; ParameterError if they make no sense."""
        return WindowSpecification(
            self.size, self.size if self.slide is None else self.slide, self.tick
        )


class QueueDefinition(Definition):
    """A queue: what waits in it, and in which order it is served."""

    stream: Name | None = Field(
        default=None, description="The stream that feeds it; of the queue's name if missing."
    )
    kind: Literal["update", "append", "adaptive", "window"] = "update"
    scheduler: Literal["index", "in-place", "fifo", "linecutting"] = "index"
    weights: dict[Text, NotNegative] = Field(
        default_factory=dict,
        max_length=MOST_WEIGHTS,
        description="How much the staleness of keys counts, by key or pattern (`GO*`); else 1.",
    )
    longest_wait: Age | None = Field(
        default=None, description="Serve a key that has waited so many seconds first."
    )
    processing_cost: NotNegative | None = Field(
        default=None,
        description="Seconds that the consumer needs for an update; measured if missing.",
    )
    window: WindowDefinition | None = None
    capacity: Count | None = Field(
        default=None, description="How much may wait; for an adaptive queue, before it conflates."
    )
    shedding: bool = Field(
        default=False, description="A full append queue drops an update at random."
    )
    time_to_live: Age | None = Field(
        default=None, description="Drop updates that have waited so many seconds."
    )
    lease_seconds: Age | None = Field(
        default=None,
        description="A dequeued update that is not delivered within this time waits again. Without "
        "it, what was answered counts as delivered.",
    )
    snapshot: bool = Field(
        default=False,
        description="Begin with all newest values of the stream, not with what comes next. Push "
        "connections begin with them anyway, unless they say `snapshot=false`.",
    )
    keep_for_dequeue: bool | None = Field(
        default=None,
        description="Whether updates wait for a dequeue while only push connections use the "
        "queue. If not, the queue holds nothing and begins at its first dequeue. By default an "
        "update queue does not keep them, since its stream has the newest values; any other kind "
        "keeps them if some wait when the first connection opens.",
    )

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        for is_wrong, what in (
            (self.kind == "window" and self.window is None, "kind window needs a window"),
            (self.kind != "window" and self.window is not None, "a window needs kind window"),
            (self.weights and self.scheduler != "index", "weights need scheduler index"),
            (
                sum(map(is_pattern, self.weights)) > MOST_WEIGHT_PATTERNS,
                f"there may be {MOST_WEIGHT_PATTERNS} patterns among the weights",
            ),
            (
                sum(map(len, filter(is_pattern, self.weights))) > MOST_CHARACTERS,
                f"patterns among the weights may have {MOST_CHARACTERS} characters together",
            ),
            (self.longest_wait and self.scheduler != "index", "longest_wait needs scheduler index"),
            (
                self.shedding and (self.kind != "append" or self.capacity is None),
                "shedding needs kind append and a capacity",
            ),
            (
                self.kind == "adaptive" and self.scheduler == "fifo",
                "an adaptive queue cannot be served by fifo",
            ),
            (
                self.kind == "adaptive" and self.capacity == 1,
                "an adaptive queue needs a capacity of 2 or more",
            ),
            (
                self.kind == "window"
                and (self.capacity, self.time_to_live, self.lease_seconds) != (None, None, None),
                "a window queue has no capacity, time_to_live or lease_seconds",
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
        """Return a new queue that no stream feeds yet.

        `wrap` may put its scheduler into another one; `told_cost` tells what an update costs the
        consumer, unless the definition does.
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
