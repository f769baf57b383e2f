"""Whatever users give may fail at any call: nothing is lost, stranded or counted twice for it.

Each scenario runs once for each call of each callable, or for every third, which fails. What was
being done then has happened wholly or not at all; if not, it is done again. In the end all is as if
nothing had failed.
"""

from __future__ import annotations

import os

import pytest

from .failing import KINDS, System, drive
from .failing_calls import Failures

CALLABLES = (
    *("rate", "weight", "cost", "interval", "processing cost"),
    *("encode", "decode", "hash", "eq", "column", "clock", "victim", "sheds"),
)


STRIDE = 1 if os.environ.get("CI") else 3
"""Of so many calls one fails; in CI, each of them."""


def outcome(kind: str, failures: Failures) -> tuple[list[object], list[object]]:
    system = System(failures, kind)
    drive(system)
    system.check()
    failures.is_armed = False
    return system.served, system.state()


@pytest.mark.parametrize("kind", KINDS)
def test_a_callable_that_fails_once_changes_nothing_in_the_end(kind: str) -> None:
    calls = Failures()
    expected = outcome(kind, calls)
    assert calls.calls, "nothing was asked"
    for name in CALLABLES:
        for at in range(1, calls.calls[name] + 1, STRIDE):
            failures = Failures(name, at)
            assert outcome(kind, failures) == expected, f"call {at} of {name}"
            assert failures.failed == 1
