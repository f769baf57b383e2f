"""What every running merge does: one suite that each of them subclasses, against a plain merge.

The plain merge keeps all that was staged, and merges it anew, in DuckDB, each time it is asked.
"""

from __future__ import annotations

from decimal import Decimal
from math import isnan
from typing import TYPE_CHECKING, Any, Protocol

import sqlglot
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from upstream.database.duck import Duck
from upstream.queries.partials import RunningMerge
from upstream.queries.rewriting.split_query import State, StateKind
from upstream.queries.sql.lending import prepare

if TYPE_CHECKING:
    import pyarrow as pa

Row = tuple[Any, ...]

BEFORE_ALL = -(1 << 63)


class CheckedMerge(RunningMerge, Protocol):
    """A running merge that can say whether it is in order."""

    def _check(self) -> None: ...


def state(kind: StateKind, column: str, function: str) -> State:
    """Return a state of one column that this aggregate merges."""
    merge = sqlglot.parse_one(f'{function}("{column}")', dialect="duckdb")
    assert isinstance(merge, exp.Expression)
    return State(kind, (column,), (merge,))


def sum_of(column: str, type_name: str) -> State:
    """Return a sum of this type, which DuckDB's own sum would widen."""
    merge = sqlglot.parse_one(f'CAST(sum("{column}") AS {type_name})', dialect="duckdb")
    assert isinstance(merge, exp.Expression)
    return State(StateKind.SUM, (column,), (merge,))


AMOUNT = sum_of("amount", "DECIMAL(38, 0)")
TUPLES = sum_of("tuples", "BIGINT")
LEAST = state(StateKind.MINIMUM, "least", "min")
GREATEST = state(StateKind.MAXIMUM, "greatest", "max")


class Partials:
    """Tables of partials of one form, and their merge."""

    def __init__(
        self, groups: tuple[str, ...], states: tuple[State, ...], schema: pa.Schema, duck: Duck
    ) -> None:
        self.groups = groups
        self.states = states
        self.schema = schema
        self.duck = duck

    def table(self, rows: list[Row]) -> pa.Table:
        """Return rows as a table of partials."""
        import pyarrow as pa

        columns = zip(*rows, strict=True) if rows else [()] * len(self.schema)
        arrays = [
            pa.array(column, field.type) for column, field in zip(columns, self.schema, strict=True)
        ]
        return pa.table(arrays, schema=self.schema)

    def merge(self, tables: list[pa.Table]) -> pa.Table:
        """Merge by one GROUP BY over everything."""
        import pyarrow as pa

        table = pa.concat_tables(tables) if tables else self.schema.empty_table()
        if table.num_rows == 0:
            return table
        columns = [f'"{name}"' for name in self.groups]
        columns += [
            f'{merge.sql("duckdb")} AS "{name}"'
            for state in self.states
            for name, merge in zip(state.columns, state.merge, strict=True)
        ]
        query = f"SELECT {', '.join(columns)} FROM staged"
        if self.groups:
            query += f" GROUP BY {', '.join(columns[: len(self.groups)])}"
        tree = sqlglot.parse_one(query, dialect="duckdb")
        return (
            prepare(self.duck, tree, {"staged": table.schema}).run(staged=table).cast(self.schema)
        )


class PlainMerge:
    """Everything that was staged, step by step."""

    def __init__(self, partials: Partials) -> None:
        self._partials = partials
        self._steps: dict[int, list[pa.Table]] = {}
        self.first = self.end = self._forgotten = BEFORE_ALL

    def stage(self, step: int, partial: pa.Table) -> None:
        if step >= self.kept_from():
            self._steps.setdefault(step, []).append(partial)

    def advance(self, first: int, end: int) -> None:
        self.first, self.end = first, end

    def forget(self, before: int) -> None:
        self._forgotten = max(before, self._forgotten)

    def kept_from(self) -> int:
        return min(self._forgotten, self.first)

    def merged(self) -> pa.Table:
        return self.merged_of(self.first, self.end)

    def merged_of(self, first: int, end: int) -> pa.Table:
        steps = sorted(step for step in self._steps if first <= step < end)
        return self._partials.merge([part for step in steps for part in self._steps[step]])


def rows_of(table: pa.Table) -> list[Row]:
    """Return the rows of a table in an order of their own, with NaN equal to itself."""
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    return sorted((tuple(map(comparable, row)) for row in rows), key=repr)


def comparable(value: object) -> object:
    """Return a value that is equal to itself, and 0.0 for -0.0."""
    if isinstance(value, float):
        return "NaN" if isnan(value) else value + 0.0
    return value


