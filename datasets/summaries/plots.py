"""The summary as plots: staleness in the course of time, over keys, and compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from .comparison import Comparison
from .description import STALENESS
from .figures import POINTS
from .summary import RunSummary, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DOTS_PER_INCH: Final = 144
MOST_COLORS: Final = 10
"""More names than that repeat the colours, with other strokes."""
STROKES: Final = ("-", "--", ":", "-.")


def draw_plots(summary: Summary, folder: Path) -> None:
    """Write `by_time.png`, `by_key.png` and `comparisons.png`."""
    from matplotlib.figure import Figure

    drawings = {"by_time": _draw_time, "by_key": _draw_keys, "comparisons": _draw_comparisons}
    for name, draw in drawings.items():
        figure = Figure(figsize=(11, 4.4), layout="constrained")
        draw(summary, figure)
        figure.savefig(folder / f"{name}.png", format="png", dpi=DOTS_PER_INCH)


def _draw_time(summary: Summary, figure: Figure) -> None:
    def points(each: RunSummary, of: str) -> list[tuple[float, float]]:
        return [
            ((bucket.begin + bucket.end) / 2, value)
            for bucket in summary.buckets
            if bucket.run == each.run.number and (value := bucket.staleness[of]) is not None
        ]

    for axes in _draw_lines(summary, figure, points, "{} staleness, mean over keys"):
        axes.set_xlabel(f"time since the start ({_units(summary)})")
        axes.locator_params("x", nbins=5)


def _draw_keys(summary: Summary, figure: Figure) -> None:
    def points(each: RunSummary, of: str) -> list[tuple[float, float]]:
        quantiles = each.staleness[of].quantiles
        return [(100 * rank / POINTS, value) for rank, value in enumerate(quantiles)]

    for axes in _draw_lines(summary, figure, points, "{} staleness of keys"):
        axes.set_xlabel("share of the keys that is at most so stale (%)")


def _draw_lines(
    summary: Summary,
    figure: Figure,
    points: Callable[[RunSummary, str], Sequence[tuple[float, float]]],
    title: str,
) -> Sequence[Axes]:
    """Draw a line for each run in a panel for each kind of staleness; return the panels."""
    styles = _styles(summary)
    panels: Sequence[Axes] = figure.subplots(1, 2)
    for of, axes in zip(STALENESS, panels, strict=True):
        for each in summary.runs:
            _line(axes, points(each, of), each, styles)
        axes.set_title(title.format(of))
        _finish(axes)
    panels[0].set_ylabel(f"staleness ({_units(summary)})")
    _legend(figure, panels)
    return panels


def _draw_comparisons(summary: Summary, figure: Figure) -> None:
    panels = figure.subplots(1, 2)
    for of, axes in zip(STALENESS, panels, strict=True):
        rows = [row for row in summary.comparisons if row.of == of]
        rows.sort(key=lambda row: -row.value.mean)
        _draw_intervals(rows, axes)
        axes.set_title(f"{of} staleness, mean and 95 % interval")
        axes.set_xlabel(_units(summary))
        bounds = [
            bound for each in summary.runs if (bound := each.staleness[of].lower_bound) is not None
        ]
        if bounds and len({row.setting for row in rows}) == 1:
            bound = sum(bounds) / len(bounds)
            axes.axvline(bound, color="black", linestyle=":", label="lower bound (memoryless)")
            axes.legend(fontsize="small")


def _draw_intervals(rows: Sequence[Comparison], axes: Axes) -> None:
    several = len({row.setting for row in rows}) > 1
    settings = list(dict.fromkeys(row.setting for row in rows))
    labels = [
        f"{row.name} ({settings.index(row.setting) + 1})" if several else row.name for row in rows
    ]
    for place, row in enumerate(rows):
        value = row.value
        axes.plot([value.mean], [place], marker="o", color="C0")
        if value.low is not None and value.high is not None:
            axes.plot([max(value.low, 0.0), value.high], [place, place], color="C0", linewidth=2)
    axes.set_yticks(range(len(rows)), labels)
    axes.grid(axis="x", alpha=0.3)
    if rows and min(row.value.mean for row in rows) > 0:
        axes.set_xscale("log")


def _line(
    axes: Axes,
    points: Sequence[tuple[float, float]],
    each: RunSummary,
    styles: dict[str, tuple[str, str]],
) -> None:
    if not points:
        return
    name = each.run.described.name
    color, stroke = styles[name]
    known = {line.get_label() for line in axes.get_lines()}
    label = f"_{name}" if name in known else name  # each name once, however many seeds it has
    xs, ys = zip(*points, strict=True)
    axes.plot(xs, ys, color=color, linestyle=stroke, label=label, linewidth=1.2, alpha=0.85)


def _styles(summary: Summary) -> dict[str, tuple[str, str]]:
    """Return colour and stroke by name."""
    names = sorted({each.run.described.name for each in summary.runs})
    return {
        name: (f"C{place % MOST_COLORS}", STROKES[place // MOST_COLORS % len(STROKES)])
        for place, name in enumerate(names)
    }


def _finish(axes: Axes) -> None:
    axes.grid(alpha=0.3)
    values = [float(value) for line in axes.get_lines() for value in np.asarray(line.get_ydata())]
    if any(value > 0 for value in values):
        axes.set_yscale("symlog", linthresh=_smallest(values))


def _smallest(values: Sequence[float]) -> float:
    """Return from where on the scale is logarithmic: a thousandth of the largest, or less."""
    positive = [value for value in values if value > 0]
    return max(min(positive), max(positive) / 1_000)


def _legend(figure: Figure, panels: Sequence[Axes]) -> None:
    handles, labels = max((axes.get_legend_handles_labels() for axes in panels), key=_length)
    if handles:
        figure.legend(handles, labels, loc="outside right upper")


def _length(handles_and_labels: tuple[Sequence[object], Sequence[str]]) -> int:
    return len(handles_and_labels[0])


def _units(summary: Summary) -> str:
    return " and ".join(sorted({each.run.described.unit for each in summary.runs}))
