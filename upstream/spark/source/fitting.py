"""Conversion of single values to the types of columns, for columns that Arrow cannot parse at once.

It is slower than Arrow's parser and more lenient: a column of strings takes any value as JSON. It
also finds the value that does not fit.
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal, InvalidOperation

import msgspec
import pyarrow as pa
from pyarrow import types


class MisfitError(ValueError):
    """A value does not fit; the message has the part that does not, and what was expected."""

    def __init__(self, value: object, expected: object) -> None:
        self.value = value
        self.expected = str(expected)
        super().__init__(f"{value!r} is no {expected}")


def fit(value: object, kind: pa.DataType) -> object:
    """Return a parsed JSON value in the form that Arrow takes for a type; MisfitError if none.

    >>> import pyarrow as pa
    >>> fit({"bid": 3}, pa.string()), fit(3, pa.float64()), fit(3.0, pa.int32())
    ('{"bid":3}', 3.0, 3)
    """
    if value is None:
        return None
    if types.is_string(kind):
        return value if isinstance(value, str) else msgspec.json.encode(value).decode()
    if types.is_boolean(kind):
        if not isinstance(value, bool):
            raise MisfitError(value, kind)
        return value
    if types.is_integer(kind):
        return _integer(value, kind)
    if types.is_floating(kind):
        return float(_number(value, kind))
    if types.is_decimal(kind):
        return _decimal(value, kind)
    if types.is_date32(kind) or types.is_timestamp(kind):
        return _moment(value, kind)
    return _nested(value, kind)


def fit_text(text: bytes, kind: pa.DataType) -> object:
    """Return JSON in the form that Arrow takes for a type; strings keep numbers as written.

    >>> import pyarrow as pa
    >>> fit_text(b"1.10", pa.string()), fit_text(b"1.10", pa.float64())
    ('1.10', 1.1)
    """
    if types.is_string(kind) and text[:1] not in (b'"', b"n"):
        return text.decode()
    return fit(msgspec.json.decode(text), kind)


def _nested(value: object, kind: pa.DataType) -> object:

    if types.is_list(kind):
        if not isinstance(value, list):
            raise MisfitError(value, kind)
        return [fit(element, kind.value_type) for element in value]
    if not isinstance(value, dict):
        raise MisfitError(value, kind)
    if types.is_map(kind):
        return [(name, fit(member, kind.item_type)) for name, member in value.items()]
    fields = [kind.field(place) for place in range(kind.num_fields)]
    return {field.name: fit(value.get(field.name), field.type) for field in fields}


def _number(value: object, kind: pa.DataType) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise MisfitError(value, kind)
    return value


def _integer(value: object, kind: pa.DataType) -> int:
    number = _number(value, kind)
    whole = int(number)
    most = 2 ** (kind.bit_width - 1)
    if whole != number or not -most <= whole < most:
        raise MisfitError(value, kind)
    return whole


def _decimal(value: object, kind: pa.DataType) -> Decimal:

    try:
        exact = Decimal(value if isinstance(value, str) else str(_number(value, kind)))
        fitted: Decimal = pa.scalar(exact).cast(kind).as_py()
    except (InvalidOperation, pa.ArrowInvalid) as error:
        raise MisfitError(value, kind) from error
    return fitted


def _moment(value: object, kind: pa.DataType) -> dt.date:

    if not isinstance(value, str):
        raise MisfitError(value, kind)
    try:
        if types.is_date32(kind):
            return dt.date.fromisoformat(value)
        moment = dt.datetime.fromisoformat(value)
    except ValueError as error:
        raise MisfitError(value, kind) from error
    if moment.tzinfo is None:
        return moment.replace(tzinfo=None if kind.tz is None else dt.UTC)
    moment = moment.astimezone(dt.UTC)
    return moment if kind.tz is not None else moment.replace(tzinfo=None)
