"""Exceptions raised inside the running merges, at each of their lines in turn.

`stage` is left out: nothing can fail in it, and Ctrl-C is held back while it runs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, TypeVar

import upstream.queries.chunks.ring
import upstream.queries.pairs.pair_merge
import upstream.queries.partials
import upstream.rows

if TYPE_CHECKING:
    from _typeshed import TraceFunction

FILES = (
    str(Path(str(upstream.queries.partials.__file__)).parent),
    str(Path(str(upstream.rows.__file__)).parent),
    str(upstream.queries.chunks.ring.__file__),
    str(upstream.queries.pairs.pair_merge.__file__),
)

_SPREAD = (7_919, 104_729)
"""Primes, so that the places that are tried lie in all of the actions."""

Line = tuple[str, int]
Result = TypeVar("Result")


class Interruption(KeyboardInterrupt):
    """What is raised, which no code expects."""


@contextmanager
def watched(at_line: Callable[[Line], None]) -> Iterator[None]:
    """Call a function before each line in the merges and in what they are made of."""

    def trace(frame: FrameType, event: str, _argument: object) -> TraceFunction | None:
        if not frame.f_code.co_filename.startswith(FILES):
            return None
        if event == "line":
            at_line((frame.f_code.co_filename, frame.f_lineno))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


def lines_of(action: Callable[[], Result], keep: Callable[[Result], object]) -> list[Line]:
    """Run an action, keep its result, and return the lines that it executed."""
    lines: list[Line] = []
    with watched(lines.append):
        keep(action())
    return lines


def worth_trying(actions: list[list[Line]]) -> list[list[int]]:
    """Return, by action, two of the places where each line is executed, in all of the actions."""
    places: dict[Line, list[tuple[int, int]]] = {}
    for number, lines in enumerate(actions):
        for index, line in enumerate(lines):
            places.setdefault(line, []).append((number, index))
    tried = {
        found[spread * line % len(found)]
        for (_, line), found in places.items()
        for spread in _SPREAD
    }
    return [sorted(index for at, index in tried if at == number) for number in range(len(actions))]


def is_interrupted(action: Callable[[], object], index: int) -> bool:
    """Run an action and raise before one of its lines; return False if there is no such line."""
    left = index

    def count(_line: Line) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise Interruption

    try:
        with watched(count):
            action()
    except Interruption:
        return True
    return False
