"""A stream with a column of signs, queries over it, and what evaluates them."""

from __future__ import annotations

import pyarrow as pa

from upstream import Engine
from upstream.queries.evaluation.signed_leaf import SignedLeaf
from upstream.queries.partials.growing_merge import GrowingMerge

COLUMNS = {
    "g": pa.string(),
    "x": pa.int64(),
    "i": pa.int32(),
    "d": pa.decimal128(10, 2),
    "f": pa.float64(),
    "b": pa.bool_(),
    "note": pa.string(),
}
SCHEMA = pa.schema(list(COLUMNS.items()))
SIGNED = SCHEMA.append(pa.field("op", pa.int8()))
STREAM = (
    "(g TEXT, x BIGINT, i INTEGER, d DECIMAL(10, 2), f DOUBLE, b BOOLEAN, note TEXT, op TINYINT)"
)
NAMES = pa.table({"g": ["a", "b", "b", None], "v": [1, 2, 3, 4]})

QUERIES = (
    "SELECT g, sum(x) AS a, count(*) AS n, count(x) AS m FROM s GROUP BY g",
    "SELECT g, sum(i) AS a, sum(d) AS e, sum(b::INT) AS c FROM s GROUP BY g",
    "SELECT count_if(b) AS a, count(*) AS n, sum(x) AS c, avg(i) AS e FROM s",
    "SELECT g, sum(x) FILTER (x > 0) AS a, count(*) FILTER (b) AS n FROM s GROUP BY g",
    "SELECT count(DISTINCT i) AS n, count(DISTINCT g) AS m, sum(DISTINCT x) AS a FROM s",
    "SELECT g, count(i) AS n, max(x) AS m FROM (SELECT DISTINCT g, i, x FROM s) GROUP BY g",
    "SELECT DISTINCT * FROM s",
    "SELECT f, count(*) AS n FROM s GROUP BY f",
    "SELECT g, sum(x) AS a FROM s GROUP BY g HAVING count(*) > 1",
    "SELECT g, b, sum(i) AS a, count(*) AS n FROM s GROUP BY ROLLUP (g, b)",
    "SELECT max(n) AS a, min(n) AS m FROM (SELECT g, count(*) AS n FROM s GROUP BY g)",
    "SELECT s.g, sum(i * v) AS a FROM s JOIN names ON names.g = s.g GROUP BY s.g",
    "SELECT v, count(*) AS n, count(i) AS m FROM s LEFT JOIN names ON names.g = s.g GROUP BY v",
    "SELECT v, n FROM names LEFT JOIN (SELECT g, count(*) AS n FROM s GROUP BY g) USING (g)",
    "SELECT count(*) AS n FROM s WHERE g IN (SELECT g FROM names) AND i > 0",
    "SELECT count(*) AS n, sum(x) AS a FROM s WHERE i > (SELECT avg(i) FROM s)",
    "SELECT p.g, sum(p.i) AS a, count(*) AS n FROM s AS p JOIN s AS q ON p.g = q.g GROUP BY p.g",
    (
        "SELECT p.g, p.n, q.m FROM (SELECT g, count(*) AS n FROM s GROUP BY g) AS p"
        " FULL JOIN (SELECT g, max(x) AS m FROM t GROUP BY g) AS q ON p.g = q.g"
    ),
    "SELECT g, count(*) AS n FROM s AS p WHERE EXISTS (FROM t WHERE t.g = p.g) GROUP BY g",
    (
        "SELECT g, n, (SELECT count(*) FROM latest(t)) AS m"
        " FROM (SELECT g, count(*) AS n FROM s GROUP BY g)"
    ),
)
"""Queries that take rows of s away; t has only rows that stay."""


def leaves(engine: Engine, name: str = "v") -> list[object]:
    """Return what evaluates the leaves of a view."""
    plan = engine._catalogue.views[name]._view_plan
    assert plan.evaluation is not None
    kept = [leaf.merge for share in plan.shares for leaf in share.state.leaves]
    return [*kept, *plan.evaluation._own]


def state_is_sound(engine: Engine, name: str = "v") -> bool:
    """Check the states of signed leaves; tell whether there are any."""
    found = [leaf for leaf in leaves(engine, name) if isinstance(leaf, SignedLeaf)]
    for leaf in found:
        assert isinstance(leaf._merge, GrowingMerge)
        leaf._merge._check()
    return bool(found)
