"""A plan at work for one query: its operators in the order in which they run, and its queues.

An operator runs after those that feed it, so one pass takes what waits at the sources all the way
to the results, and nothing stays in between. Where input is pushed, there is a pass for every
update that arrives, before anything else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ..clock import Clock
from ..errors import ParameterError
from ..policies import DEFAULT_POLICY
from ..queues import Stream
from ..queues.log.shared_log import SharedLog
from .arc_queue import AnyArc, TupleArc, WindowArc
from .plan_statistics import ArcStatistics, OperatorStatistics
from .plan_tree import Arc, Feed, Operator, Source, arc_from, streams_of
from .stage import AnyStage

APPLICATION: Final = "application"
"""What is at the end of the last arc."""


@dataclass(frozen=True, slots=True)
class _Node:
    """An operator, the arc after it, and what feeds it."""

    name: str
    operator: Operator
    output: AnyArc
    target: str
    stage: AnyStage | None
    feeds: Sequence[_Node]

    def statistics(self) -> ArcStatistics:
        """Return the counters of the arc. O(keys)."""
        queue = self.output.queue
        return ArcStatistics(
            source=self.name,
            target=self.target,
            policy=self.output.policy,
            queue=queue.statistics(),
            queue_staleness=queue.queue_staleness(),
            application_staleness=queue.application_staleness(),
        )

    def lines(self, indent: str, *, is_last: bool) -> Iterator[str]:
        """Yield the tree as text, a line for this arc and each below it."""
        branch, below = ("└─ ", "   ") if is_last else ("├─ ", "│  ")
        yield f"{indent}{branch}{self.output.label} from {self.operator.label}"
        for feed in self.feeds:
            yield from feed.lines(indent + below, is_last=feed is self.feeds[-1])


class RunningPlan:
    """The operators and queues of one query; no stream feeds any of them if one refuses."""

    __slots__ = ("_clock", "_nodes", "_taps", "arcs", "results", "sources", "stages")

    def __init__(self, plan: Feed, clock: Clock) -> None:
        arc = arc_from(plan)
        if isinstance(arc.operator, Source):
            raise ParameterError(
                "plan", arc.operator, "more than a source; attach a queue to the stream instead"
            )
        self._clock = clock
        self._nodes: list[_Node] = []
        """In the order in which they run."""
        self._taps: list[ArrivalTap] = []
        self.results = TupleArc(arc.policy or DEFAULT_POLICY, clock, arc.capacity)
        try:
            self._start(arc, self.results, APPLICATION, DEFAULT_POLICY, {APPLICATION})
        except Exception:
            self.close()
            raise
        self.stages = [node.stage for node in self._nodes if node.stage is not None]
        self.sources = [node.output for node in self._nodes if node.stage is None]
        self.arcs: list[AnyArc] = [arc for stage in self.stages for arc in stage.arcs]
        """The arcs that feed operators: all but that of the results."""

    def _start(self, arc: Arc, output: AnyArc, target: str, default: str, names: set[str]) -> _Node:
        """Start what puts updates into `output`; arcs have the `default` policy unless given."""
        operator = arc.operator
        name = _free_name(operator.name or operator.kind, names)
        stage: AnyStage | None = None
        feeds: list[_Node] = []
        if isinstance(operator, Source):
            output.attach(operator.stream, snapshot=operator.snapshot)
        else:
            stage = operator.start(self._clock, default)
            stage.output = output
            below = "append" if operator.needs_every_tuple else default
            queues: Sequence[AnyArc] = stage.arcs
            for each, queue in zip(operator.arcs, queues, strict=True):
                feeds.append(self._start(each, queue, name, below, names))
        self._nodes.append(_Node(name, operator, output, target, stage, feeds))
        return self._nodes[-1]

    def tap(self, plan: Feed, run: Callable[[], None]) -> None:
        """Call `run` for every update that arrives at a stream of the plan, until this closes."""
        self._taps = [ArrivalTap(stream, run) for stream in streams_of(plan)]

    def advance(self, now: float) -> None:
        """Close the windows that end at or before `now`, wherever there are any."""
        for arc in self.arcs:
            if isinstance(arc, WindowArc):
                arc.advance(now)

    def run(self, limit: int) -> None:
        """Take what waits, up to `limit` items of each source, through the operators."""
        for stage in self.stages:
            stage.run(limit)

    def settle(self) -> None:
        """Deliver what was taken in the run."""
        for arc in self.arcs:
            arc.settle()

    def close(self) -> None:
        """Leave the streams, and free all queues; what was counted can still be read."""
        while self._taps:
            self._taps.pop().close()
        for node in self._nodes:
            node.output.queue.close()

    def explain(self) -> str:
        """Return the tree, each line an arc and the operator that it comes from."""
        return "\n".join(self._nodes[-1].lines("", is_last=True))

    def operator_statistics(self) -> tuple[OperatorStatistics, ...]:
        """Return the counters of the operators, in the order in which they run."""
        return tuple(node.stage.tally.statistics(node.name) for node in self._nodes if node.stage)

    def arc_statistics(self) -> tuple[ArcStatistics, ...]:
        """Return the counters of the arcs, each after those that it comes from. O(keys)."""
        return tuple(node.statistics() for node in self._nodes)


def _free_name(wanted: str, names: set[str]) -> str:
    """Return a name like the one wanted, and add it to those that are taken."""
    name, number = wanted, 1
    while name in names:
        number += 1
        name = f"{wanted} {number}"
    names.add(name)
    return name


class ArrivalTap:
    """What pushes: it calls `run` after each arrival at `stream`, late ones too.

    A stream tells of an arrival only those that read its log, and these can ask to read at once. So
    a stream that is tapped takes updates in one by one, batches too, and `enqueue` returns when the
    query has run: the source pays for a query that it pushes.

    >>> stream = Stream()
    >>> tap = ArrivalTap(stream, lambda: print("an arrival"))
    >>> _ = stream.enqueue("IBM", 24.0)
    an arrival
    >>> tap.close()
    """

    __slots__ = ("_log", "_run", "_stream", "position", "read_ahead")

    position: int
    read_ahead: int | None

    def __init__(self, stream: Stream, run: Callable[[], None]) -> None:
        self.read_ahead = 1
        self._stream = stream
        self._run = run
        self._log: SharedLog = stream._feed.open_log(self)

    def settle(self) -> None:
        """Pass over what has arrived, and run."""
        self._log.read(self)
        self._run()

    def close(self) -> None:
        """Hear of no more arrivals."""
        self._stream._feed.close_log(self)
