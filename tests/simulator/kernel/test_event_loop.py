"""What an event loop is: both loops do the same, whatever the processes; and the clock."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simulator.kernel.event_loop import Bell, EventLoop, Process, SimulationClock
from simulator.kernel.plain_loop import PlainLoop
from simulator.kernel.simpy_loop import SimPyLoop

from .contract import Trace, arrive

DELAYS = [0.0, 0.1, 0.2, 0.3, 0.5, 1.0, 1.1, 3.0]
"""Of few kinds, so that much happens at one moment, or just beside it."""
BELLS = 2


@dataclass(frozen=True, slots=True)
class Step:
    """What a process does next: wait for a delay or a bell, or ring one."""

    what: str
    delay: float
    bell: int


STEPS = st.builds(
    Step,
    st.sampled_from(["arrival", "arrival", "work", "work", "sleep", "ring"]),
    st.sampled_from(DELAYS),
    st.integers(0, BELLS - 1),
)
SCRIPTS = st.lists(st.lists(STEPS, max_size=8), max_size=5)


def play(loop: EventLoop, script: list[Step], bells: list[Bell], name: str, log: Trace) -> Process:
    """Do what a script says, and note when."""
    log.append((loop.now, f"{name} begins"))
    for number, step in enumerate(script):
        if step.what == "arrival":
            yield loop.arrival_after(step.delay)
        elif step.what == "work":
            yield loop.work_for(step.delay)
        elif step.what == "sleep":
            yield bells[step.bell].wait()
        else:
            bells[step.bell].ring()
        log.append((loop.now, f"{name} {number}"))


def trace_of(loop: EventLoop, others: list[list[Step]], mains: list[list[Step]]) -> Trace:
    """Start some processes, run others one after the other, and return all that happened."""
    log: Trace = []
    bells = [loop.bell() for _ in range(BELLS)]
    for number, script in enumerate(others):
        loop.start(play(loop, script, bells, f"process {number}", log))
    for number, script in enumerate(mains):
        try:
            loop.run(play(loop, script, bells, f"main {number}", log))
        except (AssertionError, RuntimeError):
            return [*log, (loop.now, "nothing is left to happen")]
        sleepers = ", ".join(str(len(bell.sleepers)) for bell in bells)
        log.append((loop.now, f"end of the run; sleepers: {sleepers}"))
    return log


@given(SCRIPTS, SCRIPTS)
@example([[Step("work", 1.0, 0)]], [[Step("arrival", 1.0, 0)], [Step("arrival", 0.0, 0)]])
def test_both_loops_do_the_same(others: list[list[Step]], mains: list[list[Step]]) -> None:
    assert trace_of(PlainLoop(), others, mains) == trace_of(SimPyLoop(), others, mains)


@pytest.mark.parametrize("make", [PlainLoop, SimPyLoop])
def test_the_clock_tells_the_time_of_its_loop(make: type[PlainLoop | SimPyLoop]) -> None:
    loop = make()
    clock = SimulationClock(loop)
    assert clock.now() == 0.0
    loop.run(arrive(loop, [], "main", 2.5))
    assert clock.now() == 2.5
