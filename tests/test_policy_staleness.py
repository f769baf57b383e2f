"""The staleness of the policies on Poisson arrivals: the index against IN-PLACE and the bound.

One server of fixed cost, memoryless arrivals with Zipf keys. The unit of time is the mean time
between arrivals, so the load is the cost of an update. Every policy gets the same arrivals. All
keys arrive once at time 0, and what was measured in the first fifth is subtracted from the rest.

Noise, as standard deviation over seeds: since the arrivals are the same, the ratio of the index to
IN-PLACE varies by at most 0.8 % where its mean is above 0.985, and by at most 1.6 % elsewhere.
Staleness over its bound, where it is close to 1, varies by at most 1.5 % at Zipf 0.5 and 0.9, and
by up to 2.6 % at Zipf 1.2, where rare keys decide. Equal keys whose rates are estimated are noisier
beyond saturation, up to 1 % with 40,000 arrivals, and have 100,000 there. The seed is fixed, so the
same code measures the same numbers every time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
import pytest

from upstream import ManualClock, UpdateQueue, make_scheduler, staleness_lower_bound

pytestmark = pytest.mark.slow

KEYS = [10, 100, 1_000]
ZIPF = [0.5, 0.9, 1.2]
LOADS = [0.6, 0.9, 1.1, 2.0, 5.0, 20.0]
SEED = 20
WARM_UP = 0.2
LEAST_ARRIVALS = 40_000
LEAST_SERVICES_PER_KEY = 20

WORSE_THAN_IN_PLACE = 1.02
OVER_THE_BOUND = 1.08
BELOW_THE_BOUND = 0.97

OVERLOADED = 5.0
MANY_KEYS = 100


@dataclass(frozen=True, slots=True)
class Setting:
    keys: int
    zipf: float
    load: float
    arrivals: int = 0

    @property
    def rates(self) -> list[float]:
        weights = np.arange(1.0, self.keys + 1.0) ** -self.zipf
        return [float(rate) for rate in weights / weights.sum()]

    @property
    def size(self) -> int:
        enough = LEAST_SERVICES_PER_KEY * self.keys * self.load
        return self.arrivals or max(LEAST_ARRIVALS, int(enough))


@lru_cache(maxsize=1)
def drawn(setting: Setting) -> list[tuple[float, int]]:
    """Return the time and the key of each arrival; all policies of a setting get the same list."""
    random = np.random.default_rng(SEED)
    times = random.exponential(1.0, setting.size).cumsum()
    keys = random.choice(setting.keys, setting.size, p=setting.rates)
    return list(zip(times.tolist(), keys.tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class Staleness:
    queue: float
    application: float


@cache
def measure(policy: str, setting: Setting, *, is_estimated: bool) -> Staleness:
    """Return the mean staleness of one policy, after the warm-up."""
    server = Server(policy, setting, is_estimated=is_estimated)
    arrivals = drawn(setting)
    warm_up = int(WARM_UP * len(arrivals))
    server.take(arrivals[:warm_up])
    before = server.areas()
    server.take(arrivals[warm_up:])
    after = server.areas()
    server.queue._check()
    elapsed = arrivals[-1][0] - arrivals[warm_up - 1][0]
    return Staleness(*((end - start) / elapsed for start, end in zip(before, after, strict=True)))


class Server:
    """A queue and its only consumer, which never idles while something waits."""

    def __init__(self, policy: str, setting: Setting, *, is_estimated: bool) -> None:
        self.clock = ManualClock()
        self.cost = setting.load
        self.queue = UpdateQueue(
            make_scheduler(policy),
            clock=self.clock,
            rates=None if is_estimated else dict(enumerate(setting.rates)),
            processing_cost=None if is_estimated else self.cost,
        )
        for key in range(setting.keys):
            self.queue.enqueue(key, None)
        self.in_hand = self.queue.dequeue()
        self.ready = self.cost

    def take(self, arrivals: list[tuple[float, int]]) -> None:
        clock, queue, cost = self.clock, self.queue, self.cost
        in_hand, ready = self.in_hand, self.ready
        for time, key in arrivals:
            while ready <= time:
                clock.set(ready)
                assert in_hand is not None
                queue.deliver(in_hand)
                in_hand = queue.dequeue()
                ready = math.inf if in_hand is None else ready + cost
            clock.set(time)
            queue.enqueue(key, None)
            if in_hand is None:
                in_hand = queue.dequeue()
                ready = time + cost
        self.in_hand, self.ready = in_hand, ready

    def areas(self) -> tuple[float, float]:
        """Return the staleness so far times the time so far, which is the same for all keys."""
        now = self.clock.now()
        return self.queue.queue_staleness() * now, self.queue.application_staleness() * now


def assert_no_better_than_the_bound(setting: Setting, measured: Staleness) -> None:
    rates, cost = setting.rates, setting.load
    assert measured.queue >= BELOW_THE_BOUND * staleness_lower_bound(rates, cost)
    bound = staleness_lower_bound(rates, cost, of="application")
    assert measured.application >= BELOW_THE_BOUND * bound


def assert_index_holds(setting: Setting, *, is_estimated: bool) -> None:
    in_place = measure("in-place", setting, is_estimated=False)  # it asks for no rates
    index = measure("index", setting, is_estimated=is_estimated)
    assert index.queue <= WORSE_THAN_IN_PLACE * in_place.queue
    assert index.application <= WORSE_THAN_IN_PLACE * in_place.application
    for measured in (in_place, index):
        assert_no_better_than_the_bound(setting, measured)
    if setting.load >= OVERLOADED and setting.keys >= MANY_KEYS:
        bound = staleness_lower_bound(setting.rates, setting.load)
        assert index.queue <= OVER_THE_BOUND * bound


@pytest.mark.parametrize("is_estimated", [False, True], ids=["given", "estimated"])
@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize("zipf", ZIPF)
@pytest.mark.parametrize("keys", KEYS)
def test_the_index_is_hardly_ever_worse_than_in_place(
    keys: int, zipf: float, load: float, is_estimated: bool
) -> None:
    assert_index_holds(Setting(keys, zipf, load), is_estimated=is_estimated)


@pytest.mark.parametrize("is_estimated", [False, True])
def test_the_index_is_at_most_0_86_of_in_place_when_a_hundred_uneven_keys_overload_it_fivefold(
    is_estimated: bool,
) -> None:
    setting = Setting(keys=100, zipf=1.2, load=5.0, arrivals=100_000)
    in_place = measure("in-place", setting, is_estimated=False)
    index = measure("index", setting, is_estimated=is_estimated)
    assert index.queue <= 0.86 * in_place.queue
    assert index.application <= 0.86 * in_place.application


@pytest.mark.parametrize("load", LOADS)
def test_the_index_is_in_place_when_all_rates_are_equal(load: float) -> None:
    setting = Setting(keys=100, zipf=0.0, load=load, arrivals=20_000)
    in_place = measure("in-place", setting, is_estimated=False)
    assert measure("index", setting, is_estimated=False) == in_place


@pytest.mark.parametrize(("keys", "load"), [(128, 1.5), (1_000, 2.0)])
def test_estimates_on_both_sides_of_a_border_of_classes_hardly_part_equal_keys(
    keys: int, load: float
) -> None:
    """Rates of 1/128, and of nearly 1/1024: before heads had their own rates it was 1.025."""
    setting = Setting(keys=keys, zipf=0.0, load=load)
    index = measure("index", setting, is_estimated=True)
    assert index.queue <= 1.015 * measure("in-place", setting, is_estimated=False).queue


@pytest.mark.parametrize(
    ("keys", "load"),
    [
        *[(keys, load) for keys in KEYS for load in (0.5, 1.0, 1.5, 5.0, 20.0)],
        *[(32, 1.5), (100, 1.1), (128, 2.0)],
    ],
)
def test_the_index_is_hardly_worse_than_in_place_when_equal_rates_are_estimated(
    keys: int, load: float
) -> None:
    """With 32 and 128 keys the rate is a border of two classes, so estimates fall into either."""
    arrivals = 100_000 if load > 1.0 else LEAST_ARRIVALS
    arrivals = max(arrivals, int(12 * keys * load))
    assert_index_holds(Setting(keys, 0.0, load, arrivals), is_estimated=True)


@pytest.mark.parametrize("load", [0.6, 1.1, 5.0])
@pytest.mark.parametrize("policy", ["fifo", "linecutting"])
def test_fifo_and_linecutting_are_not_better_than_the_bound_and_serve_every_key(
    policy: str, load: float
) -> None:
    setting = Setting(keys=100, zipf=0.9, load=load)
    measured = measure(policy, setting, is_estimated=False)
    assert_no_better_than_the_bound(setting, measured)
    assert measured.queue < measured.application < setting.size / 2


@pytest.mark.parametrize("policy", ["fifo", "linecutting"])
def test_fifo_and_linecutting_starve_busy_keys_which_the_index_does_not(policy: str) -> None:
    setting = Setting(keys=100, zipf=1.2, load=5.0)
    starving = measure(policy, setting, is_estimated=False)
    assert starving.queue > 1.5 * measure("index", setting, is_estimated=False).queue
