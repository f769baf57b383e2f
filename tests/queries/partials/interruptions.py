"""Exceptions raised inside the running merges, at each of their lines in turn.

`stage` is left out: nothing can fail in it, and Ctrl-C is held back while it runs.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import upstream.queries.chunks.ring
import upstream.queries.pairs.pair_merge
import upstream.queries.partials
import upstream.rows
from tests.interrupted import Interrupter, Moment

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


def lines_of(action: Callable[[], Result], keep: Callable[[Result], object]) -> list[Line]:
    """Run an action, keep its result, and return the lines that it executed."""
    lines: list[Line] = []

    def note(moment: Moment) -> bool:
        lines.append((moment.file, moment.line))
        return False

    with Interrupter("line", note, files=FILES).watching():
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
    try:
        with Interrupter("line", lambda moment: moment.number == index, files=FILES).watching():
            action()
    except KeyboardInterrupt:
        return True
    return False
