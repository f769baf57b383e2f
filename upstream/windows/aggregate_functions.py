"""What can be computed of a window, one value at a time: the functions of the *Aggregate* operator.

"The computation is applied incrementally as tuples update the window" (report, section 6.1.1): a
function keeps a state for each open window, of constant size and with constant time for a value.
Whatever has to see all values at once, such as a median, is computed of the list of them.

The functions here never change a state or a value in place, so a value for which one of them
raises leaves the state as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Final, Generic, Protocol, Self, TypeVar, cast, runtime_checkable

from ..errors import ParameterError

Value = TypeVar("Value")
State = TypeVar("State")
Value_contra = TypeVar("Value_contra", contravariant=True)


@runtime_checkable
class AggregateFunction(Protocol[State, Value_contra]):
    """What a function of your own needs, to be computed incrementally.

    The object is shared by all windows, so what belongs to a window is in the state only.

    >>> class Product:
    ...     def initial(self) -> float:
    ...         return 1.0
    ...     def add(self, state: float, value: float) -> float:
    ...         return state * value
    ...     def finish(self, state: float) -> float:
    ...         return state
    >>> result_of(Product(), [2.0, 3.0, 4.0])
    24.0
    """

    def initial(self) -> State:
        """Return the state of a window without values; it is asked for once for each window."""
        ...

    def add(self, state: State, value: Value_contra) -> State:
        """Return the state with one more value; it may be the same object, changed."""
        ...

    def finish(self, state: State) -> object:
        """Return the result of a complete window, which has at least one value."""
        ...


def result_of(function: AggregateFunction[State, Value], values: Iterable[Value]) -> object:
    """Compute `function` of `values` one by one, as it is done for a window. O(values)."""
    state = function.initial()
    for value in values:
        state = function.add(state, value)
    return function.finish(state)


class _Addable(Protocol):
    def __add__(self, other: Self, /) -> Self: ...


class _Comparable(Protocol):
    def __lt__(self, other: Self, /) -> bool: ...

    def __gt__(self, other: Self, /) -> bool: ...


Addable = TypeVar("Addable", bound=_Addable)
Comparable = TypeVar("Comparable", bound=_Comparable)


class Count:
    """Count the tuples of the window, whatever their values are, None too.

    >>> result_of(Count(), ["a", None, "a"])
    3
    """

    __slots__ = ()

    def initial(self) -> int:
        """Return zero."""
        return 0

    def add(self, state: int, value: object) -> int:
        """Return one more."""
        return state + 1

    def finish(self, state: int) -> int:
        """Return the count."""
        return state


class _OneValue(Generic[Value]):
    """What the functions have in common whose state is one value, or, before the first, none."""

    __slots__ = ()

    def initial(self) -> tuple[Value, ...]:
        """Return no value: None would not do, since it may be one."""
        return ()

    def finish(self, state: tuple[Value, ...]) -> Value:
        """Return the value."""
        return state[0]


class Sum(_OneValue[Addable]):
    """Add up the values, starting from the first: numbers, durations, arrays, what has a `+`.

    >>> from datetime import timedelta
    >>> result_of(Sum(), [timedelta(hours=1), timedelta(minutes=30)])
    datetime.timedelta(seconds=5400)
    """

    __slots__ = ()

    def add(self, state: tuple[Addable, ...], value: Addable) -> tuple[Addable]:
        """Return a new sum; never with `+=`, which would change somebody else's array."""
        return (state[0] + value,) if state else (value,)


class Min(_OneValue[Comparable]):
    """Find the smallest value, the first of equal ones.

    >>> result_of(Min(), [2, 1.0, 1, 3])
    1.0
    """

    __slots__ = ()

    def add(self, state: tuple[Comparable, ...], value: Comparable) -> tuple[Comparable, ...]:
        """Return the smaller one."""
        return (value,) if not state or value < state[0] else state


class Max(_OneValue[Comparable]):
    """Find the largest value, the first of equal ones.

    >>> result_of(Max(), [2, 3.0, 3, 1])
    3.0
    """

    __slots__ = ()

    def add(self, state: tuple[Comparable, ...], value: Comparable) -> tuple[Comparable, ...]:
        """Return the larger one."""
        return (value,) if not state or value > state[0] else state


class First(_OneValue[Value]):
    """Return the value of the tuple that opened the window.

    >>> result_of(First(), [2, 3, 1])
    2
    """

    __slots__ = ()

    def add(self, state: tuple[Value, ...], value: Value) -> tuple[Value, ...]:
        """Return the older one."""
        return state or (value,)


