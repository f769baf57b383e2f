"""The bounds of a window in a query: `window_start` and `window_end`, read from a table of one row.

Each reference becomes `(SELECT window_start FROM bounds_i)`, where the table `bounds_i` has the
bounds of the window of `chunk_i`. The table is lent beside the chunks when a window is evaluated.
Windows that begin and end together share one such table.

Each row of `epochs(…)` has the number and the bounds of its own chunk, since several chunks may be
kept. So these are columns of `chunk_i`, which only a query that names them has.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import pyarrow as pa
from sqlglot import exp

from ...rows.stream_definition import StreamDefinition
from .trees import table_number
from .window_clause import MICROSECONDS, Axis, WindowClause, WindowKind

WINDOW_START: Final = "window_start"
WINDOW_END: Final = "window_end"
BOUNDS: Final = (WINDOW_START, WINDOW_END)
EPOCH: Final = "epoch"
HIDDEN: Final = {name: f"__{name}" for name in (EPOCH, *BOUNDS)}
"""The columns of epochs that `*` does not include, with their names in a chunk."""
BOUNDED: Final = frozenset(
    {
        *(WindowKind.TUMBLE, WindowKind.HOP, WindowKind.ROWS, WindowKind.SESSION),
        WindowKind.EPOCHS,
    }
)
"""The kinds of windows that have bounds."""
_PREFIX: Final = "bounds_"
_MOST_DAYS: Final = (1 << 31) - 1
"""Arrow has no greater days."""


def bounds_name(number: int) -> str:
    """Return the name of the table with the bounds of a window."""
    return f"{_PREFIX}{number}"


def bound_query(name: exp.Identifier, number: int) -> exp.Subquery:
    """Return the query that reads a bound of a window; the name keeps its place in the text."""
    name = name.copy()
    name.set("this", name.name.lower())
    name.set("quoted", False)
    table = exp.Table(this=exp.to_identifier(bounds_name(number)))
    return exp.Subquery(this=exp.select(exp.Column(this=name)).from_(table))


def is_bound(node: exp.Expr) -> bool:
    """Tell whether this is such a query."""
    query = node.this if isinstance(node, exp.Subquery) else None
    read = query.args.get("from_") if isinstance(query, exp.Select) else None
    return read is not None and table_number(read.this, _PREFIX) is not None


def bounds_in(tree: exp.Expr) -> frozenset[int]:
    """Return the windows whose bounds a tree reads."""
    numbers = (table_number(table, _PREFIX) for table in tree.find_all(exp.Table))
    return frozenset(number for number in numbers if number is not None)


def is_bounds_name(name: str) -> bool:
    """Tell whether a table has the bounds of a window."""
    return name.startswith(_PREFIX) and name.removeprefix(_PREFIX).isdecimal()


def with_plain_bounds(tree: exp.Expr) -> exp.Expr:
    """Return a copy with the users' names for bounds and for hidden columns, for display."""
    users = {hidden: name for name, hidden in HIDDEN.items()}

    def plain(node: exp.Expr) -> exp.Expr:
        if is_bound(node):
            bound: exp.Expr = node.this.expressions[0]
            return bound.copy()
        if isinstance(node, exp.Star):
            left = [each for each in node.args.get("except_") or () if each.name not in users]
            node.set("except_", left or None)
        elif isinstance(node, exp.Column) and node.name in users:
            name = exp.to_identifier(users[node.name])
            return exp.Column(this=name, table=node.args.get("table"))
        return node

    return tree.transform(plain)


def with_one_of_alike(
    windows: Sequence[WindowClause], definitions: Sequence[StreamDefinition]
) -> list[int]:
    """Return for each window the first one that begins and ends with it, which may be itself."""
    known: dict[object, int] = {}
    alike: list[int] = []
    for i, (window, definition) in enumerate(zip(windows, definitions, strict=True)):
        time = definition.time_type if window.axis is Axis.SOURCE else None
        measures = (window.size, window.slide, window.offset, window.unit, window.zone)
        is_alone = window.kind is WindowKind.SESSION  # every session ends separately
        alike.append(known.setdefault(i if is_alone else (window.axis, time, *measures), i))
    return alike


def bounds_schema(window: WindowClause, definition: StreamDefinition) -> pa.Schema:
    """Return the columns of the table with a window's bounds, in the type of the window's axis.

    A bound may lie outside the range of a small type, so integers are BIGINT, and FLOAT is DOUBLE.
    """
    kind = pa.int64()
    is_arrival = window.axis is Axis.ORDINAL and definition.time is None
    if window.axis is Axis.ARRIVAL or is_arrival:
        kind = pa.timestamp("us")
    elif window.axis is not Axis.ROWS and not pa.types.is_integer(definition.time_type):
        kind = definition.time_type
    kind = pa.float64() if pa.types.is_floating(kind) else kind
    return pa.schema([(name, kind) for name in BOUNDS])


def hidden_schema(
    window: WindowClause, definition: StreamDefinition, names: Iterable[str]
) -> pa.Schema:
    """Return the hidden columns of these names, which the rows of epochs have beside the stream's.

    The bounds are those of each row's own chunk.
    """
    bounds = bounds_schema(window, definition)
    kinds = {HIDDEN[EPOCH]: pa.int64()} | {HIDDEN[each.name]: each.type for each in bounds}
    return pa.schema([(name, kinds[name]) for name in names])


def bounds_table(schema: pa.Schema, start: int | None, end: int | None) -> pa.Table:
    """Return the table of a window with these bounds, in the unit of the window's axis.

    They are None if no window has ended yet.
    """
    columns = [
        pa.array([bound_value(bound, field.type)], field.type)
        for bound, field in zip((start, end), schema, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def bound_value(bound: int | None, kind: pa.DataType) -> int | float | None:
    """Return the value that Arrow expects for a number of units."""
    if bound is None:
        return None
    if pa.types.is_date32(kind):
        return min(max(bound, -_MOST_DAYS), _MOST_DAYS)
    return bound / MICROSECONDS if pa.types.is_floating(kind) else bound
