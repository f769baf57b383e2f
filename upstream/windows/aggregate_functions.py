"""The functions of the *Aggregate* operator, computed from one value at a time.

"The computation is applied incrementally as tuples update the window" (report, section 6.1.1). A
function keeps a state for each open window, of constant size and with constant time per value. A
function that needs all values at once, such as a median, is computed from the list of them.

The functions here never change a state or a value in place. So if one of them raises for a value,
the state is as before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from operator import itemgetter
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


class _Incremental(Generic[State, Value]):
    """A function that is defined by its first state, and by what a value and the end do to it."""

    __slots__ = ("_first", "add", "finish")

    def __init__(
        self,
        first: State,
        add: Callable[[State, Value], State],
        finish: Callable[[State], object],
    ) -> None:
        self._first = first
        self.add = add
        self.finish = finish

    def initial(self) -> State:
        """Return the state of a window without values, which no function here changes in place."""
        return self._first


def _count(state: int, _value: object) -> int:
    """Count the tuples of the window, whatever their values are, including None.

    >>> result_of(FUNCTIONS["count"], ["a", None, "a"])
    3
    """
    return state + 1


def _of_one_value(
    add: Callable[[tuple[Value, ...], Value], tuple[Value, ...]],
) -> _Incremental[tuple[Value, ...], Value]:
    """Return a function whose state is a tuple: empty at first, and then with one value.

    None could not stand for an empty state, because None may be a value.
    """
    return _Incremental((), add, itemgetter(0))


def _sum(state: tuple[Addable, ...], value: Addable) -> tuple[Addable, ...]:
    """Add the values, starting from the first: numbers, durations, arrays, anything with `+`.

    >>> from datetime import timedelta
    >>> result_of(FUNCTIONS["sum"], [timedelta(hours=1), timedelta(minutes=30)])
    datetime.timedelta(seconds=5400)
    """
    return (state[0] + value,) if state else (value,)  # `+=` could change the caller's array


def _min(state: tuple[Comparable, ...], value: Comparable) -> tuple[Comparable, ...]:
    """Find the smallest value; among equal values, the first.

    >>> result_of(FUNCTIONS["min"], [2, 1.0, 1, 3])
    1.0
    """
    return (value,) if not state or value < state[0] else state


def _max(state: tuple[Comparable, ...], value: Comparable) -> tuple[Comparable, ...]:
    """Find the largest value; among equal values, the first.

    >>> result_of(FUNCTIONS["max"], [2, 3.0, 3, 1])
    3.0
    """
    return (value,) if not state or value > state[0] else state


def _first(state: tuple[Value, ...], value: Value) -> tuple[Value, ...]:
    """Return the value of the tuple that opened the window.

    >>> result_of(FUNCTIONS["first"], [2, 3, 1])
    2
    """
    return state or (value,)


def _last(_state: tuple[Value, ...], value: Value) -> tuple[Value, ...]:
    """Return the value of the tuple that was processed last.

    >>> result_of(FUNCTIONS["last"], [2, 3, 1])
    1
    """
    return (value,)


def _mean(state: tuple[int, float], value: float) -> tuple[int, float]:
    """Compute the arithmetic mean of numbers. It is exact if their sum and the quotient are exact.

    The state is the count and the sum.

    >>> result_of(FUNCTIONS["mean"], [1, 2, 6])
    3.0
    """
    count, total = state
    return (count + 1, total + value) if count else (1, value)


def _variance(state: tuple[int, float, float], value: float) -> tuple[int, float, float]:
    """Compute the sample variance of numbers, like `statistics.variance`; None for one value.

    The state is the count, the mean, and the sum of squared distances from the mean. This is
    Welford's method, which does not subtract large squares from each other.

    >>> [result_of(FUNCTIONS["variance"], values) for values in ([1, 2, 6], [1])]
    [7.0, None]
    """
    count, mean, squares = state
    if not count:
        return 1, value, 0
    distance = value - mean
    mean = mean + distance / (count + 1)  # not +=, which could change the caller's array
    return count + 1, mean, squares + distance * (value - mean)


def _finish_mean(state: tuple[int, float]) -> float | None:
    return state[1] / state[0] if state[0] else None


def _finish_variance(state: tuple[int, float, float]) -> float | None:
    return None if state[0] < 2 else state[2] / (state[0] - 1)


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
        "count": _Incremental(0, _count, int),
        "first": _of_one_value(_first),
        "last": _of_one_value(_last),
        "max": _of_one_value(_max),
        "mean": _Incremental((0, 0.0), _mean, _finish_mean),
        "min": _of_one_value(_min),
        "sum": _of_one_value(_sum),
        "variance": _Incremental((0, 0.0, 0.0), _variance, _finish_variance),
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
