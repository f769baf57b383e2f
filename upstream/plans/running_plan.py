"""A plan at work for one query: its operators in the order in which they run, and its queues.

An operator runs after those that feed it, so one pass takes what waits at the sources all the way
to the results, and nothing stays in between.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ..clock import Clock
from ..errors import ParameterError
from ..policies import DEFAULT_POLICY
from ..queues import Stream
from ..statistics import QueueStatistics
from ..windows import WindowQueueStatistics
from .arc_queue import AnyArc
from .plan_tree import Arc, Feed, Operator, arc_from
from .source import Source
from .stage import AnyStage
from .tally import OperatorStatistics
from .tuple_arc import TupleArc
from .window_arc import WindowArc

APPLICATION: Final = "application"
"""What is at the end of the last arc."""


@dataclass(frozen=True, slots=True)
class ArcStatistics:
    """One arc at one moment: the exact counters of its queue, and how stale it is on average."""

    source: str
    """The operator that puts updates into it."""
    target: str
    """The operator that takes them, or `application`."""
    policy: str
    queue: QueueStatistics | WindowQueueStatistics
    queue_staleness: float
    application_staleness: float


@dataclass(frozen=True, slots=True)
class _Node:
    """An operator, the arc after it, and what feeds it."""

    name: str
    operator: Operator
    output: AnyArc
    target: str
    stage: AnyStage | None
    feeds: tuple[_Node, ...]

    def all(self) -> Iterator[_Node]:
        """Yield the operators that feed this one, in the order in which they run, and itself."""
        for feed in self.feeds:
            yield from feed.all()
        yield self


class RunningPlan:
    """The operators and queues of one query. It hears of no update before it is attached."""

    __slots__ = ("_clock", "_names", "_root", "_source_ids", "arcs", "results", "sources", "stages")

    def __init__(self, plan: Feed, clock: Clock) -> None:
        arc = arc_from(plan)
        if isinstance(arc.operator, Source):
            raise ParameterError(
                "plan", arc.operator, "more than a source; attach a queue to the stream instead"
            )
        self._clock = clock
        self._names: set[str] = {APPLICATION}
        policy = DEFAULT_POLICY if arc.policy is None else arc.policy
        self.results = TupleArc(arc, policy, clock)
        self._root = self._start(arc, self.results, APPLICATION, DEFAULT_POLICY)
        nodes = list(self._root.all())
        self.stages = tuple(node.stage for node in nodes if node.stage is not None)
        self.sources = tuple(node.output for node in nodes if node.stage is None)
        self._source_ids = frozenset(map(id, self.sources))
        self.arcs: tuple[AnyArc, ...] = tuple(arc for stage in self.stages for arc in stage.arcs)
        """The arcs that feed operators: all but that of the results."""

    def _start(self, arc: Arc, output: AnyArc, target: str, default: str) -> _Node:
        """Start what puts updates into `output`; arcs have the `default` policy unless given."""
        operator = arc.operator
        name = self._name_of(operator)
        if isinstance(operator, Source):
            return _Node(name, operator, output, target, None, ())
        policies = tuple(default if arc.policy is None else arc.policy for arc in operator.arcs)
        stage = operator.start(self._clock, policies)
        stage.output = output
        below = "append" if operator.needs_every_tuple else default
        queues: tuple[AnyArc, ...] = stage.arcs
        pairs = zip(operator.arcs, queues, strict=True)
        feeds = tuple(self._start(each, queue, name, below) for each, queue in pairs)
        return _Node(name, operator, output, target, stage, feeds)

    def _name_of(self, operator: Operator) -> str:
        wanted = operator.name or operator.kind
        name, number = wanted, 1
        while name in self._names:
            number += 1
            name = f"{wanted} {number}"
        self._names.add(name)
        return name

    @property
    def streams(self) -> tuple[Stream, ...]:
        """The streams that feed it, each once."""
        sources = (node.operator for node in self._root.all())
        streams = (source.stream for source in sources if isinstance(source, Source))
        return tuple({id(stream): stream for stream in streams}.values())

    def attach(self) -> None:
        """Be fed by the streams from now on; by none of them if one refuses."""
        try:
            for node in self._root.all():
                if isinstance(node.operator, Source):
                    node.output.attach(node.operator.stream, snapshot=node.operator.snapshot)
        except Exception:
            self.close()
            raise

    def advance(self, now: float) -> None:
        """Close the windows that end at or before `now`, wherever there are any."""
        for node in self._root.all():
            if isinstance(node.output, WindowArc):
                node.output.advance(now)

    def run(self, limit: int) -> None:
        """Take what waits, up to `limit` items of each source, through the operators."""
        for stage in self.stages:
            stage.run(limit, self._source_ids)

    def settle(self) -> None:
        """Deliver what was taken in the run."""
        for stage in self.stages:
            stage.settle()

    def close(self) -> None:
        """Free all queues; what was counted can still be read."""
        for node in self._root.all():
            node.output.queue.close()

    def explain(self) -> str:
        """Return the tree, each line an arc and the operator that it comes from."""
        return "\n".join(_lines(self._root, "", is_last=True))

    def operator_statistics(self) -> tuple[OperatorStatistics, ...]:
        """Return the counters of the operators, in the order in which they run."""
        nodes = self._root.all()
        return tuple(node.stage.tally.statistics(node.name) for node in nodes if node.stage)

    def arc_statistics(self) -> tuple[ArcStatistics, ...]:
        """Return the counters of the arcs, each after those that it comes from. O(keys)."""
        return tuple(map(_arc_statistics, self._root.all()))


def _arc_statistics(node: _Node) -> ArcStatistics:
    queue = node.output.queue
    return ArcStatistics(
        source=node.name,
        target=node.target,
        policy=node.output.policy,
        queue=queue.statistics(),
        queue_staleness=queue.queue_staleness(),
        application_staleness=queue.application_staleness(),
    )


def _lines(node: _Node, indent: str, *, is_last: bool) -> Iterator[str]:
    branch, below = ("└─ ", "   ") if is_last else ("├─ ", "│  ")
    yield f"{indent}{branch}{node.output.label} from {node.operator.label}"
    for feed in node.feeds:
        yield from _lines(feed, indent + below, is_last=feed is node.feeds[-1])
