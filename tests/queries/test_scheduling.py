"""The next query is the one whose run removes most staleness for its cost."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream import ManualClock, ParameterError, SinkError, Stream, UnknownPolicyError
from upstream.plans import Filter, PlanQuery, Source
from upstream.queries import scheduling
from upstream.queries.scheduling import (
    QUERY_SCHEDULERS,
    QueryScheduler,
    RoundRobin,
    Runnable,
    ServedTogether,
    StalenessFirst,
    make_query_scheduler,
    serve,
)


class FixedQuery:
    """A query that is as stale and as expensive as it is told to be."""

    def __init__(
        self, name: str, *, staleness: float = 1.0, cost: float = 1.0, weight: float = 1.0
    ) -> None:
        self.name = name
        self.weight = weight
        self.stale_seconds = staleness
        self.cost_seconds = cost
        self.due = True
        self.runs = 0

    def is_due(self) -> bool:
        return self.due

    def staleness(self) -> float:
        return self.stale_seconds

    def cost(self) -> float:
        return self.cost_seconds

    def run(self) -> None:
        self.runs += 1
        self.due = False


def name_of_next(policy: QueryScheduler, queries: Sequence[Runnable]) -> str | None:
    ranked = policy.ranked(queries)
    if not ranked:
        return None
    policy.chose(ranked[0])
    return ranked[0].name


# Staleness first


def test_the_query_that_loses_the_most_staleness_runs_first() -> None:
    queries = [FixedQuery("fresh", staleness=1), FixedQuery("stale", staleness=2)]
    assert name_of_next(StalenessFirst(), queries) == "stale"


def test_the_cheaper_of_equally_stale_queries_runs_first() -> None:
    queries = [FixedQuery("slow", cost=3), FixedQuery("fast", cost=2)]
    assert name_of_next(StalenessFirst(), queries) == "fast"


def test_weights_multiply_staleness() -> None:
    light = FixedQuery("light", staleness=2.5)
    heavy = FixedQuery("heavy", staleness=1, weight=3)
    assert name_of_next(StalenessFirst(), [light, heavy]) == "heavy"


def test_a_query_that_is_not_due_does_not_run() -> None:
    stale, fresh = FixedQuery("stale", staleness=9), FixedQuery("fresh")
    stale.due = False
    assert name_of_next(StalenessFirst(), [stale, fresh]) == "fresh"
    fresh.due = False
    assert name_of_next(StalenessFirst(), [stale, fresh]) is None
    assert name_of_next(StalenessFirst(), []) is None


def test_a_query_of_unknown_cost_runs_first_once() -> None:
    known, unknown = FixedQuery("known", staleness=100), FixedQuery("unknown", cost=0)
    policy = StalenessFirst()
    names = [name_of_next(policy, [known, unknown]) for _ in range(2)]
    assert names == ["unknown", "known"]


def test_a_query_that_comes_again_under_its_name_is_unknown_again() -> None:
    known, unknown = FixedQuery("known", staleness=100), FixedQuery("unknown", cost=0)
    policy = StalenessFirst()
    assert name_of_next(policy, [known, unknown]) == "unknown"
    assert name_of_next(policy, [known]) == "known"
    assert name_of_next(policy, [known, unknown]) == "unknown"


def test_equally_urgent_queries_take_turns() -> None:
    queries = [FixedQuery(name, staleness=0) for name in "abc"]
    policy = StalenessFirst()
    assert [name_of_next(policy, queries) for _ in range(6)] == ["a", "b", "c"] * 2


def test_a_query_that_is_never_up_to_date_leaves_the_least_share_to_the_others() -> None:
    behind = FixedQuery("behind", staleness=1e9, cost=1)
    patient = FixedQuery("patient", staleness=1, cost=10)
    policy = StalenessFirst(least_share=0.1)
    names = [name_of_next(policy, [behind, patient]) for _ in range(101)]
    assert names.count("patient") == 1
    assert names[100] == "patient"


def test_a_query_that_was_not_due_has_not_starved() -> None:
    behind = FixedQuery("behind", staleness=1e9)
    rare = FixedQuery("rare", staleness=1)
    policy = StalenessFirst(least_share=0.1)
    rare.due = False
    assert {name_of_next(policy, [behind, rare]) for _ in range(50)} == {"behind"}
    rare.due = True
    assert name_of_next(policy, [behind, rare]) == "behind"


@pytest.mark.parametrize("share", [0, -1, 1.5, math.nan])
def test_the_least_share_is_a_share(share: float) -> None:
    with pytest.raises(ParameterError, match="least_share"):
        StalenessFirst(least_share=share)


@given(
    costs=st.lists(st.one_of(st.just(0.0), st.floats(0.1, 5)), min_size=1, max_size=8),
    staleness=st.lists(st.floats(0, 1e9), min_size=8, max_size=8),
    share=st.sampled_from([0.1, 0.5, 1.0]),
)
def test_every_query_that_is_always_due_gets_its_turn(
    costs: list[float], staleness: list[float], share: float
) -> None:
    queries = [
        FixedQuery(str(number), cost=cost, staleness=seconds)
        for number, (cost, seconds) in enumerate(zip(costs, staleness, strict=False))
    ]
    policy = StalenessFirst(least_share=share)
    dearest, cheapest = max(*costs, 1.0), min([cost for cost in costs if cost > 0], default=1.0)
    turns = 2 * len(costs) * (1 + math.ceil(dearest / cheapest / share))
    names = {name_of_next(policy, queries) for _ in range(turns)}
    assert names == {query.name for query in queries}


# Round robin


def test_round_robin_takes_turns_regardless_of_cost() -> None:
    queries = [FixedQuery("a", cost=9), FixedQuery("b", staleness=9), FixedQuery("c", weight=9)]
    policy = RoundRobin()
    assert [name_of_next(policy, queries) for _ in range(6)] == ["a", "b", "c"] * 2


def test_round_robin_skips_queries_that_are_not_due() -> None:
    first, second = FixedQuery("first"), FixedQuery("second")
    first.due = False
    policy = RoundRobin()
    assert [name_of_next(policy, [first, second]) for _ in range(2)] == ["second", "second"]
    first.due = True
    assert name_of_next(policy, [first, second]) == "first"
    first.due = second.due = False
    assert name_of_next(policy, [first, second]) is None


# The registry


def test_schedulers_are_made_by_name() -> None:
    assert {name: type(make_query_scheduler(name)) for name in QUERY_SCHEDULERS} == {
        "staleness": StalenessFirst,
        "round-robin": RoundRobin,
    }
    assert isinstance(make_query_scheduler(), StalenessFirst)


def test_an_unknown_scheduler_is_refused_with_those_there_are() -> None:
    with pytest.raises(UnknownPolicyError, match="staleness, round-robin"):
        make_query_scheduler("fastest")


# Serving


class FedQuery:
    """A query whose source updates each second, and whose runs let the clock go on."""

    def __init__(self, world: World, name: str, *, cost: int, weight: float = 1.0) -> None:
        self.name = name
        self.weight = weight
        self._world = world
        self._cost = cost
        self._answered = 0  # arrivals up to here are in the answer
        self.runs = 0

    def is_due(self) -> bool:
        return self._world.clock.now() >= self._answered + 1

    def staleness(self) -> float:
        return max(self._world.clock.now() - (self._answered + 1), 0.0)

    def cost(self) -> float:
        return self._cost if self.runs else 0

    def run(self) -> None:
        begun = int(self._world.clock.now())
        self._world.spend(self._cost)
        self._answered = begun
        self.runs += 1


class World:
    """Queries on one clock, and the sum of their staleness over time."""

    def __init__(self) -> None:
        self.clock = ManualClock(start=1)
        self.queries: list[FedQuery] = []
        self.area = 0.0

    def add(self, name: str, *, cost: int, weight: float = 1.0) -> FedQuery:
        query = FedQuery(self, name, cost=cost, weight=weight)
        self.queries.append(query)
        return query

    def spend(self, seconds: int) -> None:
        for _ in range(seconds):
            self.clock.advance(0.5)
            self.area += sum(query.weight * query.staleness() for query in self.queries)
            self.clock.advance(0.5)

    def mean_staleness(self, policy: QueryScheduler, seconds: int) -> float:
        end = self.clock.now() + seconds
        while self.clock.now() < end:
            if not serve(self.queries, policy, self.clock, end - self.clock.now()):
                self.spend(1)
        return self.area / seconds / sum(query.weight for query in self.queries)


def mixed_world() -> World:
    """Return seven queries of unequal cost, half of which has ten times the weight."""
    world = World()
    for number in range(6):
        world.add(f"quick {number}", cost=1, weight=10 if number % 2 else 1)
    world.add("slow", cost=30)
    return world


def test_staleness_first_keeps_queries_of_unequal_cost_fresher_than_round_robin() -> None:
    by_staleness = mixed_world().mean_staleness(StalenessFirst(), 5_000)
    in_turns = mixed_world().mean_staleness(RoundRobin(), 5_000)
    assert by_staleness < 0.7 * in_turns


def test_with_equal_queries_staleness_first_is_round_robin() -> None:
    means = []
    for policy in (StalenessFirst(), RoundRobin()):
        world = World()
        for name in "abcd":
            world.add(name, cost=2)
        means.append(world.mean_staleness(policy, 1_000))
    assert means[0] == pytest.approx(means[1], rel=0.01)


def test_an_expensive_query_that_is_always_due_runs_as_its_staleness_grows() -> None:
    world = World()
    slow = world.add("slow", cost=100)
    for number in range(3):
        world.add(f"quick {number}", cost=1)
    world.mean_staleness(StalenessFirst(least_share=1e-9), 10_000)
    assert slow.runs > 10


class CountingQuery(FixedQuery):
    """A query that counts how often it is asked whether it is due."""

    asked = 0

    def is_due(self) -> bool:
        type(self).asked += 1
        return super().is_due()


@pytest.mark.parametrize("policy", [StalenessFirst(), RoundRobin()], ids=["staleness", "turns"])
def test_many_queries_are_not_all_asked_before_each_run(policy: QueryScheduler) -> None:
    CountingQuery.asked = 0
    queries = [CountingQuery(str(number)) for number in range(100)]
    assert serve(queries, policy, ManualClock(), 1.0) == 100
    assert {query.runs for query in queries} == {1}
    assert CountingQuery.asked < 20 * 100


def test_few_queries_are_ranked_before_each_run() -> None:
    order: list[str] = []

    class Noting(FixedQuery):
        def run(self) -> None:
            super().run()
            order.append(self.name)
            urgent.due = urgent.runs == 0

    urgent = Noting("urgent", staleness=9)
    urgent.due = False
    queries = [Noting(name) for name in "abcdefg"]
    assert serve([*queries, urgent], StalenessFirst(), ManualClock(), 1.0) == 8
    assert order == ["a", "urgent", *"bcdefg"]


def test_a_ranked_query_that_another_run_has_brought_up_to_date_does_not_run() -> None:
    queries: list[FixedQuery] = []

    class ForAll(FixedQuery):
        def run(self) -> None:
            super().run()
            for query in queries:
                query.due = False

    queries += [ForAll(str(number)) for number in range(20)]
    assert serve(queries, StalenessFirst(), ManualClock(), 1.0) == 1


def test_serving_a_ranking_ends_when_the_time_is_over() -> None:
    world = World()
    for number in range(40):
        world.add(str(number), cost=1)
    assert serve(world.queries, StalenessFirst(), world.clock, 3) == 3


def test_many_queries_are_no_staler_than_if_each_run_was_ranked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    means = []
    for ranked_per_run in (scheduling._RANKED_PER_RUN, 1_000):
        monkeypatch.setattr(scheduling, "_RANKED_PER_RUN", ranked_per_run)
        world = World()
        for number in range(40):
            weight = 10 if number % 5 == 0 else 1
            world.add(str(number), cost=(1, 1, 2, 20)[number % 4], weight=weight)
        means.append(world.mean_staleness(StalenessFirst(), 3_000))
    assert means[0] < 1.02 * means[1]


def test_serving_ends_when_nothing_is_due() -> None:
    queries = [FixedQuery("a"), FixedQuery("b")]
    assert serve(queries, StalenessFirst(), ManualClock(), 1.0) == 2
    assert [query.runs for query in queries] == [1, 1]


def test_serving_ends_when_the_time_is_over() -> None:
    world = World()
    query = world.add("always due", cost=2)
    assert serve([query], RoundRobin(), world.clock, 5) == 3  # at 1, 3 and 5 of 6
    assert world.clock.now() == 7


def test_without_time_nothing_runs() -> None:
    assert serve([FixedQuery("a")], StalenessFirst(), ManualClock(), 0) == 0
    with pytest.raises(ParameterError, match="seconds"):
        serve([], StalenessFirst(), ManualClock(), -1)
    with pytest.raises(ParameterError, match="seconds"):
        serve([], StalenessFirst(), ManualClock(), math.nan)


def test_queries_may_come_while_others_are_served() -> None:
    queries: list[FixedQuery] = []

    class Starter(FixedQuery):
        def run(self) -> None:
            super().run()
            queries.append(FixedQuery("second"))

    queries.append(Starter("first"))
    assert serve(lambda: queries, StalenessFirst(), ManualClock(), 1) == 2
    assert [query.runs for query in queries] == [1, 1]


def test_plans_are_served() -> None:
    clock = ManualClock()
    trades = Stream(clock=clock)
    results: list[object] = []
    with (
        PlanQuery(
            Filter(Source(trades), lambda update: update.key == "IBM"),
            name="ibm",
            output="push",
            callback=results.append,
            clock=clock,
        ) as pushed,
        PlanQuery(
            Filter(Source(trades), lambda update: update.key != "IBM"), name="others", clock=clock
        ) as pulled,
    ):
        trades.enqueue("IBM", 24.0, 0)
        trades.enqueue("GM", 7.0, 0)
        clock.advance(2)
        assert (pushed.staleness(), pulled.staleness()) == (2.0, 2.0)
        assert serve([pushed, pulled], StalenessFirst(), clock, 1) == 2
        assert (pushed.staleness(), pulled.staleness()) == (0.0, 0.0)
        assert len(results) == 1
        assert [update.key for update in pulled.results()] == ["GM"]


# Several as one


def test_queries_that_are_served_together_count_as_one_of_their_weight_and_cost() -> None:
    queries = [FixedQuery(name, staleness=s, weight=2, cost=3) for name, s in (("a", 5), ("b", 7))]
    both = ServedTogether(queries)
    assert (both.name, both.weight, both.cost()) == ("a", 4, 6)
    assert (both.is_due(), both.staleness()) == (True, 5)
    queries[0].due = False
    assert (both.is_due(), both.staleness()) == (True, 7)
    both.run()
    assert [query.runs for query in queries] == [0, 1]
    assert (both.is_due(), both.staleness()) == (False, 0.0)


def test_queries_that_are_served_together_are_one_run() -> None:
    queries = [FixedQuery(name) for name in "abc"]
    served: list[Runnable] = [ServedTogether(queries[:2]), queries[2]]
    assert serve(served, StalenessFirst(), ManualClock(), math.inf) == 2
    assert [query.runs for query in queries] == [1, 1, 1]


class WithSink(FixedQuery):
    """A query whose sink fails."""

    def run(self) -> None:
        self.runs += 1
        raise SinkError(self.name, self.runs, "full")


def test_a_query_whose_sink_fails_is_tried_once_and_the_others_are_served() -> None:
    failing = [WithSink(name, staleness=9.0) for name in "ab"]
    others = [FixedQuery(f"other {number}") for number in range(20)]
    with pytest.raises(SinkError) as raised:
        serve([*failing, *others], StalenessFirst(), ManualClock(), 1.0)
    assert raised.value.query == "a"
    assert [query.runs for query in (*failing, *others)] == [1] * 22
