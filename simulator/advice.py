"""Which policy to use on a recorded trace, and by how much it beats the others.

Policies are compared by mean application staleness. The recommendation is the freshest policy, or
the index if it is within one percent of that, because it adapts when rates change. So that one
lucky stretch does not decide, the recommended policy and the runner-up are also compared on each
quarter of the trace. If they differ by less than one percent, or the quarters disagree, they count
as equal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from .errors import OptionError
from .model.measures import Measures
from .model.policy_run import PolicyRun
from .model.subscriber import check_cost
from .workloads.recorded import mean_gap, replay
from .workloads.trace_file import TraceFile

CANDIDATES: Final = ("append", "adaptive", "fifo", "in-place", "linecutting", "index")
DEFAULT: Final = "index"
AS_FRESH: Final = 1.01
"""Up to this ratio two policies count as equally fresh."""
HARDLY_STALER: Final = 1.05
QUARTERS: Final = 4
LEAST_QUARTER: Final = 100
"""The updates that a quarter must have for a comparison to mean anything."""

Follow = Callable[[str], Callable[[float], None]]
"""Shows progress: takes the name of a run, and returns a function that takes the share done."""


@dataclass(frozen=True, slots=True)
class Advice:
    """The measurements on a trace with a consumer of a given cost, and the recommendation."""

    trace: TraceFile
    cost_seconds: float
    measured: Sequence[Measures]
    runner_up: str | None
    """The freshest of the other policies; None if there is only one policy."""
    quarters_won: int
    quarters: int
    """How many quarters were compared; 0 if the trace is too short."""

    @property
    def unit_seconds(self) -> float:
        """The mean time between two updates, which is the unit of the measurements."""
        return mean_gap(self.trace)

    @property
    def load(self) -> float:
        """How many times faster updates arrive than the consumer can process them, on average."""
        return self.cost_seconds / self.unit_seconds

    @property
    def recommended(self) -> str:
        """The policy to use."""
        return recommended(self.measured)

    @property
    def is_clear(self) -> bool:
        """Whether the recommended policy is fresher than the runner-up, also on each quarter."""
        if self.runner_up is None:
            return True
        best, other = self.of(self.recommended), self.of(self.runner_up)
        return (
            other.application.mean > AS_FRESH * best.application.mean
            and self.quarters_won == self.quarters
        )

    def of(self, policy: str) -> Measures:
        """Return the measures of a policy."""
        return next(measures for measures in self.measured if measures.name == policy)

    def times_staler(self, policy: str) -> float | None:
        """Return the staleness of a policy over the recommended one's; None if that is 0."""
        best = self.of(self.recommended).application.mean
        return self.of(policy).application.mean / best if best else None

    def sentences(self) -> list[str]:
        """Say which policy to use, why, and how sure that is."""
        said = [self._about_best(), self._about_load()]
        if (others := self._about_others()) is not None:
            said.append(others)
        said += self._about_quarters()
        if (every := self._about_append()) is not None:
            said.append(every)
        return said

    def _about_best(self) -> str:
        seconds = self._seconds(self.recommended)
        if self.is_clear:
            return (
                f"Use {self.recommended}: its mean application staleness on this trace is "
                f"{seconds}."
            )
        assert self.runner_up is not None, "a recommendation with nothing to be equal to"
        return (
            f"{self.recommended} and {self.runner_up} are equal on this trace: their mean "
            f"application staleness is {seconds} and {self._seconds(self.runner_up)}. Use either."
        )

    def _seconds(self, policy: str) -> str:
        return f"{self.unit_seconds * self.of(policy).application.mean:.4g} s"

    def _about_load(self) -> str:
        if self.load > 1:
            return f"Your consumer is overloaded: its load is {self.load:.3g}."
        share = f"{100 * self.load:.3g} % of the time"
        said = f"Your consumer keeps up on average: it is busy for {share}"
        loads = [self.cost_seconds / mean_gap(part) for part in quarters(self.trace)]
        if not loads or max(loads) <= 1:
            return f"{said}."
        return f"{said}; but in the busiest quarter of the trace its load is {max(loads):.3g}."

    def _about_quarters(self) -> list[str]:
        if self.runner_up is None:
            return []
        if not self.quarters:
            return [
                "The trace is too short or too uneven to compare the policies quarter by quarter."
            ]
        won = f"{self.quarters_won} of the {self.quarters} quarters of the trace"
        return [f"It is at least as fresh as {self.runner_up}, the runner-up, in {won}."]

    def _about_others(self) -> str | None:
        ratios = [
            (ratio, measures.name)
            for measures in self.measured
            if measures.name != self.recommended
            and (ratio := self.times_staler(measures.name)) is not None
        ]
        if not ratios:
            return None
        if max(ratios)[0] <= AS_FRESH and min(ratios)[0] >= 1 / AS_FRESH:
            return "All others are within 1 % of that, so it does not matter which you use."
        listed = ", ".join(f"{name} {ratio:.4g}" for ratio, name in sorted(ratios))
        return f"The others are staler by these factors: {listed}."

    def _about_append(self) -> str | None:
        if self.recommended == "append" or all(each.name != "append" for each in self.measured):
            return None
        ratio = self.times_staler("append")
        if ratio is None or ratio > HARDLY_STALER or self.load > 1:
            return None
        return (
            "An append queue skips no update and is hardly staler here. Use it if every update "
            "matters, or adaptive if updates may be skipped while the consumer is behind."
        )


