"""Views with a column of signs return what their queries return over the rows that are left.

The queries are those of `view_shapes.sql` that read all rows of `trades`, which here has the signs.
A shape that cannot follow is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from upstream import ManualClock, StatementError, UnboundedQueryError
from upstream.engine import Engine

from .comparison import difference, handed_out
from .view_truth import STREAMS, TABLES, VIEWS, Append, Row, random_step, shapes

PARTS = 4  # which run beside one another
STEPS = 8
LEAST_FOLLOWED = 0.8
"""If a smaller share of the shapes were accepted, the comparison would say little."""
EXACT = STREAMS["trades"].set(4, pa.field("y", pa.decimal128(10, 2)))
"""The columns of `trades`, with decimals for doubles, whose sums have no inverse."""
OTHERS = {name: STREAMS[name] for name in ("orders", "beats")}
TYPES = {
    "int64": "BIGINT",
    "int32": "INTEGER",
    "string": "TEXT",
    "decimal128(10, 2)": "DECIMAL(10, 2)",
}
SHAPES = {
    name: query
    for name, query in shapes().items()
    if "trades" in query + (VIEWS["by_k"] if "by_k" in query else "")
    and "latest(" not in query
    and "newest" not in query
}


@dataclass
class Signed:
    """An engine whose stream `trades` has signs, and a plain database with the rows left."""

    engine: Engine = field(default_factory=lambda: Engine(clock=ManualClock()))
    plain: duckdb.DuckDBPyConnection = field(
        default_factory=lambda: duckdb.connect(config={"threads": 1})
    )
    left: list[Row] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name, schema in {"trades": EXACT, **OTHERS}.items():
            columns = ", ".join(f"{each.name} {TYPES[str(each.type)]}" for each in schema)
            self.plain.execute(f"CREATE TABLE {name} ({columns})")
            sign = ", op TINYINT" if name == "trades" else ""
            clauses = "KEY (k) TIME (time)" if "time" in schema.names else ""
            self.engine.sql(f"CREATE STREAM {name} ({columns}{sign}) {clauses}")
        for statement in TABLES:
            self._run(statement)
        self.create("by_k", VIEWS["by_k"])
        self.create("by_lots", VIEWS["by_lots"])

    def close(self) -> None:
        """Close both."""
        self.engine.close()
        self.plain.close()

    def create(self, name: str, query: str) -> bool:
        """Create a view in both, with signs if it reads them; return whether it is accepted."""
        sign = "WITH (sign = 'op')" if "trades" in query else ""
        try:
            self.engine.sql(f"CREATE VIEW {name} {sign} AS {query}")
        except (StatementError, UnboundedQueryError):
            return False
        self.plain.execute(f"CREATE VIEW {name} AS {query}")
        return True

    def take(self, random: Random) -> None:
        """Let rows of a stream come, or rows of `trades` come and go, or a table change."""
        step = random_step(random)
        if not isinstance(step, Append):
            self._run(step.text)
        elif step.stream in OTHERS:
            table = _table(OTHERS[step.stream], [*step.rows])
            self.engine.append(step.stream, table)
            self._insert(step.stream, table)
        else:
            gone = random.sample(self.left, random.randint(0, 2 * len(self.left) // 3))
            signed = [*((row, 1) for row in step.rows), *((row, -1) for row in gone)]
            random.shuffle(signed)
            for row, sign in signed:
                self.left.append(row) if sign > 0 else self.left.remove(row)
            rows = _table(EXACT, [row for row, _ in signed])
            signs = pa.array([sign for _, sign in signed], pa.int8())
            self.engine.append("trades", rows.append_column("op", signs))
            self.plain.execute("DELETE FROM trades")
            self._insert("trades", _table(EXACT, self.left))

    def told(self, name: str) -> str:
        """Compare a view with the truth, and say how it differs."""
        expected = handed_out(self.plain.sql(f"FROM {name}"))
        return difference(expected, self.engine.sql(f"SELECT * FROM {name}"), is_ordered=False)

    def _run(self, statement: str) -> None:
        self.engine.sql(statement)
        self.plain.execute(statement)

    def _insert(self, table: str, rows: pa.Table) -> None:
        self.plain.register("rows_of_step", rows)
        self.plain.execute(f"INSERT INTO {table} FROM rows_of_step")


def _table(schema: pa.Schema, rows: list[Row]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = [
        pa.array(column).cast(each.type) for column, each in zip(columns, schema, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


@pytest.fixture
def signed() -> Iterator[Signed]:
    signed = Signed()
    yield signed
    signed.close()


@pytest.mark.parametrize("part", range(PARTS))
def test_each_shape_follows_the_rows_that_are_left_or_is_refused(part: int, signed: Signed) -> None:
    shapes = {f"view_{n}": name for n, name in enumerate(SHAPES) if n % PARTS == part}
    views = [view for view, name in shapes.items() if signed.create(view, SHAPES[name])]
    assert len(views) > LEAST_FOLLOWED * len(shapes)
    random = Random(part)
    for number in range(STEPS):
        signed.take(random)
        for view in views:
            if number == STEPS - 1 or random.random() < 0.4:
                told = signed.told(view)
                assert not told, f"{shapes[view]}: {told}"
    assert signed.left


@settings(max_examples=min(100, max(5, settings().max_examples // 10)))
@given(
    random=st.randoms(use_true_random=False),
    names=st.lists(st.sampled_from(sorted(SHAPES)), min_size=1, max_size=3, unique=True),
    steps=st.integers(1, 8),
)
def test_random_rows_come_and_go(random: Random, names: list[str], steps: int) -> None:
    signed = Signed()
    try:
        views = [
            f"view_{n}" for n, name in enumerate(names) if signed.create(f"view_{n}", SHAPES[name])
        ]
        for number in range(steps):
            signed.take(random)
            if number == steps - 1 or random.random() < 0.5:
                assert not [told for view in views if (told := signed.told(view))]
    finally:
        signed.close()
