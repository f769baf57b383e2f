"""The functions of the *Aggregate* operator, computed from one value at a time.

"The computation is applied incrementally as tuples update the window" (report, section 6.1.1). A
function keeps a state for each open window, of constant size and with constant time per value. A
function that needs all values at once, such as a median, is computed from the list of them.

The functions here never change a state or a value in place. So if one of them raises for a value,
the state is as before.
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
    """The methods that a function of your own needs to be computed incrementally.

    All windows share the object, so the data of one window must be in its state only.

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
        """Return the state of a window without values. It is called once for each window."""
        ...

    def add(self, state: State, value: Value_contra) -> State:
        """Return the state after one more value; it may be the same object, changed in place."""
        ...

    def finish(self, state: State) -> object:
        """Return the result of a complete window, which has at least one value."""
        ...


def result_of(function: AggregateFunction[State, Value], values: Iterable[Value]) -> object:
    """Compute `function` from `values` one by one, as for a window. O(values)."""
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
    """Count the tuples of the window, whatever their values are, including None.

    >>> result_of(Count(), ["a", None, "a"])
    3
    """

    __slots__ = ()

    def initial(self) -> int:
        """Return 0."""
        return 0

    def add(self, state: int, value: object) -> int:
        """Return one more."""
        return state + 1

    def finish(self, state: int) -> int:
        """Return the count."""
        return state


class _OneValue(Generic[Value]):
    """What the functions share whose state is a single value, or no value at first."""

    __slots__ = ()

    def initial(self) -> tuple[Value, ...]:
        """Return an empty tuple. None would not work, because it may be a value."""
        return ()

    def finish(self, state: tuple[Value, ...]) -> Value:
        """Return the value."""
        return state[0]


class Sum(_OneValue[Addable]):
    """Add the values, starting from the first: numbers, durations, arrays, anything with `+`.

    >>> from datetime import timedelta
    >>> result_of(Sum(), [timedelta(hours=1), timedelta(minutes=30)])
    datetime.timedelta(seconds=5400)
    """

    __slots__ = ()

    def add(self, state: tuple[Addable, ...], value: Addable) -> tuple[Addable]:
        """Return a new sum. `+=` would change an array that belongs to the caller."""
        return (state[0] + value,) if state else (value,)


class Min(_OneValue[Comparable]):
    """Find the smallest value; among equal values, the first.

    >>> result_of(Min(), [2, 1.0, 1, 3])
    1.0
    """

    __slots__ = ()

    def add(self, state: tuple[Comparable, ...], value: Comparable) -> tuple[Comparable, ...]:
        """Return the smaller one."""
        return (value,) if not state or value < state[0] else state


class Max(_OneValue[Comparable]):
    """Find the largest value; among equal values, the first.

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
    """Compute the arithmetic mean of numbers. It is exact if their sum and the quotient are exact.

    >>> result_of(Mean(), [1, 2, 6])
    3.0
    """

    __slots__ = ()

    def initial(self) -> tuple[int, float] | None:
        """Return None, because there is no value yet."""
        return None

    def add(self, state: tuple[int, float] | None, value: float) -> tuple[int, float]:
        """Return the count and the sum."""
        return (1, value) if state is None else (state[0] + 1, state[1] + value)

    def finish(self, state: tuple[int, float] | None) -> float | None:
        """Return the sum divided by the count."""
        return None if state is None else state[1] / state[0]


class Variance:
    """Compute the sample variance of numbers, like `statistics.variance`; None for one value.

    It uses Welford's method, which does not subtract large squares from each other.

    >>> result_of(Variance(), [1, 2, 6]), result_of(Variance(), [1])
    (7.0, None)
    """

    __slots__ = ()

    def initial(self) -> tuple[int, float, float] | None:
        """Return None, because there is no value yet."""
        return None

    def add(self, state: tuple[int, float, float] | None, value: float) -> tuple[int, float, float]:
        """Return the count, the mean, and the sum of squared distances from the mean."""
        if state is None:
            return 1, value, 0
        count, mean, squares = state
        distance = value - mean
        mean = mean + distance / (count + 1)  # not +=, which could change the caller's array
        return count + 1, mean, squares + distance * (value - mean)

    def finish(self, state: tuple[int, float, float] | None) -> float | None:
        """Return the sum of squares divided by the count minus one."""
        return None if state is None or state[0] < 2 else state[2] / (state[0] - 1)


class WholeWindow(Generic[Value]):
    """Keep the values of the window, and call a function with the list of them at its end.

    Unlike the state of the other functions, this state is as large as the window.

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
        """Return the same list with the value appended."""
        state.append(value)
        return state

    def finish(self, state: list[Value]) -> object:
        """Return the result of the function."""
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
"""The functions by name."""

_BUILTINS: Final = ((len, "count"), (max, "max"), (min, "min"), (sum, "sum"))


def function_from(function: object) -> AggregateFunction[object, object]:
    """Return the object that computes `function`: a name, a builtin, an object or a callable."""
    found = FUNCTIONS.get(name_of(function)) if _has_name(function) else function
    if isinstance(found, type) and isinstance(found, AggregateFunction):
        raise ParameterError("function", function, "an object, not its class")
    if isinstance(found, AggregateFunction):
        return found
    if callable(found):
        # The caller of this function knows the states and values as objects only.
        return cast("AggregateFunction[object, object]", WholeWindow(found))
    raise ParameterError(
        "function",
        function,
        f"one of {', '.join(map(repr, FUNCTIONS))}, an AggregateFunction, or a function of the "
        "list of the values of a window",
    )


def name_of(function: object) -> str:
    """Return the name of `function`: its name here, or else the one that it was defined with."""
    if isinstance(function, str):
        return function
    for builtin, short_name in _BUILTINS:
        if function is builtin:
            return short_name
    name = getattr(function, "__name__", None)
    return name if isinstance(name, str) else type(function).__name__


def _has_name(function: object) -> bool:
    return isinstance(function, str) or any(function is builtin for builtin, _ in _BUILTINS)
