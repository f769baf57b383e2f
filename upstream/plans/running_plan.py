"""A plan that runs for one query: its operators in the order in which they run, and its queues.

An operator runs after the operators that feed it. So one pass takes what waits at the sources all
the way to the results, and nothing stays in between. If input is pushed, there is a pass for every
arriving update, before anything else happens.
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
"""The target of the last arc."""


@dataclass(frozen=True, slots=True)
class _Node:
    """An operator, the arc after it, and the nodes that feed it."""

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
        """Yield the tree as text, one line for this arc and each arc below it."""
        branch, below = ("└─ ", "   ") if is_last else ("├─ ", "│  ")
        yield f"{indent}{branch}{self.output.label} from {self.operator.label}"
        for feed in self.feeds:
            yield from feed.lines(indent + below, is_last=feed is self.feeds[-1])


class RunningPlan:
    """The operators and queues of one query. If one stream refuses, no stream feeds any of them."""

    __slots__ = ("_clock", "_nodes", "_taps", "arcs", "results", "sources", "stages")

    def __init__(self, plan: Feed, clock: Clock) -> None:
        arc = arc_from(plan)
        if isinstance(arc.operator, Source):
            raise ParameterError(
                "plan", arc.operator, "more than a source; attach a queue to the stream instead"
            )
        self._clock = clock
        self._nodes: list[_Node] = []
        """The nodes in the order in which they run."""
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
        """The arcs that feed operators: all except the arc of the results."""

    def _start(self, arc: Arc, output: AnyArc, target: str, default: str, names: set[str]) -> _Node:
        """Start the operator that feeds `output`; arcs have the `default` policy or their own."""
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
        """Call `run` for every update that arrives at a stream of the plan, until it closes."""
        self._taps = [ArrivalTap(stream, run) for stream in streams_of(plan)]

    def advance(self, now: float) -> None:
        """Close the windows that end at or before `now`, on all arcs."""
        for arc in self.arcs:
            if isinstance(arc, WindowArc):
                arc.advance(now)

    def run(self, limit: int) -> None:
        """Run what waits, up to `limit` items of each source, through the operators."""
        for stage in self.stages:
            stage.run(limit)

    def settle(self) -> None:
        """Deliver what was taken in the run."""
        for arc in self.arcs:
            arc.settle()

    def close(self) -> None:
        """Detach from the streams and release all queues; the counts can still be read."""
        while self._taps:
            self._taps.pop().close()
        for node in self._nodes:
            node.output.queue.close()

    def explain(self) -> str:
        """Return the tree; each line is an arc and the operator that feeds it."""
        return "\n".join(self._nodes[-1].lines("", is_last=True))

    def operator_statistics(self) -> tuple[OperatorStatistics, ...]:
        """Return the counters of the operators, in the order in which they run."""
        return tuple(node.stage.tally.statistics(node.name) for node in self._nodes if node.stage)

    def arc_statistics(self) -> tuple[ArcStatistics, ...]:
        """Return the counters of the arcs, each after the arcs that feed it. O(keys)."""
        return tuple(node.statistics() for node in self._nodes)


def _free_name(wanted: str, names: set[str]) -> str:
    """Return a free name like the wanted one, and add it to the names that are taken."""
    name, number = wanted, 1
    while name in names:
        number += 1
        name = f"{wanted} {number}"
    names.add(name)
    return name


class ArrivalTap:
    """Calls `run` after each arrival at `stream`, including late ones, for plans that push.

    A stream reports arrivals only to readers of its log, and these can ask to read at once. So a
    stream with a tap accepts updates one by one, even in batches, and `enqueue` returns when the
    query has run: the source pays for the query that it pushes.

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
        """Skip what has arrived, and run."""
        self._log.read(self)
        self._run()

    def close(self) -> None:
        """Stop listening for arrivals."""
        self._stream._feed.close_log(self)
