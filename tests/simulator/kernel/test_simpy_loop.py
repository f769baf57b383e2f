"""SimPy as the event loop."""

from __future__ import annotations

import simpy

from simulator.kernel.simpy_loop import SimPyLoop

from .contract import EventLoopContract


class TestSimPyLoop(EventLoopContract):
    def make(self) -> SimPyLoop:
        return SimPyLoop()

    def test_what_processes_wait_for_are_events_of_simpy(self) -> None:
        loop = self.make()
        assert isinstance(loop.arrival_after(1.0), simpy.Timeout)
        for event in (loop.work_for(1.0), loop.bell().wait()):
            assert isinstance(event, simpy.Event)
