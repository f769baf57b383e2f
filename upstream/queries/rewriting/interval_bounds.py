"""How far apart the times of joined rows can be, as the condition of an interval join limits it.

`b.time BETWEEN a.time - INTERVAL '5 seconds' AND a.time` says that a row of b is not newer than its
partner, and at most 5 seconds older. Such comparisons are difference constraints. What several of
them say together about two inputs is the shortest path between the two.

DuckDB evaluates the condition itself. The limits only decide how long rows are held, so they may be
wider than the condition, and never narrower. What is not understood exactly is left out of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations, product
from math import ceil
from typing import TYPE_CHECKING, Final

from sqlglot import exp

from ..sql.functions import name_of
from ..sql.trees import chunk_index
from .block import conditions_of, source_nodes
from .time_arithmetic import Range, TimeArithmetic

if TYPE_CHECKING:
    from ...database.duck import Duck
    from ...rows.stream_definition import StreamDefinition

_MIRRORED: Final[Mapping[type[exp.Expr], type[exp.Expr]]] = {
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
    exp.EQ: exp.EQ,
    exp.NullSafeEQ: exp.NullSafeEQ,
}
"""Comparisons, and what they become if the sides are exchanged."""
_AT_MOST: Final = (exp.LT, exp.LTE, exp.EQ, exp.NullSafeEQ)
_AT_LEAST: Final = (exp.GT, exp.GTE, exp.EQ, exp.NullSafeEQ)
_NOTHING: Final = Range(Fraction(0), Fraction(0))


@dataclass(frozen=True, slots=True)
class Band:
    """How much newer a row of one input can be than a row of another one with which it is joined.

    `most[i, j]` is the greatest time of a row of input j minus the time of its partner of input i,
    in the unit of the time columns. It is missing if nothing limits it. Rounding may add `slack`.
    `names` are what the inputs are called in the query.
    """

    names: Mapping[int, str]
    most: Mapping[tuple[int, int], int]
    slack: int = 0

    def partners_end(self, number: int, other: int) -> int:
        """Return how much newer than a row of one input its partners of another one can be."""
        return self.most[number, other] + self.slack

    def unlimited(self) -> tuple[int, int] | None:
        """Return two inputs of which one can be any time newer than the other, or None."""
        pairs = permutations(self.names, 2)
        return next((each for each in pairs if each not in self.most), None)


def band_of(pairs: exp.Select, definitions: Mapping[int, StreamDefinition], duck: Duck) -> Band:
    """Return what the condition of a join of `chunk_i` says about the times of joined rows.

    All streams have times of one kind (`are_of_one_kind`). The condition has qualified columns and
    no USING, as that of `PairedQuery.pairs`.
    """
    nodes = {chunk_index(node): node.alias_or_name for node in source_nodes(pairs)}
    names = {number: nodes[number] for number in definitions}
    arithmetic = TimeArithmetic(next(iter(definitions.values())), duck)
    if not arithmetic.is_usual:
        return Band(names, {})
    most: dict[tuple[int, int], int] = {}
    slack = 0
    for limit in _Reader(pairs, definitions, arithmetic).limits():
        pair, length = (limit.older, limit.newer), ceil(limit.most)
        most[pair] = min(length, most.get(pair, length))
        slack = max(slack, arithmetic.slack(limit.operations))
    return Band(names, closed(tuple(names), most), slack * (len(names) - 1))


def closed(
    inputs: Sequence[int], most: Mapping[tuple[int, int], int]
) -> dict[tuple[int, int], int]:
    """Return the limits that follow from these: `c - a <= (b - a) + (c - b)`. O(inputs cubed)."""
    found = dict(most)
    for middle, first, last in product(inputs, repeat=3):
        if first == last or (first, middle) not in found or (middle, last) not in found:
            continue
        through = found[first, middle] + found[middle, last]
        found[first, last] = min(through, found.get((first, last), through))
    return found


@dataclass(frozen=True, slots=True)
class _Limit:
    """`newer - older <= most`, for times of two inputs, after operations that may round them."""

    older: int
    newer: int
    most: Fraction
    operations: int


@dataclass(frozen=True, slots=True)
class _Side:
    """A side of a comparison: the time of an input, or a difference of two, plus a constant."""

    plus: int
    minus: int | None = None
    constant: Range = _NOTHING
    operations: int = 0
    is_absolute: bool = False


class _Reader:
    """Reads the limits in the conditions of one SELECT."""

    def __init__(
        self,
        select: exp.Select,
        definitions: Mapping[int, StreamDefinition],
        arithmetic: TimeArithmetic,
    ) -> None:
        self._conditions = conditions_of(select)
        self._arithmetic = arithmetic
        self._times: dict[str, tuple[int, str | None]] = {}
        """By the alias of a relation: the number of its input, and its time column."""
        for node in source_nodes(select):
            number = chunk_index(node)
            if number is not None and number in definitions:
                self._times[node.alias_or_name] = number, definitions[number].time

    def limits(self) -> Iterator[_Limit]:
        """Yield all limits that the conditions contain."""
        for condition in self._conditions:
            if isinstance(condition, exp.Between) and not condition.args.get("symmetric"):
                value = condition.this
                yield from self._compared(exp.GTE, value, condition.args["low"])
                yield from self._compared(exp.LTE, value, condition.args["high"])
            elif type(condition) in _MIRRORED:
                yield from self._compared(type(condition), condition.this, condition.expression)

    def _compared(
        self, comparison: type[exp.Expr], left: exp.Expr, right: exp.Expr
    ) -> Iterator[_Limit]:
        one, other = self._side(left), self._side(right)
        if one is None:
            comparison, left, right, one, other = _MIRRORED[comparison], right, left, other, one
        if one is None:
            return
        difference = self._less(one, right) if other is None else _between(one, other)
        if difference is None or difference.minus is None:
            return
        plus, minus, operations = difference.plus, difference.minus, difference.operations
        least, most = difference.constant  # what is added before it is compared with zero
        if comparison in _AT_MOST:
            yield _Limit(minus, plus, -least, operations)
            if difference.is_absolute:
                yield _Limit(plus, minus, -least, operations)
        if comparison in _AT_LEAST and not difference.is_absolute:
            yield _Limit(plus, minus, most, operations)

    def _side(self, node: exp.Expr) -> _Side | None:
        """Return times and constants, if an expression consists of these alone."""
        node = node.unnest()
        if isinstance(node, exp.Column):
            number = self._time(node)
            return None if number is None else _Side(number)
        if isinstance(node, exp.Abs) or (name_of(node) == "abs" and len(node.expressions) == 1):
            inner = self._side(node.this if isinstance(node, exp.Abs) else node.expressions[0])
            is_plain = inner is not None and inner.minus is not None and not inner.operations
            return replace(inner, is_absolute=True) if inner and is_plain else None
        if not isinstance(node, exp.Add | exp.Sub):
            return None
        one, other = self._side(node.left), self._side(node.right)
        if isinstance(node, exp.Add):
            return self._moved(one or other, node.right if one else node.left, 1)
        return _between(one, other) if one and other else self._moved(one, node.right, -1)

    def _time(self, node: exp.Column) -> int | None:
        """Return the input whose time column this is, or None."""
        number, time = self._times.get(node.table, (0, None))
        return number if len(node.parts) == 2 and node.name == time else None

    def _moved(self, time: _Side | None, node: exp.Expr, sign: int) -> _Side | None:
        """Return a time plus a constant, or minus it."""
        added = self._arithmetic.added(node) if time and time.minus is None else None
        return None if time is None or added is None else _plus(time, added, sign)

    def _less(self, difference: _Side, node: exp.Expr) -> _Side | None:
        """Return a difference of times minus a constant with which it is compared."""
        length = None if difference.minus is None else self._arithmetic.difference(node)
        return None if length is None else _plus(difference, length, -1)


def _between(one: _Side, other: _Side) -> _Side | None:
    """Return the difference of two times."""
    if one.minus is not None or other.minus is not None or one.plus == other.plus:
        return None
    difference = _Side(one.plus, other.plus, one.constant, one.operations + other.operations)
    return replace(_plus(difference, other.constant, -1), operations=difference.operations)


def _plus(side: _Side, constant: Range, sign: int) -> _Side:
    low, high = constant if sign > 0 else (-constant.most, -constant.least)
    moved = Range(side.constant.least + low, side.constant.most + high)
    return replace(side, constant=moved, operations=side.operations + 1)