def advise(
    trace: TraceFile,
    *,
    cost_seconds: float,
    policies: Sequence[str] = CANDIDATES,
    follow: Follow | None = None,
) -> Advice:
    """Replay a trace with each policy, and compare the measurements."""
    check_cost(cost_seconds, "--cost")
    if not policies:
        raise OptionError("--policies", "", "at least one policy")
    cost = cost_seconds / mean_gap(trace)
    measured = [_measure(policy, trace, cost, follow) for policy in policies]
    best = recommended(measured)
    others = [measures for measures in measured if measures.name != best]
    runner_up = min(others, key=lambda each: each.application.mean).name if others else None
    parts = quarters(trace) if runner_up is not None else []
    won = 0
    for part in parts:
        # The cost is that in seconds, whatever the pace of the quarter.
        pair = [
            _measure(policy, part, cost_seconds / mean_gap(part), None).application.mean
            for policy in (best, runner_up)
            if policy is not None
        ]
        won += pair[0] <= pair[1]
    return Advice(trace, cost_seconds, measured, runner_up, won, len(parts))


def recommended(measured: Sequence[Measures]) -> str:
    """Return the freshest policy, or the default one if it is as fresh."""
    best = min(measured, key=lambda measures: measures.application.mean)
    for measures in measured:
        is_as_fresh = measures.application.mean <= AS_FRESH * best.application.mean
        if measures.name == DEFAULT and is_as_fresh:
            return DEFAULT
    return best.name


def quarters(trace: TraceFile) -> list[TraceFile]:
    """Return the quarters of a trace by rows; [] if one would be too short to mean anything."""
    if len(trace.times) < QUARTERS * LEAST_QUARTER:
        return []
    parts = [
        TraceFile(trace.name, times, codes, trace.keys)
        for times, codes in zip(
            np.array_split(trace.times, QUARTERS),
            np.array_split(trace.codes, QUARTERS),
            strict=True,
        )
    ]
    return parts if all(part.times[-1] > part.times[0] for part in parts) else []


def _measure(policy: str, trace: TraceFile, cost: float, follow: Follow | None) -> Measures:
    workload = replay(trace)
    run = PolicyRun(policy=policy, workload=workload, cost=cost, updates=len(workload))
    return run.measure(on_progress=None if follow is None else follow(policy))
