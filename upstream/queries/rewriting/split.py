"""Splits a query as deep as possible into partial, merge and finish.

"In a greedy manner, it then consumes one operator of the target plan at a time" (section 3 of the
DataCell paper). Here the rules are tried on each block of a query, from the outside in, until one
applies. The parts are tried on relations without rows before they are used: DuckDB must accept each
part, and the columns must be those of the original query. If not, rows are kept.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pyarrow as pa
from sqlglot import exp

from ...database.failure import DatabaseError
from ..sql.functions import functions_of
from ..sql.names import STEP
from ..sql.trees import cast, chunk_index, chunk_tables, chunks_in, key, merged_prefix, named
from ..sql.window_bounds import bounds_in
from ..sql.window_clause import WindowKind
from .block import check_row_wise
from .collations import may_collate, plain
from .early_aggregation import aggregated_early
from .nested_blocks import Splitter
from .not_incremental import BOUNDS_COME_LATER, NotIncrementalError, obstacle, refusal
from .resolution import without_common_tables
from .retention import raw_rows
from .split_query import SplitQuery
from .trial import Columns, Trial

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...database.duck import Duck
    from ..sql.functions import Functions
    from ..sql.window_clause import WindowClause
    from .split_query import Leaf

DEFECT: Final = "a rule failed, which is a bug in this library"


def split(
    query: exp.Query,
    windows: tuple[WindowClause, ...],
    schemas: Mapping[str, pa.Schema],
    duck: Duck,
) -> SplitQuery:
    """Split a query over `chunk_0`, … with these schemas, and any tables that `duck` has.

    Raises what DuckDB raises if it cannot run the original query.
    """
    trial = Trial(duck, schemas, collates=may_collate(query, duck))
    query = prepared(query)
    with duck.keeping():
        trial.columns(query)
        functions = functions_of(duck)
        try:
            return deep(query, windows, trial, functions)
        except NotIncrementalError as error:
            reason = error.reason
        except Exception as error:  # noqa: BLE001 - of ours; the user's query runs all the same
            reason = f"{DEFECT} ({type(error).__name__}: {error})"
        return _shallow(query, windows, trial, functions, reason)


def prepared(query: exp.Query) -> exp.Query:
    """Return a query in which everything has a name that DuckDB would name, as DuckDB would.

    Places in the user's text are left out: they are not needed, and copying them takes as long as
    copying all the rest.
    """
    query = query.copy()
    for node in query.walk():
        node._meta = None
    if isinstance(query, exp.Select):
        items = query.expressions
        have_names = (exp.Alias, exp.Column, exp.Star)
        for item in [each for each in items if not isinstance(each, have_names)]:
            if chunks_in(item):
                item.replace(named(item.copy(), key(item)))
    found = [each for each in query.find_all(exp.Subquery) if not each.alias]
    relations = [each for each in found if isinstance(each.parent, exp.From | exp.Join)]
    for number, each in enumerate(relations, 1):
        name = "unnamed_subquery" + (str(number) if number > 1 else "")
        each.set("alias", exp.TableAlias(this=exp.to_identifier(name)))
    return query


def deep(
    query: exp.Query, windows: tuple[WindowClause, ...], trial: Trial, functions: Functions
) -> SplitQuery:
    """Split by the rules; raise NotIncrementalError if none applies or DuckDB refuses."""
    volatile = functions.volatile_in(query)
    if volatile:
        what = "a sample" if volatile == "tablesample" else f"{volatile}()"
        raise NotIncrementalError(f"{what} returns another value each time")
    is_lasting = any(window.kind is WindowKind.LANDMARK for window in windows)
    splitter = Splitter(trial, functions, merged_prefix(query), is_lasting=is_lasting)
    try:
        finish = splitter.finish(without_common_tables(query))
    except DatabaseError as error:
        raise NotIncrementalError(refusal(error)) from error
    result = SplitQuery(
        windows=windows,
        leaves=tuple(splitter.leaves),
        finish=finish,
        direct=splitter.top.direct if splitter.top else None,
        whole=query,
        row_wise=_is_row_wise(query, functions),
        direct_of_row=splitter.top.direct_of_row if splitter.top else None,
    )
    return checked(result, trial)


def _shallow(
    query: exp.Query,
    windows: tuple[WindowClause, ...],
    trial: Trial,
    functions: Functions,
    reason: str,
) -> SplitQuery:
    """Keep the rows of every chunk, and evaluate the whole query over them."""
    finish = query.copy()
    prefix = merged_prefix(query)
    leaves: dict[str, Leaf] = {}
    for table in chunk_tables(finish):
        relation = f"{prefix}{chunk_index(table)}"
        leaves[relation] = raw_rows(table, relation, trial, within=query, reason=reason)
    is_row_wise = _is_row_wise(query, functions)
    return SplitQuery(windows, tuple(leaves.values()), finish, None, query, is_row_wise)


def _is_row_wise(query: exp.Query, functions: Functions) -> bool:
    if isinstance(query, exp.Union) and not query.args["distinct"]:
        sides = [query.this, query.expression]
        return all(_is_row_wise(side, functions) for side in sides)
    if not isinstance(query, exp.Select) or len(chunks_in(query)) != 1:
        return False
    return not obstacle(check_row_wise, query, functions)


def checked(split_query: SplitQuery, trial: Trial) -> SplitQuery:
    """Return the split if DuckDB runs all of it, with casts where a type had changed."""
    for leaf in split_query.leaves:
        if any(map(bounds_in, (leaf.partial, leaf.partial_by_step, *leaf.picks.values()))):
            raise NotIncrementalError(f"its rows are combined with {BOUNDS_COME_LATER}")
    try:
        by_step = trial.with_steps()
        leaves = tuple(_tried(leaf, trial, by_step) for leaf in split_query.leaves)
        merged = {leaf.relation: trial.shape(leaf.partial).schema for leaf in leaves}
        tried = replace(split_query, leaves=leaves)
        return _of_same_columns(tried, trial, trial.lending(merged))
    except DatabaseError as error:
        raise NotIncrementalError(refusal(error)) from error


def _tried(leaf: Leaf, trial: Trial, by_step: Trial) -> Leaf:
    """Check that DuckDB accepts all parts of a leaf that are run, and return their columns."""
    partial = trial.shape(leaf.partial)
    stepped = Columns((STEP, *partial.names), ("BIGINT", *partial.types))
    if by_step.columns(leaf.partial_by_step) != stepped:  # happens if a row is used as a struct
        raise NotIncrementalError("it uses columns without naming them: name the columns instead")
    early = None
    if len(leaf.windows) > 1:  # their rows are picked before they are joined
        for pick in leaf.picks.values():
            by_step.shape(pick)
        early = aggregated_early(leaf, trial)
        early = early and replace(early, schema=partial.schema)
    return replace(leaf, schema=partial.schema, early=early)


def _of_same_columns(split_query: SplitQuery, trial: Trial, merged: Trial) -> SplitQuery:
    whole, finish = trial.columns(split_query.whole), merged.columns(split_query.finish)
    if finish.names != whole.names:
        raise NotIncrementalError("the parts do not return the columns of the query")
    wanted_types, found_types = (tuple(map(plain, each.types)) for each in (whole, finish))
    if found_types == wanted_types:
        return split_query
    query = split_query.finish.copy()
    if not isinstance(query, exp.Select) or len(query.expressions) != len(whole.names):
        raise NotIncrementalError("the parts do not return the types of the query")
    items = [
        item if found == wanted else named(cast(item.unalias(), wanted), name)
        for item, name, found, wanted in zip(
            query.expressions, whole.names, found_types, wanted_types, strict=True
        )
    ]
    query.set("expressions", items)
    if tuple(map(plain, merged.columns(query).types)) != wanted_types:
        raise NotIncrementalError("the parts do not return the types of the query")
    return replace(split_query, finish=query)
