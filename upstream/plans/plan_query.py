"""A continuous query of Python operators over streams (report, section 3.2).

There are four models (Figure 1), one for each pair of how updates get in and how results get out:

| | push | pull |
| --- | --- | --- |
| input | an update that arrives runs through the operators at once | they take when asked |
| output | a callback gets each result | results wait until the application takes them |

A query that pulls its input is asked by the application, when that takes results, or by an engine
that decides which query to run next; until then updates wait, and conflate, in the arcs from the
sources.
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
    """Who moves first where updates get into a query, and where results get out."""

    PUSH = "push"
    PULL = "pull"


class PlanQuery:
    """One plan at work. It needs the plan's streams and their clock, and nothing else.

    `batch` bounds what one run takes from each source, `weight` says how much the query's staleness
    matters among others, `name` which one it is: an engine takes one plan of a name.

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
        check_function("callback", callback, "a function of a result", or_none=not pushes_output)
        if callback is not None and not pushes_output:
            raise ParameterError("callback", callback, 'given together with output="push"')
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
            self._run_all()  # on what a snapshot gave

    # What the application calls.

    def results(self, limit: int | None = None) -> list[Update]:
        """Return the results not taken yet, the newest that there are, and deliver them.

        What waits to be run on is run on first. At most `limit` results.
        """
        queue = self._newest_results()
        updates = queue.dequeue_many(len(queue) if limit is None else limit)
        queue.deliver_many(updates)
        return updates

    def __iter__(self) -> Iterator[Update]:
        """Yield results until there are none; each is delivered when the next one is asked for."""
        while (update := self.dequeue()) is not None:
            yield update
            self.deliver(update)

    def dequeue(self) -> Update | None:
        """Hand out the next result, or None if there is none; it is in process until delivered.

        What waits to be run on is run on first.
        """
        return self._newest_results().dequeue()

    def deliver(self, update: Update) -> None:
        """Note that the application has made use of a result that `dequeue` handed out."""
        self._results().deliver(update)

    def give_back(self, update: Update) -> None:
        """Let a result that `dequeue` handed out wait again, unless there is a newer one."""
        self._results().give_back(update)

    def advance(self, now: float) -> None:
        """Close the windows that end at or before `now`, a source time, as no tuple will."""
        self._check_open()
        self._plan.advance(now)
        if self._pushes_input:
            self._run_all()

    def __repr__(self) -> str:
        """Return the name, and how input and output move."""
        return f"<PlanQuery {self._heading()}{', closed' if self._is_closed else ''}>"

    def explain(self) -> str:
        """Return the plan as a tree, each line an arc and the operator that it comes from."""
        return f"{self._heading()}\n{self._plan.explain()}"

    def _heading(self) -> str:
        inward = "push" if self._pushes_input else "pull"
        outward = "pull" if self._callback is None else "push"
        return f"{self.name}: input {inward}, output {outward}"

    def statistics(self) -> PlanStatistics:
        """Return the exact counters of every operator and arc; after `close` the final ones.

        O(keys).
        """
        operators = self._plan.operator_statistics()
        if self._callback is not None:
            operators += (self._tally.statistics(APPLICATION),)
        return PlanStatistics(self.name, self._runs, operators, self._plan.arc_statistics())

    @property
    def error(self) -> Exception | None:
        """What a user's function raised first, of the first operator for which one did."""
        errors = (stage.tally.error for stage in self._plan.stages)
        return next(filter(None, errors), self._tally.error)

    @property
    def is_closed(self) -> bool:
        """Whether the query is closed."""
        return self._is_closed

    def close(self) -> PlanStatistics:
        """Leave the streams, free all queues, and return the final statistics."""
        if not self._is_closed:
            self._is_closed = True
            if not self._is_running:  # else at the end of the run, which a callback is part of
                self._plan.close()
        return self.statistics()

    def __enter__(self) -> PlanQuery:
        """Close the query at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the query."""
        self.close()

    # What a scheduler of queries calls.

    def is_due(self) -> bool:
        """Tell whether there is anything to run on."""
        return not self._is_closed and any(arc.has_more for arc in self._plan.arcs)

    def staleness(self) -> float:
        """Return for how many seconds the oldest update has waited for the query to run."""
        if self._is_closed:
            return 0.0
        return max(arc.staleness() for arc in self._plan.arcs)

    def cost(self) -> float:
        """Return how many seconds the next run will take, as far as is known; else 0."""
        seconds = self._cost.seconds()
        return 0.0 if seconds is None else seconds * self._next_items()

    def run(self) -> None:
        """Take what waits through the operators, at most `batch` from each source.

        Whatever users' functions do is counted, and never raised. Within a callback of the query it
        does nothing.
        """
        self._check_open()
        if not self._is_running:
            self._run()

    # What they share.

    def _run_all(self) -> None:
        """Run until there is nothing to run on; what a callback enqueues is run on as well."""
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
        """Return how many items the next run takes; windows count once, whatever is in them."""
        return max(sum(min(len(arc), self._batch) for arc in self._plan.sources), 1)

    def _push_results(self) -> None:
        """Call the callback with each result, if there is one."""
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
        """Return the queue of results once what waits was run on."""
        self._check_open()
        queue = self._results()
        self._run_all()
        return queue

    def _results(self) -> StreamQueue:
        """Return the queue of results; ParameterError if they are pushed."""
        if self._callback is not None:
            raise ParameterError("output", "push", "pull, if the application takes the results")
        return self._plan.results.queue

    def _check_open(self) -> None:
        if self._is_closed:
            raise ClosedError("query")

    def _check(self) -> None:
        """State every invariant."""
        statistics = self.statistics()
        assert statistics.is_balanced, f"an update is not accounted for: {statistics}"


def _delivery(name: str, given: object) -> Delivery:
    try:
        return Delivery(given)  # type: ignore[arg-type]  # what is none of them raises
    except ValueError:
        raise ParameterError(name, given, "'push' or 'pull'") from None
