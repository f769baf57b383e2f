"""STALENESS INDEX: serve the key whose service now lowers mean staleness most.

The scheduler compares the heads of classes, each with its own rate and the priority in the middle
of its class. Here the index is worked out for every waiting key, as DESIGN.md (4.5) has it.
"""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from upstream.errors import CostError, ParameterError, WeightError
from upstream.keys import KeyCell
from upstream.schedulers import Scheduler, StalenessIndexScheduler, Surroundings
from upstream.statistics import GivenRates, ProcessingCost
from upstream.updates import Key

from .contract import KEYS, SchedulerContract
from .exact_index import Parameters, exact_index, make_line
from .feed import Feed, Line, no_place


class TestStalenessIndexScheduler(SchedulerContract):
    name = "index"
    policy = StalenessIndexScheduler

    def test_a_newer_update_keeps_the_place_of_the_older_one(self, feed: Feed, line: Line) -> None:
        feed.arrive("A", "B", "A", seconds_each=1.0)
        assert line.drain() == ["A", "B"]


class TestWithPriorities(SchedulerContract):
    """Weights and costs that are the same for all change nothing."""

    name = "index"

    def make(self) -> Scheduler:
        return StalenessIndexScheduler(longest_wait=5.0, weight=dict.fromkeys(KEYS, 3.0), cost=0.25)


# The index of one key against that of others.


middles_of_classes = st.builds(
    Parameters,
    rate=st.none() | st.integers(-8, 8).map(lambda power: math.ldexp(math.sqrt(0.5), power)),
    weight=st.integers(-12, 12).map(lambda quarters: 2.0 ** (quarters / 4)),
    cost=st.integers(-12, 12).map(lambda quarters: 2.0 ** (quarters / 4)),
)


@given(
    arrivals=st.lists(st.tuples(middles_of_classes, st.integers(0, 40)), min_size=1, max_size=12),
    cost=st.sampled_from([None, 0.125, 2.0]),
    seconds_each=st.sampled_from([0.0, 0.5, 8.0]),
)
def test_in_the_middle_of_a_class_the_largest_exact_index_is_served(
    arrivals: list[tuple[Parameters, int]], cost: float | None, seconds_each: float
) -> None:
    keys = {f"key {number}": one for number, (one, _) in enumerate(arrivals)}
    line = make_line(keys, cost=cost)
    feed = line.feed
    since = {}
    for key, (_, gap) in zip(keys, arrivals, strict=True):
        feed.now += gap / 8
        since[key] = feed.now
        feed.arrive(key)
    while since:
        feed.now += seconds_each
        horizon = 4 * (feed.now - min(since.values()) + (cost or 0.0))
        indices = {
            key: exact_index(keys[key], wait=feed.now - began, horizon=horizon)
            for key, began in since.items()
        }
        served = line.serve_key()
        assert served is not None
        assert indices[served] >= max(indices.values()) * (1 - 1e-9)
        del since[served]
    assert line.serve() is None


@pytest.mark.parametrize(
    ("one", "other", "first"),
    [
        # Both have waited as long: the one whose value stays good for longer, ...
        (Parameters(0.01), Parameters(10.0), "one"),
        (Parameters(10.0), Parameters(0.01), "other"),
        (Parameters(None), Parameters(10.0), "one"),
        (Parameters(0.0), Parameters(10.0), "one"),
        # ... that matters more, or that costs less.
        (Parameters(1.0, weight=2.0), Parameters(1.0), "one"),
        (Parameters(1.0, weight=0.5), Parameters(1.0), "other"),
        (Parameters(1.0, cost=2.0), Parameters(1.0), "other"),
        (Parameters(1.0, cost=0.5), Parameters(1.0), "one"),
        (Parameters(1.0, weight=2.0, cost=4.0), Parameters(1.0), "other"),
        # The weight multiplies, whatever the rate: 0.5 + 1 against 6 times 0.5 + a tenth.
        (Parameters(0.01, weight=1.0), Parameters(10.0, weight=16.0), "other"),
        (Parameters(0.01, weight=0.0), Parameters(10.0, weight=1e-9), "other"),
    ],
)
def test_among_equal_waits_the_key_with_the_larger_index_is_served(
    one: Parameters, other: Parameters, first: str
) -> None:
    for keys in (["one", "other"], ["other", "one"]):
        line = make_line({"one": one, "other": other}, cost=1.0)
        line.feed.arrive(*keys)
        line.feed.now += 1.0
        assert line.drain() == [first, *(key for key in ("one", "other") if key != first)]


