"""Decides whether the epochs of a query answer with their new pairs, or over the buffered chunks.

Over the chunks that several inputs keep, a pair of rows would be answered again and again, for as
long as both rows are kept. That is right for an aggregate over what is kept. Where each row of the
result comes from one pair, it is given once instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..sql.functions import functions_of
from ..sql.window_clause import PairingName
from .not_incremental import NotIncrementalError
from .paired import PairedQuery, paired
from .rows_of_pairs import check_rows_of_pairs
from .split_query import SplitQuery

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    from sqlglot import exp

    from ...database.duck import Duck
    from ..sql.window_clause import WindowClause


@dataclass(frozen=True, slots=True)
class NewPairs:
    """A query over the pairs of its inputs; `split` has what is run over them as its finish."""

    paired: PairedQuery
    split: SplitQuery


def new_pairs(
    query: exp.Query,
    windows: Sequence[WindowClause],
    schemas: Mapping[str, pa.Schema],
    duck: Duck,
) -> NewPairs | str:
    """Return the query over new pairs, or the reason why it has to run over the buffered chunks."""
    pairing = next((each.pairing for each in windows if each.pairing is not None), None)
    is_named = pairing is PairingName.WINDOW
    if pairing is not None and not is_named:
        return f"the pairing is '{pairing}'"
    if not is_named and sum(each.keep > 1 for each in windows) < 2:
        return "at most one input keeps more than one chunk, so no pair comes twice"
    try:
        found = paired(query, range(len(windows)), schemas, duck)
    except NotIncrementalError as error:
        return error.reason
    reason = _several_pairs(found.whole, duck)
    if reason and not is_named:
        return f"a row of the result may come from several pairs: {reason}"
    return NewPairs(found, SplitQuery(tuple(windows), (), found.whole, None, query, not reason))


def _several_pairs(whole: exp.Query, duck: Duck) -> str:
    """Return why a row of the result may come from several pairs; "" if it cannot."""
    try:
        check_rows_of_pairs(whole, functions_of(duck))
    except NotIncrementalError as error:
        return error.reason
    return ""
