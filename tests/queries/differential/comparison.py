"""Compares two tables as results: rows in any order unless it counts, doubles nearly."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from math import isclose, isnan
from typing import Final

import duckdb
import pyarrow as pa

RELATIVE = 1e-9
ABSOLUTE = 1e-7  # of sums that cancel out; what is summed is around ten

Row = tuple[object, ...]
WIDE: Final = re.compile(r"\bU?HUGEINT\b")


def handed_out(relation: duckdb.DuckDBPyRelation) -> pa.Table:
    """Return what users get of a relation: integers of 128 bits as those of 64, or an error."""
    types = [WIDE.sub("BIGINT", str(kind)) for kind in relation.types]
    if types != [str(kind) for kind in relation.types]:
        columns = zip(types, relation.columns, strict=True)
        quoted = ((kind, name.replace('"', '""')) for kind, name in columns)
        casts = [f'CAST(#{i} AS {kind}) AS "{name}"' for i, (kind, name) in enumerate(quoted, 1)]
        relation = relation.project(", ".join(casts))
    return relation.to_arrow_table()


def difference(
    expected: pa.Table, found: pa.Table, *, is_ordered: bool, absolute: float = ABSOLUTE
) -> str:
    """Say how a table is not as expected; nothing if it is."""
    near = partial(is_near, absolute=absolute)
    if named(expected) != named(found):
        return f"columns are {found.schema.names}, not {expected.schema.names}"
    if expected.schema.types != found.schema.types:
        return f"types are {found.schema.types}, not {expected.schema.types}"
    wanted, given = rows_of(expected), rows_of(found)
    if is_ordered:
        is_same = len(wanted) == len(given) and all(map(near, wanted, given))
    else:
        is_same = are_same_multiset(wanted, given, near)
    return "" if is_same else f"rows are\n    {_sorted(given)}, not\n    {_sorted(wanted)}"


def named(table: pa.Table) -> list[str]:
    """Return the names of columns, without those that an expression gave itself."""
    return [name if name.isidentifier() else "" for name in table.schema.names]


def rows_of(table: pa.Table) -> list[Row]:
    """Return the rows of a table, of which two columns may have one name."""
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def are_same_multiset(
    wanted: list[Row], given: list[Row], near: Callable[[object, object], bool]
) -> bool:
    """Tell whether the rows of both can be paired. O(n) if doubles are all the same, else n²."""
    if len(wanted) != len(given):
        return False
    left = sorted(given, key=repr)
    for row in sorted(wanted, key=repr):
        place = next((i for i, other in enumerate(left) if near(row, other)), None)
        if place is None:
            return False
        del left[place]
    return True


def is_near(one: object, other: object, *, absolute: float = ABSOLUTE) -> bool:
    """Tell whether two values are the same, of which doubles may be rounded differently."""
    if isinstance(one, float) and isinstance(other, float):
        if isnan(one) or isnan(other):
            return isnan(one) and isnan(other)
        return isclose(one, other, rel_tol=RELATIVE, abs_tol=absolute)
    near = partial(is_near, absolute=absolute)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(near, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(near(one[key], other[key]) for key in one)
    return type(one) is type(other) and one == other


def _sorted(rows: list[Row]) -> str:
    return "\n    ".join(sorted(map(repr, rows)))
