"""Event loops: every loop does the same, event by event, and the clock shows its time."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import simpy
from hypothesis import example, given
from hypothesis import strategies as st

from simulator.kernel.event_loop import (
    Bell,
    EventLoop,
    PlainLoop,
    Process,
    SimPyLoop,
    SimulationClock,
)

Trace = list[tuple[float, str]]
"""What happened, and when."""


class TestEveryEventLoop:
    """Processes go on in the order of time, of rank, and of asking."""

    @pytest.fixture(params=[PlainLoop, SimPyLoop])
    def loop(self, request: pytest.FixtureRequest) -> EventLoop:
        made = request.param()
        assert isinstance(made, PlainLoop | SimPyLoop)
        return made

    @pytest.fixture
    def trace(self) -> Trace:
        return []

    def test_time_starts_at_zero_and_is_a_float(self, loop: EventLoop) -> None:
        assert loop.now == 0.0
        assert isinstance(loop.now, float)

    def test_time_is_that_of_what_happens(self, loop: EventLoop, trace: Trace) -> None:
        loop.run(arrive(loop, trace, "a", 1.5, 0.0, 2.0))
        assert trace == [(1.5, "a"), (1.5, "a"), (3.5, "a")]
        assert loop.now == 3.5

    def test_a_time_is_the_one_before_plus_the_delay_to_the_last_bit(
        self, loop: EventLoop, trace: Trace
    ) -> None:
        loop.run(work(loop, trace, "a", *[0.1] * 10))
        assert loop.now == sum([0.1] * 10) != 1.0

    def test_arrivals_come_before_work_at_the_same_moment(
        self, loop: EventLoop, trace: Trace
    ) -> None:
        loop.start(work(loop, trace, "work", 2.0))
        loop.start(arrive(loop, trace, "arrival", 1.0, 1.0))
        loop.run(arrive(loop, trace, "end", 3.0))
        assert trace == [(1.0, "arrival"), (2.0, "arrival"), (2.0, "work"), (3.0, "end")]

    @pytest.mark.parametrize("kind", ["arrivals", "work"])
    def test_equal_events_happen_in_the_order_of_the_requests(
        self, kind: str, loop: EventLoop, trace: Trace
    ) -> None:
        process = arrive if kind == "arrivals" else work
        loop.start(process(loop, trace, "late", 1.0, 1.0))
        for name in "abc":
            loop.start(process(loop, trace, name, 2.0))
        loop.run(arrive(loop, trace, "end", 3.0))
        assert [name for _, name in trace] == ["late", "a", "b", "c", "late", "end"]

    def test_work_that_takes_no_time_is_done_after_the_arrivals_of_the_moment(
        self, loop: EventLoop, trace: Trace
    ) -> None:
        loop.start(work(loop, trace, "work", 1.0, 0.0))
        loop.start(arrive(loop, trace, "arrival", 1.0, 0.0, 0.0))
        loop.run(arrive(loop, trace, "end", 2.0))
        assert [name for _, name in trace] == ["arrival"] * 3 + ["work"] * 2 + ["end"]

    def test_a_process_begins_before_anything_else_of_the_moment(
        self, loop: EventLoop, trace: Trace
    ) -> None:
        loop.start(arrive(loop, trace, "arrival", 0.0))
        loop.start(begin(trace, "begins"))
        loop.run(arrive(loop, trace, "end", 0.0))
        assert [name for _, name in trace] == ["begins", "arrival", "end"]

    # Bells.

    def test_a_bell_wakes_the_longest_waiter_after_the_arrivals_of_the_moment(
        self, loop: EventLoop, trace: Trace
    ) -> None:
        bell = loop.bell()
        for name in "abc":
            loop.start(sleep(loop, bell, trace, name))
        loop.start(ring(loop, bell, trace, 1.0))
        loop.start(ring(loop, bell, trace, 1.0))
        loop.start(arrive(loop, trace, "arrival", 1.0))
        loop.run(arrive(loop, trace, "end", 2.0))
        rings = [(1.0, "ring"), (1.0, "ring")]
        assert trace == [*rings, (1.0, "arrival"), (1.0, "a"), (1.0, "b"), (2.0, "end")]
        assert len(bell.sleepers) == 1

    def test_a_woken_process_comes_after_work_that_was_asked_for_before(
        self, loop: EventLoop, trace: Trace
    ) -> None:
        bell = loop.bell()
        loop.start(sleep(loop, bell, trace, "sleeper"))
        loop.start(work(loop, trace, "work", 1.0))
        loop.start(ring(loop, bell, trace, 1.0))
        loop.run(arrive(loop, trace, "end", 2.0))
        assert [name for _, name in trace] == ["ring", "work", "sleeper", "end"]

    def test_a_bell_is_heard_once(self, loop: EventLoop, trace: Trace) -> None:
        bell = loop.bell()
        loop.start(sleep(loop, bell, trace, "a", times=2))
        loop.start(ring(loop, bell, trace, 1.0))
        loop.run(arrive(loop, trace, "end", 2.0))
        assert trace == [(1.0, "ring"), (1.0, "a"), (2.0, "end")]
        assert bell.sleepers
        loop.run(ring(loop, bell, trace, 1.0))
        loop.run(arrive(loop, trace, "end", 0.0))
        assert trace[3:] == [(3.0, "ring"), (3.0, "end")], "woken when all arrivals are in"
        loop.run(arrive(loop, trace, "end", 1.0))
        assert trace[5:] == [(3.0, "a"), (4.0, "end")]
        assert not bell.sleepers

    def test_a_bell_that_rings_without_sleepers_wakes_no_process_later(
        self, loop: EventLoop, trace: Trace
    ) -> None:
        bell = loop.bell()
        bell.ring()
        loop.start(sleep(loop, bell, trace, "a"))
        loop.run(arrive(loop, trace, "end", 1.0))
        assert trace == [(1.0, "end")]

    def test_a_bell_wakes_only_the_processes_that_wait_for_it(
        self, loop: EventLoop, trace: Trace
    ) -> None:
        first, second = loop.bell(), loop.bell()
        loop.start(sleep(loop, first, trace, "first"))
        loop.start(sleep(loop, second, trace, "second"))
        loop.start(ring(loop, second, trace, 1.0))
        loop.run(arrive(loop, trace, "end", 2.0))
        assert trace == [(1.0, "ring"), (1.0, "second"), (2.0, "end")]
        assert first.sleepers
        assert not second.sleepers

    # The end of a run.

    def test_a_run_ends_with_its_main_process_and_a_next_one_goes_on(
        self, loop: EventLoop, trace: Trace
    ) -> None:
        loop.start(arrive(loop, trace, "other", 1.0, 1.0, 1.0))
        loop.run(arrive(loop, trace, "main", 1.5))
        assert trace == [(1.0, "other"), (1.5, "main")]
        loop.run(arrive(loop, trace, "main", 1.0))
        assert trace[2:] == [(2.0, "other"), (2.5, "main")]
        assert loop.now == 2.5

    def test_arrivals_of_the_moment_in_which_main_ends_still_come_but_work_does_not(
        self, loop: EventLoop, trace: Trace
    ) -> None:
        loop.start(work(loop, trace, "work", 1.0))
        loop.start(arrive(loop, trace, "before", 1.0))
        run = arrive(loop, trace, "main", 1.0)
        loop.start(arrive(loop, trace, "early", 0.5, 0.5))
        loop.run(run)
        assert trace == [(0.5, "early"), (1.0, "before"), (1.0, "main"), (1.0, "early")]
        loop.run(begin(trace, "main"))
        assert trace[4:] == [(1.0, "main")]
        loop.run(arrive(loop, trace, "main", 0.5))
        assert trace[5:] == [(1.0, "work"), (1.5, "main")]

    def test_a_main_process_may_end_at_once(self, loop: EventLoop, trace: Trace) -> None:
        loop.start(arrive(loop, trace, "other", 0.0))
        loop.run(begin(trace, "main"))
        assert trace[0] == (0.0, "main")
        assert loop.now == 0.0

    def test_main_may_be_woken_by_a_bell(self, loop: EventLoop, trace: Trace) -> None:
        bell = loop.bell()
        loop.start(ring(loop, bell, trace, 1.0))
        loop.run(sleep(loop, bell, trace, "main"))
        assert trace == [(1.0, "ring"), (1.0, "main")]

    def test_other_processes_may_end_before_main(self, loop: EventLoop, trace: Trace) -> None:
        loop.start(begin(trace, "a"))
        loop.start(work(loop, trace, "b", 1.0))
        loop.run(arrive(loop, trace, "main", 1.0, 1.0))
        assert trace == [(0.0, "a"), (1.0, "main"), (1.0, "b"), (2.0, "main")]

    def test_a_main_process_that_waits_for_ever_is_an_error(self, loop: EventLoop) -> None:
        with pytest.raises((AssertionError, RuntimeError)):
            loop.run(sleep(loop, loop.bell(), [], "main"))

    @pytest.mark.parametrize("is_main", [True, False])
    def test_an_error_of_a_process_comes_out(
        self, is_main: bool, loop: EventLoop, trace: Trace
    ) -> None:
        if not is_main:
            loop.start(fail(loop))
        main = fail(loop) if is_main else arrive(loop, trace, "main", 2.0)
        with pytest.raises(ZeroDivisionError, match="in a process"):
            loop.run(main)
        assert loop.now == 1.0
        assert trace == []


def arrive(loop: EventLoop, trace: Trace, name: str, *delays: float) -> Process:
    for delay in delays:
        yield loop.arrival_after(delay)
        trace.append((loop.now, name))


def work(loop: EventLoop, trace: Trace, name: str, *delays: float) -> Process:
    for delay in delays:
        yield loop.work_for(delay)
        trace.append((loop.now, name))


def begin(trace: Trace, name: str) -> Process:
    trace.append((0.0 if not trace else trace[-1][0], name))
    yield from ()


def sleep(loop: EventLoop, bell: Bell, trace: Trace, name: str, *, times: int = 1) -> Process:
    for _ in range(times):
        yield bell.wait()
        trace.append((loop.now, name))


def ring(loop: EventLoop, bell: Bell, trace: Trace, delay: float) -> Process:
    yield loop.arrival_after(delay)
    trace.append((loop.now, "ring"))
    bell.ring()


def fail(loop: EventLoop) -> Process:
    yield loop.work_for(1.0)
    raise ZeroDivisionError("in a process")


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


def test_the_plain_loop_keeps_nothing_of_processes_that_have_ended() -> None:
    loop = PlainLoop()
    for _ in range(10):
        loop.start(work(loop, [], "work", 0.5))
        loop.run(arrive(loop, [], "main", 1.0))
    assert len(loop._heap) == 0


def test_processes_of_the_simpy_loop_wait_for_events_of_simpy() -> None:
    loop = SimPyLoop()
    assert isinstance(loop.arrival_after(1.0), simpy.Timeout)
    for event in (loop.work_for(1.0), loop.bell().wait()):
        assert isinstance(event, simpy.Event)
