"""The lower bound: solved by hand, against all feasible cycles, and against a loop over events."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.staleness.event_loop import (
    Floats,
    Policy,
    Server,
    measure,
    serve_any,
    serve_largest_index,
    serve_longest_waiting,
)
from upstream.errors import CostError, ParameterError, RateError, WeightError
from upstream.staleness.lower_bound import staleness_lower_bound
from upstream.staleness.single_key import (
    single_key_application_staleness,
    single_key_queue_staleness,
)

KINDS = ["queue", "application"]
magnitudes = st.floats(-9.0, 9.0).map(lambda exponent: 10.0**exponent)
moderate = st.floats(0.05, 20.0)


def zipf_rates(size: int, *, load: float, exponent: float = 1.0) -> Floats:
    weights = np.arange(1.0, size + 1.0) ** -exponent
    return np.asarray(load * weights / weights.sum())


def staleness_of_cycles(  # as DESIGN.md, section 6 writes it
    rates: Floats, costs: Floats, weights: Floats, waits: Floats, of: str
) -> Floats:
    area = waits**2 / 2
    if of == "application":
        none_in_time = np.exp(-rates * costs)
        early = costs**2 - 2 * costs / rates + 2 * (1 - none_in_time) / rates**2
        area = (waits + costs) ** 2 / 2 - early / 2
    return np.asarray(weights * area / (1 / rates + waits))


# Solved by hand


@pytest.mark.parametrize("size", [1, 2, 10, 1000])
@pytest.mark.parametrize("load_per_key", [1.5, 7.0, 1e4])
def test_keys_with_equal_rates_are_each_served_once_in_n_costs(
    size: int, load_per_key: float
) -> None:
    cost, rate = 0.5, load_per_key / 0.5
    cycle = size * cost
    wait = cycle - 1 / rate
    early = cost**2 - 2 * cost / rate + 2 * (1 - math.exp(-rate * cost)) / rate**2
    queue = staleness_lower_bound([rate] * size, cost)
    application = staleness_lower_bound([rate] * size, cost, of="application")
    assert queue == pytest.approx(wait**2 / 2 / cycle, rel=1e-9)
    assert application == pytest.approx(((wait + cost) ** 2 - early) / 2 / cycle, rel=1e-9)


@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_keys_that_always_have_an_update_wait_half_a_round(size: int) -> None:
    # Served in turn: from 0 to n c in the queue, from c to (n + 1) c at the application.
    rates, cost = [1e9] * size, 3.0
    assert staleness_lower_bound(rates, cost) == pytest.approx(size * cost / 2)
    assert staleness_lower_bound(rates, cost, of="application") == pytest.approx(
        (size + 2) * cost / 2
    )


def test_keys_that_always_have_an_update_are_served_by_the_root_of_weight_over_cost() -> None:
    costs, weights = np.array([1.0, 4.0, 0.25]), np.array([2.0, 1.0, 3.0])
    bound = staleness_lower_bound([1e12] * 3, costs, weights=weights)
    assert bound == pytest.approx(np.sqrt(costs * weights).sum() ** 2 / 2 / 3)


def test_a_queue_that_is_not_overloaded_could_be_empty() -> None:
    assert staleness_lower_bound([0.2, 0.3, 0.4], 1.0) == 0.0
    assert staleness_lower_bound([0.2, 0.3], [1.0, 2.0], weights=[5.0, 1.0]) == 0.0


def test_processing_makes_an_application_stale_that_is_not_overloaded() -> None:
    rates, cost = [0.2, 0.3], 1.5
    by_hand = [cost - (1 - math.exp(-rate * cost)) / rate for rate in rates]
    bound = staleness_lower_bound(rates, cost, of="application")
    assert bound == pytest.approx(sum(by_hand) / 2)


def test_the_bound_is_continuous_where_the_overload_begins() -> None:
    for of in KINDS:
        below = staleness_lower_bound([0.5, 0.5 - 1e-9], 1.0, of=of)
        above = staleness_lower_bound([0.5, 0.5 + 1e-9], 1.0, of=of)
        assert above == pytest.approx(below, abs=1e-8)


def test_a_slight_overload_makes_only_the_busy_key_wait_for_the_application() -> None:
    # The rare key's threshold is 0 there: what it waits in the processing alone is more than W.
    rates, costs, ones = np.array([20.0, 1e-3]), np.array([0.05, 1.0]), np.ones(2)
    wait = costs[0] / (1 - rates[1] * costs[1]) - 1 / rates[0]
    by_hand = staleness_of_cycles(rates, costs, ones, np.array([wait, 0.0]), "application")
    assert wait > 0.0
    bound = staleness_lower_bound(rates, costs, of="application")
    assert bound == pytest.approx(by_hand.mean(), rel=1e-8)


# Valid, and the best of its kind


@pytest.mark.parametrize("of", KINDS)
@pytest.mark.parametrize(
    ("rates", "costs", "weights"),
    [
        ([1.0, 0.3], [1.0, 1.0], [1.0, 1.0]),
        ([5.0, 0.1], [0.5, 2.0], [1.0, 3.0]),
        ([50.0, 40.0], [1.0, 0.1], [0.2, 1.0]),
        ([0.9, 0.9], [1.0, 0.2], [1.0, 10.0]),
    ],
)
def test_a_search_over_all_cycles_of_two_keys_finds_the_bound(
    of: str, rates: list[float], costs: list[float], weights: list[float]
) -> None:
    (rate, other_rate), (cost, other_cost) = rates, costs
    low, high, best = max(0.0, cost - 1 / rate) + 1e-9, 60.0 * sum(costs), math.inf
    for _ in range(4):  # each time around the best so far
        wait = np.linspace(low, high, 10_001)
        time_left = 1 - cost / (1 / rate + wait)
        other_wait = np.maximum(0.0, other_cost / time_left - 1 / other_rate)
        waits = np.array([wait, other_wait])
        columns = np.array([rates, costs, weights])[:, :, None]
        both = staleness_of_cycles(columns[0], columns[1], columns[2], waits, of).mean(axis=0)
        row, best = int(both.argmin()), float(both.min())
        low, high = wait[max(row - 1, 0)], wait[min(row + 1, wait.size - 1)]
    bound = staleness_lower_bound(rates, costs, of=of, weights=weights)
    assert bound <= best * (1 + 1e-12)
    assert bound == pytest.approx(best, rel=1e-7)


@given(
    keys=st.lists(st.tuples(moderate, moderate, moderate, moderate), min_size=1, max_size=6),
    of=st.sampled_from(KINDS),
)
def test_no_cycles_that_the_server_has_time_for_are_better(
    keys: list[tuple[float, float, float, float]], of: str
) -> None:
    rates, costs, weights, waits = np.array(keys).T
    busy = (costs / (1 / rates + waits)).sum()
    if busy > 1:
        waits = busy * (1 / rates + waits) - 1 / rates
    feasible = staleness_of_cycles(rates, costs, weights, waits, of).mean()
    assert staleness_lower_bound(rates, costs, of=of, weights=weights) <= feasible * (1 + 1e-9)


@given(rate=magnitudes, cost=magnitudes)
def test_a_single_key_whose_server_never_idles_is_not_better(rate: float, cost: float) -> None:
    queue = single_key_queue_staleness(rate, cost)
    application = single_key_application_staleness(rate, cost)
    assert staleness_lower_bound([rate], cost) <= queue * (1 + 1e-12)
    assert staleness_lower_bound([rate], cost, of="application") <= application * (1 + 1e-12)


@pytest.mark.parametrize("rate", [0.5, 1.0, 1.5, 3.0, 10.0])
def test_a_single_key_whose_server_idles_on_purpose_is_not_better(rate: float) -> None:
    # The server takes an update when it is free and the update has waited for `delay`.
    quantiles = (np.arange(50_000) + 0.5) / 50_000
    arrival = -np.log1p(-quantiles) / rate
    best_queue = best_application = math.inf
    for delay in np.linspace(0.0, 1.5, 31):
        dequeue = np.maximum(arrival + delay, 1.0)
        early = np.maximum(1.0 - arrival, 0.0)
        queue = ((dequeue - arrival) ** 2 / 2).mean() / dequeue.mean()
        application = ((dequeue + 1.0 - arrival) ** 2 - early**2).mean() / 2 / dequeue.mean()
        best_queue, best_application = min(best_queue, queue), min(best_application, application)
    assert best_queue < single_key_queue_staleness(rate, 1.0) * 1.001
    assert staleness_lower_bound([rate], 1.0) <= best_queue * 1.001
    assert staleness_lower_bound([rate], 1.0, of="application") <= best_application * 1.001


SERVERS = {
    "one key": ([0.8], [1.0], [1.0]),
    "one busy key": ([4.0], [1.0], [1.0]),
    "two keys, slight overload": ([0.6, 0.6], [1.0, 1.0], [1.0, 1.0]),
    "three keys of uneven cost and weight": ([1.5, 0.5, 0.1], [0.5, 2.0, 3.0], [1.0, 4.0, 0.5]),
    "ten keys, no overload": (zipf_rates(10, load=0.8), [1.0] * 10, [1.0] * 10),
    "thirty keys, twice the load": (zipf_rates(30, load=2.0), [1.0] * 30, [1.0] * 30),
}


@pytest.mark.slow
@pytest.mark.parametrize("policy", [serve_longest_waiting, serve_any, serve_largest_index])
@pytest.mark.parametrize("name", SERVERS)
def test_no_policy_is_better_than_the_bound(name: str, policy: Policy) -> None:
    server = Server(*(np.array(column) for column in SERVERS[name]))
    measured = measure(server, policy, services=10_000, seed=3)
    for of, staleness in zip(KINDS, measured, strict=True):
        bound = staleness_lower_bound(server.rates, server.costs, of=of, weights=server.weights)
        assert (server.weights * staleness).mean() >= 0.98 * bound


@pytest.mark.slow
@pytest.mark.parametrize("exponent", [0.0, 0.8, 1.2])
def test_the_index_is_within_four_percent_of_the_bound_under_high_load(exponent: float) -> None:
    server = Server(zipf_rates(100, load=5.0, exponent=exponent), np.ones(100), np.ones(100))
    measured = measure(server, serve_largest_index, services=60_000, seed=5)
    for of, staleness in zip(KINDS, measured, strict=True):
        ratio = staleness.mean() / staleness_lower_bound(server.rates, 1.0, of=of)
        assert 0.98 <= ratio <= 1.04


@pytest.mark.slow
def test_the_index_is_within_four_percent_of_the_bound_with_costs_and_weights() -> None:
    random = np.random.default_rng(8)
    costs, weights = random.uniform(0.2, 3.0, 100), random.uniform(0.2, 3.0, 100)
    server = Server(zipf_rates(100, load=5.0), costs, weights)
    measured = measure(server, serve_largest_index, services=60_000, seed=9)
    for of, staleness in zip(KINDS, measured, strict=True):
        bound = staleness_lower_bound(server.rates, costs, of=of, weights=weights)
        assert 0.98 <= (weights * staleness).mean() / bound <= 1.04


# How it depends on what is given


@given(
    rates=st.lists(magnitudes, min_size=1, max_size=20), cost=magnitudes, of=st.sampled_from(KINDS)
)
def test_a_slower_server_and_a_busier_key_raise_the_bound(
    rates: list[float], cost: float, of: str
) -> None:
    bound = staleness_lower_bound(rates, cost, of=of)
    busier = [rates[0] * 1.5, *rates[1:]]
    assert staleness_lower_bound(rates, cost * 1.5, of=of) >= bound * (1 - 1e-9)
    assert staleness_lower_bound(busier, cost, of=of) >= bound * (1 - 1e-9)


@given(
    keys=st.lists(st.tuples(magnitudes, magnitudes, magnitudes), min_size=1, max_size=20),
    exponent=st.integers(-40, 40),
    of=st.sampled_from(KINDS),
)
def test_the_units_of_time_and_of_weight_do_not_matter(
    keys: list[tuple[float, float, float]], exponent: int, of: str
) -> None:
    rates, costs, weights = np.array(keys).T
    unit = 4.0**exponent
    bound = staleness_lower_bound(rates, costs, of=of, weights=weights)
    with_time = staleness_lower_bound(rates / unit, costs * unit, of=of, weights=weights)
    with_weight = staleness_lower_bound(rates, costs, of=of, weights=weights * unit)
    assert with_time == pytest.approx(unit * bound, rel=1e-9, abs=0)
    assert with_weight == pytest.approx(unit * bound, rel=1e-9, abs=0)


@given(data=st.data(), of=st.sampled_from(KINDS))
def test_the_order_of_the_keys_does_not_matter(data: st.DataObject, of: str) -> None:
    key = st.tuples(moderate, moderate, moderate)
    keys = data.draw(st.lists(key, min_size=1, max_size=10))
    shuffled = data.draw(st.permutations(keys))
    bounds = [
        staleness_lower_bound(rates, costs, of=of, weights=weights)
        for rates, costs, weights in (np.array(keys).T, np.array(shuffled).T)
    ]
    assert bounds[0] == pytest.approx(bounds[1], rel=1e-8, abs=0)


@pytest.mark.parametrize("of", KINDS)
@pytest.mark.parametrize("load", [0.5, 1.1, 20.0])
def test_equal_costs_are_one_cost_and_equal_weights_a_factor(of: str, load: float) -> None:
    rates = zipf_rates(9, load=load)
    bound = staleness_lower_bound(rates, 1.0, of=of)
    assert staleness_lower_bound(rates, [1.0] * 9, of=of) == bound
    assert staleness_lower_bound(rates, 1.0, of=of, weights=[1.0] * 9) == bound
    weighted = staleness_lower_bound(rates, 1.0, of=of, weights=[2.5] * 9)
    assert weighted == pytest.approx(2.5 * bound)


@pytest.mark.parametrize("of", KINDS)
def test_a_mapping_is_a_sequence_with_names(of: str) -> None:
    by_row = staleness_lower_bound([1.0, 2.0], [0.5, 1.5], of=of, weights=[1.0, 3.0])
    by_name = staleness_lower_bound(
        {"a": 1.0, "b": 2.0}, {"b": 1.5, "a": 0.5}, of=of, weights={"b": 3.0, "a": 1.0}
    )
    by_number = staleness_lower_bound({7: 1.0, 3: 2.0}, {3: 1.5, 7: 0.5}, of, {3: 3.0, 7: 1.0})
    assert by_row == by_name == by_number


@pytest.mark.parametrize("of", KINDS)
def test_a_key_without_updates_counts_in_the_mean_only(of: str) -> None:
    busy = staleness_lower_bound([2.0, 3.0], 1.0, of=of)
    assert staleness_lower_bound([2.0, 0.0, 3.0, 0.0], 1.0, of=of) == pytest.approx(busy / 2)
    assert staleness_lower_bound([0.0, 0.0], 1.0, of=of) == 0.0


@pytest.mark.parametrize("of", KINDS)
def test_a_key_without_weight_is_given_no_time(of: str) -> None:
    alone = staleness_lower_bound([2.0], 1.0, of=of)
    both = staleness_lower_bound([2.0, 50.0], 1.0, of=of, weights=[1.0, 0.0])
    assert both == pytest.approx(alone / 2)
    assert staleness_lower_bound([2.0], 1.0, of=of, weights=[0.0]) == 0.0


@pytest.mark.parametrize("of", KINDS)
def test_a_server_that_needs_no_time_leaves_nothing_stale(of: str) -> None:
    assert staleness_lower_bound([1e9, 2.0], 0.0, of=of) == 0.0
    some = staleness_lower_bound([1e9, 2.0], [0.0, 1.0], of=of)
    assert some == pytest.approx(staleness_lower_bound([2.0], 1.0, of=of) / 2)


# Extremes


@pytest.mark.parametrize("load", [0.3, 1.000001, 3.0, 1e12])
def test_a_million_keys_are_bounded_in_proportion_to_a_thousand(load: float) -> None:
    # A thousand copies of every key, each a thousand times rarer, leave the load as it was and
    # make every wait in the queue a thousand times as long.
    rates = zipf_rates(1000, load=load)
    copies = np.repeat(rates, 1000) / 1000
    few, many = staleness_lower_bound(rates, 1.0), staleness_lower_bound(copies, 1.0)
    assert many == pytest.approx(1000 * few, rel=1e-6)
    assert staleness_lower_bound(copies, 1.0, of="application") >= many


@given(
    keys=st.lists(
        st.tuples(st.floats(0.0, 1e300), st.floats(0.0, 1e100), st.floats(0.0, 1e100)),
        min_size=1,
        max_size=8,
    ),
    of=st.sampled_from(KINDS),
)
def test_all_numbers_up_to_a_googol_have_a_finite_bound(
    keys: list[tuple[float, float, float]], of: str
) -> None:
    rates, costs, weights = np.array(keys).T
    bound = staleness_lower_bound(rates, costs, of=of, weights=weights)
    assert math.isfinite(bound)
    assert bound >= 0.0


@pytest.mark.parametrize("of", KINDS)
def test_rates_from_a_billionth_to_a_billion_balance_the_server(of: str) -> None:
    rates = 10.0 ** np.arange(-9.0, 10.0)
    bound = staleness_lower_bound(rates, 1.0, of=of)
    # The ten busy keys always have an update; each of the others is served nearly at once.
    assert 0.9 * 10 * 10 / 2 / rates.size < bound < 2.0 * 10 * 10 / 2 / rates.size


# The caller's mistakes


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf])
def test_numbers_that_are_negative_or_not_finite_are_refused_by_name(bad: float) -> None:
    with pytest.raises(RateError, match="rates"):
        staleness_lower_bound([1.0, bad], 1.0)
    with pytest.raises(CostError, match="processing_cost"):
        staleness_lower_bound([1.0, 2.0], bad)
    with pytest.raises(CostError, match="processing_cost"):
        staleness_lower_bound([1.0, 2.0], [1.0, bad])
    with pytest.raises(WeightError, match="weights"):
        staleness_lower_bound([1.0, 2.0], 1.0, weights=[1.0, bad])


@pytest.mark.parametrize("none", [[], {}, np.empty(0)])
def test_no_keys_are_refused(none: Sequence[float] | dict[str, float]) -> None:
    with pytest.raises(ParameterError, match="rates"):
        staleness_lower_bound(none, 1.0)


def test_columns_of_other_lengths_than_the_rates_are_refused() -> None:
    with pytest.raises(ParameterError, match="processing_cost"):
        staleness_lower_bound([1.0, 2.0], [1.0])
    with pytest.raises(ParameterError, match="weights"):
        staleness_lower_bound([1.0, 2.0], 1.0, weights=[1.0, 1.0, 1.0])


def test_an_unknown_kind_of_staleness_is_refused() -> None:
    with pytest.raises(ParameterError, match="'queue' or 'application'"):
        staleness_lower_bound([1.0], 1.0, of="client")


def test_a_cost_may_be_a_numpy_number() -> None:
    rates = np.array([2.0, 3.0])
    expected = staleness_lower_bound(rates, 1.0)
    assert staleness_lower_bound(rates, np.float64(1.0)) == expected
    assert staleness_lower_bound(rates, np.array(1.0)) == expected
