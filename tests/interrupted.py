"""Raise an exception at each moment of an action in turn, as Ctrl-C or a lack of memory would."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

import upstream

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


@contextmanager
def raising(moment: int, event: str) -> Iterator[None]:
    """Raise at the moment of this number: a line or a call of C code in the library."""
    left = moment

    def trace(frame: FrameType, what: str, _: Any) -> Any:
        nonlocal left
        if what == event and frame.f_code.co_filename.startswith(FOLDER) and not Held.depth:
            left -= 1
            if left < 0:
                left = sys.maxsize
                raise InterruptedHereError
        return trace

    tracing, profiling = sys.gettrace(), sys.getprofile()
    if event == "line":
        sys.settrace(trace)
    else:
        sys.setprofile(trace)
    try:
        yield
    finally:
        sys.settrace(tracing)
        sys.setprofile(profiling)


def interrupt_everywhere(
    make: Callable[[], Subject],
    act: Callable[[Subject], object],
    check: Callable[[Subject], None],
    *,
    event: str,
) -> int:
    """Check a subject after an action that was interrupted, for each moment; return how many."""
    moment = 0
    while True:
        subject = make()
        try:
            with raising(moment, event):
                act(subject)
        except InterruptedHereError:
            check(subject)
            moment += 1
        else:
            return moment
