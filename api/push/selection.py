"""What one connection asks for: which keys, at which rates, where to begin, and its window.

It is parsed from the query of the request. An error names the parameter and what is expected. It
never repeats the value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qsl

from upstream import Key, UpStreamError
from upstream.push_limits import DEFAULT_WINDOW, MOST_WINDOW

from ..key_patterns import MOST_CHARACTERS, KeyPatterns, is_pattern

MOST_PATTERNS: Final = 64
LONGEST_PATTERN: Final = 256
SLOWEST_RATE: Final = 1e-7
"""Once in four months."""
FASTEST_RATE: Final = 1e7
NEVER: Final = math.inf

_REPEATED: Final = frozenset({"max_rate_per_key", "keys"})
_SINGLE: Final = frozenset({"window", "max_rate", "snapshot", "last_event_id", "conflate"})
_NUMBER: Final = r"\d{1,20}(?:\.\d{0,40})?(?:e[+-]?\d{1,2})?"
_RATE: Final = re.compile(rf"({_NUMBER})(?:/({_NUMBER}))?", re.ASCII | re.IGNORECASE)
_A_RATE: Final = "updates per second, such as 10, 0.5 or 1/3600"


class SelectionError(UpStreamError, ValueError):
    """A parameter of a push connection is not valid."""

    def __init__(self, parameter: str, expected: str) -> None:
        self.parameter = parameter
        self.expected = expected
        super().__init__(f"{parameter} must be {expected}")


class UnknownParameterError(UpStreamError, ValueError):
    """A push connection has an unknown parameter, which may be mistyped."""

    def __init__(self) -> None:
        self.known = sorted(_SINGLE | _REPEATED)
        super().__init__(f"the known parameters are {', '.join(self.known)}")


@dataclass(frozen=True, slots=True)
class Selection:
    """What a connection asks for. Without a query it asks for everything.

    >>> selection = Selection.parse(b"keys=GO*&max_rate_per_key=GOOG:1&max_rate_per_key=1/60")
    >>> selection.interval_of("GOOG"), selection.interval_of("GOLD"), selection.interval_of("GM")
    (1.0, 60.0, inf)
    """

    window: int = DEFAULT_WINDOW
    max_rate: float | None = None
    """Updates per second over all keys. A message may hold many updates."""
    key_rates: tuple[tuple[str, float], ...] = ()
    """Updates per second of one key, by pattern."""
    rate_of_others: float | None = None
    """Updates per second of any key that no pattern matches."""
    key_patterns: tuple[str, ...] = ()
    """Patterns of the keys that are wanted; an empty tuple means all keys."""
    snapshot: bool | None = None
    """Whether to begin with the newest values. None means: if the stream retains values."""
    last_event_id: str | None = None
    may_conflate: bool = True
    """Whether a connection to an append queue goes on after updates were left out of it."""
    _interval: KeyPatterns = field(init=False, repr=False, compare=False)
    _wanted: KeyPatterns = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        others = 0.0 if self.rate_of_others is None else 1 / self.rate_of_others
        intervals = {pattern: 1 / rate for pattern, rate in self.key_rates}
        object.__setattr__(self, "_interval", KeyPatterns(intervals, otherwise=others))
        wanted = dict.fromkeys(self.key_patterns, 1.0)
        object.__setattr__(self, "_wanted", KeyPatterns(wanted, otherwise=0.0))

    @classmethod
    def parse(
        cls, query: bytes, *, window: int = DEFAULT_WINDOW, last_event_id: str | None = None
    ) -> Selection:
        """Return what a query asks for; raises SelectionError or UnknownParameterError.

        `window` is the default. `last_event_id` comes from a header and takes precedence.
        """
        given = _read(query)
        single = {name: values[-1] for name, values in given.items() if name in _SINGLE}
        max_rate = single.get("max_rate")
        key_rates, rate_of_others = _key_rates(given.get("max_rate_per_key", []))
        return cls(
            window=_window(single.get("window"), window),
            max_rate=None if max_rate is None else _rate("max_rate", max_rate, _A_RATE),
            key_rates=key_rates,
            rate_of_others=rate_of_others,
            key_patterns=_patterns("keys", given.get("keys", [])),
            snapshot=_flag("snapshot", single.get("snapshot")),
            last_event_id=last_event_id or single.get("last_event_id") or None,
            may_conflate=_conflates(single.get("conflate")),
        )

    @property
    def limits_keys(self) -> bool:
        """Whether some keys have a rate of their own."""
        return bool(self.key_rates) or self.rate_of_others is not None

    @property
    def filters_keys(self) -> bool:
        """Whether some keys are not wanted."""
        return bool(self.key_patterns)

    def is_wanted(self, key: Key) -> bool:
        """Tell whether updates of this key are wanted. O(patterns)."""
        return not self.key_patterns or self._wanted(key) > 0

    def interval_of(self, key: Key) -> float:
        """Return the least seconds between two updates of a key; infinity if it is not wanted.

        O(patterns).
        """
        return self._interval(key) if self.is_wanted(key) else NEVER


def _read(query: bytes) -> dict[str, list[str]]:
    """Return the parameters of a query. Bytes that are not UTF-8 become question marks."""
    try:
        pairs = parse_qsl(
            query.decode("latin-1"), keep_blank_values=True, max_num_fields=2 * MOST_PATTERNS
        )
    except ValueError:
        raise SelectionError("the query", f"at most {2 * MOST_PATTERNS} parameters long") from None
    given: dict[str, list[str]] = {}
    for name, value in pairs:
        given.setdefault(name, []).append(value)
    if not given.keys() <= _SINGLE | _REPEATED:
        raise UnknownParameterError
    for name in given.keys() & _SINGLE:
        if len(given[name]) > 1:
            raise SelectionError(name, "given once")
    return given


def _window(text: str | None, default: int) -> int:
    if text is None:
        return default
    window = int(text) if text.isascii() and text.isdecimal() and len(text) <= 4 else 0
    if not 1 <= window <= MOST_WINDOW:
        raise SelectionError("window", f"a whole number from 1 to {MOST_WINDOW}")
    return window


def _flag(name: str, text: str | None) -> bool | None:
    if text is None:
        return None
    known = {"true": True, "1": True, "false": False, "0": False}
    if text.lower() not in known:
        raise SelectionError(name, "true or false")
    return known[text.lower()]


def _conflates(text: str | None) -> bool:
    if text not in (None, "auto", "never"):
        raise SelectionError("conflate", "auto or never")
    return text != "never"


def _rate(name: str, text: str, expected: str) -> float:
    found = _RATE.fullmatch(text.strip())
    if found is None:
        raise SelectionError(name, expected)
    number, divisor = float(found[1]), float(found[2] or 1)
    rate = number / divisor if divisor else 0.0
    if not SLOWEST_RATE <= rate <= FASTEST_RATE:
        raise SelectionError(name, f"from {SLOWEST_RATE:g} to {FASTEST_RATE:g} updates per second")
    return rate


def _key_rates(texts: list[str]) -> tuple[tuple[tuple[str, float], ...], float | None]:
    """Return the rates by pattern, and the rate of all other keys if there is one."""
    name = "max_rate_per_key"
    rates: list[tuple[str, float]] = []
    others: float | None = None
    for text in texts:
        pattern, colon, number = text.rpartition(":")
        rate = _rate(name, number, f"PATTERN:RATE or RATE, with RATE in {_A_RATE}")
        if colon:
            rates.append((pattern, rate))
        else:
            others = rate
    _patterns(name, [pattern for pattern, _ in rates])
    return tuple(rates), others


def _patterns(name: str, texts: Iterable[str]) -> tuple[str, ...]:
    patterns = tuple(texts)
    if len(patterns) > MOST_PATTERNS:
        raise SelectionError(name, f"given at most {MOST_PATTERNS} times")
    if sum(map(len, filter(is_pattern, patterns))) > MOST_CHARACTERS:
        raise SelectionError(name, f"patterns of at most {MOST_CHARACTERS} characters in total")
    if any(not 0 < len(pattern) <= LONGEST_PATTERN for pattern in patterns):
        raise SelectionError(name, f"a pattern of 1 to {LONGEST_PATTERN} characters")
    return patterns
