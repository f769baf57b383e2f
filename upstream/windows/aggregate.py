"""The *Aggregate* operator: it computes one result per window and follows the marks of tuples.

"The operator is stripped down of the window delimiting functionality which is better suited in the
queue" (report, section 6.1.3). It opens a window where a mark says so. Each tuple updates the open
windows of its key. When a window is complete, the operator emits its result:

| mark | effect with a tuple | effect without a tuple |
| --- | --- | --- |
| `WindowEnd`, or a number above 0 | opens a window and updates it | |
| `DISALLOW` (0), `INSIDE` (-1) | updates the open windows | |
| `CLOSE` | | completes the oldest open window of its key |
| `ABORT` | | ends the oldest open window of its key without a result |

This is Table 1, with two more marks for windows that end without a tuple. The last row of Table 1
holds for every mark: a tuple at or after the end of a window completes it and is not part of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar, cast

from ..errors import ParameterError
from ..updates import Key, Update
from .aggregate_functions import AggregateFunction, State, Value, function_from, name_of
from .window_tuples import WindowEnd, WindowEnding, WindowMark, WindowResult, WindowTuple

Whole = TypeVar("Whole")

_INSIDE: Final = WindowMark.INSIDE
_DISALLOW: Final = WindowMark.DISALLOW
_OPENS_NOTHING: Final = (_INSIDE, _DISALLOW)
_ENDINGS: Final = (WindowMark.CLOSE, WindowMark.ABORT)
_UNKNOWN: Final = float("-inf")


class Aggregate:
    """Compute a function of the values of each window, from tuples and their marks.

    `function` is one of:

    * a name: "count", "sum", "min", "max", "mean", "variance" (of a sample), "first" or "last".
      These functions are computed incrementally.
    * a builtin: `len`, `sum`, `min` or `max`. They mean "count", "sum", "min" and "max".
    * an `AggregateFunction` of your own, which is also computed incrementally.
    * any other callable, such as `statistics.median`. It is called with the list of the window's
      values.

    `of` is a function of the value of an update. Its result is what is aggregated. By default the
    value itself is aggregated.

    >>> from upstream import Update
    >>> aggregate = Aggregate("sum", of=lambda trade: trade["shares"])
    >>> aggregate.process(WindowTuple(Update("IBM", {"shares": 5}, 1.0), WindowEnd(3, start=0)))
    >>> aggregate.process(WindowTuple(Update("IBM", {"shares": 7}, 2.0), WindowMark.INSIDE))
    >>> aggregate.process(WindowEnding.of("IBM", WindowMark.CLOSE))
    WindowResult(key='IBM', start=0.0, end=3.0, value=12)
    """

    __slots__ = ("_add", "_function", "_name", "_newest_key", "_of", "_steps", "_windows")

    def __init__(
        self,
        function: str
        | AggregateFunction[State, Value]
        | Callable[[list[float]], object]  # tells type checkers the argument of `median`
        | Callable[[list[Value]], object],
        *,
        of: Callable[[Whole], object] | None = None,
    ) -> None:
        if of is not None and not callable(of):
            raise ParameterError("of", of, "a function of the value of an update")
        self._function = function_from(function)
        self._add = self._function.add
        self._name = name_of(function)
        # The caller chooses the type of the aggregated values; here they are objects.
        self._of = cast("Callable[[object], object] | None", of)
        self._windows: dict[Key, list[_OpenWindow]] = {}
        self._newest_key: Key = None
        self._steps = 0

    @property
    def name(self) -> str:
        """The name of the function."""
        return self._name

    @property
    def open_windows(self) -> int:
        """The number of open windows of all keys. O(keys with open windows)."""
        return sum(map(len, self._windows.values()))

    @property
    def steps(self) -> int:
        """How many times a tuple has updated a window: the report's cost, in units of C_t."""
        return self._steps

    def process(self, window_tuple: WindowTuple) -> WindowResult | None:
        """Process a tuple or an ending; return the result of a window that is complete, or None.

        A tuple is processed in these steps:

        1. If it is at or after the end of the oldest open window of its key, this window is
           complete without the tuple.
        2. It opens the windows in its mark, the earlier ones first. A number as a mark is the end
           of a window that starts at the tuple.
        3. It updates each open window of its key that covers its time.
        4. If it is in the last tick of the oldest window (`WindowEnd.last`), this window is
           complete with the tuple.

        A call returns at most one result. Window queues send a `CLOSE` for each window that no
        tuple completes. With tuples made by hand, several windows may end at once. Then the call
        returns the result of the oldest window, and the next tuples of the key return the others,
        which they no longer update.

        A tuple or ending is ignored if its key has no open window. A `WindowTuple(None, CLOSE)`
        without a key refers to the key of the tuple processed last.

        If the function or `of` raises for a value, the exception is passed on, and everything is as
        before the call, except for what a function of your own has changed in place. Such a tuple
        does not come again, so abort its window: `WindowQueue.abort`. If the result of a complete
        window cannot be computed, the exception is passed on too, but the tuple counts as
        processed. The window is dropped, because it would fail again.

        O(1) for each open window of the key.
        """
        update, mark = window_tuple
        if update is None:
            return self._end(window_tuple)
        if mark is _INSIDE or mark is _DISALLOW:
            key, value, time = update
            windows = self._windows.get(key)
            if windows is None:
                self._newest_key = key
                return None
            if len(windows) == 1:
                window = windows[0]
                if window.start <= time < window.last:
                    of = self._of
                    window.state = self._add(window.state, value if of is None else of(value))
                    self._steps += 1
                    self._newest_key = key
                    return None
        return self._process(update, mark)

    def _process(self, update: Update, mark: float) -> WindowResult | None:
        """Process any tuple. Its windows change only after everything that can raise."""
        key, value, time = update
        known = self._windows.get(key)
        windows = list(known or ())
        if mark is not _INSIDE and mark is not _DISALLOW:
            windows += self._opened_by(mark, time)
        holding = [window for window in windows if window.start <= time < window.end]
        states: list[object] = []
        if holding:
            of = self._of
            picked = value if of is None else of(value)
            states = [self._add(window.state, picked) for window in holding]
        # Either its end has come and the tuple is not in it, or this is its last tick.
        is_complete = windows and windows[0].last <= time
        complete = windows.pop(0) if is_complete else None
        self._keep(key, known, windows)
        for window, state in zip(holding, states, strict=True):
            window.state = state
        self._steps += len(holding)
        self._newest_key = key
        return None if complete is None else self._result(key, complete)

    def _opened_by(self, mark: float, time: float) -> list[_OpenWindow]:
        """Return the windows that a tuple opens; all of them cover its time."""
        if isinstance(mark, WindowEnd):
            ends = (*mark.earlier, mark) if mark.earlier else (mark,)
            return [self._open(end, end.start, end.last, time) for end in ends]
        if mark > 0:
            return [self._open(mark, _UNKNOWN, mark, time)]
        if mark in _OPENS_NOTHING:
            return []
        raise ParameterError("mark", mark, "DISALLOW, INSIDE or the end of a window for a tuple")

    def _open(self, end: float, start: float, last: float, time: float) -> _OpenWindow:
        if start == _UNKNOWN:
            start = float(time)
        if not start <= time < end:
            raise ParameterError("mark", end, f"the end of a window that holds the time {time:g}")
        state = self._function.initial()
        return _OpenWindow(start, float(end), last if last < end else float(end), state)

    def _end(self, ending: WindowTuple) -> WindowResult | None:
        """End the oldest window of a key; return its result if it is complete."""
        mark = ending.mark
        if isinstance(mark, WindowEnd) or mark not in _ENDINGS:
            raise ParameterError("mark", mark, "CLOSE or ABORT if there is no update")
        key = ending.key if isinstance(ending, WindowEnding) else self._newest_key
        windows = self._windows.get(key)
        if windows is None:
            return None
        oldest = windows[0]
        self._keep(key, windows, windows[1:])
        return self._result(key, oldest) if mark == WindowMark.CLOSE else None

    def _keep(self, key: Key, known: list[_OpenWindow] | None, windows: list[_OpenWindow]) -> None:
        """Store the open windows of a key, or remove a key without windows. Do all or nothing.

        A dict may call the `__hash__` and `__eq__` of the key, which may raise.
        """
        if not windows:
            if known is not None:
                del self._windows[key]
        elif known is None:
            self._windows[key] = windows
        else:
            known[:] = windows

    def _result(self, key: Key, window: _OpenWindow) -> WindowResult:
        return WindowResult(key, window.start, window.end, self._function.finish(window.state))

    def _check(self) -> None:
        """Assert every invariant. O(open windows)."""
        for windows in self._windows.values():
            assert windows, "a key without open windows is stored"
            for window in windows:
                assert window.start < window.end, "a window ends before it starts"
                assert window.last <= window.end, "a window completes after its end"


class _OpenWindow:
    """An open window and the state of its computation."""

    __slots__ = ("end", "last", "start", "state")

    def __init__(self, start: float, end: float, last: float, state: object) -> None:
        self.start = start
        self.end = end
        self.last = last
        self.state = state
