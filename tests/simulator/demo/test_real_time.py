"""The loop in real time, with a clock that only its own sleeping moves."""

from __future__ import annotations

import pytest

from simulator.demo.demo import Demo, DemoReport, DemoSettings
from simulator.demo.real_time import MOST_OF_THE_TIME_SHOWING, run_in_real_time
from upstream import ManualClock

SETTINGS = DemoSettings(keys=10, updates_per_second=100.0)


class Run:
    def __init__(self, *, showing_takes: float = 0.0, stop_at: float = 1e9) -> None:
        self.clock = ManualClock(start=50.0)
        self.showing_takes = showing_takes
        self.stop_at = stop_at
        self.shown: list[DemoReport] = []
        self.sleeps: list[float] = []

    def show(self, report: DemoReport) -> None:
        self.shown.append(report)
        self.clock.advance(self.showing_takes)

    def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.clock.advance(seconds)

    def go(self, seconds: float) -> DemoReport:
        return run_in_real_time(
            Demo(SETTINGS, self.clock),
            seconds=seconds,
            show=self.show,
            seconds_between_shows=0.25,
            sleep=self.sleep,
            should_stop=lambda: self.clock.now() >= self.stop_at,
        )


def test_it_runs_for_as_long_as_asked_and_shows_at_each_interval() -> None:
    run = Run()
    report = run.go(2.0)
    assert report.elapsed == pytest.approx(2.0)
    assert [round(shown.elapsed, 6) for shown in run.shown] == [0.25 * n for n in range(1, 8)]
    assert report.arrived == pytest.approx(200, rel=0.25)


def test_it_sleeps_until_something_is_due_and_no_more_often() -> None:
    run = Run()
    report = run.go(2.0)
    assert sum(run.sleeps) == pytest.approx(2.0)
    events = report.arrived + report.of("index").statistics.delivered
    assert len(run.sleeps) <= 2 * events
    assert min(run.sleeps) > 0


def test_it_stops_when_told_to() -> None:
    run = Run(stop_at=50.6)
    assert run.go(2.0).elapsed == pytest.approx(0.6, abs=0.1)


def test_where_showing_takes_long_it_is_done_less_often() -> None:
    run = Run(showing_takes=0.1)
    report = run.go(4.0)
    assert len(run.shown) * 0.1 / 4.0 <= MOST_OF_THE_TIME_SHOWING + 0.03
    assert report.arrived == pytest.approx(400, rel=0.25), "it catches up with what it missed"


def test_a_run_shorter_than_the_interval_still_reports() -> None:
    run = Run()
    assert run.go(0.1).elapsed == pytest.approx(0.1)
    assert run.shown == []
