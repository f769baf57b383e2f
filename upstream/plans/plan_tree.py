"""The parts of a plan: sources, operators, and the arcs between them, each of which is a queue.

A plan is a description without state and queues. Each `PlanQuery` starts it anew, so one plan, or a
part of it, may be in several queries.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from ..clock import Clock, SystemClock
from ..errors import ParameterError, UnknownPolicyError
from ..policies import POLICIES
from ..queues import Stream
from ..statistics import check_count
from .arc_queue import TupleArc
from .stage import AnyStage


class Operator(ABC):
    """One operator of a plan, with the arcs that feed it."""

    __slots__ = ()

    kind: ClassVar[str]
    """What operators of this kind are called."""
    needs_every_tuple: ClassVar[bool] = False
    """Whether a result would be wrong if a newer tuple replaced another one on its way here."""

    name: str
    """The name of this operator; if empty, it is called after its kind."""

    @property
    @abstractmethod
    def arcs(self) -> tuple[Arc, ...]:
        """The arcs that feed it; a source has none."""

    @property
    @abstractmethod
    def label(self) -> str:
        """The description for `explain`."""

    @abstractmethod
    def start(self, clock: Clock, default: str) -> AnyStage:
        """Return the running operator; its queues have the `default` policy or their own."""

    def _tuple_arcs(self, clock: Clock, default: str) -> list[TupleArc]:
        return [TupleArc(arc.policy or default, clock, arc.capacity) for arc in self.arcs]


@dataclass(frozen=True, slots=True)
class Arc:
    """The queue into which an operator puts its results, for the next operator or the application.

    `policy` is a name of `upstream.POLICIES`. The default is `index`, and `append` on the way to
    windows: there a tuple does not replace the one before it, and a sum needs all of them.
    `capacity` limits what waits.

    >>> from upstream import Stream
    >>> from upstream.plans import Arc, Filter, Source
    >>> plan = Filter(Arc(Source(Stream()), "in-place"), lambda update: update.value is not None)
    """

    operator: Operator
    policy: str | None = None
    capacity: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.operator, Operator):
            raise ParameterError("operator", self.operator, "an operator, such as Source(stream)")
        if self.policy is not None and self.policy not in POLICIES:
            raise UnknownPolicyError(self.policy, POLICIES)
        check_count("capacity", self.capacity, least=1, or_none=True)


Feed = Operator | Arc
"""What feeds an operator: another operator over an arc of the default policy, or a given arc."""


def arc_from(feed: Feed) -> Arc:
    """Return the arc for `feed`."""
    return feed if isinstance(feed, Arc) else Arc(feed)


@dataclass(frozen=True, slots=True)
class Source(Operator):
    """The updates of a stream. Each arc from it is one more queue that the stream feeds.

    With `snapshot` a query begins with the newest values of the stream.

    >>> from upstream import Stream
    >>> Source(Stream(), name="trades").label
    'Source trades'
    """

    kind: ClassVar[str] = "source"

    stream: Stream
    snapshot: bool = False
    name: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.stream, Stream):
            raise ParameterError("stream", self.stream, "a Stream")

    @property
    def arcs(self) -> tuple[Arc, ...]:
        """No arcs: the stream feeds the arc after it."""
        return ()

    @property
    def label(self) -> str:
        """The description for `explain`."""
        return f"Source {self.name}".rstrip()

    def start(self, clock: Clock, default: str) -> AnyStage:
        """Never called, since a stream needs no start."""
        raise AssertionError("a source was started")


def streams_of(plan: Feed) -> tuple[Stream, ...]:
    """Return the streams that a plan reads, each once."""
    operator = arc_from(plan).operator
    if isinstance(operator, Source):
        return (operator.stream,)
    return tuple(dict.fromkeys(stream for arc in operator.arcs for stream in streams_of(arc)))


def clock_of(plan: Feed) -> Clock:
    """Return the one clock of a plan's streams; raise ParameterError if they have several.

    So the query and its streams measure by the same clock. All system clocks count as one.
    """
    first, *others = (stream.clock for stream in streams_of(plan))
    for other in others:
        is_system = isinstance(first, SystemClock) and isinstance(other, SystemClock)
        if other is not first and not is_system:
            raise ParameterError("clock", None, "given, since the streams have different ones")
    return first


def check_function(name: str, function: object, expected: str, *, or_none: bool = False) -> None:
    """Raise ParameterError unless `function` can be called, or is None where that is allowed."""
    if not (callable(function) or (or_none and function is None)):
        raise ParameterError(name, function, expected)


def name_of_function(function: object) -> str:
    """Return the name of a user's function for `explain`."""
    name = getattr(function, "__name__", None)
    return name if isinstance(name, str) else type(function).__name__
