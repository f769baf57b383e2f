"""The leaf of a plan: a stream, which the plan's queries share with all others that read it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ..clock import Clock
from ..errors import ParameterError
from ..queues import Stream
from .plan_tree import Arc, Operator

if TYPE_CHECKING:
    from .stage import AnyStage


@dataclass(frozen=True, slots=True)
class Source(Operator):
    """The updates of a stream. Each arc from it is one more queue that the stream feeds.

    With `snapshot` a query begins with the newest values that the stream knows.

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
        """What it is called."""
        return f"Source {self.name}".rstrip()

    def start(self, clock: Clock, policies: tuple[str, ...]) -> AnyStage:
        """Never called: a stream is at work by itself."""
        raise AssertionError("a source was started")
