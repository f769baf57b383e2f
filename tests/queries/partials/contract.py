"""What every running merge does: one suite that each of them subclasses, against a plain merge.

The plain merge keeps all that was staged, and merges it anew, in DuckDB, each time it is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import partial
from math import isnan
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa
import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from upstream.database.duck import Duck
from upstream.database.failure import DatabaseError
from upstream.queries.partials import dense_window
from upstream.queries.partials.cumulative_merge import CumulativeMerge
from upstream.queries.partials.growing_merge import GrowingMerge
from upstream.queries.partials.running_merge import RunningMerge
from upstream.queries.rewriting.split_query import State, StateKind
from upstream.queries.sql.lending import prepare

from .interruptions import Line, is_interrupted, lines_of, worth_trying

if TYPE_CHECKING:
    from upstream.queries.chunks.cutter import Piece

Row = tuple[Any, ...]
Action = Callable[[], "pa.Table | None"]

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
TOTAL = sum_of("total", "DOUBLE")
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
        columns = zip(*rows, strict=True) if rows else [()] * len(self.schema)
        arrays = [
            pa.array(column, field.type) for column, field in zip(columns, self.schema, strict=True)
        ]
        return pa.table(arrays, schema=self.schema)

    def merge(self, tables: list[pa.Table]) -> pa.Table:
        """Merge by one GROUP BY over everything."""
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
    """Everything that was staged, chunk by chunk."""

    def __init__(self, partials: Partials) -> None:
        self._partials = partials
        self._chunks: dict[int, list[pa.Table]] = {}
        self.first = self.end = self._forgotten = BEFORE_ALL

    def stage(self, partials: list[Piece]) -> None:
        for chunk, part in partials:
            if chunk >= self.kept_from():
                self._chunks.setdefault(chunk, []).append(part)

    def advance(self, first: int, end: int) -> None:
        self.first, self.end = first, end

    def forget(self, before: int) -> None:
        self._forgotten = max(before, self._forgotten)

    def kept_from(self) -> int:
        return min(self._forgotten, self.first)

    def merged(self, first: int, end: int) -> pa.Table:
        if first >= self.first and end >= self.end:
            self.advance(first, end)
        chunks = sorted(chunk for chunk in self._chunks if first <= chunk < end)
        return self._partials.merge([part for chunk in chunks for part in self._chunks[chunk]])


class PlainCumulativeMerge(PlainMerge):
    """Everything that was staged, from the beginning on."""

    def kept_from(self) -> int:
        return BEFORE_ALL

    def merged(self, first: int, end: int) -> pa.Table:
        if first >= self.first and end >= self.end:
            self.advance(first, end)
        self.end = max(end, self.end)
        chunks = sorted(chunk for chunk in self._chunks if chunk < self.end)
        return self._partials.merge([part for chunk in chunks for part in self._chunks[chunk]])


def rows_of(table: pa.Table) -> list[Row]:
    """Return the rows of a table in an order of their own, with NaN equal to itself."""
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    return sorted((tuple(map(comparable, row)) for row in rows), key=repr)


def answer(table: pa.Table | None) -> list[Row] | None:
    """Return what a call gave, to be compared."""
    return None if table is None else rows_of(table)


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
    st.one_of(st.none(), st.sampled_from([-1.5, 0.0, 2.5, 1e6, float("nan"), float("inf")])),
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
SETTLE = st.tuples(st.just("settle"), st.just(0), st.none())
FORGET = st.tuples(st.just("forget"), st.integers(-12, 3), st.none())
READ = st.tuples(st.just("read"), st.integers(0, 12), st.integers(0, 24))
ACTIONS = st.lists(st.one_of(STAGE, STAGE, STAGE, SETTLE, ADVANCE, FORGET, READ, READ), max_size=50)


class RunningMergeContract:
    """What every running merge over a window does."""

    partials: Partials

    def make(self, partials: Partials) -> CheckedMerge:
        raise NotImplementedError

    @classmethod
    def setup_class(cls) -> None:
        schema = pa.schema(
            [
                ("place", pa.string()),
                ("amount", pa.decimal128(38, 0)),
                ("tuples", pa.int64()),
                ("least", pa.float64()),
                ("greatest", pa.int64()),
                ("total", pa.float64()),
            ]
        )
        states = (AMOUNT, TUPLES, LEAST, GREATEST, TOTAL)
        cls.partials = Partials(("place",), states, schema, Duck())

    @classmethod
    def teardown_class(cls) -> None:
        cls.partials.duck.close()
        del cls.partials  # DuckDB prints what is still referred to at the end

    def row(self, group: str, amount: int) -> Row:
        """Return a row of a partial."""
        return group, Decimal(amount), 1, float(amount), amount % 1_000, amount / 2

    def one(self, group: str, amount: int) -> pa.Table:
        """Return a partial of one group."""
        return self.partials.table([self.row(group, amount)])

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

    def test_it_equals_a_merge_of_everything(self) -> None:
        given(ACTIONS)(self.act_and_compare)()

    def act_and_compare(self, actions: list[tuple[str, int, Any]]) -> None:
        merge, plain = self.make(self.partials), self.plain()
        merge.advance(0, 0)
        plain.advance(0, 0)
        for action, number, detail in actions:
            if action == "stage":
                partial = self.partials.table(detail)
                merge.stage([(plain.end + number, partial)])
                plain.stage([(plain.end + number, partial)])
            elif action == "advance":
                first, end = plain.first + number, plain.end + detail
                merge.advance(first, max(first, end))
                plain.advance(first, max(first, end))
            elif action == "settle":
                merge.settle()
            elif action == "forget":
                merge.forget(plain.first + number)
                plain.forget(plain.first + number)
            else:
                self.assert_same(merge, plain, plain.first, plain.end)
                first = max(plain.kept_from(), plain.end - number)
                self.assert_same(merge, plain, first, first + detail)
            merge._check()
        self.assert_same(merge, plain, plain.first, plain.end)
        merge.close()

    def assert_same(self, merge: CheckedMerge, plain: PlainMerge, first: int, end: int) -> None:
        merged = merge.merged(first, end)
        assert merged.schema.equals(self.partials.schema)
        assert rows_of(merged) == rows_of(plain.merged(first, end))

    def script(self, merge: CheckedMerge) -> list[tuple[list[Piece], Action]]:
        """Return calls that slide a window of six chunks, and what is staged before each.

        Some of it is late, and some chunks come in many parts.
        """
        table = self.partials.table
        script: list[tuple[list[Piece], Action]] = []
        for chunk in range(16):
            for part in range(10 if chunk in {3, 9} else 1):
                rows = [self.row(group, chunk + part) for group in ("a", f"of {chunk}")]
                script.append(([(chunk, table(rows))], merge.settle))
            if chunk in {6, 11, 14}:
                late = table([self.row("late", chunk), self.row(f"of {chunk}", 7)])
                script.append(([(chunk - 3, late), (chunk, late)], merge.settle))
            first = max(0, chunk - 5) if chunk < 14 else chunk
            more = [(chunk, table([self.row("more", 1)]))] if chunk % 5 == 0 else []
            script.append((more, partial(merge.advance, first, chunk + 1)))
            if chunk % 3 == 0:
                script.append((more, partial(merge.merged, first, chunk + 1)))
            if chunk == 13:
                script.append(([], partial(merge.merged, first - 1, chunk)))
            script.append((more, partial(merge.forget, first - 2)))
        return [*script, ([], partial(merge.merged, 15, 16))]

    def test_after_an_exception_at_any_line_the_merge_goes_on(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Calls are interrupted at each of their lines in turn, and made again."""
        monkeypatch.setattr(dense_window, "_SPARE_PLACES", 0)
        expected: list[pa.Table | None] = []
        lines: list[list[Line]] = []
        merge = self.make(self.partials)
        for staged, action in self.script(merge):
            merge.stage(staged)
            lines.append(lines_of(action, expected.append))
        places = worth_trying(lines)
        interruptions = 0
        for attempt in range(max(map(len, places))):
            merge = self.make(self.partials)
            for (staged, action), tried, result in zip(
                self.script(merge), places, expected, strict=True
            ):
                merge.stage(staged)
                if attempt < len(tried):
                    if not is_interrupted(action, tried[attempt]):
                        continue  # done, and otherwise than it was after other interruptions
                    interruptions += 1
                assert answer(action()) == answer(result)
                if attempt < len(tried):
                    merge._check()
            merge.close()
        assert interruptions > sum(map(len, places)) / 2

    def test_before_it_moves_the_position_is_empty(self) -> None:
        merge = self.make(self.partials)
        merge.stage([(0, self.one("a", 1))])
        merged = merge.merged(BEFORE_ALL, BEFORE_ALL)
        assert merged.num_rows == 0
        assert merged.schema.equals(self.partials.schema)

    def test_an_empty_partial_changes_nothing(self) -> None:
        merge = self.make(self.partials)
        merge.stage([(0, self.partials.table([]))])
        assert merge.merged(0, 1).num_rows == 0
        assert merge.rows == 0

    def test_a_chunk_in_many_parts_is_one_chunk(self) -> None:
        merge = self.make(self.partials)
        for _ in range(30):
            merge.stage([(0, self.one("a", 1))])
            merge.settle()
            merge._check()
        merge.advance(0, 1)
        for _ in range(30):
            merge.stage([(0, self.one("a", 10))])
            merge.settle()
            merge._check()
        assert self.totals(merge.merged(0, 1)) == {"a": 330}

    def test_a_returned_table_does_not_change_when_the_window_slides(self) -> None:
        merge = self.make(self.partials)
        merge.stage([(0, self.one("a", 1))])
        merge.advance(0, 1)
        table = merge.merged(0, 1)
        merge.stage([(1, self.one("a", 10))])
        merge.stage([(1, self.one("b", 10))])
        merge.merged(0, 2)
        assert self.totals(table) == {"a": 1}

    def test_it_says_how_it_merges(self) -> None:
        assert " " in self.make(self.partials).describe()