@pytest.mark.parametrize("border", [2.0**-10, 0.125, 1.0, 64.0])
def test_keys_of_nearly_the_same_rate_are_in_place_on_both_sides_of_a_border(border: float) -> None:
    """A hundredth of the rate weighs less than a fiftieth of the wait, whatever the class."""
    rates = {"first": Parameters(1.01 * border), "second": Parameters(0.99 * border)}
    line = make_line(rates, cost=1.0 / border)
    for key in rates:
        line.feed.now += 0.02 / border
        line.feed.arrive(key)
    line.feed.now += 1.0 / border
    assert line.drain() == ["first", "second"]


def test_the_horizon_is_four_times_the_backlog() -> None:
    """After W = 1 s the busy key has 16 * 1/2, the quiet one 1/2 + 4(1 + c), which is 8 for 7/8."""
    keys = {"quiet": Parameters(None), "busy": Parameters(1e9, weight=16.0)}
    for cost, first in ((0.8, "busy"), (0.95, "quiet")):
        line = make_line(keys, cost=cost)
        line.feed.arrive("quiet", "busy")
        line.feed.now += 1.0
        assert line.serve_key() == first


def test_the_longest_wait_of_any_key_makes_the_horizon() -> None:
    keys = {
        "quiet": Parameters(None),
        "busy": Parameters(1e9, weight=16.0),
        "old": Parameters(1e9, weight=1e-6),
    }
    for seconds, first in ((0.5, "busy"), (1.5, "quiet")):
        line = make_line(keys, cost=None)
        line.feed.arrive("old")
        line.feed.now += seconds
        line.feed.arrive("quiet", "busy")
        line.feed.now += 1.0
        assert line.serve_key() == first


def test_keys_that_have_just_begun_to_wait_are_served_by_what_their_first_second_wins() -> None:
    keys = {"fast": Parameters(100.0), "slow": Parameters(0.01), "light": Parameters(0.01, 0.1)}
    line = make_line(keys, cost=1.0)
    line.feed.arrive("fast", "light", "slow")
    assert line.drain() == ["slow", "light", "fast"]


def test_a_class_that_is_used_again_has_the_weight_of_its_new_keys() -> None:
    keys = {"heavy": Parameters(1.0, 64.0), "light": Parameters(1.0, 0.1), "usual": Parameters(1.0)}
    line = make_line(keys, cost=1.0)
    line.feed.arrive("heavy")
    assert line.drain() == ["heavy"]
    line.feed.arrive("light", "usual")
    line.feed.now += 1.0
    assert line.drain() == ["usual", "light"]


def test_a_cost_that_is_given_to_the_scheduler_makes_the_horizon_while_none_is_measured() -> None:
    """Neither has waited yet; without any cost there is no horizon to tell the two apart."""
    rates: dict[Key, float] = {"fast": 100.0, "slow": 0.01}
    feed = Feed(GivenRates(rates))
    line = feed.attach(StalenessIndexScheduler(cost=1.0))
    feed.arrive("fast", "slow")
    assert line.drain() == ["slow", "fast"]


# The bound on starvation.


def test_a_key_of_no_weight_is_served_when_nothing_else_waits() -> None:
    line = make_line({"none": Parameters(1.0, weight=0.0), "some": Parameters(1.0)}, cost=1.0)
    line.feed.arrive("none", seconds_each=100.0)
    line.feed.arrive("some", seconds_each=0.01)
    assert line.drain() == ["some", "none"]


