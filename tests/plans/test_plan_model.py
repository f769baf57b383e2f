"""Random plans over random updates, against the model, and with every update accounted for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

from hypothesis import given, note
from hypothesis import strategies as st

from upstream import TOMBSTONE, EagerWindowBuffer, Stream, Update, WindowQueueStatistics
from upstream.plans import (
    Aggregate,
    Arc,
    Filter,
    Join,
    Map,
    Operator,
    PlanQuery,
    Source,
    Union,
)

from .plan_model import UNLUCKY, ModelPlan, combined, is_odd_pair, is_wanted, next_number
from .setting import Streams

Builder = Callable[[Streams], Operator]
"""Makes an operator, and all that feeds it, over two streams."""
ArcBuilder = Callable[[Streams], Arc]

MODELLED = ("append", "fifo", "in-place", "linecutting", "index")
ANY_TUPLE_POLICY = (*MODELLED, "adaptive", "append-shedding")


def source(*, is_right: bool) -> Builder:
    return lambda streams: Source(streams.right if is_right else streams.left)


def arc(below: Builder, policy: str) -> ArcBuilder:
    return lambda streams: Arc(below(streams), policy)


def filtering(below: ArcBuilder) -> Builder:
    return lambda streams: Filter(below(streams), is_wanted)


def mapping(below: ArcBuilder) -> Builder:
    return lambda streams: Map(below(streams), next_number)


def union(first: ArcBuilder, second: ArcBuilder) -> Builder:
    return lambda streams: Union(first(streams), second(streams))


def joining(left: ArcBuilder, right: ArcBuilder, window: int) -> Builder:
    return lambda streams: Join(
        left(streams), right(streams), window=window, predicate=is_odd_pair, combine=combined
    )


def eager_sums(below: ArcBuilder) -> Builder:
    return lambda streams: Aggregate(
        below(streams), "sum", size=3, slide=2, buffer=EagerWindowBuffer
    )


def grouped_sums(below: ArcBuilder) -> Builder:
    return lambda streams: Aggregate(below(streams), "sum", size=3, by=lambda update: update.time)


def plans(policies: Iterable[str], *, with_windows: bool) -> st.SearchStrategy[Builder]:
    """Return trees of operators, each fed over arcs of any of the policies."""

    def operators(below: st.SearchStrategy[Builder]) -> st.SearchStrategy[Builder]:
        arcs = st.builds(arc, below, st.sampled_from(sorted(policies)))
        kinds = [
            st.builds(filtering, arcs),
            st.builds(mapping, arcs),
            st.builds(union, arcs, arcs),
            st.builds(joining, arcs, arcs, st.integers(0, 4)),
        ]
        if with_windows:
            windows = st.builds(arc, below, st.sampled_from(["append", "in-place", "index"]))
            kinds += [st.builds(eager_sums, windows), st.builds(grouped_sums, windows)]
        return st.one_of(kinds)

    sources = st.builds(source, is_right=st.booleans())
    return operators(st.recursive(sources, operators, max_leaves=4))


def by_key(updates: Iterable[Update]) -> dict[object, list[Update]]:
    found = defaultdict(list)
    for update in updates:
        found[update.key].append(update)
    return dict(found)


arrivals = st.tuples(
    st.integers(0, 1), st.sampled_from("ab"), st.integers(0, UNLUCKY), st.integers(0, 8)
)


class Feeding:
    """A stream's updates, in the order that update streams have: times ascend for each key."""

    def __init__(self, streams: Streams) -> None:
        self._streams = streams
        self._times: dict[object, int] = defaultdict(int)

    def next(self, side: int, key: str, value: int, seconds: int) -> tuple[Stream, Update]:
        stream = self._streams.right if side else self._streams.left
        self._times[stream, key] += seconds // 4 + 1
        update = Update(key, value, float(self._times[stream, key]))
        stream.enqueue(*update)
        return stream, update