class SlidingMergeContract(RunningMergeContract):
    """What a running merge does whose window leaves chunks behind."""

    def test_a_chunk_behind_the_window_is_held_until_it_is_forgotten(self) -> None:
        merge = self.make(self.partials)
        merge.stage([(0, self.one("a", 1))])
        merge.advance(1, 2)
        merge.stage([(0, self.one("a", 10))])
        assert self.totals(merge.merged(0, 1)) == {"a": 11}
        merge.forget(1)
        merge.stage([(0, self.one("a", 100))])
        assert merge.merged(0, 1).num_rows == 0
        assert merge.rows == 0

    def test_a_jump_beyond_everything_leaves_nothing(self) -> None:
        merge = self.make(self.partials)
        for chunk in range(100):
            merge.stage([(chunk, self.one("a", 1))])
        merge.advance(0, 100)
        merge.forget(10**15)
        assert merge.merged(10**15, 10**15 + 100).num_rows == 0
        assert merge.rows == 0

    def test_a_jump_may_skip_steps_that_were_never_in_a_window(self) -> None:
        merge = self.make(self.partials)
        for chunk in range(100):
            merge.stage([(chunk, self.one("a", 1))])
        assert self.totals(merge.merged(90, 95)) == {"a": 5}

    def test_the_number_of_held_rows_depends_on_the_groups_in_the_window(self) -> None:
        merge = self.make(self.partials)
        most = 0
        for chunk in range(300):
            merge.stage([(chunk, self.one("a", 1))])
            merge.advance(max(0, chunk - 63), chunk + 1)
            merge.forget(chunk - 63)
            merge.merged(max(0, chunk - 63), chunk + 1)
            most = max(most, merge.rows)
        assert self.totals(merge.merged(299 - 63, 300)) == {"a": 64}
        assert most <= 64 * 3


