"""A continuous query of Python operators over streams (report, section 3.2).

There are four models (Figure 1), from two ways of taking updates in and two ways of giving results
out:

| | push | pull |
| --- | --- | --- |
| input | each arriving update runs through the operators at once | operators take them on request |
| output | a callback receives each result | results wait until the application takes them |

A query that pulls its input runs when the application takes results, or when an engine chooses it
to run next. Until then updates wait, and conflate, in the arcs from the sources.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum

from ..clock import Clock
from ..errors import ClosedError, ParameterError, WeightError
from ..queues import StreamQueue
from ..queues.in_process import DEFAULT_IN_PROCESS_LIMIT
from ..statistics import ProcessingCost, check_count, is_quantity
from ..updates import Update
from .plan_statistics import FAILED, PlanStatistics, Tally
from .plan_tree import Feed, check_function, clock_of
from .running_plan import APPLICATION, RunningPlan

DEFAULT_BATCH = 1_000


class Delivery(StrEnum):
    """Which side acts first: where updates enter a query, and where results leave it."""

    PUSH = "push"
    PULL = "pull"


class PlanQuery:
    """One running plan. It needs only the plan's streams and their clock.

    `batch` limits how many items one run takes from each source. `weight` says how much the query's
    staleness matters among other queries. `name` identifies the query: an engine accepts one plan
    per name.

    >>> from upstream import Stream
    >>> from upstream.plans import Filter, Source
    >>> trades = Stream()
    >>> plan = Filter(Source(trades), lambda update: update.key == "IBM")
    >>> query = PlanQuery(plan, name="ibm")
    >>> _ = trades.enqueue("IBM", 24.0), trades.enqueue("GM", 7.0), trades.enqueue("IBM", 25.0)
    >>> [result.value for result in query.results()]
    [25.0]
    """

    __slots__ = (
        "__weakref__",
        "_batch",
        "_callback",
        "_clock",
        "_cost",
        "_is_closed",
        "_is_running",
        "_plan",
        "_pushes_input",
        "_runs",
        "_tally",
        "name",
        "weight",
    )

    def __init__(
        self,
        plan: Feed,
        *,
        name: str = "plan",
        input: str = Delivery.PULL,  # noqa: A002 - the report's word
        output: str = Delivery.PULL,
        callback: Callable[[Update], object] | None = None,
        clock: Clock | None = None,
        weight: float = 1.0,
        batch: int = DEFAULT_BATCH,
    ) -> None:
        self._pushes_input = _delivery("input", input) is Delivery.PUSH
        pushes_output = _delivery("output", output) is Delivery.PUSH
        expected = "a function that takes a result"
        check_function("callback", callback, expected, or_none=not pushes_output)
        if callback is not None and not pushes_output:
            raise ParameterError("callback", callback, 'None unless output is "push"')
        if not (is_quantity(weight) and weight > 0):
            raise WeightError("weight", weight, "a finite number above zero")
        check_count("batch", batch, least=1)
        if batch > DEFAULT_IN_PROCESS_LIMIT:
            raise ParameterError("batch", batch, f"at most {DEFAULT_IN_PROCESS_LIMIT}")
        self.name = name
        self.weight = float(weight)
        self._batch = batch
        self._callback = callback
        self._clock: Clock = clock_of(plan) if clock is None else clock
        self._cost = ProcessingCost(None)
        self._tally = Tally()
        self._runs = 0
        self._is_running = self._is_closed = False
        self._plan = RunningPlan(plan, self._clock)
        if self._pushes_input:
            self._plan.tap(plan, self._run_all)
            self._run_all()  # runs on the values of the snapshot

    # Called by the application

    def results(self, limit: int | None = None) -> list[Update]:
        """Return and deliver the newest results that were not taken yet, at most `limit`.

        First runs the plan on everything that waits.
        """
        queue = self._newest_results()
        updates = queue.dequeue_many(len(queue) if limit is None else limit)
        queue.deliver_many(updates)
        return updates

    def __iter__(self) -> Iterator[Update]:
        """Yield results until there are none; each is delivered when the next is requested."""
        while (update := self.dequeue()) is not None:
            yield update
            self.deliver(update)

    def dequeue(self) -> Update | None:
        """Return the next result, or None if there is none; it is in process until it is delivered.

        First runs the plan on everything that waits.
        """
        return self._newest_results().dequeue()

    def deliver(self, update: Update) -> None:
        """Note that the application has used a result that `dequeue` returned."""
        self._results().deliver(update)

    def give_back(self, update: Update) -> None:
        """Let a result that `dequeue` returned wait again, unless there is a newer one."""
        self._results().give_back(update)

    def advance(self, now: float) -> None:
        """Close the windows that end at or before the source time `now`, without further tuples."""
        self._check_open()
        self._plan.advance(now)
        if self._pushes_input:
            self._run_all()

    def __repr__(self) -> str:
        """Return the name, and how input and output work."""
        return f"<PlanQuery {self._heading()}{', closed' if self._is_closed else ''}>"

    def explain(self) -> str:
        """Return the plan as a tree; each line is an arc and the operator that feeds it."""
        return f"{self._heading()}\n{self._plan.explain()}"

    def _heading(self) -> str:
        inward = "push" if self._pushes_input else "pull"
        outward = "pull" if self._callback is None else "push"
        return f"{self.name}: input {inward}, output {outward}"

    def statistics(self) -> PlanStatistics:
        """Return the exact counters of every operator and arc; after `close`, the final ones.

        O(keys).
        """
        operators = self._plan.operator_statistics()
        if self._callback is not None:
            operators += (self._tally.statistics(APPLICATION),)
        return PlanStatistics(self.name, self._runs, operators, self._plan.arc_statistics())

    @property
    def error(self) -> Exception | None:
        """The first exception of a user's function, for the first operator that has one."""
        errors = (stage.tally.error for stage in self._plan.stages)
        return next(filter(None, errors), self._tally.error)

    @property
    def is_closed(self) -> bool:
        """Whether the query is closed."""
        return self._is_closed

    def close(self) -> PlanStatistics:
        """Detach from the streams, release all queues, and return the final statistics."""
        if not self._is_closed:
            self._is_closed = True
            if not self._is_running:  # otherwise at the end of the run that the callback is part of
                self._plan.close()
        return self.statistics()

    def __enter__(self) -> PlanQuery:
        """Return the query, which is closed at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the query."""
        self.close()

    # Called by a scheduler of queries

    def is_due(self) -> bool:
        """Tell whether there is anything to process."""
        return not self._is_closed and any(arc.has_more for arc in self._plan.arcs)

    def staleness(self) -> float:
        """Return how many seconds the oldest update has waited for the query to run."""
        if self._is_closed:
            return 0.0
        return max(arc.staleness() for arc in self._plan.arcs)

    def cost(self) -> float:
        """Return how many seconds the next run will probably take, or 0 if that is unknown."""
        seconds = self._cost.seconds()
        return 0.0 if seconds is None else seconds * self._next_items()

    def run(self) -> None:
        """Run what waits through the operators, at most `batch` items from each source.

        Exceptions of users' functions are counted and not raised. Within a callback of this query,
        it does nothing.
        """
        self._check_open()
        if not self._is_running:
            self._run()

    # Shared by both

    def _run_all(self) -> None:
        """Run until nothing waits, including what a callback enqueues."""
        while not self._is_running and self.is_due():
            self._run()

    def _run(self) -> None:
        began, items = self._clock.now(), self._next_items()
        self._is_running = True
        try:
            self._plan.run(self._batch)
            self._push_results()
            self._plan.settle()
        finally:
            self._is_running = False
            if self._is_closed:
                self._plan.close()
        self._runs += 1
        self._cost.took((self._clock.now() - began) / items)

    def _next_items(self) -> int:
        """Return how many items the next run takes; a window counts once, whatever it contains."""
        return max(sum(min(len(arc), self._batch) for arc in self._plan.sources), 1)

    def _push_results(self) -> None:
        """Call the callback, if there is one, with each result."""
        if self._callback is None:
            return
        queue = self._plan.results.queue
        while not self._is_closed and (update := queue.dequeue()) is not None:
            self._tally.taken += 1
            if self._tally.attempt(self._callback, update) is FAILED:
                self._tally.failed += 1
            else:
                self._tally.delivered += 1
            queue.deliver(update)

    def _newest_results(self) -> StreamQueue:
        """Return the queue of results after running on everything that waits."""
        self._check_open()
        queue = self._results()
        self._run_all()
        return queue

    def _results(self) -> StreamQueue:
        """Return the queue of results; raise ParameterError if results are pushed."""
        if self._callback is not None:
            raise ParameterError("output", "push", "'pull' for the application to take results")
        return self._plan.results.queue

    def _check_open(self) -> None:
        if self._is_closed:
            raise ClosedError("query")

    def _check(self) -> None:
        """Assert every invariant."""
        statistics = self.statistics()
        assert statistics.is_balanced, f"an update is not accounted for: {statistics}"


def _delivery(name: str, given: object) -> Delivery:
    try:
        return Delivery(given)  # type: ignore[arg-type]  # what is none of them raises
    except ValueError:
        raise ParameterError(name, given, "'push' or 'pull'") from None
