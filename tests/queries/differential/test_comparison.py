"""The comparison finds all differences, and nothing else."""

from __future__ import annotations

from math import inf, nan

import pyarrow as pa
import pytest

from .comparison import difference


def table(*values: object, name: str = "x", kind: pa.DataType | None = None) -> pa.Table:
    return pa.table({name: pa.array(values, kind)})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (table(1, 2, 2), table(2, 1, 2)),
        (table(1.0, 2.0), table(2.0 + 1e-12, 1.0)),
        (table(nan, inf, None), table(None, nan, inf)),
        (table([1.0], None), table(None, [1.0 + 1e-12])),
    ],
)
def test_the_same_rows_in_another_order_are_the_same(one: pa.Table, other: pa.Table) -> None:
    assert not difference(one, other, is_ordered=False)
    assert difference(one, other, is_ordered=True)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (table(1, 2, 2), table(1, 1, 2)),
        (table(1, 2), table(1, 2, 2)),
        (table(1.0), table(1.0 + 1e-6)),
        (table(None, kind=pa.float64()), table(nan)),
        (table(0, kind=pa.int64()), table(None, kind=pa.int64())),
        (table(inf), table(-inf)),
        (table(1, name="x"), table(1, name="y")),
        (table(1, kind=pa.int32()), table(1, kind=pa.int64())),
    ],
)
def test_different_tables_are_found_to_differ(one: pa.Table, other: pa.Table) -> None:
    assert difference(one, other, is_ordered=False)
    assert difference(one, other, is_ordered=True)
