"""Figures 16 and 17: their tables, panels and verdicts."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from matplotlib.figure import Figure

from simulator.experiments.experiment import Experiment, Row, Scale, Table, number, where
from simulator.experiments.memory_figures import (
    EFFECTIVE_USAGE,
    FIGURES,
    KEYS,
    LABELS,
    LARGEST_NUMBER,
    LOAD,
    LOADS,
    NUMBER_BYTES,
    SKEW,
    THETAS,
    TUPLES_PER_PAGE,
    USAGE,
    Axis,
    Means,
    MemoryRun,
    NumberCodec,
    by_page,
    draw_panels,
    falls,
    judge_effective_usage,
    judge_usage,
    mean_by,
    measure,
    page_sizes,
    pages_of,
    points,
    rises,
    saving,
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

from .golden import quick_table

EFFECTIVE_BY_SKEW, BY_SKEW, EFFECTIVE_BY_LOAD, BY_LOAD = FIGURES
EFFECTIVE = pytest.mark.parametrize(
    "figure", [EFFECTIVE_BY_SKEW, EFFECTIVE_BY_LOAD], ids=lambda figure: figure.name
)
USED = pytest.mark.parametrize("figure", [BY_SKEW, BY_LOAD], ids=lambda figure: figure.name)


def row(memory: str, theta: float, usage: float, tuples: int = 4) -> Row:
    return {"memory": memory, "theta": theta, "usage": usage, "tuples_per_page": tuples}


TABLE = [
    row("naive", 0.9, 80.0),
    row("naive", 0.0, 90.0),
    row("naive", 0.0, 110.0),
    row("on-demand", 0.9, 20.0),
    row("on-demand", 0.0, 50.0),
    row("on-demand", 0.0, 70.0),
]


def test_means_come_in_ascending_order_and_are_of_one_memory() -> None:
    assert list(mean_by(TABLE, "theta", "usage", memory="naive").items()) == [
        (0.0, 100.0),
        (0.9, 80.0),
    ]


def test_savings_are_shares_of_what_naive_memory_holds() -> None:
    assert saving(TABLE, "theta", "usage") == pytest.approx({0.0: 0.4, 0.9: 0.75})


@pytest.mark.parametrize(
    ("means", "is_rising", "is_falling"),
    [([1, 2, 3], True, False), ([3, 2, 1], False, True), ([1, 2, 2], False, False)],
)
def test_means_rise_or_fall_if_they_do_at_every_step(
    means: list[float], is_rising: bool, is_falling: bool
) -> None:
    found = dict(enumerate(means, start=0))
    assert rises({float(x): y for x, y in found.items()}) is is_rising
    assert falls({float(x): y for x, y in found.items()}) is is_falling


def test_ranges_are_told_for_each_page_size_and_equal_ends_once() -> None:
    def measured(rows: Table) -> Means:
        return mean_by(rows, "theta", "usage", memory="naive")

    table = [*TABLE, row("naive", 0.0, 7.0, tuples=16), row("naive", 0.9, 7.0, tuples=16)]
    assert page_sizes(table) == [4, 16]
    assert len(pages_of(table, 16)) == 2
    assert (
        by_page(table, measured, ".0f") == "80 to 100 with 4 tuples a page, 7 with 16 tuples a page"
    )


def drawn_over(axis: Axis) -> Figure:
    figure = Figure(layout="constrained")
    draw_panels(quick_table(EFFECTIVE_BY_SKEW), figure, axis=axis, metric=EFFECTIVE_USAGE)
    return figure


@pytest.fixture(name="figure")
def drawn_over_theta() -> Figure:
    return drawn_over(SKEW)


def test_there_is_a_panel_by_tuple_and_one_for_each_page_size(figure: Figure) -> None:
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == ["by tuple", *(f"by page of {size} tuples" for size in TUPLES_PER_PAGE)]


def test_each_panel_has_a_line_and_a_band_for_each_memory_and_a_line_more(figure: Figure) -> None:
    for axes in figure.axes:
        assert len(axes.lines) == len(LABELS) + 1
        assert len(axes.collections) == len(LABELS)
        assert all(np.array_equal(line.get_xdata(), THETAS) for line in axes.lines)


def test_all_panels_share_an_axis_that_starts_at_0_and_shows_everything(figure: Figure) -> None:
    for axes in figure.axes:
        low, high = axes.get_ylim()
        assert low == 0.0
        assert high >= 1.0


def test_the_x_axis_is_marked_where_it_was_measured(figure: Figure) -> None:
    assert [text.get_text() for text in figure.axes[0].get_xticklabels()] == [
        f"{theta:g}" for theta in THETAS
    ]


def test_loads_are_drawn_on_a_logarithmic_axis() -> None:
    assert drawn_over(LOAD).axes[0].get_xscale() == "log"


def a_row(memory: str, x: str, value: float, used: float) -> Row:
    """Return a row in which a memory holds 100 tuples for each of them, and uses this share."""
    return {
        "memory": memory,
        x: value,
        "tuples_per_page": 4,
        "usage": 100 * used,
        "page_usage": 100 * used,
        "effective_usage": used,
        "effective_page_usage": used,
    }


def table_of(axis: Axis, memory: str, *used: float, other: float = 1.0) -> list[Row]:
    """Return what a memory uses along an axis, beside another memory whose use is constant."""
    [constant] = {"naive", "on-demand"} - {memory}
    rows = [a_row(memory, axis.column, value, share) for value, share in enumerate(used)]
    return rows + [a_row(constant, axis.column, value, other) for value in range(len(used))]


ALONG_AN_AXIS = pytest.mark.parametrize(
    ("axis", "used", "moves", "held"),
    [
        (SKEW, (0.9, 0.5), "falls with the skew", True),
        (SKEW, (0.5, 0.9), "does not always fall with the skew", False),
        (LOAD, (0.5, 0.9), "rises with the load", True),
        (LOAD, (0.9, 0.5), "does not always rise with the load", False),
    ],
    ids=["skew-held", "skew-failed", "load-held", "load-failed"],
)


@ALONG_AN_AXIS
def test_effective_usage_of_naive_memory_falls_with_skew_and_rises_with_load(
    axis: Axis, used: tuple[float, ...], moves: str, held: bool
) -> None:
    verdict = judge_effective_usage(table_of(axis, "naive", *used), axis)
    assert f"every {axis.each}; that of naive memory {moves}" in verdict.sentence
    assert verdict.held is held
    assert f"from {used[0]:.2f} at {axis.column} 0 to {used[1]:.2f} at 1" in verdict.sentence


@ALONG_AN_AXIS
def test_usage_of_on_demand_paging_falls_with_skew_and_rises_with_load(
    axis: Axis, used: tuple[float, ...], moves: str, held: bool
) -> None:
    verdict = judge_usage(table_of(axis, "on-demand", *used), axis)
    assert f"its usage {moves}" in verdict.sentence
    assert verdict.held is held
    assert "saves 10% to 50% with 4 tuples a page" in verdict.sentence


def test_on_demand_paging_has_to_be_clean() -> None:
    verdict = judge_effective_usage(table_of(SKEW, "naive", 0.9, 0.5, other=0.99), SKEW)
    assert verdict.held is False
    assert "on-demand paging is not 1" in verdict.sentence


def test_on_demand_paging_has_to_hold_less() -> None:
    verdict = judge_usage(table_of(SKEW, "on-demand", 0.9, 0.5, other=0.5), SKEW)
    assert verdict.held is False
    assert "not always less than naive memory" in verdict.sentence


@EFFECTIVE
def test_on_demand_paging_has_1_by_tuple_and_less_by_page(figure: Experiment) -> None:
    for row in where(quick_table(figure), memory="on-demand"):
        assert number(row, "effective_usage") == 1.0
        assert number(row, "effective_page_usage") < 0.97


@EFFECTIVE
def test_on_demand_paging_is_never_worse_by_page_than_naive_memory(figure: Experiment) -> None:
    table = quick_table(figure)
    pairs = zip(where(table, memory="on-demand"), where(table, memory="naive"), strict=True)
    for on_demand, naive in pairs:
        assert number(on_demand, "effective_page_usage") >= number(naive, "effective_page_usage")


def test_naive_memory_uses_less_of_its_space_with_skew() -> None:
    means = mean_by(quick_table(EFFECTIVE_BY_SKEW), "theta", "effective_usage", memory="naive")
    assert means[0.0] > means[0.3] > means[0.6] > means[0.9] > 0.5
    assert means[0.0] - means[0.9] > 0.1


def test_naive_memory_uses_little_of_its_space_at_small_loads_and_more_at_others() -> None:
    means = mean_by(quick_table(EFFECTIVE_BY_LOAD), "load", "effective_usage", memory="naive")
    assert means[2] < 0.5 < means[5] < 0.9 < means[20]


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_the_claim_of_each_figure_holds(figure: Experiment) -> None:
    assert figure.verdict(quick_table(figure)).held


@USED
def test_on_demand_paging_holds_less_than_naive_memory_in_every_run(figure: Experiment) -> None:
    table = quick_table(figure)
    pairs = zip(where(table, memory="on-demand"), where(table, memory="naive"), strict=True)
    for on_demand, naive in pairs:
        assert number(on_demand, "usage") < number(naive, "usage") <= 100.0
        assert number(on_demand, "page_usage") <= number(naive, "page_usage")


def test_with_skew_fewer_keys_wait_and_more_is_saved_except_by_large_pages() -> None:
    table = quick_table(BY_SKEW)
    means = mean_by(table, "theta", "usage", memory="on-demand")
    assert means[0.0] > means[0.3] > means[0.6] > means[0.9]
    by_small_pages, by_large_pages = (
        saving(pages_of(table, tuples), "theta", "page_usage") for tuples in (4, 64)
    )
    assert by_small_pages[0.9] > 1.5 * by_small_pages[0.0]
    assert by_large_pages[0.9] < 1.2 * by_large_pages[0.0]


def test_with_load_more_keys_wait_and_less_is_saved_by_large_pages_nothing() -> None:
    table = quick_table(BY_LOAD)
    means = mean_by(table, "load", "usage", memory="on-demand")
    assert means[2] < 50 < means[5] < means[20] < 100
    saved = saving(table, "load", "usage")
    assert saved[2] > 0.5 > saved[5] > 0.1 > saved[20] > 0.0
    assert saving(pages_of(table, 64), "load", "page_usage")[20] < 0.01


# The runs.


@cache
def memory_usage(
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
    usage = memory_usage("naive")
    assert usage.locations_held == KEYS
    assert usage.locations_live < KEYS


def test_on_demand_paging_holds_what_is_live_and_no_more() -> None:
    usage = memory_usage("on-demand")
    assert usage.locations_held == usage.locations_live == memory_usage("naive").locations_live
    assert usage.average_effective_usage == 1.0


@pytest.mark.parametrize("load", [2, 5, 10])
def test_with_uniform_rates_usage_is_what_the_cycle_of_service_says(load: int) -> None:
    # If n keys wait, each of them waits n * load until it is served, and is then without an update
    # for 100 on average. So n = KEYS * n * load / (n * load + 100), which is solved for n.
    expected = KEYS * (load - 1) / load
    assert memory_usage("on-demand", load=load).average_usage_locations == pytest.approx(
        expected, rel=0.03
    )


@pytest.mark.parametrize("theta", THETAS)
@pytest.mark.parametrize("memory", ["on-demand", "naive"])
def test_memoryless_arrivals_change_usage_by_3_of_100_tuples_at_most(
    memory: str, theta: float
) -> None:
    even = memory_usage(memory, theta=theta, load=2)
    memoryless = memory_usage(memory, theta=theta, load=2, is_memoryless=True)
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


def test_runs_that_several_figures_use_are_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_a_number_is_decoded_as_it_was_encoded_in_a_fixed_length(number: int) -> None:
    data = NumberCodec().encode(number)
    assert len(data) == NUMBER_BYTES
    assert NumberCodec().decode(data) == number


@pytest.mark.parametrize("value", [-1, LARGEST_NUMBER + 1, 1.0, "1", True, None])
def test_other_values_are_refused(value: object) -> None:
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
