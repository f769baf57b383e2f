"""The plain loop: a heap of times and processes."""

from __future__ import annotations

from simulator.kernel.plain_loop import PlainLoop

from .contract import EventLoopContract, arrive, work


class TestPlainLoop(EventLoopContract):
    def make(self) -> PlainLoop:
        return PlainLoop()

    def test_it_keeps_nothing_of_processes_that_have_ended(self) -> None:
        loop = self.make()
        for _ in range(10):
            loop.start(work(loop, [], "work", 0.5))
            loop.run(arrive(loop, [], "main", 1.0))
        assert len(loop._heap) == 0