GROUP = st.sampled_from([None, "a", "b", "c", "d"])
ROW = st.tuples(
    st.one_of(st.none(), st.integers(-(10**12), 10**12).map(Decimal)),
    st.integers(1, 9),
    st.one_of(st.none(), st.sampled_from([-1.5, 0.0, 2.5, float("nan"), float("inf")])),
    st.one_of(st.none(), st.sampled_from([-(2**63), 0, 5, 2**63 - 1])),
)
PARTIAL = st.dictionaries(GROUP, ROW, max_size=4).map(
    lambda rows: [(group, *row) for group, row in rows.items()]
)
STAGE = st.tuples(st.just("stage"), st.integers(-12, 12), PARTIAL)
ADVANCE = st.tuples(
    st.just("advance"),
    st.one_of(st.integers(0, 2), st.integers(0, 9), st.integers(0, 200)),
    st.one_of(st.integers(0, 3), st.integers(0, 9), st.integers(0, 90)),
)
FORGET = st.tuples(st.just("forget"), st.integers(-12, 3), st.none())
READ = st.tuples(st.just("read"), st.integers(0, 12), st.integers(0, 24))
ACTIONS = st.lists(st.one_of(STAGE, STAGE, STAGE, ADVANCE, FORGET, READ, READ), max_size=50)


class RunningMergeContract:
    """What every running merge over a window does."""

    partials: Partials

    def make(self, partials: Partials) -> CheckedMerge:
        raise NotImplementedError

    @classmethod
    def setup_class(cls) -> None:
        import pyarrow as pa

        schema = pa.schema(
            [
                ("place", pa.string()),
                ("amount", pa.decimal128(38, 0)),
                ("tuples", pa.int64()),
                ("least", pa.float64()),
                ("greatest", pa.int64()),
            ]
        )
        states = (AMOUNT, TUPLES, LEAST, GREATEST)
        cls.partials = Partials(("place",), states, schema, Duck())

    @classmethod
    def teardown_class(cls) -> None:
        cls.partials.duck.close()
        del cls.partials  # DuckDB prints what is still referred to at the end

    def one(self, group: str, amount: int) -> pa.Table:
        """Return a partial of one group."""
        return self.partials.table([(group, Decimal(amount), 1, float(amount), 1)])

    def totals(self, table: pa.Table) -> dict[str, int]:
        """Return the amounts of a merge by group."""
        return {
            group: int(amount)
            for group, amount in zip(
                table["place"].to_pylist(), table["amount"].to_pylist(), strict=True
            )
        }

    def plain(self) -> PlainMerge:
        """Return what the merge is compared to."""
        return PlainMerge(self.partials)

    def test_it_holds_what_a_merge_of_everything_anew_gives(self) -> None:
        given(ACTIONS)(self.act_and_compare)()

    def act_and_compare(self, actions: list[tuple[str, int, Any]]) -> None:
        merge, plain = self.make(self.partials), self.plain()
        merge.advance(0, 0)
        plain.advance(0, 0)
        for action, number, detail in actions:
            if action == "stage":
                partial = self.partials.table(detail)
                merge.stage(plain.end + number, partial)
                plain.stage(plain.end + number, partial)
            elif action == "advance":
                first, end = plain.first + number, plain.end + detail
                merge.advance(first, max(first, end))
                plain.advance(first, max(first, end))
            elif action == "forget":
                merge.forget(plain.first + number)
                plain.forget(plain.first + number)
            else:
                self.assert_same(merge, plain)
                self.assert_same_of(merge, plain, number, detail)
            merge._check()
        self.assert_same(merge, plain)
        merge.close()

    def assert_same(self, merge: CheckedMerge, plain: PlainMerge) -> None:
        merged = merge.merged()
        assert merged.schema.equals(self.partials.schema)
        assert rows_of(merged) == rows_of(plain.merged())

    def assert_same_of(
        self, merge: CheckedMerge, plain: PlainMerge, number: int, detail: int
    ) -> None:
        first = max(plain.kept_from(), plain.end - number)
        end = first + detail
        assert rows_of(merge.merged_of(first, end)) == rows_of(plain.merged_of(first, end))

    def test_before_the_first_advance_the_window_is_empty(self) -> None:
        merge = self.make(self.partials)
        merge.stage(0, self.one("a", 1))
        assert merge.merged().num_rows == 0
        assert merge.merged().schema.equals(self.partials.schema)

    def test_an_empty_partial_is_as_none(self) -> None:
        merge = self.make(self.partials)
        merge.stage(0, self.partials.table([]))
        merge.advance(0, 1)
        assert merge.merged().num_rows == 0
        assert merge.memory_rows() == 0

    def test_steps_wait_until_the_window_reaches_them(self) -> None:
        """Steps 0 1 2 hold 1 10 100; the window ends before 1, 2, 3."""
        merge = self.make(self.partials)
        for step in range(3):
            merge.stage(step, self.one("a", 10**step))
        seen = []
        for end in (1, 2, 3):
            merge.advance(0, end)
            seen.append(self.totals(merge.merged()))
        assert seen == [{"a": 1}, {"a": 11}, {"a": 111}]

    def test_a_step_in_many_parts_is_one_step(self) -> None:
        merge = self.make(self.partials)
        for _ in range(30):
            merge.stage(0, self.one("a", 1))
            merge._check()
        merge.advance(0, 1)
        for _ in range(30):
            merge.stage(0, self.one("a", 10))
            merge._check()
        assert self.totals(merge.merged()) == {"a": 330}

    def test_what_was_handed_out_does_not_change_when_the_window_slides(self) -> None:
        merge = self.make(self.partials)
        merge.stage(0, self.one("a", 1))
        merge.advance(0, 1)
        table = merge.merged()
        merge.stage(1, self.one("a", 10))
        merge.stage(1, self.one("b", 10))
        merge.advance(0, 2)
        merge.merged()
        assert self.totals(table) == {"a": 1}

    def test_it_says_how_it_merges(self) -> None:
        assert " " in self.make(self.partials).describe()