class CumulativeMergeContract(RunningMergeContract):
    """What a running merge does that nothing leaves."""

    def make_cumulative(self, partials: Partials) -> CumulativeMerge | GrowingMerge:
        """Return the merge, which can be saved."""
        merge = self.make(partials)
        assert isinstance(merge, CumulativeMerge | GrowingMerge)
        return merge

    def plain(self) -> PlainMerge:
        return PlainCumulativeMerge(self.partials)

    def test_nothing_leaves(self) -> None:
        merge = self.make(self.partials)
        for chunk in range(100):
            merge.stage([(chunk, self.one("a", 1))])
            merge.advance(chunk, chunk + 1)
            merge.forget(chunk)
        assert self.totals(merge.merged(99, 100)) == {"a": 100}
        assert merge.rows == 1

    def test_a_sum_that_overflows_fails_only_when_it_is_read(self) -> None:
        merge = self.make(self.partials)
        merge.advance(0, 1)
        rows = [(str(i), Decimal(10**38 - 1), 1, 1.0, 1, 1.0) for i in range(4_000)]
        partial = self.partials.table(rows)
        for _ in range(8):
            merge.stage([(0, partial)])
            merge.settle()
            merge._check()
        with pytest.raises(DatabaseError):
            merge.merged(0, 1)

    def test_what_was_saved_goes_on_as_if_it_had_not_been(self) -> None:
        merge, saved = (self.make_cumulative(self.partials) for _ in range(2))
        for amount in (1, 2, 5 * 10**37, 3, 4 * 10**37, 4):
            restored = self.make_cumulative(self.partials)
            restored.restore(saved.saved())
            restored._check()
            for each in (merge, restored):
                each.stage([(0, self.one("a", amount)), (0, self.one(str(amount), 1))])
            assert self.totals(restored.merged(0, 1)) == self.totals(merge.merged(0, 1))
            assert restored.rows == merge.rows
            saved = restored
        assert self.totals(saved.merged(0, 1))["a"] == 9 * 10**37 + 10

    def test_a_sum_that_overflows_is_saved_with_its_failure(self) -> None:
        merge, restored = (self.make_cumulative(self.partials) for _ in range(2))
        merge.advance(0, 1)
        merge.stage([(0, self.one("a", 9 * 10**37)), (0, self.one("a", 9 * 10**37))])
        restored.restore(merge.saved())
        for each in (merge, restored):
            with pytest.raises(DatabaseError):
                each.merged(0, 1)

    def test_a_table_of_another_form_is_not_restored(self) -> None:
        merge = self.make_cumulative(self.partials)
        for table in (pa.table({"x": [1]}), self.one("a", 1)):
            with pytest.raises(ValueError, match="was saved by another version"):
                merge.restore(table)

    def test_partials_of_a_chunk_that_is_not_due_do_not_pile_up(self) -> None:
        merge = self.make(self.partials)
        merge.advance(0, 1)
        partial = self.partials.table([(str(i), 1, 1, 1.0, 1, 1.0) for i in range(1_000)])
        for _ in range(100):
            merge.stage([(0, partial), (1, partial)])
            merge.settle()
            merge._check()
        assert merge.rows < 20_000
        assert self.totals(merge.merged(0, 1))["7"] == 100
        assert self.totals(merge.merged(0, 2))["7"] == 200

    def test_unread_partials_do_not_pile_up(self) -> None:
        merge = self.make(self.partials)
        merge.advance(0, 1)
        partial = self.partials.table([(str(i), 1, 1, 1.0, 1, 1.0) for i in range(1_000)])
        for _ in range(100):
            merge.stage([(0, partial)])
            merge.settle()
        assert merge.rows < 10_000
        assert self.totals(merge.merged(0, 1))["7"] == 100
