"""Figure 14: EAGER over LAZY windows with 10 keys, over the window size, for four arrival patterns.

The report (section 6.3.2): 10 keys, C_t = 1, windows that slide by 1, IN-PLACE, and the ratio of
the application staleness of EAGER and LAZY. If keys come at random, by Zipf's law with a theta of
0, 0.5 or 0.9, EAGER performs worse, because its committed windows have gaps; small windows are the
worst. If keys come in turn, EAGER performs better.

The report does not say what the load and the sizes are, what a tick is with 10 keys, which ratio
the figure shows, or when a window is closed: in section 6.2 a window has fully arrived when its
tuples are older than the newest one, but in Figure 12 its last tick closes it. Here the choices are
such that the description fits:

- There is one tuple per tick, for any of the keys, so the load by tuples is 1. Sizes are in ticks.
- A window is closed by the first tuple of its key at or after its end.
- The ratio is EAGER over LAZY, so above 1 LAZY is better.
- Sizes are multiples of the 10 ticks in which keys in turn come once. The report opens windows at
  tuples (Table 1), but windows that slide by 1 also start where their key has no tuple. At other
  sizes one of those is closed, and newer, when EAGER delivers.

Panels of their own show what depends on these choices. They explain the ratio: EAGER is committed
to a window for as long as that is open, however little a tuple costs, while LAZY delivers more
often the more time it has. So at C_t = 0.5 EAGER is worse even if keys come in turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from upstream import WindowSpecification

from ..workloads.sources import FixedInterval, RoundRobin
from ..workloads.workload import Workload, uniform, zipf
from .experiment import Experiment, Point, Row, Scale, Table, Verdict, column, number, where
from .window_runs import BUFFERS, WindowRun

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KEYS: Final = 10
ARRIVALS: Final[dict[str, Workload]] = {
    "Zipf 0": FixedInterval(zipf(KEYS, 0.0)),
    "Zipf 0.5": FixedInterval(zipf(KEYS, 0.5)),
    "Zipf 0.9": FixedInterval(zipf(KEYS, 0.9)),
    "in turn": RoundRobin(uniform(KEYS)),
}
IN_TURN: Final = "in turn"
SHOWN_RATIOS: Final = (0.3, 1, 3, 10, 30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A way to read the description."""

    sizes: tuple[int, ...] = (20, 30, 50, 100, 200)
    unit: str = "ticks"
    cost: float = 1.0
    slide: int = 1
    """In ticks of the stream, or tuples of a key; sizes are counted in slides."""
    tick: int | None = None
    has_key_times: bool = False


CHOSEN: Final = "chosen to fit"
VARIANTS: Final = {
    CHOSEN: Variant(sizes=(20, 30, 40, 50, 60, 80, 100, 150, 200)),
    "sizes in between": Variant(sizes=(25, 35, 55, 105, 205)),
    "closed by the last tick": Variant(tick=1),
    "C_t = 0.5": Variant(cost=0.5),
    "C_t = 2": Variant(cost=2.0),
    "time in tuples of the key": Variant(
        sizes=(2, 3, 5, 10, 20), unit="tuples of the key", has_key_times=True
    ),
    "10 tuples per tick": Variant(sizes=(2, 3, 5, 7, 10), cost=10.0, slide=10),
}
QUICK_SIZES: Final = {CHOSEN: (20, 50, 100)}


def points(scale: Scale) -> list[Point]:
    """Return every size of each variant, with each of the arrival patterns."""
    return [
        {"variant": name, "arrivals": arrivals, "size": size}
        for name, variant in VARIANTS.items()
        for arrivals in ARRIVALS
        for size in (QUICK_SIZES.get(name, variant.sizes[:1]) if scale.is_quick else variant.sizes)
    ]


def measure(point: Point, scale: Scale) -> Table:
    """Run EAGER and LAZY on the same arrivals."""
    variant = VARIANTS[str(point["variant"])]
    windows = WindowSpecification(
        size=int(point["size"]) * variant.slide, slide=variant.slide, tick=variant.tick
    )
    run = WindowRun(
        workload=ARRIVALS[str(point["arrivals"])],
        specification=windows,
        cost=variant.cost,
        updates=scale.choose(full=20_000, quick=1_000),
        seed=scale.seed,
    )
    staleness = {
        name: run.update(name, has_key_times=variant.has_key_times).application.mean
        for name in BUFFERS
    }
    row: Row = {**point, **staleness, "eager_over_lazy": staleness["eager"] / staleness["lazy"]}
    return [row]