class SlidingMergeContract(RunningMergeContract):
    """What a running merge does whose window leaves steps behind."""

    def test_a_group_leaves_with_the_last_step_that_has_it(self) -> None:
        """Groups a|ab|b slide through a window of two steps."""
        merge = self.make(self.partials)
        for step, groups in enumerate(["a", "ab", "b", "c"]):
            for group in groups:
                merge.stage(step, self.one(group, 1 + step))
        seen = []
        for end in (2, 3, 4):
            merge.advance(end - 2, end)
            seen.append(self.totals(merge.merged()))
        assert seen == [{"a": 3, "b": 2}, {"a": 2, "b": 5}, {"b": 3, "c": 4}]

    def test_a_step_in_the_window_is_amended_by_what_is_staged_later(self) -> None:
        merge = self.make(self.partials)
        merge.stage(0, self.one("a", 1))
        merge.advance(0, 2)
        assert self.totals(merge.merged()) == {"a": 1}
        merge.stage(0, self.one("a", 10))
        merge.stage(1, self.one("b", 5))
        assert self.totals(merge.merged()) == {"a": 11, "b": 5}
        merge.advance(1, 3)
        assert self.totals(merge.merged()) == {"b": 5}

    def test_a_step_behind_the_window_is_held_until_it_is_forgotten(self) -> None:
        merge = self.make(self.partials)
        merge.stage(0, self.one("a", 1))
        merge.advance(1, 2)
        merge.stage(0, self.one("a", 10))
        assert self.totals(merge.merged_of(0, 1)) == {"a": 11}
        merge.forget(1)
        merge.stage(0, self.one("a", 100))
        assert merge.merged_of(0, 1).num_rows == 0
        assert merge.memory_rows() == 0

    def test_a_step_in_the_window_is_not_forgotten(self) -> None:
        merge = self.make(self.partials)
        merge.stage(0, self.one("a", 1))
        merge.advance(0, 1)
        merge.forget(5)
        merge.stage(0, self.one("a", 1))
        assert self.totals(merge.merged()) == {"a": 2}

    def test_a_jump_beyond_everything_leaves_nothing(self) -> None:
        merge = self.make(self.partials)
        for step in range(100):
            merge.stage(step, self.one("a", 1))
        merge.advance(0, 100)
        merge.forget(10**15)
        merge.advance(10**15, 10**15 + 100)
        assert merge.merged().num_rows == 0
        assert merge.memory_rows() == 0

    def test_a_jump_may_skip_steps_that_were_never_in_a_window(self) -> None:
        merge = self.make(self.partials)
        for step in range(100):
            merge.stage(step, self.one("a", 1))
        merge.advance(90, 95)
        assert self.totals(merge.merged()) == {"a": 5}

    def test_what_is_held_goes_by_the_groups_in_the_steps_of_the_window(self) -> None:
        merge = self.make(self.partials)
        most = 0
        for step in range(300):
            merge.stage(step, self.one("a", 1))
            merge.advance(max(0, step - 63), step + 1)
            merge.forget(step - 63)
            merge.merged()
            most = max(most, merge.memory_rows())
        assert self.totals(merge.merged()) == {"a": 64}
        assert most <= 64 * 3
