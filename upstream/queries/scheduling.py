"""Decides which query runs next when several are due (the report's future work).

"Our overall goal is to minimize the average staleness over all output substreams of all continuous
queries in the system" (section 3.3). Running a query removes its staleness, and meanwhile all
others become staler. So the next query is the one that removes the most weighted staleness per
second of its cost. STALENESS INDEX has the same rule for keys, with their rates in addition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Final, Protocol

from ..clock import Clock
from ..errors import CommitError, ParameterError, UnknownPolicyError
from ..statistics import is_quantity

_RANKED_PER_RUN: Final = 4
"""How many queries have to be due for each run that one ranking serves."""


class Runnable(Protocol):
    """What a scheduler needs to know about a query."""

    @property
    def name(self) -> str:
        """Its name; queries that are served together have different names."""

    @property
    def weight(self) -> float:
        """How much its staleness matters; above zero."""

    def is_due(self) -> bool:
        """Tell whether there is anything to process."""

    def staleness(self) -> float:
        """Return how many seconds its answer has been stale."""

    def cost(self) -> float:
        """Return how many seconds the next run will take, or 0 if that is unknown."""

    def run(self) -> None:
        """Bring the answer up to date, or closer to it."""


class ServedTogether:
    """Several queries as one: a run of one does most of the work of all."""

    __slots__ = ("_runnables",)

    def __init__(self, runnables: Sequence[Runnable]) -> None:
        self._runnables = runnables

    @property
    def name(self) -> str:
        """The name of the first one."""
        return self._runnables[0].name

    @property
    def weight(self) -> float:
        """How much the staleness of all of them matters."""
        return sum([runnable.weight for runnable in self._runnables])

    def is_due(self) -> bool:
        """Tell whether there is anything to process for any of them."""
        return any(runnable.is_due() for runnable in self._runnables)

    def staleness(self) -> float:
        """Return for how many seconds the answer of the first one that is due has been stale."""
        due = (runnable for runnable in self._runnables if runnable.is_due())
        first = next(due, None)
        return 0.0 if first is None else first.staleness()

    def cost(self) -> float:
        """Return how many seconds a run of all takes, or 0 if that is unknown."""
        return sum([runnable.cost() for runnable in self._runnables])

    def run(self) -> None:
        """Bring the answers of all of them up to date, unless a callback closes some meanwhile."""
        for runnable in self._runnables:
            if runnable.is_due():
                runnable.run()


class QueryScheduler(Protocol):
    """A policy that chooses the queries to run next."""

    name: ClassVar[str]

    def ranked(self, runnables: Sequence[Runnable]) -> list[Runnable]:
        """Return the queries that are due; the one to run next is the first."""

    def chose(self, runnable: Runnable) -> None:
        """Note that a query of the last ranking runs now."""


class StalenessFirst:
    """Chooses the query that removes the most staleness per second of its cost.

    A query of unknown cost runs first, so that its cost becomes known. If it is still unknown after
    a run, because the clock does not show it, it counts as the least of the known costs.

    No query starves. A waiting query grows stale until it is chosen, if the others are up to date
    after a run. A query that cannot keep up with its input would be chosen again and again. So each
    query that is due gets `least_share` of the time, whatever it costs: it is chosen when the
    others have run for `1 / least_share` times its cost. O(queries).
    """

    name: ClassVar[str] = "staleness"
    __slots__ = ("_least_share", "_passed_over_since", "_seconds", "_spent", "_tried")

    def __init__(self, *, least_share: float = 0.01) -> None:
        if not (is_quantity(least_share) and 0 < least_share <= 1):
            raise ParameterError("least_share", least_share, "more than 0 and at most 1")
        self._least_share = least_share
        self._spent = 0.0
        """The total cost of the queries chosen so far, in seconds."""
        self._passed_over_since: dict[str, float] = {}
        """For each due query, the value of `_spent` when it last ran, or became due."""
        self._seconds: dict[str, float] = {}
        """The cost of each due query, or what it counts as."""
        self._tried: set[str] = set()
        """The existing queries that were chosen before."""

    def ranked(self, runnables: Sequence[Runnable]) -> list[Runnable]:
        """Return the queries that are due; of equal ones, the one that waits longest is first."""
        self._tried &= {runnable.name for runnable in runnables}
        due = [
            (runnable, runnable.cost(), runnable.weight * runnable.staleness())
            for runnable in runnables
            if runnable.is_due()
        ]
        assumed = min((cost for _, cost, _ in due if cost > 0), default=1.0)
        self._seconds = {each.name: cost if cost > 0 else assumed for each, cost, _ in due}
        since = self._passed_over_since
        self._passed_over_since = {each.name: since.get(each.name, self._spent) for each, *_ in due}
        due.sort(key=lambda each: self._urgency(*each), reverse=True)
        return [runnable for runnable, *_ in due]

    def chose(self, runnable: Runnable) -> None:
        """Note that a query of the last ranking runs now."""
        self._spent += self._seconds[runnable.name]
        self._passed_over_since[runnable.name] = self._spent
        self._tried.add(runnable.name)

    def _urgency(
        self, runnable: Runnable, cost: float, staleness: float
    ) -> tuple[bool, float, float, float]:
        """Return a tuple that is greatest for the query to run next."""
        name = runnable.name
        seconds = self._seconds[name]
        passed_over = self._spent - self._passed_over_since[name]
        overdue = passed_over * self._least_share / seconds
        is_unknown = cost <= 0 and name not in self._tried
        return is_unknown, overdue if overdue >= 1 else 0.0, staleness / seconds, passed_over


class RoundRobin:
    """Chooses the query that has not run for the most turns, whatever it costs. O(queries).

    `StalenessFirst` is compared with it.
    """

    name: ClassVar[str] = "round-robin"
    __slots__ = ("_turn", "_turns")

    def __init__(self) -> None:
        self._turn = 0
        self._turns: dict[str, int] = {}
        """The turn in which each query last ran."""

    def ranked(self, runnables: Sequence[Runnable]) -> list[Runnable]:
        """Return the queries that are due; the one whose last run is longest ago is first."""
        turns = self._turns = {each.name: self._turns.get(each.name, 0) for each in runnables}
        due = [runnable for runnable in runnables if runnable.is_due()]
        return sorted(due, key=lambda runnable: turns[runnable.name])

    def chose(self, runnable: Runnable) -> None:
        """Note that a query of the last ranking runs now."""
        self._turn += 1
        self._turns[runnable.name] = self._turn


QUERY_SCHEDULERS: Final[dict[str, type[StalenessFirst] | type[RoundRobin]]] = {
    scheduler.name: scheduler for scheduler in (StalenessFirst, RoundRobin)
}
"""The query schedulers by name."""


def make_query_scheduler(name: str = StalenessFirst.name) -> QueryScheduler:
    """Return a new query scheduler; raise UnknownPolicyError if there is none of this name.

    >>> make_query_scheduler("round-robin").name
    'round-robin'
    """
    if name not in QUERY_SCHEDULERS:
        raise UnknownPolicyError(name, QUERY_SCHEDULERS)
    return QUERY_SCHEDULERS[name]()


def serve(
    runnables: Sequence[Runnable] | Callable[[], Sequence[Runnable]],
    policy: QueryScheduler,
    clock: Clock,
    seconds: float,
) -> int:
    """Run due queries in the policy's order, until none is due or `seconds` have passed.

    Returns the number of runs. No run is interrupted, so the last one may end later. If `runnables`
    is a function that returns the current queries, queries may be added and removed meanwhile.

    One ranking serves a quarter of the queries that are due, and at least one: among up to seven,
    each run is chosen anew. A query that becomes urgent meanwhile waits for these runs. So all
    queries are asked O(log(due)) times, rather than once for each run.

    If a query raises CommitError, it is left out until the end, and the error is raised then.
    """
    if not seconds >= 0:  # also refuses NaN
        raise ParameterError("seconds", seconds, "a number, zero or more")
    until = clock.now() + seconds
    runs = 0
    failed: dict[str, CommitError] = {}
    while clock.now() < until:
        ranked = policy.ranked(runnables() if callable(runnables) else runnables)
        if failed:
            ranked = [each for each in ranked if each.name not in failed]
        if not ranked:
            break
        for place, chosen in enumerate(ranked[: max(1, len(ranked) // _RANKED_PER_RUN)]):
            if place and clock.now() >= until:
                break
            if place and not chosen.is_due():
                continue  # an earlier one has evaluated or closed it
            policy.chose(chosen)
            try:
                chosen.run()
            except CommitError as error:
                failed[chosen.name] = error
            runs += 1
    for first in failed.values():
        raise first
    return runs
