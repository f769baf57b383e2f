"""The query that merges partials: the aggregates of their states, by their groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sqlglot import exp

    from .split_query import State

PARTIALS: Final = "partials"
"""The relation that a merge reads."""


def merge_query(groups: tuple[str, ...], states: tuple[State, ...]) -> exp.Select:
    """Return the query that merges partials with these columns."""
    from sqlglot import exp

    keys = [exp.column(name, quoted=True) for name in groups]
    merges = [
        exp.alias_(merge.copy(), name, quoted=True)
        for state in states
        for name, merge in zip(state.columns, state.merge, strict=True)
    ]
    query = exp.select(*keys, *merges).from_(exp.to_table(PARTIALS))
    return query.group_by(*(key.copy() for key in keys)) if keys else query
