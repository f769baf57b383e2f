"""`python -m simulator demo`: run the demo by the system's clock, and show it."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

from rich.console import Console
from rich.live import Live

from upstream import SystemClock

from .demo import Demo, DemoReport, DemoSettings, run_in_real_time
from .display import DemoView, as_json, introduction, plain_line, plain_table, summary

SECONDS_BETWEEN_FRAMES: Final = 0.25
SECONDS_BETWEEN_LINES: Final = 1.0


def run_demo(settings: DemoSettings, *, seconds: float, is_json: bool) -> None:
    """Run the demo for `seconds`, and print it in the form that suits the output."""
    with _interruptible() as should_stop:
        runner = _Runner(settings, seconds, should_stop)
        if is_json:
            runner.print_json()
        elif _can_redraw():
            runner.draw()
        else:
            runner.print_lines()


class _Runner:
    def __init__(
        self, settings: DemoSettings, seconds: float, should_stop: Callable[[], bool]
    ) -> None:
        self._settings = settings
        self._seconds = seconds
        self._should_stop = should_stop

    def draw(self) -> None:
        console = Console()
        with Live(console=console, auto_refresh=False, transient=False) as live:

            def show(report: DemoReport) -> None:
                view = DemoView(self._settings, report, seconds=self._seconds)
                live.update(view, refresh=True)

            report = self._run(show, every=SECONDS_BETWEEN_FRAMES)
            show(report)
        console.print()
        console.print(self._summary(report), highlight=False, markup=False)

    def print_lines(self) -> None:
        console = Console(force_terminal=False, no_color=True, highlight=False, markup=False)
        console.print(introduction(self._settings))
        console.print("Mean queue staleness since the start:")
        report = self._run(
            lambda report: console.print(plain_line(report), soft_wrap=True),
            every=SECONDS_BETWEEN_LINES,
        )
        for line in ["", *plain_table(report), ""]:
            console.print(line, soft_wrap=True)
        console.print(self._summary(report))

    def print_json(self) -> None:
        progress = Console(stderr=True, highlight=False, markup=False)

        def show(report: DemoReport) -> None:
            if progress.is_terminal:
                progress.print(plain_line(report), soft_wrap=True)

        report = self._run(show, every=SECONDS_BETWEEN_LINES)
        found = as_json(
            report, self._settings, seconds=self._seconds, is_stopped=self._should_stop()
        )
        sys.stdout.write(json.dumps(found, indent=2) + "\n")

    def _run(self, show: Callable[[DemoReport], None], *, every: float) -> DemoReport:
        return run_in_real_time(
            Demo(self._settings, SystemClock()),
            seconds=self._seconds,
            show=show,
            seconds_between_shows=every,
            sleep=time.sleep,
            should_stop=self._should_stop,
        )

    def _summary(self, report: DemoReport) -> str:
        return summary(report, is_stopped=self._should_stop())


def _can_redraw() -> bool:
    return sys.stdout.isatty() and not Console().is_dumb_terminal


@contextmanager
def _interruptible() -> Iterator[Callable[[], bool]]:
    """Stop the run between two updates on the first Ctrl-C, and at once on the second."""
    is_stopped = False

    def stop(_signal: int, _frame: FrameType | None) -> None:
        nonlocal is_stopped
        is_stopped = True
        signal.signal(signal.SIGINT, signal.default_int_handler)

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield lambda: is_stopped
    finally:
        signal.signal(signal.SIGINT, before)
