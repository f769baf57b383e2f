"""The columns of a partial."""

from __future__ import annotations

from sqlglot import exp

from upstream.queries.rewriting.partial_columns import PartialColumns
from upstream.queries.rewriting.split_query import StateKind
from upstream.queries.sql.trees import call, column


def _sum(columns: PartialColumns, name: str) -> exp.Column:
    merge = lambda states: [call("sum", *states)]  # noqa: E731 - as the rules pass it
    return columns.state(StateKind.SUM, [call("sum", column(name))], merge)[0]


def test_groups_come_first_and_are_numbered() -> None:
    columns = PartialColumns()
    assert _sum(columns, "x").name == "__s0"
    assert [columns.groups.name(column(name)) for name in ("g", "h", "g")] == [
        "__g0",
        "__g1",
        "__g0",
    ]
    assert [item.sql("duckdb") for item in columns.items()] == [
        '"g" AS "__g0"',
        '"h" AS "__g1"',
        'SUM("x") AS "__s0"',
    ]


def test_a_state_asked_for_twice_is_there_once() -> None:
    columns = PartialColumns()
    assert [_sum(columns, name).name for name in ("x", "y", "x")] == ["__s0", "__s1", "__s0"]


def test_only_a_group_that_was_not_there_refines() -> None:
    columns = PartialColumns()
    columns.groups.name(column("g"))
    assert columns.refining(column("g"), is_counted=True).name == "__g0"
    assert not columns.is_refined
    assert columns.refining(column("x"), is_counted=True).name == "__g1"
    assert columns.is_refined


def test_a_group_that_is_only_counted_may_be_kept_apart() -> None:
    columns = PartialColumns()
    columns.groups.name(column("g"))
    for name in ("g", "x", "y"):
        columns.refining(column(name), is_counted=True)
    assert columns.apart == {"__g1", "__g2"}
    columns.refining(column("y"), is_counted=False)
    assert columns.apart == {"__g1"}


def test_a_group_is_known_by_its_text() -> None:
    columns = PartialColumns()
    columns.groups.name(exp.Add(this=column("g"), expression=exp.Literal.number(1)))
    assert columns.groups.known(column("g")) is None
    assert (
        columns.groups.known(exp.Add(this=column("g"), expression=exp.Literal.number(1)))
        is not None
    )
