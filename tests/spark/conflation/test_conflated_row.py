"""What a row of a single update holds."""

from __future__ import annotations

from upstream.spark.conflation.conflated_row import ConflatedRow


def test_a_single_update_is_a_row_with_one_time_and_one_position() -> None:
    row = ConflatedRow.of("IBM", 24.0, "N", time=3.0, position=7)
    assert (row.key, row.payload, row.times, row.positions) == ("IBM", (24.0, "N"), (3.0,), (7,))
    assert (row.late, row.rejected, row.is_deletion) == (0, 0, False)
