"""How many updates a consumer takes at a time, with a clock that the tests move."""

from __future__ import annotations

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream import ManualClock
from upstream.client.pace import LONGEST_SECONDS, MOST, ROUND_TRIPS, Pace

from .both_clients import Connect
from .scripted_service import ScriptedService, answer

REQUEST = 0.002
"""How long a request takes, in seconds, unless a test says otherwise."""


class Consumer:
    """Consumes from a queue that always has enough; only the clock passes time."""

    def __init__(self, *, limit: int | None = None) -> None:
        self.clock = ManualClock()
        self.pace = Pace(limit, self.clock.now)
        self.sizes: list[int] = []

    def take(self, cost: float, *, request: float = REQUEST, deliver: float = 0.0) -> int:
        """Take one batch, process it, deliver it, and return its size."""
        size = self.pace.next_limit()
        self.clock.advance(request)
        self.pace.received(size)
        self.clock.advance(size * cost)
        self.pace.used()
        self.clock.advance(deliver)
        self.sizes.append(size)
        return size

    def wait_for_one(self, cost: float, *, wait: float) -> int:
        """Take one update, which came after `wait` seconds; return how many were requested."""
        limit = self.pace.next_limit()
        self.clock.advance(wait)
        self.pace.received(1)
        self.clock.advance(cost)
        self.pace.used()
        return limit

    def settle(self, cost: float, **seconds: float) -> int:
        """Take batches until their size has settled, and return it."""
        for _ in range(30):
            self.take(cost, **seconds)
        return self.take(cost, **seconds)


def test_the_first_batch_is_one_update() -> None:
    for cost in (0.0, 0.02, 30.0):
        assert Consumer().take(cost) == 1


def test_batches_grow_fourfold_unless_they_are_quick() -> None:
    consumer = Consumer()
    consumer.settle(0.003, request=0.05)
    assert consumer.sizes[:5] == [1, 4, 16, 64, 83]
    quick = Consumer()
    quick.settle(0.00005)
    assert quick.sizes[:2] == [1, MOST]


def test_a_consumer_that_costs_nothing_needs_one_more_request_than_with_large_batches() -> None:
    for requests in (10, 100):
        consumer = Consumer()
        while sum(consumer.sizes) < requests * MOST:
            consumer.take(0.0)
        assert len(consumer.sizes) <= requests + 1


@pytest.mark.parametrize(("cost", "part"), [(0.02, 0.02), (0.001, 0.25), (0.0, 1.0)])
def test_updates_are_younger_when_the_consumer_gets_them(cost: float, part: float) -> None:
    def mean_age(consumer: Consumer) -> float:
        consumer.settle(cost)
        return REQUEST + cost * (consumer.sizes[-1] - 1) / 2

    fixed, paced = mean_age(Consumer(limit=MOST)), mean_age(Consumer())
    assert paced <= max(part * fixed, REQUEST)


@pytest.mark.parametrize(("cost", "size"), [(0.02, 1), (0.001, 20), (0.0001, MOST), (1.0, 1)])
def test_a_batch_takes_ten_times_as_long_to_process_as_to_request(cost: float, size: int) -> None:
    assert Consumer().settle(cost) == pytest.approx(size, abs=1)


def test_delivering_counts_as_requesting() -> None:
    assert Consumer().settle(0.001, deliver=REQUEST) == pytest.approx(40, abs=1)


def test_slow_requests_bound_the_age_of_the_data_first() -> None:
    assert Consumer().settle(0.02, request=0.1) == int(LONGEST_SECONDS / 0.02)


def test_the_slowest_requests_take_no_more_time_than_processing() -> None:
    assert Consumer().settle(0.02, request=1.0) == pytest.approx(50, abs=1)


def test_a_limit_that_was_given_stays() -> None:
    consumer = Consumer(limit=70)
    assert {consumer.take(cost) for cost in (0.0, 5.0, 0.001)} == {70}


def test_a_consumer_that_becomes_slow_gets_small_batches_at_once() -> None:
    consumer = Consumer()
    consumer.settle(0.0001)
    consumer.take(0.05)
    assert consumer.take(0.05) == 1


def test_a_consumer_that_becomes_fast_gets_large_batches_again() -> None:
    consumer = Consumer()
    consumer.settle(0.05)
    assert consumer.settle(0.0) == MOST


def test_requests_that_become_slow_get_larger_batches() -> None:
    consumer = Consumer()
    assert consumer.settle(0.001) < 25
    for _ in range(30):
        consumer.take(0.001, request=0.02)
    assert consumer.take(0.001, request=0.02) == MOST


def test_waiting_for_updates_does_not_count_as_a_slow_request() -> None:
    consumer = Consumer()
    before = consumer.settle(0.001)
    for _ in range(5):
        assert consumer.wait_for_one(0.001, wait=20.0) > 1
    for _ in range(3):
        consumer.take(0.001)
    assert consumer.take(0.001) == pytest.approx(before, abs=1)


def test_after_a_quiet_time_a_burst_begins_with_a_small_batch() -> None:
    consumer = Consumer()
    for _ in range(3):
        consumer.wait_for_one(0.02, wait=5.0)
    assert consumer.take(0.02) <= 4
    assert consumer.take(0.02) <= 1


def test_an_answer_without_updates_changes_no_estimate() -> None:
    consumer = Consumer()
    before = consumer.settle(0.001, deliver=REQUEST)
    consumer.pace.next_limit()
    consumer.pace.received(0)
    consumer.pace.used()
    sizes = [consumer.take(0.001, deliver=REQUEST) for _ in range(4)]
    assert sizes[0] <= 10
    assert sizes[-1] == pytest.approx(before, abs=1)


@given(
    cost=st.floats(0.0, 10.0),
    request=st.floats(1e-4, 10.0),
    deliver=st.floats(0.0, 10.0),
)
def test_requests_never_need_more_time_than_processing_unless_a_batch_is_full(
    cost: float, request: float, deliver: float
) -> None:
    size = Consumer().settle(cost, request=request, deliver=deliver)
    assert 1 <= size <= MOST
    seconds = max(request + deliver, min(ROUND_TRIPS * (request + deliver), LONGEST_SECONDS))
    assert size in (1, MOST) or abs(size * cost - seconds) <= cost + 0.1 * seconds


@pytest.mark.parametrize("is_leased", [False, True], ids=["no leases", "leases"])
def test_a_client_consumes_at_the_pace_of_its_caller(connect: Connect, *, is_leased: bool) -> None:
    service, clock = ScriptedService(answer({"delivered": 1})), ManualClock()

    sizes: list[int] = []
    lease = {"lease": "r-1"} if is_leased else {}
    update = {"key": "a", "value": 1, "time": 2.0} | lease

    def give(request: httpx2.Request) -> None:
        clock.advance(REQUEST)
        if request.url.path.endswith("dequeue"):
            sizes.append(int(request.url.params["limit"]))
            service.replies(answer({"updates": [update] * sizes[-1]}))

    service.before_reply = give
    with service.client(connect, clock=clock) as client:
        for number, _ in enumerate(client.consume("q")):
            clock.advance(0.02 if number < 50 else 0.0)
            if len(sizes) > 70:
                break
    assert set(sizes[:20]) <= {1, 2}
    assert sizes[-1] == MOST
    assert sum("delivered" in each.url.path for each in service.requests) == is_leased * 70