def test_no_key_waits_for_longer_than_it_may() -> None:
    keys = {"none": Parameters(1.0, weight=0.0), "busy": Parameters(100.0, weight=1000.0)}
    line = make_line(keys, cost=1.0, longest_wait=10.0)
    line.feed.arrive("none")
    for _ in range(9):
        line.feed.arrive("busy", seconds_each=1.0)
        assert line.serve_key() == "busy"
    line.feed.arrive("busy", seconds_each=1.0)
    assert line.drain() == ["none", "busy"]


def test_keys_that_have_waited_too_long_are_served_in_place() -> None:
    keys = {"A": Parameters(100.0, weight=0.01), "B": Parameters(1.0), "C": Parameters(0.01, 9.0)}
    line = make_line(keys, cost=1.0, longest_wait=2.0)
    line.feed.arrive("A", "B", "C", seconds_each=1.0)
    assert line.feed.now == 3.0
    assert line.drain(seconds_each=1.0) == ["A", "B", "C"]


# What is known of a key, and when it is asked for.


class CountedRates(GivenRates):
    """Rates that may change, and count how often they are looked at."""

    __slots__ = ("looks", "now")

    def __init__(self) -> None:
        super().__init__({})
        self.now: dict[Key, float] = {}
        self.looks: list[Key] = []

    def observe(self, cell: KeyCell) -> float | None:
        self.looks.append(cell.key)
        return self.now.get(cell.key)


def test_the_rate_is_that_before_the_arrival_and_stays_while_the_key_waits() -> None:
    rates = CountedRates()
    feed = Feed(rates)
    line = feed.attach(StalenessIndexScheduler(), cost=1.0)
    rates.now.update(A=100.0, B=0.01)
    feed.arrive(*"AB")
    rates.now.update(A=0.01, B=100.0)
    feed.arrive(*"ABAB")
    feed.now += 1.0
    assert rates.looks == ["A", "B"]
    assert line.drain() == ["B", "A"]
    feed.arrive(*"BA")
    feed.now += 1.0
    assert rates.looks == ["A", "B", "B", "A"]
    assert line.drain() == ["A", "B"]


def test_a_key_given_back_takes_its_place_among_keys_of_its_present_rate() -> None:
    rates = CountedRates()
    rates.now.update(A=1.0, B=1.0, C=1.0)
    feed = Feed(rates)
    line = feed.attach(StalenessIndexScheduler(), cost=1.0)
    feed.arrive(*"ABC", seconds_each=0.5)
    served = line.serve()
    assert served is not None
    rates.now["A"] = 1e6
    line.give_back(served)
    feed._check()
    # A has 1.5 ** 2 / 2, B has 1 / 2 + 1, C has 0.5 ** 2 / 2 + 0.5, or a little less each
    assert line.drain() == ["B", "A", "C"]


class Asked:
    """A function of keys that always gives the same, and notes when it is asked."""

    def __init__(self, number: float = 2.0) -> None:
        self.number = number
        self.keys: list[Key] = []

    def __call__(self, key: Key) -> float:
        self.keys.append(key)
        return self.number


def test_functions_are_asked_once_per_key() -> None:
    weight, cost = Asked(), Asked()
    feed = Feed()
    line = feed.attach(StalenessIndexScheduler(weight=weight, cost=cost))
    for _ in range(5):
        feed.arrive(*"AB", seconds_each=1.0)
        line.drain()
    assert weight.keys == cost.keys == ["A", "B"]
    feed.forget("A")
    feed.arrive(*"AB")
    assert weight.keys == cost.keys == ["A", "B", "A"]


def test_a_weight_from_a_function_stays_until_the_key_is_forgotten() -> None:
    weight = Asked(1.0)
    feed = Feed()
    line = feed.attach(StalenessIndexScheduler(weight=weight), cost=1.0)
    feed.arrive("A")
    line.drain()
    weight.number = 100.0
    feed.arrive("A", "B")
    feed.now += 1.0
    assert line.drain() == ["B", "A"]
    feed.forget("A")
    feed.arrive("A", "B")
    feed.now += 1.0
    assert line.drain() == ["A", "B"]


