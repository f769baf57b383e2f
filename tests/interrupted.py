"""Raise an exception where an action has got to, as Ctrl-C or a lack of memory would."""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from types import FrameType
from typing import Any, NamedTuple, TypeVar

import pytest

import upstream
from upstream.held_interrupt import HeldInterrupt

Subject = TypeVar("Subject")
FOLDER = upstream.__path__[0]


class InterruptedHereError(BaseException):
    """Stands for whatever may be raised anywhere."""


class Held:
    """Stands for `HeldInterrupt`: in its block nothing is raised."""

    depth = 0

    def __enter__(self) -> None:
        Held.depth += 1

    def __exit__(self, *_: object) -> None:
        Held.depth -= 1


def respect_held_interrupts(patch: pytest.MonkeyPatch) -> None:
    """Let nothing be raised where `HeldInterrupt` holds Ctrl-C back."""
    enter, leave = HeldInterrupt.__enter__, HeldInterrupt.__exit__

    def held_back(self: HeldInterrupt) -> None:
        enter(self)
        Held.depth += 1

    def released(self: HeldInterrupt, *why: object) -> None:
        try:
            leave(self, *why)
        finally:
            Held.depth -= 1

    patch.setattr(HeldInterrupt, "__enter__", held_back)
    patch.setattr(HeldInterrupt, "__exit__", released)


class Moment(NamedTuple):
    """What an action has got to: the place, for which time, and how many moments were before."""

    file: str
    line: int
    called: str
    time: int
    number: int


class Interrupter:
    """Looks at all moments of actions in files of the library, and raises at those that are due.

    A moment is a line that begins ("line") or a call of C code: DuckDB's, NumPy's, Arrow's
    ("c_call").
    """

    def __init__(
        self,
        event: str,
        is_due: Callable[[Moment], bool] = lambda _: False,
        *,
        error: type[BaseException] = KeyboardInterrupt,
        files: str | tuple[str, ...] = FOLDER,
    ) -> None:
        self.seen: dict[tuple[str, int, str], Moment] = {}
        """The places that were reached, with the last moment of each."""
        self.count = 0
        self.raised = 0
        self._event = event
        self._is_due = is_due
        self._error = error
        self._files = files

    def until_done(self, act: Callable[[], object]) -> None:
        """Repeat an action, which may be interrupted, until it ends."""
        while True:
            try:
                with self.watching():
                    act()
                break
            except KeyboardInterrupt:
                continue

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Look at what the block executes."""
        tracing, profiling = sys.gettrace(), sys.getprofile()
        if self._event == "line":
            sys.settrace(self._reached)
        else:
            sys.setprofile(self._reached)
        try:
            yield
        finally:
            sys.settrace(tracing)
            sys.setprofile(profiling)

    def _reached(self, frame: FrameType, event: str, argument: object) -> Callable[..., Any] | None:
        file = frame.f_code.co_filename
        if not file.startswith(self._files) or "held_interrupt" in file:
            return None
        place = file, frame.f_lineno, getattr(argument, "__qualname__", "")
        if event == self._event and not Held.depth and not _is_of_a_lock(*place):
            time = self.seen[place].time + 1 if place in self.seen else 1
            moment = self.seen[place] = Moment(*place, time, self.count)
            self.count += 1
            if self._is_due(moment):
                self.raised += 1
                raise self._error
        return self._reached


@cache
def _is_of_a_lock(file: str, line: int, called: str) -> bool:
    """Tell whether a lock is taken or given back: Python heeds no signal on the way into C."""
    is_lock = "lock:" in linecache.getline(file, line)
    return is_lock or called.endswith(("__enter__", "__exit__"))


STRIDE = 1 if os.environ.get("CI") else 3
"""How many moments further the next interrupt is."""


def interrupt_everywhere(
    make: Callable[[], Subject],
    act: Callable[[Subject], object],
    check: Callable[[Subject], None],
    *,
    event: str,
    error: type[BaseException] = InterruptedHereError,
    files: str | tuple[str, ...] = FOLDER,
) -> int:
    """Check a subject after an action that was interrupted, for each moment; return how many.

    Outside of CI it is every third moment.
    """
    number = 0
    while True:
        subject = make()
        interrupter = Interrupter(
            event,
            lambda moment: moment.number == number,  # noqa: B023  # called in this turn only
            error=error,
            files=files,
        )
        with suppress(error), interrupter.watching():
            act(subject)
        if not interrupter.raised:
            return number
        check(subject)
        number += STRIDE
