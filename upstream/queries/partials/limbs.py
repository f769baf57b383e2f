"""Doubles as integers of 32 bits each, at places 32 bits apart, so that sums of them are exact.

A double is 53 bits at some place among 2,100; it lies in three of the 70 limbs that these are cut
into. Limbs are summed one by one in 64 bits, in which 2**31 of them have room.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...rows.arrow_words import Integers

    Doubles = NDArray[np.float64]

LIMBS_OF_ONE: Final = 3
"""In how many limbs a double lies, from its first."""
_BITS: Final = 32
_LOW: Final = (1 << _BITS) - 1
_DIGITS: Final = 53
_LARGE: Final = 990
"""Limbs at exponents below this are doubles."""
_ZERO: Final = 36 * _BITS
"""At which bit, from the first limb on, the binary point is."""


class Limbs(NamedTuple):
    """The number of the first limb of each double, and its limbs, with the double's sign."""

    first: Integers
    values: tuple[Integers, Integers, Integers]


def first_limbs(doubles: Doubles) -> Integers:
    """Return the number of the first limb of finite doubles."""
    _, exponents = np.frexp(doubles)
    return (exponents.astype(np.int64) + (_ZERO - _DIGITS)) >> 5


def limbs_of(doubles: Doubles) -> Limbs:
    """Return the limbs of finite doubles."""
    fractions, exponents = np.frexp(doubles)
    digits = np.ldexp(fractions, _DIGITS).astype(np.int64)
    bits = exponents.astype(np.int64) + (_ZERO - _DIGITS)
    shift = bits & (_BITS - 1)
    magnitude = np.abs(digits)
    sign = np.sign(digits)
    lower = (magnitude & _LOW) << shift
    upper = ((magnitude >> _BITS) << shift) + (lower >> _BITS)
    values = ((lower & _LOW) * sign, (upper & _LOW) * sign, (upper >> _BITS) * sign)
    return Limbs(bits >> 5, values)


def doubles_of(limbs: Integers, first: int) -> Doubles:
    """Return the sums that rows of limbs stand for, of which the first is the one of this number.

    The result is the exact sum or one of the two doubles next to it.
    """
    digits, above = _carried(limbs)
    is_negative = above < 0
    flip = -is_negative.astype(np.int64)  # all bits: -x is what has all bits of x - 1 flipped
    total = np.zeros(len(limbs))
    with np.errstate(over="ignore"):
        for index, digit in enumerate(digits):  # the smallest first: rounding adds up to one digit
            total += _scaled((digit ^ flip) & _LOW, first + index)
            if index == 0:
                total -= _scaled(flip, first)
        total += _scaled(above ^ flip, first + len(digits))
    return np.where(is_negative, -total, total)


def _carried(limbs: Integers) -> tuple[list[Integers], Integers]:
    """Return limbs from 0 to 2**32, and what is carried beyond the last."""
    digits = []
    carry = np.zeros(len(limbs), np.int64)
    for index in range(limbs.shape[1]):
        value = limbs[:, index] + carry
        digits.append(value & _LOW)
        carry = value >> _BITS
    return digits, carry


def _scaled(digits: Integers, limb: int) -> Doubles:
    exponent = _BITS * limb - _ZERO
    doubles = digits.astype(np.float64)
    if abs(exponent) < _LARGE:
        return doubles * 2.0**exponent
    return np.ldexp(doubles, exponent)
