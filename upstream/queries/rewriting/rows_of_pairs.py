"""Whether each row of a query's result comes from one pair of joined rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from ..sql.trees import chunks_in
from .block import check_joins, check_projection, queries_beside_from, source_nodes
from .not_incremental import NotIncrementalError

if TYPE_CHECKING:
    from ..sql.functions import Functions


def check_rows_of_pairs(whole: exp.Query, functions: Functions) -> None:
    """Raise unless results over parts of the pairs can be put one after the other.

    `whole` is that of a `PairedQuery`, so the first block with several inputs is their join, and
    each input has at most one row for each row of its stream. The join may be inside a subquery.
    """
    query: exp.Expr = whole
    while True:
        if not isinstance(query, exp.Select):
            raise NotIncrementalError("only a SELECT can be evaluated as rows come")
        check_projection(query, functions)
        if any(chunks_in(each) for each in queries_beside_from(query)):
            raise NotIncrementalError("a subquery over a stream needs all its rows")
        [node, *others] = [each for each in source_nodes(query) if chunks_in(each)]
        if others and all(len(chunks_in(each)) == 1 for each in (node, *others)):
            return
        if others or not isinstance(node, exp.Subquery) or node.args.get("pivots"):
            raise NotIncrementalError("the streams must be joined in one FROM")
        check_joins(query)
        query = node.this