class Last(_OneValue[Value]):
    """Return the value of the tuple that was processed last.

    >>> result_of(Last(), [2, 3, 1])
    1
    """

    __slots__ = ()

    def add(self, state: tuple[Value, ...], value: Value) -> tuple[Value]:
        """Return the newer one."""
        return (value,)


class Mean:
    """Compute the arithmetic mean of numbers; it is exact if their sum and its quotient are.

    >>> result_of(Mean(), [1, 2, 6])
    3.0
    """

    __slots__ = ()

    def initial(self) -> tuple[int, float] | None:
        """Return that there is no value yet."""
        return None

    def add(self, state: tuple[int, float] | None, value: float) -> tuple[int, float]:
        """Return the count and the sum."""
        return (1, value) if state is None else (state[0] + 1, state[1] + value)

    def finish(self, state: tuple[int, float] | None) -> float | None:
        """Return the sum by the count."""
        return None if state is None else state[1] / state[0]


class Variance:
    """Compute the sample variance of numbers, as `statistics.variance` does; None for one value.

    It is computed by Welford's method, which does not subtract large squares from one another.

    >>> result_of(Variance(), [1, 2, 6]), result_of(Variance(), [1])
    (7.0, None)
    """

    __slots__ = ()

    def initial(self) -> tuple[int, float, float] | None:
        """Return that there is no value yet."""
        return None

    def add(self, state: tuple[int, float, float] | None, value: float) -> tuple[int, float, float]:
        """Return the count, the mean, and the sum of squared distances from the mean."""
        if state is None:
            return 1, value, 0
        count, mean, squares = state
        distance = value - mean
        mean = mean + distance / (count + 1)  # not +=: it might be the caller's array
        return count + 1, mean, squares + distance * (value - mean)

    def finish(self, state: tuple[int, float, float] | None) -> float | None:
        """Return the squares by the count less one."""
        return None if state is None or state[0] < 2 else state[2] / (state[0] - 1)


class WholeWindow(Generic[Value]):
    """Keep the values of the window, and call a function with the list of them at its end.

    The state is as large as the window, unlike that of the other functions.

    >>> import statistics
    >>> result_of(WholeWindow(statistics.median), [1, 2, 6])
    2
    """

    __slots__ = ("_function",)

    def __init__(self, function: Callable[[list[Value]], object]) -> None:
        self._function = function

    def initial(self) -> list[Value]:
        """Return an empty list."""
        return []

    def add(self, state: list[Value], value: Value) -> list[Value]:
        """Return the same list, with the value at its end."""
        state.append(value)
        return state

    def finish(self, state: list[Value]) -> object:
        """Return what the function says."""
        return self._function(state)


FUNCTIONS: Final[Mapping[str, object]] = MappingProxyType(
    {
        "count": Count(),
        "first": First(),
        "last": Last(),
        "max": Max(),
        "mean": Mean(),
        "min": Min(),
        "sum": Sum(),
        "variance": Variance(),
    }
)
"""The functions that have a name."""

_BUILTINS: Final = ((len, "count"), (max, "max"), (min, "min"), (sum, "sum"))


def function_from(function: object) -> AggregateFunction[object, object]:
    """Return what computes `function`, which is a name, a builtin, an object or a callable."""
    found = FUNCTIONS.get(name_of(function)) if _has_name(function) else function
    if isinstance(found, type) and isinstance(found, AggregateFunction):
        raise ParameterError("function", function, "an object rather than its class")
    if isinstance(found, AggregateFunction):
        return found
    if callable(found):
        # Whoever asks for a function knows its states and values as objects only.
        return cast("AggregateFunction[object, object]", WholeWindow(found))
    raise ParameterError(
        "function",
        function,
        f"one of {', '.join(map(repr, FUNCTIONS))}, an AggregateFunction, or something to call "
        "with the list of the values of a window",
    )


def name_of(function: object) -> str:
    """Return what to call `function`: its name here, or else the one it was defined with."""
    if isinstance(function, str):
        return function
    for builtin, short_name in _BUILTINS:
        if function is builtin:
            return short_name
    name = getattr(function, "__name__", None)
    return name if isinstance(name, str) else type(function).__name__


def _has_name(function: object) -> bool:
    return isinstance(function, str) or any(function is builtin for builtin, _ in _BUILTINS)
