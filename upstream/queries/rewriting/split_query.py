"""The parts of a split query: a partial per step, a merge over partials, and a finish.

Everything is a sqlglot tree over relations with fixed names, which are lent when it runs:
`chunk_0`, `chunk_1`, … have the rows of the query's windows, and `merged_0`, … have the merged
partials of the leaves. Our own columns begin with two underscores: the groups of a partial are
`__g0`, …, and its states `__s0`, ….
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from ..sql.window_bounds import bounds_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa
    from sqlglot import exp

    from ..sql.window_clause import WindowClause
    from .ranking import Ranking


class StateKind(StrEnum):
    """How the columns of a state are merged without SQL.

    SUM: one column, added; NULL only if all are NULL. MINIMUM, MAXIMUM: one column, in DuckDB's
    order (NaN is the greatest), NULLs ignored. MOMENTS: count, mean, sum of squared deviations.
    CO_MOMENTS: count, mean of x, mean of y, sum of products of deviations. OTHER: by `merge` only.
    """

    SUM = "sum"
    MINIMUM = "minimum"
    MAXIMUM = "maximum"
    MOMENTS = "moments"
    CO_MOMENTS = "co-moments"
    OTHER = "other"


LATE: Final = "with late conditions"
"""What the rule of a leaf says if the finish checks conditions on its groups."""


@dataclass(frozen=True, slots=True)
class State:
    """Columns of a partial that are merged together.

    `merge` are aggregates over rows of partials with these columns: one for each column, of the
    same type as the column.
    """

    kind: StateKind
    columns: tuple[str, ...]
    merge: tuple[exp.Expr, ...]


@dataclass(frozen=True, slots=True)
class Leading:
    """The rows of a merged relation with the `count` greatest values of a column, or the least.

    Rows that are equal to the last of them belong to them.
    """

    column: str
    count: int
    is_least: bool = False


@dataclass(frozen=True, slots=True)
class Leaf:
    """One part of a query that is evaluated step by step.

    `partial` reads the rows of one step from the relations `chunk_i` for i in `windows`. It returns
    the columns `groups`, then those of `states`. If `groups` is None, it returns rows that are
    merged by concatenation. `partial_by_step` does the same for many steps at once: its chunks have
    a column `__step`, and so has its result, in front. With several windows (a join of streams) the
    step of a result is the oldest of the steps it was made from, since it expires with that one.
    `keep` is a query over partials that are rows. It selects the rows that can matter, whatever
    comes later; it is None if all can. `partial` does so already, and `partial_by_step` need not.
    `reason` says why the leaf is not split deeper; it is empty if the leaf is completely split.

    A leaf over several windows keeps rows of them. The query in `picks` picks from `chunk_i`, with
    its column `__step`, the rows and columns that can matter, with the step in front. The partial
    over the picked rows equals the partial over all rows.

    `ranking`, for a leaf with `keep`, is the order in which the kept rows are first, with which the
    leaf can follow rows that come and go.

    `early`, for a leaf over two windows, is the same leaf with each stream aggregated before the
    join, if that is possible. `schema` is that of the partial, as DuckDB reported it when it was
    tried.

    For `explain`, `aggregates` and `grouping` are those of the leaf as the user wrote them.
    """

    relation: str
    windows: tuple[int, ...]
    partial: exp.Query
    partial_by_step: exp.Query
    groups: tuple[str, ...] | None
    states: tuple[State, ...]
    rule: str
    reason: str = ""
    picks: Mapping[int, exp.Select] = field(default_factory=dict)
    keep: exp.Query | None = None
    ranking: Ranking | None = None
    early: Leaf | None = None
    schema: pa.Schema | None = None
    aggregates: tuple[str, ...] = ()
    grouping: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SplitQuery:
    """A query in parts.

    `finish` reads the merged relations of the leaves, each with the columns of its partial and one
    row per group (without groups: one row or none). `direct` are pairs of result column and merged
    column, if the finish does no more than that; then it need not run. `direct_of_row` are such
    pairs if it does no more for a single row without NULLs. `whole` is the original
    query over the chunks, for full evaluation. `row_wise` says that each row of the result comes
    from one row of a stream, so that results over parts of the rows can be concatenated.
    """

    windows: tuple[WindowClause, ...]
    leaves: tuple[Leaf, ...]
    finish: exp.Query
    direct: tuple[tuple[str, str], ...] | None
    whole: exp.Query
    row_wise: bool
    direct_of_row: tuple[tuple[str, str], ...] | None = None

    @property
    def bounds(self) -> frozenset[int]:
        """The windows whose bounds are lent to `finish` and `whole`, each as `bounds_i`."""
        return bounds_in(self.finish) | bounds_in(self.whole)
