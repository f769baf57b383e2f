"""The plot of a profile: the report's Figure 8 on both scales, and the rate over time."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..output.folder import NAME_SHOWN
from .report import Profile

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DOTS_PER_INCH: Final = 144
_DAY_SECONDS: Final = 86_400


def save_plot(profile: Profile, path: Path) -> None:
    """Write the plot as PNG, beside its place until it is whole."""
    beside = path.with_name(f".{path.name[:NAME_SHOWN]}.{secrets.token_hex(4)}")
    try:
        draw(profile).savefig(beside, format="png", dpi=DOTS_PER_INCH)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def draw(profile: Profile) -> Figure:
    """Return the plot: ranks above, on logarithmic and on linear scales; time below."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 7), layout="constrained")
    panels = figure.subplot_mosaic([["log", "linear"], ["time", "time"]])
    for scale in ("log", "linear"):
        _draw_ranks(panels[scale], profile, scale)
    _draw_rate(panels["time"], profile)
    keys, updates = profile.keys.keys, profile.arrivals.updates
    # A dollar would be taken for the start of a formula.
    name = profile.name.replace("$", r"\$")
    figure.suptitle(f"{name}: {updates:,} updates of {keys:,} keys")
    return figure


def _draw_ranks(axes: Axes, profile: Profile, scale: str) -> None:
    ranks, updates = zip(*profile.keys.ranks, strict=True)
    axes.plot(ranks, updates, ".-", label="updates of the key of this rank")
    zipf = profile.keys.zipf
    if zipf is not None:
        fitted = [rank for rank in ranks if rank <= zipf.keys]
        at = fitted[len(fitted) // 3]
        through = updates[ranks.index(at)] * at**zipf.theta
        label = f"Zipf, theta {zipf.theta:.2f}"
        axes.plot(fitted, [through * r**-zipf.theta for r in fitted], "--", label=label)
    axes.set_xscale(scale)
    axes.set_yscale(scale)
    axes.set_title(f"{scale} scales", fontsize="medium")
    axes.set_xlabel("keys by rank")
    if scale == "log":
        axes.set_ylabel("number of updates")
        axes.legend(fontsize="small")
    else:
        axes.set_ylim(bottom=0)


def _draw_rate(axes: Axes, profile: Profile) -> None:
    arrivals = profile.arrivals
    axes.set_ylabel("updates per second")
    if not arrivals.buckets:
        axes.set_title("no time passes", fontsize="medium")
        return
    width = arrivals.seconds / len(arrivals.buckets)
    # Hours of a day are easier to read than seconds since midnight, or since 1970.
    is_long = arrivals.seconds >= 2 * 3600
    origin = arrivals.first_time // _DAY_SECONDS * _DAY_SECONDS if is_long else arrivals.first_time
    unit = 3600.0 if is_long else 1.0
    edges = [(start - origin) / unit for start, _ in arrivals.buckets]
    edges.append((arrivals.last_time - origin) / unit)
    axes.stairs([count / width for _, count in arrivals.buckets], edges, fill=True, alpha=0.6)
    axes.axhline(arrivals.updates / arrivals.seconds, color="black", linewidth=0.8, label="mean")
    axes.set_xlabel("hours, from the midnight before" if is_long else "seconds from the first")
    axes.set_ylim(bottom=0)
    axes.legend(fontsize="small")
