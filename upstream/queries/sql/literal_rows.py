"""The rows of `INSERT INTO stream VALUES (…)` where every value is a plain literal.

Such rows need no statement of DuckDB's, which would take ten times as long as all the rest. Only
literals are read here that cannot be misread: whole numbers and decimals in digits, texts, TRUE,
FALSE and NULL, and times in the one form `2026-01-02 09:30:00`. Whatever else there is, and
whatever does not fit the stream, is left to DuckDB, which finds the error and its place as well.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Final

import pyarrow as pa
from sqlglot import exp

from ...errors import StreamTypeError
from ...rows.stream_definition import StreamDefinition
from .statement import InsertInto

Value = str | int | Decimal | bool | None

_WHOLE: Final = re.compile(r"\d{1,18}", re.ASCII)
_DECIMAL: Final = re.compile(r"\d{1,18}\.\d{1,18}", re.ASCII)
_DAY: Final = re.compile(r"[1-9]\d{3}-\d\d-\d\d", re.ASCII)
_MOMENT: Final = re.compile(r"[1-9]\d{3}-\d\d-\d\d(?: \d\d:\d\d:\d\d(?:\.\d{1,6})?)?", re.ASCII)


class _NotPlainError(Exception):
    """There is more than plain literals."""


def rows_of_literals(insert: InsertInto, definition: StreamDefinition) -> pa.Table | None:
    """Return the rows, conformed; None if that is for DuckDB."""
    tree = insert.query
    if not isinstance(tree, exp.Values) or _parts(tree) != {"expressions"}:
        return None
    if _parts(insert.tree) != {"this", "expression"}:
        return None
    written = definition.schema.names if insert.columns is None else insert.columns
    names = [definition.column_named(name) for name in written]
    try:
        rows = [_row(row, len(names)) for row in tree.expressions]
        columns = [
            _column(values, definition, name)
            for name, values in zip(names, zip(*rows, strict=True), strict=True)
        ]
        return definition.conform(pa.table(columns, names=names))
    except (_NotPlainError, StreamTypeError, pa.ArrowException):
        return None


def _parts(node: exp.Expr) -> set[str]:
    return {name for name, value in node.args.items() if value}


def _row(row: exp.Expr, count: int) -> Sequence[Value]:
    if not isinstance(row, exp.Tuple) or len(row.expressions) != count:
        raise _NotPlainError
    return [_value(each) for each in row.expressions]


def _value(node: exp.Expr) -> Value:
    if isinstance(node, exp.Null):
        return None
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    if isinstance(node, exp.Neg):
        value = _value(node.this)
        if isinstance(value, int | Decimal) and not isinstance(value, bool):
            return -value
    elif type(node) is exp.Literal:
        text: str = node.this
        if node.is_string:
            return text
        if _WHOLE.fullmatch(text):
            return int(text)
        if _DECIMAL.fullmatch(text):
            return Decimal(text)
    raise _NotPlainError


def _column(values: Sequence[Value], definition: StreamDefinition, name: str | None) -> pa.Array:
    """Return values as DuckDB would type them; all are of one kind."""
    if name is None or len({type(value) for value in values} - {type(None)}) > 1:
        raise _NotPlainError
    kind = definition.schema.field(name).type
    texts = [value for value in values if isinstance(value, str)]
    if texts and not pa.types.is_string(kind):
        form = _MOMENT if pa.types.is_timestamp(kind) and kind.tz is None else None
        form = _DAY if pa.types.is_date32(kind) else form
        if form is None or not all(form.fullmatch(text) for text in texts):
            raise _NotPlainError
    return pa.array(values)
