"""Views with a column of signs are always what their queries give over the rows that are left.

Rows are added and taken away in any order, also before they are added.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from decimal import Decimal
from random import Random

import pyarrow as pa
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.queries.differential.comparison import difference
from upstream import Engine, ManualClock
from upstream.errors import QueryError

from .signed_setting import COLUMNS, NAMES, QUERIES, SCHEMA, SIGNED, STREAM, state_is_sound

Row = tuple[object, ...]

ROW = st.tuples(
    st.sampled_from(["a", "b", "c", None]),
    st.sampled_from([None, 0, 1, 5, -3, 2**55, -(2**55)]),
    st.none() | st.integers(-3, 3),
    st.sampled_from([None, Decimal("1.25"), Decimal("-99999999.99"), Decimal(0)]),
    st.sampled_from([None, 0.0, -0.0, 0.1, float("inf")]),
    st.sampled_from([None, True, False]),
    st.sampled_from(["1", None]),
)
WRONG = st.sampled_from([None, 0, 2, -2, 127])


class SignedViews(RuleBasedStateMachine):
    """Some views over signed rows, and the rows that are left."""

    def __init__(self) -> None:
        super().__init__()
        self.engine = Engine(clock=ManualClock())
        self.engine.sql(f"CREATE STREAM s {STREAM}")
        self.engine.sql("CREATE STREAM t (g TEXT, x BIGINT) KEY (g)")
        self.engine.create_table("names", NAMES)
        self.reference = Engine(clock=ManualClock())
        self.reference.create_table("names", NAMES)
        self.left: Counter[Row] = Counter()
        self.staying: list[tuple[object, object]] = []
        self.views: list[tuple[str, str]] = []
        self.wrong = 0

    def teardown(self) -> None:
        self.engine.close()
        self.reference.close()

    @initialize(chosen=st.lists(st.sampled_from(QUERIES), min_size=2, max_size=4))
    def create(self, chosen: list[str]) -> None:
        for number, query in enumerate(chosen):
            name = f"v{number}"
            self.engine.sql(f"CREATE VIEW {name} WITH (sign = 'op', on_error = 'skip') AS {query}")
            self.views.append((name, query))

    def _append(self, rows: list[tuple[Row, int | None]]) -> None:
        columns = list(zip(*((*row, sign) for row, sign in rows), strict=True))
        arrays = [
            pa.array(column, kind) for column, kind in zip(columns, SIGNED.types, strict=True)
        ]
        self.engine.append("s", pa.Table.from_arrays(arrays, schema=SIGNED))

    @rule(rows=st.lists(st.tuples(ROW, st.sampled_from([1, 1, 1, -1])), min_size=1, max_size=5))
    def append_anything(self, rows: list[tuple[Row, int]]) -> None:
        self._append(list(rows))
        for row, sign in rows:
            self.left[row] += sign

    @rule(choose=st.randoms(use_true_random=False), rows=st.lists(ROW, max_size=3))
    def replace(self, choose: Random, rows: list[Row]) -> None:
        """Take some rows away that are there, and add others, in any order."""
        there = [row for row, count in self.left.items() for _ in range(count)]
        taken = choose.sample(there, choose.randint(0, len(there)))
        signed: list[tuple[Row, int | None]] = [(row, -1) for row in taken]
        signed += [(row, 1) for row in rows]
        choose.shuffle(signed)
        if signed:
            self._append(signed)
        self.left.subtract(Counter(taken))
        self.left.update(rows)

    @rule()
    def add_what_is_missing(self) -> None:
        missing = {row: -count for row, count in self.left.items() if count < 0}
        if missing:
            self._append([(row, 1) for row, count in missing.items() for _ in range(count)])
            self.left.update(missing)

    @rule(rows=st.lists(st.tuples(ROW, WRONG), min_size=1, max_size=2))
    def append_wrong_signs(self, rows: list[tuple[Row, int | None]]) -> None:
        self._append(rows)
        self.wrong += len(rows)

    @rule(rows=st.lists(st.tuples(st.sampled_from(["a", "b", None]), st.integers(0, 3))))
    def append_to_the_other_stream(self, rows: list[tuple[str | None, int]]) -> None:
        rows = [(group, x) for group, x in rows if group is not None]
        if rows:
            groups, numbers = zip(*rows, strict=True)
            self.engine.append("t", {"g": groups, "x": numbers})
            self.staying += rows

    @rule()
    def read(self) -> None:
        rows = [row for row, count in self.left.items() for _ in range(count)]
        columns = list(zip(*rows, strict=True)) if rows else [() for _ in COLUMNS]
        arrays = [
            pa.array(column, kind) for column, kind in zip(columns, SCHEMA.types, strict=True)
        ]
        others = {"g": pa.array([g for g, _ in self.staying], pa.string())}
        others["x"] = pa.array([x for _, x in self.staying], pa.int64())
        for name, table in (
            ("s", pa.Table.from_arrays(arrays, schema=SCHEMA)),
            ("t", pa.table(others)),
        ):
            self.reference.sql(f"DROP TABLE IF EXISTS {name}")
            self.reference.create_table(name, table)
        is_whole = all(count >= 0 for count in self.left.values())
        for name, query in self.views:
            if is_whole:
                found = self.engine.sql(f"FROM {name}")
                latest = "(SELECT DISTINCT g FROM t)"
                expected = self.reference.sql(query.replace("latest(t)", latest))
                assert difference(expected, found, is_ordered=False) == "", query
            else:
                with suppress(QueryError):
                    self.engine.sql(f"FROM {name}")
                reason = self.engine.view(name).statistics().error
                assert reason is None or "not been added" in reason or "must be 1" in reason
            assert self.engine.view(name).statistics().rows_failed == self.wrong

    @invariant()
    def states_are_sound(self) -> None:
        for name, _ in self.views:
            state_is_sound(self.engine, name)


TestSignedViews = SignedViews.TestCase
TestSignedViews.settings = settings(
    max_examples=max(6, settings().max_examples // 6), stateful_step_count=20
)
