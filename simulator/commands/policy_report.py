"""Measurements of several policies on the same arrivals, as JSON, as a table and as a plot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rich.table import Table

from ..demo.display import ratio
from ..model.measures import Measures, Spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Json = dict[str, object]

COUNTERS: Final = (
    *("arrived", "dequeued", "delivered", "superseded"),
    *("shed", "rejected", "late", "waiting"),
)


@dataclass(frozen=True, slots=True)
class PolicyReport:
    """The measures of each policy, and the unit in which times are shown."""

    measured: Sequence[Measures]
    unit_seconds: float = 1.0
    """The length of one unit of the run, in the unit that is shown."""
    unit: str = "mean inter-arrival times"

    def as_json(self) -> list[Json]:
        """Return one object for each policy."""
        return [self._object(measures) for measures in self.measured]

    def explanation(self) -> str:
        """Explain the columns of the table."""
        return (
            f"Times are in {self.unit}. Queue: mean queue staleness, over time and then over keys. "
            "x bound: queue divided by the lower bound expected under memoryless arrivals. "
            "Worst: queue staleness of the stalest key. Appl.: mean application staleness, until "
            "the update is delivered. Latency: mean time from arrival to delivery of the updates "
            "that were delivered. Skipped: updates that a newer one replaced, or that were shed or "
            "rejected because the queue was full (these drops flatter queue staleness)."
        )

    def as_table(self) -> Table:
        """Return a table with a row for each policy, the freshest first."""
        table = Table(box=None, pad_edge=False, collapse_padding=True)
        table.add_column("policy", no_wrap=True)
        for name in ("queue", "x bound", "worst", "appl.", "latency"):
            table.add_column(name, justify="right", no_wrap=True)
        for name in ("served", "skipped", "waiting"):
            table.add_column(name, justify="right", no_wrap=True)
        for measures in self.freshest_first():
            table.add_row(*self._cells(measures))
        return table

    def freshest_first(self) -> list[Measures]:
        """Return the measures by their mean application staleness."""
        return sorted(self.measured, key=lambda measures: measures.application.mean)

    def draw(self, figure: Figure) -> None:
        """Draw the staleness of each policy, of each of its keys, and the length of its queue."""
        figure.set_size_inches(13, 4.2)
        bars, keys, lengths = figure.subplots(1, 3)
        self._draw_means(bars)
        for measures in self.measured:
            by_key = sorted(measures.queue.by_key.values(), reverse=True)
            scaled = [self.unit_seconds * staleness for staleness in by_key]
            keys.plot(range(1, len(scaled) + 1), scaled, label=measures.name)
            times = [self.unit_seconds * time for time, _ in measures.lengths]
            lengths.plot(times, [length for _, length in measures.lengths], label=measures.name)
        keys.set(xlabel="keys, the stalest first", ylabel=f"queue staleness ({self.unit})")
        lengths.set(xlabel=f"time ({self.unit})", ylabel="updates waiting")
        if any(measures.queue.worst for measures in self.measured):
            keys.set_yscale("log")
        lengths.set_yscale("symlog", linthresh=1)
        figure.legend(*lengths.get_legend_handles_labels(), loc="outside right upper")

    def _draw_means(self, axes: Axes) -> None:
        names = [measures.name for measures in self.measured]
        places = range(len(names))
        for offset, of in ((-0.2, "queue"), (0.2, "application")):
            found = [getattr(measures, of) for measures in self.measured]
            heights = [self.unit_seconds * staleness.mean for staleness in found]
            axes.bar([place + offset for place in places], heights, width=0.4, label=of)
        bound = self.measured[0].queue.lower_bound
        if bound:
            label = "lower bound (queue, memoryless)"
            axes.axhline(self.unit_seconds * bound, color="black", linestyle=":", label=label)
        axes.set_xticks(list(places), names, rotation=30, ha="right")
        if any(measures.application.mean for measures in self.measured):
            axes.set_yscale("log")
        axes.set_ylabel(f"mean staleness ({self.unit})")
        axes.legend(fontsize="small", loc="upper right")

    def _cells(self, measures: Measures) -> list[str]:
        counted, queue = measures.counted, measures.queue
        skipped = counted.superseded + counted.shed + counted.late + counted.rejected
        # The bound holds for queues that let every key wait.
        is_bounded = not (counted.shed or counted.rejected)
        return [
            measures.name,
            self._time(queue.mean),
            ratio(queue.against_bound) if is_bounded else "-",
            self._time(queue.worst),
            self._time(measures.application.mean),
            self._time(measures.latency.mean),
            *(f"{count:,}" for count in (counted.dequeued, skipped, counted.waiting)),
        ]

    def _time(self, time: float) -> str:
        shown = self.unit_seconds * time
        return f"{shown:,.0f}" if shown >= 1_000 else f"{shown:.4g}"

    def _object(self, measures: Measures) -> Json:
        """Return the JSON object of a policy; without another word staleness is queue staleness."""
        counted, unit = measures.counted, self.unit_seconds
        queue, application, latency = measures.queue, measures.application, measures.latency
        return {
            "policy": measures.name,
            "queue_staleness": unit * queue.mean,
            "application_staleness": unit * application.mean,
            "worst_key_staleness": unit * queue.worst,
            "lower_bound_memoryless": _scaled(queue.lower_bound, unit),
            "application_lower_bound_memoryless": _scaled(application.lower_bound, unit),
            "times_the_bound_memoryless": queue.times_the_bound,
            "is_warming_up": queue.against_bound.is_warming_up,
            "worst_key": str(queue.worst_key),
            **_percentiles("queue_staleness", queue.spread, unit),
            **_percentiles("application_staleness", application.spread, unit),
            "latency_mean": unit * latency.mean,
            **_percentiles("latency", latency, unit),
            "mean_queue_length": measures.mean_length,
            "keys": len(queue.by_key),
            **{name: getattr(counted, name) for name in COUNTERS},
        }


def _percentiles(name: str, spread: Spread, unit: float) -> Json:
    return {f"{name}_{point}": unit * getattr(spread, point) for point in ("p50", "p90", "p99")}


def _scaled(bound: float | None, unit: float) -> float | None:
    return None if bound is None else unit * bound