def test_no_priority_is_stored_for_a_key_that_is_not_added() -> None:
    scheduler = StalenessIndexScheduler(weight=Asked(), cost={"A": 3.0})
    for key in range(100):
        scheduler.terms_for(key)
    assert not scheduler._priorities


def test_without_weights_and_costs_no_priorities_are_stored() -> None:
    feed = Feed()
    scheduler = StalenessIndexScheduler(5.0)
    feed.attach(scheduler)
    feed.arrive("A")
    assert not scheduler._priorities


def test_nothing_is_left_of_the_keys_of_a_queue_that_is_gone() -> None:
    feed = Feed()
    scheduler = StalenessIndexScheduler(weight=Asked())
    line = feed.attach(scheduler)
    feed.arrive("A")
    assert len(scheduler._priorities) == 1
    feed.detach(line)
    assert not scheduler._priorities


def test_a_weight_that_a_mapping_leaves_out_is_one() -> None:
    for weight, first in ((0.5, "other"), (2.0, "heavy")):
        feed = Feed()
        line = feed.attach(StalenessIndexScheduler(weight={"heavy": weight}), cost=1.0)
        feed.arrive("heavy", "other")
        feed.now += 1.0
        assert line.serve_key() == first


# What makes no sense.

SENSELESS = [-1.0, -1e-300, math.nan, math.inf, -math.inf, "high"]


@pytest.mark.parametrize("number", SENSELESS)
def test_a_mapping_with_an_invalid_weight_or_cost_is_refused(number: float) -> None:
    with pytest.raises(WeightError, match="'B'") as weight:
        StalenessIndexScheduler(weight={"A": 1.0, "B": number})
    with pytest.raises(CostError, match="'B'") as cost:
        StalenessIndexScheduler(cost={"A": 1.0, "B": number})
    assert weight.value.value is cost.value.value is number


@pytest.mark.parametrize("number", SENSELESS)
def test_an_invalid_weight_or_cost_is_refused_with_its_key(number: float) -> None:
    for scheduler, error in (
        (StalenessIndexScheduler(weight=lambda key: number if key == "B" else 1.0), WeightError),
        (StalenessIndexScheduler(cost=lambda key: number if key == "B" else 1.0), CostError),
    ):
        scheduler.terms_for("A")
        with pytest.raises(error, match="'B'"):
            scheduler.terms_for("B")
        assert len(scheduler) == 0


@pytest.mark.parametrize("number", SENSELESS)
def test_an_invalid_cost_or_longest_wait_is_refused(number: float) -> None:
    with pytest.raises(CostError):
        StalenessIndexScheduler(cost=number)
    with pytest.raises(ParameterError, match="longest_wait"):
        StalenessIndexScheduler(number)


@pytest.mark.parametrize("extreme", [5e-324, 1e-300, 1e300, 1.7e308])
def test_any_finite_weight_cost_and_rate_can_be_served(extreme: float) -> None:
    for parameters in (
        Parameters(1.0, weight=extreme),
        Parameters(1.0, cost=extreme),
        Parameters(extreme),
        Parameters(1.0, weight=extreme, cost=1e-9),
        Parameters(1.0, weight=extreme, cost=1e9),
    ):
        line = make_line({"extreme": parameters, "usual": Parameters(1.0)}, cost=1.0)
        line.feed.arrive("extreme", "usual", seconds_each=1.0)
        assert sorted(line.drain(seconds_each=1.0)) == ["extreme", "usual"]


def test_a_class_that_empties_leaves_nothing_behind() -> None:
    """Rates that wander through all classes do not make a dequeue slower."""
    rates = CountedRates()
    feed = Feed(rates)
    line = feed.attach(StalenessIndexScheduler(), cost=1.0)
    for power in range(-30, 30):
        rates.now["A"] = 2.0**power
        feed.arrive("A", seconds_each=1.0)
        feed._check()
        assert line.serve_key() == "A"
        feed._check()


def test_surroundings_without_a_measured_cost_are_enough() -> None:
    scheduler = StalenessIndexScheduler()
    scheduler.bind(Surroundings(rates=GivenRates({}), cost=ProcessingCost(None), place_of=no_place))
    assert scheduler.next(0.0) is None
