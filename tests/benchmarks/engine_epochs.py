"""Qc over epochs here, as a program beside other stream engines runs it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter

from tests.benchmarks.epoch_peers import PeerRun, Step
from tests.benchmarks.epoch_systems import QC, Standing


def answer(steps: Sequence[Step], run: PeerRun, *, is_updated: bool) -> Callable[[], None]:
    """Return the work: to evaluate the query after each batch."""
    assert not is_updated
    system = Standing(QC)

    def work() -> None:
        for step in steps:
            if step.pairs is None:
                system.arrive(step.router, step.rows)
                continue
            cut = perf_counter()
            run.means |= system.cut(step.rows)
            run.after_cut.append(perf_counter() - cut)

    return work
