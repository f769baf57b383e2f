"""Random calls of queries that share an evaluation, beside queries that share nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.queries.setting import append, make_streams
from tests.queries.setting import given as told
from tests.queries.test_shared_queries import SUMS, are_shared
from upstream import ClosedError, Engine, ManualClock, Result
from upstream.queries import Emit

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(0, 25)),
        st.tuples(
            st.sampled_from(["results", "next", "latest", "ask", "evaluate", "close"]),
            st.integers(0, 2),
        ),
        st.tuples(st.just("run"), st.just(0)),
    ),
    min_size=4,
    max_size=25,
)


class Watched:
    """A query with a callback or without, and everything that it returned."""

    def __init__(self, engine: Engine, *, pushes: bool, keep: int, emit: Emit) -> None:
        self.pushed: list[Result] = []
        callback = self.pushed.append if pushes else None
        self.query = engine.continuous_query(SUMS, callback=callback, keep=keep, emit=emit)

    def act(self, step: str) -> list[tuple[object, ...]]:
        """Call the query, and return what it says."""
        try:
            return self._called(step)
        except ClosedError:
            return [("closed",)]

    def _called(self, step: str) -> list[tuple[object, ...]]:
        query = self.query
        if step == "results":
            return shown(query.results())
        if step == "next":
            query.evaluate()  # otherwise it takes what waits, which others may have evaluated
            return shown([next(iter(query), None)])
        if step == "latest":
            return shown([query.latest()])
        if step == "ask":
            answer = query.ask()
            assert answer is not None
            # without a result for the window, it is as old as the first question of any query
            return shown([replace(answer, staleness=0.0)])
        if step == "evaluate":
            query.evaluate()
        if step == "close":
            query.close()
        return []


def shown(results: Sequence[Result | None]) -> list[tuple[object, ...]]:
    found = [each for each in results if each is not None]
    numbers = [(each.missed, each.staleness) for each in found]
    return [(*one, *other) for one, other in zip(told(found), numbers, strict=True)]


@pytest.fixture(scope="module")
def four_engines(shared_clock: ManualClock) -> Iterator[Sequence[Engine]]:
    """Four engines with the same streams: queries read only what comes after they were made."""
    with ExitStack() as stack:
        engines = [stack.enter_context(Engine(clock=shared_clock)) for _ in range(4)]
        for engine in engines:
            make_streams(engine)
        yield engines


@given(
    steps=STEPS,
    options=st.sampled_from([("slide", 1), ("slide", 2), ("slide", 100), ("changed", 100)]),
    pushing=st.integers(0, 2),
)
def test_sharing_changes_nothing_that_a_query_returns(
    four_engines: Sequence[Engine],
    shared_clock: ManualClock,
    *,
    steps: list[tuple[str, int]],
    options: tuple[Emit, int],
    pushing: int,
) -> None:
    """If results are dropped, `emit="changed"` compares those that were evaluated."""
    emit, keep = options
    pushes = [number < pushing for number in range(3)]
    together, *others = four_engines
    with ExitStack() as stack:
        shared = [Watched(together, pushes=each, keep=keep, emit=emit) for each in pushes]
        pairs = zip(others, pushes, strict=True)
        alone = [Watched(engine, pushes=each, keep=keep, emit=emit) for engine, each in pairs]
        for watched in (*shared, *alone):
            stack.enter_context(watched.query)
        assert are_shared(shared[0].query, shared[2].query)
        time = 0
        for step, number in steps:
            shared_clock.advance(1)
            if step == "append":
                time += number
                for engine in four_engines:
                    append(engine, "bids", (time, 1 + time // 20))
            elif step == "run":
                for engine in four_engines:
                    engine.run(1.0)
            else:
                assert shared[number].act(step) == alone[number].act(step)
        compare_at_the_end(shared, alone)


def compare_at_the_end(shared: Sequence[Watched], alone: Sequence[Watched]) -> None:
    """Compare what callbacks received, what waits, and the counts of results."""
    for one, other in zip(shared, alone, strict=True):
        assert one.act("results") == other.act("results")
        assert shown(one.pushed) == shown(other.pushed)
        counts = one.query.statistics(), other.query.statistics()
        assert counts[0].is_balanced
        assert counts[0].results_taken == counts[1].results_taken
