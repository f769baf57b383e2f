"""How long a server needs for an update."""

from __future__ import annotations

import math
from itertools import islice

import numpy as np
import pytest

from simulator.errors import OptionError
from simulator.model.processing_costs import COST_DISTRIBUTIONS, check_cost
from simulator.workloads.workload import rounded_up

DRAWN = 50_000


def draw(distribution: str, mean: float, *, seed: int = 3, count: int = DRAWN) -> np.ndarray:
    costs = COST_DISTRIBUTIONS[distribution](mean, np.random.default_rng(seed))
    return np.array(list(islice(costs, count)))


@pytest.mark.parametrize("mean", [0.01, 1.0, 7.3])
@pytest.mark.parametrize("distribution", COST_DISTRIBUTIONS)
def test_costs_have_the_mean_that_was_asked_for(distribution: str, mean: float) -> None:
    costs = draw(distribution, mean)
    assert costs.mean() == pytest.approx(mean, rel=5 / math.sqrt(DRAWN))
    assert (costs >= 0).all()


def test_fixed_costs_are_all_the_same_and_add_up_exactly() -> None:
    assert set(draw("fixed", 1.2).tolist()) == {rounded_up(1.2)}
    assert set(draw("fixed", 2.5).tolist()) == {2.5}


def test_exponential_costs_are_memoryless() -> None:
    costs = draw("exponential", 2.0)
    assert costs.std() == pytest.approx(2.0, rel=0.03)
    assert (costs > 4.0).mean() == pytest.approx(math.exp(-2.0), abs=0.01)


def test_uniform_costs_are_between_0_and_twice_the_mean() -> None:
    costs = draw("uniform", 2.0)
    assert 3.99 < costs.max() <= 4.0
    assert 0.0 <= costs.min() < 0.01
    assert costs.std() == pytest.approx(2.0 / math.sqrt(3.0), rel=0.02)


@pytest.mark.parametrize("distribution", ["exponential", "uniform"])
def test_costs_are_the_same_for_the_same_seed_and_others_for_another(distribution: str) -> None:
    once = draw(distribution, 2.0, count=3_000)
    assert (once == draw(distribution, 2.0, count=3_000)).all()
    assert not (once == draw(distribution, 2.0, seed=4, count=3_000)).any()
    assert once / 2.0 == pytest.approx(draw(distribution, 1.0, count=3_000))
    assert abs(np.corrcoef(once[:-1], once[1:])[0, 1]) < 0.1


@pytest.mark.parametrize("cost", [0.0, -1.0, math.nan, math.inf])
def test_a_cost_must_be_finite_and_above_0(cost: float) -> None:
    with pytest.raises(OptionError, match=r"load .*: expected a finite number above 0"):
        check_cost(cost, "load")
