"""The *Aggregate* operator: it makes one result of each window, as the tuples' marks tell it.

"The operator is stripped down of the window delimiting functionality which is better suited in the
queue" (report, section 6.1.3). It opens a window where a mark says so, lets each tuple update the
windows of its key that are open, and emits what it has made of a window that is complete:

| mark | what a tuple does | what is done without a tuple |
| --- | --- | --- |
| `WindowEnd`, or a number above 0 | opens a window and updates it | |
| `DISALLOW` (0), `INSIDE` (-1) | updates the open windows | |
| `CLOSE` | | the oldest open window of its key is complete |
| `ABORT` | | the oldest open window of its key is given up |

That is Table 1, with the two marks for windows that end without a tuple. Its last row holds for
any mark: a tuple at or after the end of a window completes it, and is not in it.
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

    The function is one of the names "count", "sum", "min", "max", "mean", "variance" (of a
    sample), "first" and "last", which are computed incrementally; or the builtin `len`, `sum`,
    `min` or `max`, which means the same as its name; or an `AggregateFunction` of your own; or
    anything else to be called with the list of the window's values, such as `statistics.median`.
    `of` picks what is aggregated from the value of an update.

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
        | Callable[[list[float]], object]  # which tells type checkers what `median` is given here
        | Callable[[list[Value]], object],
        *,
        of: Callable[[Whole], object] | None = None,
    ) -> None:
        if of is not None and not callable(of):
            raise ParameterError("of", of, "a function of an update's value")
        self._function = function_from(function)
        self._add = self._function.add
        self._name = name_of(function)
        # What is aggregated is of the type that the caller says; here it is any object.
        self._of = cast("Callable[[object], object] | None", of)
        self._windows: dict[Key, list[_OpenWindow]] = {}
        self._newest_key: Key = None
        self._steps = 0

    @property
    def name(self) -> str:
        """What the function is called."""
        return self._name

    @property
    def open_windows(self) -> int:
        """How many windows are open, over all keys. O(keys with open windows)."""
        return sum(map(len, self._windows.values()))

    @property
    def steps(self) -> int:
        """How often a tuple has updated a window: the report's cost, in units of C_t."""
        return self._steps

    def process(self, window_tuple: WindowTuple) -> WindowResult | None:
        """Do what Table 1 says for a tuple or an ending; return the result of a complete window.

        The steps of a tuple, in this order:

        1. If it is at or after the end of the oldest open window of its key, that is complete,
           without this tuple.
        2. It opens the windows that its mark names, the earlier ones first. A number as a mark is
           the end of a window that starts at the tuple.
        3. It updates all open windows of its key that hold its time, in one step each.
        4. If it is in the last tick of the oldest (`WindowEnd.last`), that is complete with it.

        No call emits more than one result. Window queues send a `CLOSE` for each window that a
        tuple does not complete itself; with tuples made by hand, several windows may end at once,
        and then the oldest is emitted, and the others by the following tuples of the key, which
        no longer update them.

        A tuple for which nothing is open is ignored, and so is an ending: None is returned. A bare
        `WindowTuple(None, CLOSE)` is about the key of the tuple processed last.

        If the function, or `of`, raises for a value, the exception goes to the caller, and
        everything is as before the call (but what a function of your own has changed in place). If
        a result cannot be made of a complete window, the exception goes to the caller as well,
        but the tuple is processed and that window is gone: it would fail again for ever. A tuple
        does not come again, so a window without it should be given up: `WindowQueue.abort`.

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
        """Process any tuple; its windows are changed only when nothing can raise any more."""
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
        # If its end has come, the tuple was not added to it, and otherwise this is its last tick.
        is_complete = windows and windows[0].last <= time
        complete = windows.pop(0) if is_complete else None
        self._keep(key, known, windows)
        for window, state in zip(holding, states, strict=True):
            window.state = state
        self._steps += len(holding)
        self._newest_key = key
        return None if complete is None else self._result(key, complete)

    def _opened_by(self, mark: float, time: float) -> list[_OpenWindow]:
        """Return the windows that a tuple opens, which all hold it."""
        if isinstance(mark, WindowEnd):
            ends = (*mark.earlier, mark) if mark.earlier else (mark,)
            return [self._open(end, end.start, end.last, time) for end in ends]
        if mark > 0:
            return [self._open(mark, _UNKNOWN, mark, time)]
        if mark in _OPENS_NOTHING:
            return []
        raise ParameterError("mark", mark, "DISALLOW, INSIDE or the end of a window, for a tuple")

    def _open(self, end: float, start: float, last: float, time: float) -> _OpenWindow:
        if start == _UNKNOWN:
            start = float(time)
        if not start <= time < end:
            raise ParameterError("mark", end, f"the end of a window that holds the time {time:g}")
        state = self._function.initial()
        return _OpenWindow(start, float(end), last if last < end else float(end), state)

    def _end(self, ending: WindowTuple) -> WindowResult | None:
        """Take away the oldest window of a key."""
        mark = ending.mark
        if isinstance(mark, WindowEnd) or mark not in _ENDINGS:
            raise ParameterError("mark", mark, "CLOSE or ABORT, where there is no update")
        key = ending.key if isinstance(ending, WindowEnding) else self._newest_key
        windows = self._windows.get(key)
        if windows is None:
            return None
        oldest = windows[0]
        self._keep(key, windows, windows[1:])
        return self._result(key, oldest) if mark == WindowMark.CLOSE else None

    def _keep(self, key: Key, known: list[_OpenWindow] | None, windows: list[_OpenWindow]) -> None:
        """Remember the open windows of a key, and nothing of a key without: or fail and do nothing.

        A dict may call the key's own `__hash__` and `__eq__`.
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
        """Assert what always holds. O(open windows)."""
        for windows in self._windows.values():
            assert windows, "a key without a window is remembered"
            for window in windows:
                assert window.start < window.end, "a window ends before it starts"
                assert window.last <= window.end, "a window outlives its end"


class _OpenWindow:
    """A window that is open, and what has been computed of it so far."""

    __slots__ = ("end", "last", "start", "state")

    def __init__(self, start: float, end: float, last: float, state: object) -> None:
        self.start = start
        self.end = end
        self.last = last
        self.state = state
