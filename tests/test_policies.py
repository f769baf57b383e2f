"""The public names of the policies, and what they stand for."""

from __future__ import annotations

import pytest

from upstream import (
    POLICIES,
    SCHEDULERS,
    AdaptiveQueue,
    AppendQueue,
    ManualClock,
    Outcome,
    ParameterError,
    UnknownPolicyError,
    UpdateQueue,
    make_queue,
    make_scheduler,
)

from .queues import test_update_queue
from .queues.contract import QueueContract
from .queues.log import test_adaptive_queue, test_append_queue


def test_the_policies_have_the_names_that_users_know() -> None:
    names = ["append", "append-shedding", "adaptive", "fifo", "in-place", "linecutting", "index"]
    assert list(POLICIES) == names


def test_every_policy_is_under_the_contract_of_queues() -> None:
    modules = (test_append_queue, test_adaptive_queue, test_update_queue)
    suites = [suite for module in modules for suite in vars(module).values()]
    tested = {
        suite.policy
        for suite in suites
        if isinstance(suite, type) and issubclass(suite, QueueContract) and suite != QueueContract
    }
    assert tested == set(POLICIES)


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_makes_a_queue_of_its_kind(policy: str) -> None:
    queue = make_queue(policy, clock=ManualClock())
    if policy in SCHEDULERS:
        assert isinstance(queue, UpdateQueue)
        assert type(queue.scheduler) is SCHEDULERS[policy]
    else:
        assert isinstance(queue, AdaptiveQueue if policy == "adaptive" else AppendQueue)
    assert queue.enqueue("IBM", 24.0) is Outcome.WAITING
    assert make_queue(policy, clock=ManualClock()).dequeue() is None, "each call makes a new one"


def test_the_index_is_the_default() -> None:
    queue = make_queue()
    assert isinstance(queue, UpdateQueue)
    assert queue.scheduler.name == make_scheduler().name == "index"


@pytest.mark.parametrize("name", SCHEDULERS)
def test_a_scheduler_made_by_name_is_bound_to_no_queue(name: str) -> None:
    scheduler = make_scheduler(name)
    assert scheduler.name == name
    assert not scheduler.is_bound
    assert make_scheduler(name) is not scheduler


@pytest.mark.parametrize("name", ["lifo", "IN-PLACE", "in_place", "", None, 3])
def test_an_unknown_policy_is_an_error_that_lists_the_known_ones(name: object) -> None:
    with pytest.raises(UnknownPolicyError, match="choose one of append, ") as raised:
        make_queue(name)  # type: ignore[arg-type]
    assert raised.value.name == name
    assert raised.value.known == POLICIES
    with pytest.raises(UnknownPolicyError, match="choose one of fifo, ") as raised:
        make_scheduler(name)  # type: ignore[arg-type]
    assert raised.value.known == tuple(SCHEDULERS)


@pytest.mark.parametrize("name", ["append", "append-shedding", "adaptive"])
def test_a_policy_without_a_scheduler_is_an_error(name: str) -> None:
    with pytest.raises(UnknownPolicyError):
        make_scheduler(name)


@pytest.mark.parametrize(
    ("policy", "rejected", "shed", "superseded"),
    [
        ("append", 1, 0, 0),
        ("append-shedding", 0, 1, 0),
        ("adaptive", 0, 0, 2),
        ("fifo", 1, 0, 0),
        ("in-place", 1, 0, 0),
        ("linecutting", 1, 0, 0),
        ("index", 1, 0, 0),
    ],
)
def test_the_capacity_limits_the_waiting_updates(
    policy: str, rejected: int, shed: int, superseded: int
) -> None:
    queue = make_queue(policy, clock=ManualClock(), capacity=2)
    keys = "AAA" if policy == "adaptive" else "ABC"
    for key in keys:
        queue.enqueue(key, 1)
    statistics = queue.statistics()
    lost = (statistics.rejected, statistics.shed, statistics.superseded)
    assert lost == (rejected, shed, superseded)
    assert statistics.is_balanced


def test_shedding_has_a_capacity_of_its_own_and_repeats_with_its_seed() -> None:
    def kept(seed: int) -> list[object]:
        queue = make_queue("append-shedding", clock=ManualClock(), seed=seed)
        queue.enqueue_many([0] * 1_100, list(range(1_100)))
        assert len(queue) == 1_000
        return [update.value for update in queue.dequeue_many(1_100)]

    assert kept(1) == kept(1)
    assert kept(1) != kept(2)


@pytest.mark.parametrize("policy", POLICIES)
def test_rates_and_the_cost_can_be_given(policy: str) -> None:
    queue = make_queue(policy, clock=ManualClock(), rates={"IBM": 3.0}, processing_cost=1.0)
    queue.enqueue("IBM", 24.0)
    assert queue.processing_cost == 1.0
    bound = queue.lower_bound()
    assert bound is not None
    assert bound > 0.0


@pytest.mark.parametrize("policy", POLICIES)
def test_the_cost_can_be_a_function(policy: str) -> None:
    clock = ManualClock()
    told: list[float | None] = [None]
    queue = make_queue(policy, clock=clock, processing_cost=lambda: told[0])
    for key in ("IBM", "MSFT"):
        queue.enqueue(key, 24.0)
    served = queue.dequeue_many(2)
    clock.advance(3.0)
    queue.deliver_many(served)
    assert queue.processing_cost is None, "deliveries are not measured"
    told[0] = 0.25
    assert queue.processing_cost == 0.25


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("capacity", [0, -1, 2.5])
def test_a_capacity_is_a_whole_number_above_zero(policy: str, capacity: int) -> None:
    with pytest.raises(ParameterError):
        make_queue(policy, capacity=capacity)
