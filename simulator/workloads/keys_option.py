"""Workloads in words, as command lines name them: `zipf:100:0.9`, `bursts:20:0.5`.

The keys and their shares are one word, the way in which they arrive another.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ..errors import OptionError
from .key_rates import two_classes, uniform, zipf
from .sources import Bernoulli, Bursts, FixedInterval, Poisson, RoundRobin
from .workload import Floats, Workload

KEYS_FORMS: Final = (
    "zipf:KEYS:THETA",
    "uniform:KEYS",
    "two-class:KEYS:SLOW_KEYS:RATIO",
    "round-robin:KEYS",
)
ARRIVALS_FORMS: Final = ("poisson", "fixed", "bernoulli[:TICK]", "bursts:KEYS[:SPREAD]")
DEFAULT_ARRIVALS: Final = "poisson"
_IN_TURN: Final = "round-robin"


def make_workload(keys: str, arrivals: str | None = None) -> Workload:
    """Return the workload that two options name; OptionError for words that make no sense.

    Arrivals are Poisson unless said otherwise; keys in turn come at a fixed interval.

    >>> len(make_workload("zipf:100:0.9").keys)
    100
    """
    shares, is_in_turn = _shares(keys)
    if is_in_turn:
        if arrivals not in (None, "fixed"):
            raise OptionError("--arrivals", arrivals, f"fixed, because --keys is {keys}")
        return RoundRobin(shares)
    name, numbers = _words(DEFAULT_ARRIVALS if arrivals is None else arrivals)
    makers: dict[str, Callable[[list[float]], Workload]] = {
        "poisson": lambda _: Poisson(shares),
        "fixed": lambda _: FixedInterval(shares),
        "bernoulli": lambda given: Bernoulli(shares, tick=given[0] if given else 1.0),
        "bursts": lambda given: Bursts(
            shares, bursting=_whole(given[0]), spread=given[1] if len(given) > 1 else 0.0
        ),
    }
    allowed = {"poisson": (0,), "fixed": (0,), "bernoulli": (0, 1), "bursts": (1, 2)}
    if numbers is None or len(numbers) not in allowed.get(name, ()):
        raise OptionError("--arrivals", arrivals, "one of " + ", ".join(ARRIVALS_FORMS))
    try:
        return makers[name](numbers)
    except OptionError as error:
        raise _within("--arrivals", arrivals, error) from error


def _shares(keys: str) -> tuple[Floats, bool]:
    """Return the shares, and whether the keys come in turn."""
    name, numbers = _words(keys)
    makers: dict[str, tuple[int, Callable[[list[float]], Floats]]] = {
        "zipf": (2, lambda given: zipf(_whole(given[0]), given[1])),
        "uniform": (1, lambda given: uniform(_whole(given[0]))),
        "two-class": (3, lambda given: two_classes(_whole(given[0]), _whole(given[1]), given[2])),
        _IN_TURN: (1, lambda given: uniform(_whole(given[0]))),
    }
    if name not in makers or numbers is None or len(numbers) != makers[name][0]:
        raise OptionError("--keys", keys, "one of " + ", ".join(KEYS_FORMS))
    try:
        return makers[name][1](numbers), name == _IN_TURN
    except OptionError as error:
        raise _within("--keys", keys, error) from error


def _words(option: str) -> tuple[str, list[float] | None]:
    """Return the name and the numbers behind it; None if they are no numbers."""
    name, *rest = option.split(":")
    try:
        return name.strip().lower(), [float(word) for word in rest]
    except ValueError:
        return name, None


def _within(option: str, word: str | None, error: OptionError) -> OptionError:
    """Return an error that says in which option the number is that makes no sense."""
    return OptionError(f"{option} {word}: {error.option}", error.value, error.expected)


def _whole(number: float) -> int:
    if not number.is_integer():
        raise OptionError("a number of keys", number, "a whole number")
    return int(number)