def draw(table: Table, figure: Figure) -> None:
    """Draw the ratio over the window size; a panel for each variant, the chosen one first."""
    figure.set_size_inches(13.0, 6.5)
    grid = figure.subplots(2, 4, sharey=True)
    for axes, (name, variant) in zip(grid.flat, VARIANTS.items(), strict=False):
        _draw_variant(where(table, variant=name), axes)
        axes.set_title(name, fontsize="medium")
        axes.set_xlabel(f"window size ({variant.unit})")
    for axes in grid[:, 0]:
        axes.set_ylabel("application staleness, EAGER / LAZY")
    first, last = grid[0, 0], grid[-1, -1]
    first.set_yscale("log")
    first.set_yticks(SHOWN_RATIOS, [f"{ratio:g}" for ratio in SHOWN_RATIOS])
    last.set_axis_off()
    last.legend(*first.get_legend_handles_labels(), loc="center")


def _draw_variant(rows: Table, axes: Axes) -> None:
    for arrivals, marker in zip(ARRIVALS, "o^vs", strict=True):
        line = where(rows, arrivals=arrivals)
        axes.plot(
            column(line, "size"),
            column(line, "eager_over_lazy"),
            marker=marker,
            markersize=4,
            label=arrivals,
        )
    axes.axhline(1.0, color="grey", linewidth=0.8)


def verdict(table: Table) -> Verdict:
    """Say where EAGER is worse in the chosen reading, and which others give the same."""
    rows = where(table, variant=CHOSEN)
    at_random = [row for row in rows if row["arrivals"] != IN_TURN]
    sizes = _sizes(rows)
    smallest, largest = (where(at_random, size=size) for size in (sizes[0], sizes[-1]))
    worse = [size for size in sizes if min(_ratios(where(at_random, size=size))) > 1]
    return Verdict(
        f"In the reading chosen to fit, EAGER has {_range(smallest)} times the staleness of LAZY "
        f"at size {sizes[0]:g} if keys come at random, {_range(largest)} times at {sizes[-1]:g}, "
        f"and more than LAZY for every theta up to {max(worse, default=0):g}; if they come in "
        f"turn, {_range(where(rows, arrivals=IN_TURN))} times. {_told_of_others(table)}",
        is_as_described(rows),
    )


def _told_of_others(table: Table) -> str:
    """Say which of the other variants are as described, where several sizes were measured."""
    tables = {name: where(table, variant=name) for name in VARIANTS if name != CHOSEN}
    found = {name: is_as_described(rows) for name, rows in tables.items() if len(_sizes(rows)) > 1}
    if not found:
        return "Other readings were measured at one size only."
    same = "; ".join(name for name, is_same in found.items() if is_same)
    different = "; ".join(name for name, is_same in found.items() if not is_same)
    return f"Other readings alike: {same or 'none'}; not alike: {different or 'none'}."


def is_as_described(rows: Table) -> bool:
    """Tell whether EAGER is better in turn, and worse at random: with small windows, most so."""
    at_random = [where(rows, arrivals=arrivals) for arrivals in ARRIVALS if arrivals != IN_TURN]
    in_turn = where(rows, arrivals=IN_TURN)
    return max(_ratios(in_turn)) < 1 and all(map(_is_worse_with_small_windows, at_random))


def _is_worse_with_small_windows(line: Table) -> bool:
    """Tell whether EAGER is worse in the first half of the x-axis, and most so at its start."""
    sizes, ratios = column(line, "size"), _ratios(line)
    middle = (sizes[0] + sizes[-1]) / 2.0
    small = [ratio for size, ratio in zip(sizes, ratios, strict=True) if size <= middle]
    return min(small) > 1 and ratios[0] == max(ratios)


def _sizes(rows: Table) -> list[float]:
    return sorted({number(row, "size") for row in rows})


def _ratios(rows: Table) -> list[float]:
    return column(rows, "eager_over_lazy")


def _range(rows: Table) -> str:
    return f"{min(_ratios(rows)):.2f} to {max(_ratios(rows)):.2f}"


EXPERIMENT: Final = Experiment(
    name="14",
    title="Multiple keys and arrival patterns",
    claim=(
        "With 10 keys at C_t = 1, EAGER has a higher application staleness than LAZY if keys come "
        "at random, above all with small windows, and a lower one if they come in turn."
    ),
    points=points,
    measure=measure,
    draw=draw,
    verdict=verdict,
)
