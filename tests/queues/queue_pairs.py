"""Queues of all kinds with random parameters, each beside its model."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from upstream import (
    AdaptiveQueue,
    AppendQueue,
    FifoScheduler,
    InPlaceScheduler,
    Key,
    LinecuttingScheduler,
    PacedScheduler,
    RandomShedding,
    StalenessIndexScheduler,
    StreamQueue,
    UpdateQueue,
)

from .model import Limits, ModelQueue
from .model_kinds import (
    ModelAdaptiveQueue,
    ModelAppendQueue,
    ModelFifo,
    ModelInPlace,
    ModelLinecutting,
    ModelPaced,
    ModelUpdateQueue,
)

KEYS = "ABCD"
RATES: dict[Key, float] = {"A": 4.0, "B": 1.0, "C": 0.25, "D": 0.0625}
WEIGHTS: dict[Key, float] = {"A": 1.0, "B": 2.0, "C": 0.25, "D": 0.0}
COST = 0.5
LOCATIONS = 2
MOST_QUEUES = 4
MAY_FALL = {"waiting", "in_process", "keys"}

Pair = tuple[StreamQueue, ModelQueue]

keys = st.sampled_from(KEYS)
seconds = st.sampled_from([0.25, 0.5, 1.0, 2.5, 8.0])
pauses = st.sampled_from([0.0, 0.0, 0.25, 0.5])
ages = st.sampled_from([None, None, 2.0, 5.5])
process_limits = st.sampled_from([2, 1_000, 1_000])
limits: st.SearchStrategy[Limits] = st.builds(
    Limits,
    capacity=st.sampled_from([None, None, 1, 2, 3]),
    time_to_live=ages,
    in_process_limit=process_limits,
)
source_times = st.sampled_from([None, None, 0.0, -0.5, -2.0, 1.0])
"""None for the clock's, else from now."""


@st.composite
def update_queues(draw: st.DrawFn) -> Pair:
    drawn = draw(limits)
    scheduler = draw(st.sampled_from([FifoScheduler, InPlaceScheduler, StalenessIndexScheduler]))
    longest = draw(st.sampled_from([None, 1.0, 4.0]))
    weights = draw(st.sampled_from([None, {"A": 8.0, "B": 0.0}, WEIGHTS.__getitem__]))
    queue = UpdateQueue(
        StalenessIndexScheduler(longest, weight=weights)
        if scheduler is StalenessIndexScheduler
        else scheduler(),
        **drawn,
    )
    model = {FifoScheduler: ModelFifo, InPlaceScheduler: ModelInPlace}.get(
        scheduler, ModelUpdateQueue
    )(**drawn)
    if scheduler is StalenessIndexScheduler and longest is not None:
        model.longest_wait = longest
    return queue, model


@st.composite
def linecutting_queues(draw: st.DrawFn) -> Pair:
    drawn = draw(limits)
    queue = UpdateQueue(LinecuttingScheduler(), **drawn, processing_cost=COST)
    return queue, ModelLinecutting(rates=RATES, cost=COST, **drawn)


@st.composite
def paced_queues(draw: st.DrawFn) -> Pair:
    drawn = draw(limits)
    chosen = draw(st.permutations([0.0, 1.0, 4.0, math.inf]))
    intervals: dict[Key, float] = dict(zip(KEYS, chosen, strict=True))
    queue = UpdateQueue(PacedScheduler(InPlaceScheduler(), intervals.__getitem__), **drawn)
    return queue, ModelPaced(intervals=intervals, **drawn)


@st.composite
def append_queues(draw: st.DrawFn) -> Pair:
    drawn = draw(limits)
    seed = draw(st.none() | st.integers(0, 3)) if drawn["capacity"] is not None else None

    def shedding() -> RandomShedding | None:
        return None if seed is None else RandomShedding(seed)

    queue = AppendQueue(shedding=shedding(), **drawn)
    return queue, ModelAppendQueue(shedding=shedding(), **drawn)


@st.composite
def adaptive_queues(draw: st.DrawFn) -> Pair:
    age, limit = draw(ages), draw(process_limits)
    max_waiting = draw(st.sampled_from([1, 2, 4]))
    resume_waiting = draw(st.integers(0, max_waiting - 1))
    max_age = draw(st.sampled_from([None, None, 1.5, 3.0]))
    queue = AdaptiveQueue(
        InPlaceScheduler(),
        max_waiting=max_waiting,
        resume_waiting=resume_waiting,
        max_age=max_age,
        time_to_live=age,
        in_process_limit=limit,
    )
    bound = float("inf") if max_age is None else max_age
    model = ModelAdaptiveQueue(
        max_waiting=max_waiting,
        resume_waiting=resume_waiting,
        max_age=bound,
        resume_age=bound / 2,
        time_to_live=age,
        in_process_limit=limit,
    )
    return queue, model
