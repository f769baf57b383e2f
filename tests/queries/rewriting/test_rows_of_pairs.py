"""Whether each row of a result comes from one pair."""

from __future__ import annotations

import pytest

from tests.queries.parsed import query_of
from upstream.database.duck import Duck
from upstream.queries.rewriting.not_incremental import NotIncrementalError
from upstream.queries.rewriting.rows_of_pairs import check_rows_of_pairs
from upstream.queries.sql.functions import functions_of

PAIRS = "chunk_0 AS x JOIN chunk_1 AS y ON x.__pair = y.__pair"


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT x.a + y.b AS c FROM {PAIRS} WHERE x.a > 1",
        f"SELECT x.a, t.v FROM {PAIRS} LEFT JOIN t ON t.a = x.a",
        f"SELECT c FROM (SELECT x.a AS c FROM {PAIRS}) AS q WHERE c > 1",
        f"SELECT c, v FROM (SELECT x.a AS c FROM {PAIRS}) AS q JOIN t ON t.a = c",
        f"SELECT x.a, (SELECT max(v) FROM t) AS m FROM {PAIRS}",
        "SELECT x.a FROM (SELECT * FROM chunk_0) AS x JOIN chunk_1 AS y ON x.__pair = y.__pair",
    ],
)
def test_a_selection_of_pairs_has_a_row_for_each(text: str, shared_duck: Duck) -> None:
    check_rows_of_pairs(query_of(text), functions_of(shared_duck))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"SELECT sum(x.a) FROM {PAIRS}", "an aggregate"),
        (f"SELECT sum(x.a) OVER () FROM {PAIRS}", "a window function"),
        (f"SELECT x.a FROM {PAIRS} GROUP BY x.a", "GROUP BY"),
        (f"SELECT x.a FROM {PAIRS} ORDER BY x.a", "ORDER BY"),
        (f"SELECT c FROM (SELECT DISTINCT x.a AS c FROM {PAIRS}) AS q", "DISTINCT"),
        (f"SELECT v FROM t LEFT JOIN (SELECT x.a FROM {PAIRS}) AS q USING (a)", "LEFT JOIN"),
        (f"SELECT v FROM t SEMI JOIN (SELECT x.a FROM {PAIRS}) AS q USING (a)", "SEMI JOIN"),
        (f"SELECT x.a FROM {PAIRS} WHERE x.a = (SELECT max(a) FROM chunk_0)", "a subquery over"),
        (f"SELECT x.a FROM {PAIRS} UNION ALL SELECT 1", "only a SELECT"),
        (
            f"SELECT q.c FROM (SELECT x.a AS c FROM {PAIRS}) AS q, chunk_0 AS z",
            "must be joined in one FROM",
        ),
    ],
)
def test_what_combines_pairs_is_refused(text: str, reason: str, shared_duck: Duck) -> None:
    with pytest.raises(NotIncrementalError) as raised:
        check_rows_of_pairs(query_of(text), functions_of(shared_duck))
    assert reason in raised.value.reason
