"""The last resort: keep the rows of a window, and evaluate the query over them each time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from .retention import columns_read, picking
from .split_query import Leaf

if TYPE_CHECKING:
    from collections.abc import Iterable


def raw_rows(
    chunk: exp.Table,
    index: int,
    relation: str,
    *,
    within: exp.Expr,
    conditions: Iterable[exp.Expr],
    schema: pa.Schema,
    reason: str,
) -> Leaf:
    """Return a leaf of the rows of a chunk that a query can need, with the columns it can need."""
    columns = columns_read(within, schema)
    conditions = list(conditions)
    pick = picking(chunk, columns, conditions, steps=False)
    pick_by_step = picking(chunk, columns, conditions, steps=True)
    return Leaf(
        relation=relation,
        windows=(index,),
        partial=pick,
        partial_by_step=pick_by_step,
        groups=None,
        states=(),
        rule="kept rows",
        reason=reason,
        columns={index: columns_read(pick, schema)},
        filters={index: pick},
        filters_by_step={index: pick_by_step},
    )


def instead_of(chunk: exp.Table, relation: str) -> exp.Table:
    """Return the merged relation to be read where the chunk was, under the same name."""
    table = chunk.copy()
    if not table.alias:
        table.set("alias", exp.TableAlias(this=exp.to_identifier(chunk.name, quoted=True)))
    table.set("this", exp.to_identifier(relation))
    return table
