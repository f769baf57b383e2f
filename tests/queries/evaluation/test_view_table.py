"""A view as a table for other queries: lent anew when its result is another one."""

from __future__ import annotations

import pyarrow as pa

from upstream.database.duck import Duck
from upstream.queries.evaluation.view_table import ViewTable
from upstream.rows.stream_definition import StreamDefinition

SCHEMA = pa.schema([("n", pa.int64())])


class Numbers:
    """A view whose result is given; it counts how often it is asked."""

    definition = StreamDefinition("numbers", SCHEMA, (), None, is_view=True)

    def __init__(self, *numbers: int) -> None:
        self.asked = 0
        self.arrived: float | None = None
        self.due: float | None = None
        self.set(*numbers)

    def set(self, *numbers: int) -> None:
        self._table = pa.table({"n": numbers}, schema=SCHEMA)

    def table(self) -> pa.Table:
        self.asked += 1
        return self._table

    def is_current(self, table: pa.Table | None) -> bool:
        return table is self._table

    def first_waiting(self, table: pa.Table | None) -> float | None:
        return self.arrived if table in (None, self._table) else 0.0

    def due_at(self) -> float | None:
        return self.due


def numbers_in(duck: Duck, table: ViewTable) -> list[int]:
    return sorted(int(n) for (n,) in duck.rows(f"SELECT n::TEXT FROM {table.name}"))


def test_a_result_is_lent_once_as_long_as_it_is_current(duck: Duck) -> None:
    view = Numbers(1, 2)
    table = ViewTable(view, duck)
    assert (table.version, table.waiting) == (0, 1)
    table.refresh(0.0)
    assert (table.version, table.waiting) == (1, 0)
    assert numbers_in(duck, table) == [1, 2]
    table.refresh(0.0)
    assert (table.version, view.asked) == (1, 2)


def test_another_result_is_lent_under_the_same_name(duck: Duck) -> None:
    view = Numbers(1)
    table = ViewTable(view, duck)
    table.refresh(0.0)
    name = table.name
    view.set(3, 4, 5)
    assert table.waiting == 1
    assert numbers_in(duck, table) == [1]
    table.refresh(0.0)
    assert (table.name, table.version) == (name, 2)
    assert numbers_in(duck, table) == [3, 4, 5]


def test_what_waits_for_the_view_waits_for_those_that_read_it(duck: Duck) -> None:
    view = Numbers()
    table = ViewTable(view, duck)
    assert table.reader.first_waiting() is None
    view.arrived = 7.0
    assert table.reader.first_waiting() == 7.0
    table.refresh(7.0)
    view.set(1)
    assert table.reader.first_waiting() == 0.0


def test_a_result_that_the_clock_changes_is_due_for_those_that_read_it(duck: Duck) -> None:
    view = Numbers(1)
    table = ViewTable(view, duck)
    assert table.due_at() is None
    view.due = 12.0
    assert table.due_at() == 12.0


def test_a_closed_table_is_lent_no_more(duck: Duck) -> None:
    table = ViewTable(Numbers(1), duck)
    table.refresh(0.0)
    table.close()
    assert duck.rows("SELECT view_name FROM duckdb_views() WHERE NOT internal") == []
