"""Run the demo by its clock: sleep until something is due, and show the state now and then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from .demo import Demo, DemoReport

MOST_OF_THE_TIME_SHOWING: Final = 0.1
"""The share of time that may go into showing, during which nothing is fed or consumed."""


def run_in_real_time(
    demo: Demo,
    *,
    seconds: float,
    show: Callable[[DemoReport], None],
    seconds_between_shows: float,
    sleep: Callable[[float], None],
    should_stop: Callable[[], bool],
) -> DemoReport:
    """Run for `seconds`, or until `should_stop()`, and return the last report.

    What `show` and a busy machine delay is caught up with at once. Where showing takes long, as it
    does with many keys, it is done less often.
    """
    clock = demo.clock
    end = demo.start + seconds
    next_show = demo.start + min(seconds_between_shows, seconds)
    while (now := clock.now()) < end and not should_stop():
        demo.catch_up()
        if now >= next_show:
            show(demo.report())
            took = clock.now() - now
            next_show = now + max(seconds_between_shows, took / MOST_OF_THE_TIME_SHOWING)
        wait = min(demo.next_due(), next_show, end) - clock.now()
        if wait > 0:
            sleep(wait)
    demo.catch_up()
    return demo.report()
