"""Workloads in words, as command lines name them: `zipf:100:0.9`, `bursts:20:0.5`.

The keys and their shares are one word, the way in which they arrive another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeVar

from ..errors import OptionError
from .sources import Bernoulli, Bursts, FixedInterval, Poisson, RoundRobin
from .workload import Floats, Workload, two_classes, uniform, zipf

KEYS_FORMS: Final = (
    "zipf:KEYS:THETA",
    "uniform:KEYS",
    "two-class:KEYS:SLOW_KEYS:RATIO",
    "round-robin:KEYS",
)
ARRIVALS_FORMS: Final = ("poisson", "fixed", "bernoulli[:TICK]", "bursts:KEYS[:SPREAD]")
DEFAULT_ARRIVALS: Final = "poisson"
_IN_TURN: Final = "round-robin"

Made = TypeVar("Made")
_Makers = Mapping[str, tuple[tuple[int, ...], Callable[[list[float]], Made]]]
"""How many numbers may follow each name, and what makes something of them."""


def make_workload(keys: str, arrivals: str | None = None) -> Workload:
    """Return the workload that two options name; OptionError for words that make no sense.

    Arrivals are Poisson unless said otherwise; keys in turn come at a fixed interval.

    >>> len(make_workload("zipf:100:0.9").keys)
    100
    """
    name, shares = _made("--keys", keys, _SHARES, KEYS_FORMS)
    if name == _IN_TURN:
        if arrivals not in (None, "fixed"):
            raise OptionError("--arrivals", arrivals, f"fixed, because --keys is {keys}")
        return RoundRobin(shares)
    makers: _Makers[Workload] = {
        "poisson": ((0,), lambda _: Poisson(shares)),
        "fixed": ((0,), lambda _: FixedInterval(shares)),
        "bernoulli": ((0, 1), lambda given: Bernoulli(shares, tick=[*given, 1.0][0])),
        "bursts": (
            (1, 2),
            lambda given: Bursts(shares, bursting=_whole(given[0]), spread=[*given, 0.0][1]),
        ),
    }
    words = DEFAULT_ARRIVALS if arrivals is None else arrivals
    return _made("--arrivals", words, makers, ARRIVALS_FORMS)[1]


def _made(
    option: str, words: str, makers: _Makers[Made], forms: tuple[str, ...]
) -> tuple[str, Made]:
    """Return the name in an option, and what it makes of its numbers."""
    name, numbers = _words(words)
    counts, make = makers.get(name, ((), None))
    if make is None or numbers is None or len(numbers) not in counts:
        raise OptionError(option, words, "one of " + ", ".join(forms))
    try:
        return name, make(numbers)
    except OptionError as error:
        raise OptionError(
            f"{option} {words}: {error.option}", error.value, error.expected
        ) from error


def _words(option: str) -> tuple[str, list[float] | None]:
    """Return the name and the numbers behind it; None if they are no numbers."""
    name, *rest = option.split(":")
    try:
        return name.strip().lower(), [float(word) for word in rest]
    except ValueError:
        return name, None


def _whole(number: float) -> int:
    if not number.is_integer():
        raise OptionError("a number of keys", number, "a whole number")
    return int(number)


_SHARES: Final[_Makers[Floats]] = {
    "zipf": ((2,), lambda given: zipf(_whole(given[0]), given[1])),
    "uniform": ((1,), lambda given: uniform(_whole(given[0]))),
    "two-class": ((3,), lambda given: two_classes(_whole(given[0]), _whole(given[1]), given[2])),
    _IN_TURN: ((1,), lambda given: uniform(_whole(given[0]))),
}
