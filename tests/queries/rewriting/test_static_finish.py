"""Parts of a finish that read tables only, and the groups that are looked up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from itertools import count

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from upstream.database.duck import Duck
from upstream.queries.rewriting.split_query import SplitQuery
from upstream.queries.rewriting.static_finish import StaticFinish, static_finish
from upstream.queries.rewriting.trial import Trial
from upstream.queries.sql.functions import functions_of
from upstream.queries.sql.lending import prepare

from .fixture_files import LASTING, split_of
from .random_steps import SCHEMA, SCHEMAS
from .static_tables import Parts
from .test_static_joins import ROWS, Row, fill

SUM = "(SELECT sum(s.x) FROM chunk_0 s WHERE s.k = r.a)"
LOOKED_UP = {
    f"SELECT a, e FROM r WHERE e > 0 AND e < {SUM}": ["r"],
    f"SELECT e AS a, a AS e FROM r WHERE e > 0 AND a < {SUM} ORDER BY 1, e": ["r"],
    f"SELECT e, {SUM} AS n FROM r WHERE a IN (SELECT c FROM t)": ["r t"],
    f"SELECT t.f, count(*) AS n FROM r, t WHERE r.e = t.c AND t.f > {SUM} GROUP BY t.f": ["r t"],
    f"SELECT r.e, t.f FROM r LEFT JOIN t ON r.e = t.c WHERE r.a > 0 AND r.e < {SUM}": ["r t"],
    f"SELECT f FROM t WHERE f > 0 AND c IN (SELECT e FROM r WHERE a < {SUM})": ["t", "r"],
    f"SELECT f FROM t WHERE f > 0 AND c IN (SELECT DISTINCT e FROM r WHERE e < {SUM} AND a > 0)": [
        "t",
        "r",
    ],
    f"SELECT f FROM t WHERE f > 0 OR c IN (SELECT e FROM r WHERE a > 0 AND a < {SUM})": ["r"],
    f"SELECT a FROM r WHERE e > 0 AND e < {SUM} AND a < (SELECT sum(x) FROM chunk_0)": ["r"],
    f"SELECT f FROM t WHERE f > 0 AND EXISTS (SELECT 1 FROM r WHERE r.a = t.c AND r.e < {SUM}"
    " AND r.e > 0)": ["t", "r"],
}
"""Queries whose groups are looked up, with the tables of each part."""
ALL_GROUPS = {
    f"SELECT a FROM r WHERE e > 0 AND e < {SUM} AND a < (SELECT max(n) FROM"
    " (SELECT s.k, sum(s.x) AS n FROM chunk_0 s GROUP BY s.k) q)": ["r"],
    "SELECT t.c FROM (SELECT a AS c FROM r) t WHERE EXISTS (SELECT 1 FROM r q WHERE q.a > 0"
    f" AND t.c IN (SELECT r.e FROM r WHERE r.e < {SUM}))": ["r"],
    "SELECT a FROM r WHERE e > 0 AND EXISTS (SELECT 1 FROM chunk_0 WHERE k = a)": ["r"],
    "SELECT a FROM r WHERE e > 0 AND NOT EXISTS (SELECT 1 FROM chunk_0 WHERE k = a AND x > e)": [
        "r"
    ],
    f"SELECT a FROM r WHERE e < {SUM}": [],
    f"SELECT f FROM t WHERE f > 0 AND c NOT IN (SELECT e FROM r WHERE a < {SUM})": ["t"],
    f"SELECT f FROM t WHERE f > 0 AND c = ALL (SELECT e FROM r WHERE a < {SUM})": ["t"],
    "SELECT a FROM r WHERE e > 0 AND a IN (SELECT k FROM chunk_0)": ["r"],
    "SELECT a FROM r WHERE e > 0 AND e < (SELECT sum(x) FROM chunk_0 WHERE k > a)": ["r"],
    "SELECT a FROM r WHERE e > 0 AND e < (SELECT sum(x) FROM chunk_0)": ["r"],
    "SELECT a FROM r WHERE e > 0 AND e < (SELECT sum(x) FROM chunk_0 WHERE k = a OR x = e)": ["r"],
    "SELECT r.a FROM r, (SELECT k, sum(x) AS n FROM chunk_0 GROUP BY k) s WHERE s.k = r.a"
    " AND r.e > 0": [],
    f"SELECT t.f FROM r, t WHERE r.a > 0 AND t.f > {SUM}": [],
}


@pytest.fixture(scope="module")
def duck() -> Iterator[Duck]:
    duck = Duck()
    fill(duck, [(1, 2), (2, 3)], [(2, 1), (3, 1)])
    yield duck
    duck.close()


def divided(parts: SplitQuery, duck: Duck, tables: Parts) -> StaticFinish | None:
    """Return the finish over parts, which are made."""
    numbers = count(1)
    schemas = {leaf.relation: leaf.schema for leaf in parts.leaves if leaf.schema is not None}
    return static_finish(
        parts,
        (),
        Trial(duck, {**SCHEMAS, **schemas}),
        functions_of(duck),
        new_name=lambda: f"__finish_{next(numbers)}",
        tables=tables,
    )


def reads(static: StaticFinish | None) -> list[str]:
    """Return the tables of each part, without other parts."""
    return [
        " ".join(sorted(name for name in part.reads if not name.startswith("__")))
        for part in (static.parts if static else ())
    ]


def drop(tables: Parts, duck: Duck) -> None:
    for part in reversed(tables.made):
        duck.drop_own_table(part.name)


@pytest.mark.parametrize("text", [*LOOKED_UP, *ALL_GROUPS])
def test_a_block_over_tables_reads_a_part(text: str, duck: Duck) -> None:
    fill(duck, [(1, 2), (2, 3)], [(2, 1), (3, 1)])
    tables = Parts(duck)
    parts = split_of(text, duck, LASTING)
    static = divided(parts, duck, tables)
    assert reads(static) == {**LOOKED_UP, **ALL_GROUPS}[text]
    assert len(static.keys if static else ()) == (text in LOOKED_UP)
    drop(tables, duck)


STREAM = st.lists(st.tuples(st.none() | st.integers(0, 3), st.integers(-2, 3)), max_size=6)


@pytest.mark.parametrize("text", [*LOOKED_UP, *ALL_GROUPS])
@settings(max_examples=max(5, settings().max_examples // 20))
@given(r=ROWS, t=ROWS, rows=STREAM)
def test_the_finish_over_parts_and_looked_up_groups_returns_the_same(
    text: str, duck: Duck, r: list[Row], t: list[Row], rows: list[tuple[int | None, int]]
) -> None:
    fill(duck, r, t)
    parts, tables = split_of(text, duck, LASTING), Parts(duck)
    static = divided(parts, duck, tables)
    merged = {
        leaf.relation: _run(duck, leaf.partial, {"chunk_0": _stream(rows)}) for leaf in parts.leaves
    }
    expected = _run(duck, parts.finish, merged)
    if static is not None:
        for relation, query in static.keys.items():
            keys = set(zip(*_run(duck, query, {}).to_pydict().values(), strict=True))
            merged[relation] = _of_groups(merged[relation], keys)
        assert _sorted(_run(duck, static.finish, merged)) == _sorted(expected)
    drop(tables, duck)


def _run(duck: Duck, query: object, tables: dict[str, pa.Table]) -> pa.Table:
    lent = {name: table.schema for name, table in tables.items()}
    with closing(prepare(duck, query, lent)) as statement:  # type: ignore[arg-type]
        return statement.run(**tables)


def _stream(rows: list[tuple[int | None, int]]) -> pa.Table:
    known = {"k": [k for k, _ in rows], "x": [x for _, x in rows]}
    arrays = [pa.array(known.get(field.name, [None] * len(rows)), field.type) for field in SCHEMA]
    return pa.table(arrays, schema=SCHEMA)


def _of_groups(merged: pa.Table, keys: set[tuple[object, ...]]) -> pa.Table:
    groups = [merged[name].to_pylist() for name in merged.column_names if name.startswith("__g")]
    return merged.filter(pa.array([key in keys for key in zip(*groups, strict=True)], pa.bool_()))


def _sorted(table: pa.Table) -> list[tuple[object, ...]]:
    return sorted((tuple(row.values()) for row in table.to_pylist()), key=repr)


@pytest.mark.parametrize(
    "text",
    [
        f"WITH q AS (SELECT * FROM r) SELECT a FROM q AS r WHERE e > 0 AND e < {SUM}",
        f"SELECT r.a FROM memory.main.r AS r WHERE r.e > 0 AND r.e < {SUM}",
        f"SELECT * FROM r JOIN t USING (a) WHERE e > 0 AND e < {SUM}",
    ],
)
def test_what_may_be_another_relation_than_it_seems_has_no_parts(text: str, duck: Duck) -> None:
    duck.rows("CREATE OR REPLACE TABLE t (a BIGINT, f BIGINT)")
    tables = Parts(duck)
    static = divided(split_of(text, duck, LASTING), duck, tables)
    is_inlined = text.startswith("WITH")  # a common table is a subquery in the finish
    assert reads(static) == (["r"] if is_inlined else [])
    drop(tables, duck)


@pytest.mark.parametrize(("known", "has_part"), [("e > 2", True), ("e > 0", False)])
def test_a_large_part_is_made_only_if_it_leaves_out_half_of_the_rows(
    known: str, has_part: bool, duck: Duck, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("upstream.queries.rewriting.static_finish._FEW", 0)
    fill(duck, [(1, 2), (2, 3)], [])
    tables = Parts(duck)
    text = f"SELECT a FROM r WHERE {known} AND e < {SUM}"
    static = divided(split_of(text, duck, LASTING), duck, tables)
    assert reads(static) == ["r"] * has_part
    drop(tables, duck)
