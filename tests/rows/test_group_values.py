"""Values by places."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from upstream.rows.group_values import FixedValues, OtherValues, group_values

NUMBERED = [(pa.int32(), [3, None, -7]), (pa.float64(), [0.5, None, -1.0])]


@pytest.mark.parametrize(("type_", "values"), [*NUMBERED, (pa.string(), ["x", None, ""])], ids=str)
def test_values_are_read_in_any_order(type_: pa.DataType, values: list[object]) -> None:
    kept = group_values(type_)
    for value in values * 100:
        kept.append(pa.array([value], type_))
    assert len(kept) == 300
    assert kept.at(np.array([2, 1, 0, 298, 299])) == pa.array(
        [values[2], values[1], values[0], values[1], values[2]], type_
    )


def test_numbers_are_kept_in_numpy_and_texts_in_arrow() -> None:
    assert isinstance(group_values(pa.timestamp("us")), FixedValues)
    assert isinstance(group_values(pa.string()), OtherValues)


def test_of_no_values_none_are_read() -> None:
    for type_ in (pa.int8(), pa.string()):
        assert group_values(type_).at(np.empty(0, np.int64)) == pa.array([], type_)
