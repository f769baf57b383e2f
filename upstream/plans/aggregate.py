"""Aggregate: one result per window of a key, or of a group within a key (report, section 3.2).

The queue on the arc before it delimits the windows, see `WindowArc`. `upstream.Aggregate` does the
computation. If the user's function raises for any tuple of a window, the window has no result,
since a result that lacks a row would be wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Final, TypeVar, cast

from ..clock import Clock
from ..errors import ParameterError, UnknownPolicyError
from ..policies import SCHEDULERS
from ..updates import Update
from ..windows import Aggregate as WindowAggregate
from ..windows import (
    AggregateFunction,
    LazyWindowBuffer,
    WindowBuffer,
    WindowResult,
    WindowSpecification,
    WindowTuple,
)
from ..windows.aggregate_functions import function_from, name_of
from .arc_queue import WindowArc
from .plan_statistics import FAILED, Tally
from .plan_tree import Arc, Feed, Operator, arc_from, check_function, name_of_function
from .row_operators import Group, Grouping
from .stage import AnyStage, Stage

State = TypeVar("State")
Value = TypeVar("Value")
Whole = TypeVar("Whole")

WINDOW_POLICIES: Final = ("append", *SCHEDULERS)
"""The policies that windows can have."""


class Aggregate(Operator):
    """Compute `function` of the values in windows of `size` seconds, one every `slide` seconds.

    `function` is anything that `upstream.Aggregate` accepts, and `of` picks the value to aggregate
    from an update's value. A result has the key, and its time is the end of its window. `by` makes
    groups within each key; the keys of the results are then pairs of key and group. `tick` is that
    of `WindowSpecification`. `buffer` decides which window is a key's most recent one.

    A deletion ends here: the open windows of its key end without a result.

    >>> from upstream import Stream
    >>> from upstream.plans import Source
    >>> Aggregate(Source(Stream()), "mean", size=300, slide=60).label
    'Aggregate mean'
    """

    kind: ClassVar[str] = "aggregate"
    needs_every_tuple: ClassVar[bool] = True

    __slots__ = ("_function", "_of", "arcs", "buffer", "label", "name", "windows")

    arcs: tuple[Arc, ...]
    label: str

    def __init__(
        self,
        feed: Feed,
        function: str
        | AggregateFunction[State, Value]
        | Callable[[list[float]], object]  # tells type checkers what `median` receives here
        | Callable[[list[Value]], object],
        *,
        size: float,
        slide: float | None = None,
        tick: float | None = None,
        by: Grouping | None = None,
        of: Callable[[Whole], object] | None = None,
        buffer: type[WindowBuffer] = LazyWindowBuffer,
        name: str = "",
    ) -> None:
        arc = arc_from(feed)
        check_window_arc(arc)
        self._function = function_from(function)
        check_function("by", by, "a function of an update", or_none=True)
        check_function("of", of, "a function of an update's value", or_none=True)
        if not (isinstance(buffer, type) and issubclass(buffer, WindowBuffer)):
            raise ParameterError("buffer", buffer, "LazyWindowBuffer or EagerWindowBuffer")
        if by is not None:
            arc = Arc(Group(Arc(arc.operator, "append"), by), arc.policy)
        self.arcs = (arc,)
        # The caller says which type is aggregated; here it is any object.
        self._of = cast("Callable[[object], object] | None", of)
        self.buffer = buffer
        self.windows = WindowSpecification(size, size if slide is None else slide, tick)
        self.name = name
        self.label = f"Aggregate {name_of(function)}"
        if of is not None:
            self.label += f" of {name_of_function(of)}"

    def start(self, clock: Clock, default: str) -> AnyStage:
        """Return the running operator, fed by a queue of windows."""
        [arc] = self.arcs
        queue = WindowArc(arc.policy or default, self.windows, self.buffer, clock)
        return _AggregateStage(self._function, self._of, queue)


class _AggregateStage(Stage[WindowTuple]):
    __slots__ = ("_aggregate", "_arc")

    def __init__(
        self,
        function: AggregateFunction[object, object],
        of: Callable[[object], object] | None,
        arc: WindowArc,
    ) -> None:
        super().__init__([arc])
        pick = None if of is None else (lambda value: self.tally.attempt(of, value))
        self._aggregate = WindowAggregate(_Guarded(function, self.tally), of=pick)
        self._arc = arc

    def process(self, batch: Sequence[tuple[int, WindowTuple]]) -> list[Update]:
        self.tally.absorbed += len(batch)
        results = (self._aggregate.process(window_tuple) for _, window_tuple in batch)
        made = (self._update_of(result) for result in results if result is not None)
        return [update for update in made if update is not None]

    def _update_of(self, result: WindowResult) -> Update | None:
        self.tally.made += 1
        self._arc.note_result(result)
        if result.value is FAILED:
            self.tally.failed += 1
            return None
        return Update(result.key, result.value, result.end)


class _Guarded:
    """A user's function for windows. From the state `FAILED` no other state is reached."""

    __slots__ = ("_function", "_tally")

    def __init__(self, function: AggregateFunction[object, object], tally: Tally) -> None:
        self._function = function
        self._tally = tally

    def initial(self) -> object:
        """Return the state of a window without values."""
        return self._tally.attempt(self._function.initial)

    def add(self, state: object, value: object) -> object:
        """Return the state with one more value."""
        if state is FAILED or value is FAILED:
            return FAILED
        return self._tally.attempt(self._function.add, state, value)

    def finish(self, state: object) -> object:
        """Return the result."""
        return FAILED if state is FAILED else self._tally.attempt(self._function.finish, state)


def check_window_arc(arc: Arc) -> None:
    """Raise unless `arc` can carry windows."""
    if arc.policy is not None and arc.policy not in WINDOW_POLICIES:
        raise UnknownPolicyError(arc.policy, WINDOW_POLICIES)
    if arc.capacity is not None:
        raise ParameterError("capacity", arc.capacity, "None for an arc of windows")
