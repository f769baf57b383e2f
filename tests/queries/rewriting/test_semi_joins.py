"""Semi and anti joins with lasting streams."""

from __future__ import annotations

import pytest

from upstream.database.duck import Duck

from .fixture_files import LANDMARKS, split_of
from .rule_contract import RuleContract, is_bounded


class TestSemiJoins(RuleContract):
    rule = "lasting/semi_joins"


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        (
            (
                "SELECT count(*) FROM names n SEMI JOIN chunk_0 s ON s.k = n.id"
                " RIGHT JOIN names m ON n.id = m.id"
            ),
            "SEMI JOIN with a stream must come after other outer joins",
        ),
        (
            "SELECT s.x FROM chunk_0 s ANTI JOIN chunk_1 u ON s.k = u.k",
            "selects single rows: group them by",
        ),
        (
            "SELECT name FROM (SELECT id AS k, name FROM names) n NATURAL SEMI JOIN chunk_0 s",
            "NATURAL SEMI JOIN: whether a row has a match depends on all rows",
        ),
    ],
)
def test_what_is_not_written_as_exists_is_refused(sql: str, reason: str, tables: Duck) -> None:
    parts = split_of(sql, tables, LANDMARKS)
    assert not is_bounded(parts)
    assert all(reason in leaf.reason for leaf in parts.leaves), parts.leaves[0].reason
