"""A query is described by what it buffers, its parts, and where its results go."""

from __future__ import annotations

from upstream import Engine, ManualClock


def test_lines_come_in_the_order_of_the_work_and_statements_last() -> None:
    with Engine(clock=ManualClock()) as engine:
        engine.sql("CREATE STREAM s (t BIGINT, v BIGINT) TIME (t)")
        query = engine.continuous_query("SELECT sum(v) AS v FROM epochs(s, 10)", into="sums")
        lines = query.explain().splitlines()
        assert [line.split(" ")[0] for line in lines] == [
            *("epoch", "an", "incrementally:", "", "epochs", "results")
        ]
        with_sql = query.explain(sql=True)
        assert with_sql.startswith("\n".join(lines))
        assert "partial: SELECT SUM(" in with_sql.removeprefix("\n".join(lines))


def test_a_query_that_is_not_split_has_one_statement() -> None:
    with Engine(clock=ManualClock()) as engine:
        engine.sql("CREATE STREAM s (t BIGINT, v BIGINT) TIME (t)")
        query = engine.continuous_query("SELECT v FROM s WHERE v > 1")
        first, *others = query.explain(sql=True).splitlines()
        assert (first, len(others)) == (query.explain(), 1)
        assert "SELECT v FROM" in others[0]