@given(
    plan=plans(MODELLED, with_windows=False),
    policy=st.sampled_from(MODELLED),
    input=st.sampled_from(["push", "pull"]),
    steps=st.lists(st.one_of(arrivals, st.none()), max_size=40),
)
def test_a_plan_delivers_what_the_model_does(
    plan: Builder,
    policy: str,
    input: str,  # noqa: A002 - the report's word
    steps: list[tuple[int, str, int, int] | None],
) -> None:
    streams = Streams()
    root = Arc(plan(streams), policy)
    query, model = PlanQuery(root, input=input, clock=streams.clock), ModelPlan.of(root)
    note(query.explain())
    feeding = Feeding(streams)
    for step in [*steps, None]:
        if step is None:
            model.run()
            assert by_key(query.results()) == by_key(model.results.take())
        else:
            model.arrive(*feeding.next(*step))
            if input == "push":
                model.run()
        query._check()


wild_arrivals = st.tuples(
    st.integers(0, 1),
    st.sampled_from("ab"),
    st.sampled_from([1, 2, 3, UNLUCKY, None, TOMBSTONE]),
    st.integers(0, 20),
)
other_steps = st.sampled_from(["run", "results", "dequeue", "give back", "advance", "wait"])


@given(
    plan=plans(ANY_TUPLE_POLICY, with_windows=True),
    policy=st.sampled_from(ANY_TUPLE_POLICY),
    capacity=st.one_of(st.none(), st.integers(1, 3)),
    models=st.sampled_from(
        [("push", "push"), ("push", "pull"), ("pull", "push"), ("pull", "pull")]
    ),
    batch=st.integers(1, 5),
    steps=st.lists(st.one_of(wild_arrivals, other_steps), max_size=40),
)
def test_every_update_is_accounted_for(  # noqa: PLR0917 - what is drawn
    plan: Builder,
    policy: str,
    capacity: int | None,
    models: tuple[str, str],
    batch: int,
    steps: list[tuple[int, str, object, int] | str],
) -> None:
    streams = Streams()
    pushed: list[Update] = []
    query = PlanQuery(
        Arc(plan(streams), policy, capacity),
        input=models[0],
        output=models[1],
        callback=pushed.append if models[1] == "push" else None,
        batch=batch,
        clock=streams.clock,
    )
    note(query.explain())
    for number, step in enumerate(steps):
        if isinstance(step, str):
            do(step, query, streams, number)
        else:
            side, key, value, time = step
            (streams.right if side else streams.left).enqueue(key, value, time)
        check_flow(query, len(pushed))
    while query.is_due():
        query.run()
    check_flow(query, len(pushed))
    query.close()
    check_flow(query, len(pushed))
    assert streams.left.statistics().queues == streams.right.statistics().queues == 0


def do(step: str, query: PlanQuery, streams: Streams, number: int) -> None:
    pulls_output = not query.explain().splitlines()[0].endswith("push")
    if step == "run":
        query.run()
    elif step == "advance":
        query.advance(number)
    elif step == "wait":
        streams.clock.advance(1)
    elif pulls_output and step == "results":
        query.results(2)
    elif pulls_output and (update := query.dequeue()) is not None:
        (query.give_back if step == "give back" else query.deliver)(update)


def check_flow(query: PlanQuery, pushed: int) -> None:
    """State that what one operator delivers arrives at the next, and is taken or accounted for."""
    query._check()
    statistics = query.statistics()
    operators = {operator.name: operator for operator in statistics.operators}
    taken: dict[str, int] = defaultdict(int)
    for arc in statistics.arcs:
        if isinstance(arc.queue, WindowQueueStatistics):
            arrived = arc.queue.tuples.arrived
            taken.pop(arc.target, None)
        else:
            arrived = arc.queue.arrived
            taken[arc.target] += arc.queue.dequeued - arc.queue.returned
        if arc.source in operators:
            assert arrived == operators[arc.source].delivered
    for name, count in taken.items():
        if name in operators:
            assert operators[name].taken == count
    if "application" in operators:
        assert operators["application"].delivered == pushed
