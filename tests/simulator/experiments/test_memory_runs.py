"""What Figures 16 and 17 are made of."""

from __future__ import annotations

from functools import cache

import pytest

from simulator.experiments.experiment import Scale, number
from simulator.experiments.memory_runs import (
    EFFECTIVE_USAGE,
    KEYS,
    LARGEST_NUMBER,
    LOADS,
    NUMBER_BYTES,
    THETAS,
    TUPLES_PER_PAGE,
    USAGE,
    MemoryRun,
    NumberCodec,
    measure,
    points,
)
from upstream import (
    InPlaceScheduler,
    ManualClock,
    MemoryUsage,
    OnDemandMemory,
    PagePool,
    UpdateQueue,
    ValueNotEncodableError,
)


@cache
def run(
    memory: str, *, theta: float = 0.0, load: float = 5, is_memoryless: bool = False
) -> MemoryUsage:
    return MemoryRun(
        memory=memory,
        theta=theta,
        load=load,
        tuples_per_page=16,
        results=1_000,
        is_memoryless=is_memoryless,
    ).measure()


def test_each_distribution_load_and_page_size_is_a_point() -> None:
    found = points(Scale())
    assert len(found) == len(THETAS) * len(LOADS) * len(TUPLES_PER_PAGE)
    assert {point["load"] for point in points(Scale(is_quick=True))} < set(LOADS)


def test_naive_memory_ends_with_a_location_for_each_key() -> None:
    usage = run("naive")
    assert usage.locations_held == KEYS
    assert usage.locations_live < KEYS


def test_on_demand_paging_holds_what_is_live_and_no_more() -> None:
    usage = run("on-demand")
    assert usage.locations_held == usage.locations_live == run("naive").locations_live
    assert usage.average_effective_usage == 1.0


@pytest.mark.parametrize("load", [2, 5, 10])
def test_with_uniform_rates_usage_is_what_the_cycle_of_service_says(load: int) -> None:
    # If n keys wait, each of them waits n * load until it is served, and is then without an update
    # for 100 on average. So n = KEYS * n * load / (n * load + 100), which is solved for n.
    expected = KEYS * (load - 1) / load
    assert run("on-demand", load=load).average_usage_locations == pytest.approx(expected, rel=0.03)


@pytest.mark.parametrize("theta", THETAS)
@pytest.mark.parametrize("memory", ["on-demand", "naive"])
def test_memoryless_arrivals_change_usage_by_3_of_100_tuples_at_most(
    memory: str, theta: float
) -> None:
    even = run(memory, theta=theta, load=2)
    memoryless = run(memory, theta=theta, load=2, is_memoryless=True)
    assert memoryless.average_usage_locations == pytest.approx(even.average_usage_locations, abs=3)
    assert memoryless.average_effective_usage == pytest.approx(
        even.average_effective_usage, abs=0.03
    )


def test_a_setting_has_a_row_for_each_memory_and_one_for_preallocated_room() -> None:
    point = {"theta": 0.9, "load": 2, "tuples_per_page": 16}
    on_demand, naive, preallocated = measure(point, Scale(is_quick=True), metric=USAGE)
    assert [row["memory"] for row in (on_demand, naive)] == ["on-demand", "naive"]
    assert list(preallocated) == [*point, "memory", "usage", "page_usage"]
    assert preallocated == {**point, "memory": "preallocated", "usage": 100.0, "page_usage": 112.0}
    assert number(on_demand, "usage") < number(naive, "usage") < 100.0
    assert number(on_demand, "usage") < number(on_demand, "page_usage")
    assert number(on_demand, "page_usage") < number(naive, "page_usage") < 112.0


def test_what_the_figures_have_in_common_is_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[MemoryRun] = []
    measure_run = MemoryRun.measure

    def noted(each: MemoryRun) -> MemoryUsage:
        measured.append(each)
        return measure_run(each)

    monkeypatch.setattr(MemoryRun, "measure", noted)
    point = {"theta": 0.45, "load": 2, "tuples_per_page": 16}  # which no figure has
    for seed in (1, 2):
        for metric in (USAGE, EFFECTIVE_USAGE, USAGE):
            measure(point, Scale(seed=seed, is_quick=True), metric=metric)
    assert [(each.memory, each.seed) for each in measured] == [
        *(("on-demand", 1), ("naive", 1)),
        *(("on-demand", 2), ("naive", 2)),
    ]


def test_effective_usage_by_page_is_what_waits_by_what_is_held() -> None:
    point = {"theta": 0.0, "load": 5, "tuples_per_page": 16}
    scale = Scale(is_quick=True)
    used = [number(row, "usage") for row in measure(point, scale, metric=USAGE)]
    held = [number(row, "page_usage") for row in measure(point, scale, metric=USAGE)]
    rows = measure(point, scale, metric=EFFECTIVE_USAGE)
    assert [number(row, "effective_page_usage") for row in rows] == pytest.approx(
        [used[0] / pages for pages in held]
    )
    on_demand, naive, preallocated = (number(row, "effective_usage") for row in rows)
    assert on_demand == 1.0
    assert naive == pytest.approx(used[0] / used[1], abs=0.03)
    assert preallocated == pytest.approx(used[0] / KEYS)


@pytest.mark.parametrize("number", [0, 1, 255, 256, LARGEST_NUMBER])
def test_a_number_comes_back_as_it_was_and_takes_the_same_room_as_any_other(number: int) -> None:
    data = NumberCodec().encode(number)
    assert len(data) == NUMBER_BYTES
    assert NumberCodec().decode(data) == number


@pytest.mark.parametrize("value", [-1, LARGEST_NUMBER + 1, 1.0, "1", True, None])
def test_anything_else_is_refused(value: object) -> None:
    with pytest.raises(ValueNotEncodableError):
        NumberCodec().encode(value)


def test_a_queue_keeps_numbers_in_a_page_pool() -> None:
    memory = OnDemandMemory(PagePool(64, page_bytes=64, location_bytes=NUMBER_BYTES))
    queue = UpdateQueue(InPlaceScheduler(), clock=ManualClock(), memory=memory, codec=NumberCodec())
    queue.enqueue("IBM", 1)
    queue.enqueue("IBM", 2)
    update = queue.dequeue()
    assert update is not None
    assert update.value == 2
