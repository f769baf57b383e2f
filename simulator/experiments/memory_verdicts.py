"""What Figures 16 and 17 say alike: each metric over the skew, or over the load.

With skew fewer keys wait, with load more do: so means fall along the one axis and rise along the
other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from .experiment import Table, Verdict, column, where
from .memory_tables import Means, by_page, falls, mean_by, rises, saving


@dataclass(frozen=True, slots=True)
class Axis:
    """What is on the x-axis: its column, its label, and what is expected along it."""

    column: str
    label: str
    quantity: str
    """What grows along the axis."""
    each: str
    """What there is one of at each value."""
    verb: str
    """What the means are expected to do, in the infinitive."""
    is_so: Callable[[Means], bool]
    """Whether they do."""

    def says(self, means: Means) -> str:
        """Say what the means do along the axis."""
        return f"{self.verb}s" if self.is_so(means) else f"does not always {self.verb}"


SKEW: Final = Axis("theta", "Zipf theta", "skew", "distribution", "fall", falls)
LOAD: Final = Axis("load", "load factor", "load", "load", "rise", rises)


def judge_effective_usage(table: Table, axis: Axis) -> Verdict:
    """Say whether on-demand paging has 1 everywhere, and what naive memory does along the axis."""
    on_demand = column(where(table, memory="on-demand"), "effective_usage")
    naive = mean_by(table, axis.column, "effective_usage", memory="naive")
    is_clean = min(on_demand) > 1.0 - 1e-9
    low, high = min(naive), max(naive)

    def by_whole_pages(rows: Table) -> Means:
        return mean_by(rows, axis.column, "effective_page_usage", memory="on-demand")

    return Verdict(
        f"The effective usage of on-demand paging is {'' if is_clean else 'not '}1 for every "
        f"{axis.each}; that of naive memory {axis.says(naive)} with the {axis.quantity}, from "
        f"{naive[low]:.2f} at {axis.column} {low:g} to {naive[high]:.2f} at {high:g}. Counted in "
        f"whole pages, on-demand paging has {by_page(table, by_whole_pages, '.2f')}.",
        is_clean and axis.is_so(naive),
    )


def judge_usage(table: Table, axis: Axis) -> Verdict:
    """Say how much less on-demand paging holds, and what that does along the axis."""
    on_demand = mean_by(table, axis.column, "usage", memory="on-demand")
    naive = mean_by(table, axis.column, "usage", memory="naive")
    saved = saving(table, axis.column, "usage")
    is_less = min(saved.values()) > 0.0
    found = [
        f"{on_demand[value]:.1f} tuples instead of {naive[value]:.1f} at {axis.column} {value:g} "
        f"({saved[value]:.0%} less)"
        for value in (min(saved), max(saved))
    ]

    def saved_in_whole_pages(rows: Table) -> Means:
        return saving(rows, axis.column, "page_usage")

    return Verdict(
        f"On-demand paging holds {'' if is_less else 'not always '}less than naive memory, and "
        f"its usage {axis.says(on_demand)} with the {axis.quantity}: {' and '.join(found)}. "
        f"Counted in whole pages it saves {by_page(table, saved_in_whole_pages, '.0%')}.",
        is_less and axis.is_so(on_demand),
    )
