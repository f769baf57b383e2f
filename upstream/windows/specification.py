"""The specification of windows: their size, their distance, and which tuple closes one.

Window i covers `[i * slide, i * slide + size)` of the source time of its key (report, section
6.1.1). Everything about windows follows from this formula, evaluated in floating point exactly as
written. So other code that evaluates it gets the same windows. Times may be negative or fractional.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ..errors import ParameterError, TimeNotFiniteError, TimeOutOfRangeError

MOST_WINDOWS: Final = 2.0**50
"""Beyond this window number, floating point cannot tell neighbouring windows apart."""

_CLOSE_TO_WHOLE: Final = 1e-9


@dataclass(frozen=True, slots=True)
class WindowSpecification:
    """Windows of `size` seconds for each key, one every `slide` seconds.

    `size` is the length of a window, in seconds of source time.
    `slide` is the time between the starts of two windows. Windows tumble if it equals the size,
    overlap if it is shorter, and have gaps between them if it is longer.
    `tick` is the distance between two consecutive times, 1 for integers. By default there is none,
    and a window is closed by the first tuple of its key at or after its end. With a tick, a tuple
    in the last tick of a window closes it.

    The borders are computed in floating point. They are exact for whole numbers and for binary
    fractions such as 0.25. With a tick of 0.1, a tuple may be assigned to the neighbouring tick, or
    be late; use whole ticks as the unit of time then.

    >>> windows = WindowSpecification(size=3, slide=1)
    >>> windows.overlap, list(windows.holding(4.5)), windows.start(2), windows.end(2)
    (3, [2, 3, 4], 2.0, 5.0)
    """

    size: float
    slide: float
    tick: float | None = None

    def __post_init__(self) -> None:
        for name in ("size", "slide", "tick"):
            value = getattr(self, name)
            if value is not None or name != "tick":
                object.__setattr__(self, name, _seconds(name, value))
        if not 1 / MOST_WINDOWS < self.size / self.slide < MOST_WINDOWS:
            raise ParameterError("size", self.size, f"comparable to the slide of {self.slide:g}")
        if self.tick is not None:
            for name, seconds in (("size", self.size), ("slide", self.slide)):
                if not _is_whole(seconds / self.tick):
                    raise ParameterError(name, seconds, f"a multiple of the tick, {self.tick:g}")

    @property
    def overlap(self) -> int:
        """The largest number of windows of one tuple: size / slide, rounded up (report: o)."""
        ratio = self.size / self.slide
        return round(ratio) if _is_whole(ratio) else math.ceil(ratio)

    def start(self, index: int) -> float:
        """Return the first time in a window."""
        return index * self.slide

    def end(self, index: int) -> float:
        """Return the first time after a window."""
        return index * self.slide + self.size

    def closing_time(self, index: int) -> float:
        """Return the time from which a tuple closes a window: its end, or its last tick."""
        end = index * self.slide + self.size
        return end if self.tick is None else end - self.tick

    def newest(self, time: float) -> int:
        """Return the newest window that starts at or before `time`.

        A time that is not finite raises TimeNotFiniteError. A time that is too far from zero raises
        TimeOutOfRangeError.
        """
        slide = self.slide
        quotient = time / slide
        if not -MOST_WINDOWS < quotient < MOST_WINDOWS:
            if not math.isfinite(time):
                raise TimeNotFiniteError(time)
            raise TimeOutOfRangeError(time, slide)
        index = math.floor(quotient)
        while index * slide > time:
            index -= 1
        while (index + 1) * slide <= time:
            index += 1
        return index

    def first(self, time: float) -> int:
        """Return the first window that starts at or after `time`."""
        index = self.newest(time)
        return index if self.start(index) == time else index + 1

    def check_times(self, times: Sequence[float]) -> None:
        """Raise TimeOutOfRangeError for the row whose windows cannot be computed, if any."""
        for extreme in (min(times), max(times)) if times else ():
            try:
                self.newest(extreme)
            except TimeOutOfRangeError as error:
                row = times.index(extreme)
                raise TimeOutOfRangeError(extreme, error.slide, row) from None

    def newest_ended(self, time: float) -> int:
        """Return the newest window that ends at or before `time`."""
        size, slide = self.size, self.slide
        index = math.floor((time - size) / slide)
        while index * slide + size > time:
            index -= 1
        while (index + 1) * slide + size <= time:
            index += 1
        return index

    def newest_closed(self, time: float) -> int:
        """Return the newest window that a tuple at `time` closes, by its end or its last tick."""
        if self.tick is None:
            return self.newest_ended(time)
        index = self.newest_ended(time + self.tick)
        while self.closing_time(index) > time:
            index -= 1
        while self.closing_time(index + 1) <= time:
            index += 1
        return index

    def holding(self, time: float) -> range:
        """Return the windows that cover `time`; the range is empty between windows."""
        return range(self.newest_ended(time) + 1, self.newest(time) + 1)


def _seconds(name: str, value: object) -> float:
    """Return `value` as a float; ParameterError unless it is a finite number above 0."""
    if not isinstance(value, bool):
        try:
            seconds = float(value)  # type: ignore[arg-type]  # raises if it is not a number
        except (TypeError, ValueError, OverflowError):
            seconds = math.nan
        if 0 < seconds < math.inf and not isinstance(value, str | bytes):
            return seconds
    raise ParameterError(name, value, "a finite number of seconds above 0")


def _is_whole(ratio: float) -> bool:
    if ratio >= MOST_WINDOWS:
        return False  # floats cannot tell such a number from its neighbours
    return abs(ratio - round(ratio)) <= _CLOSE_TO_WHOLE * ratio and round(ratio) > 0
