"""Describes which part of a view runs once, which as rows arrive, and which when it is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .explain import asks_for_more, computed, read_by

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .split_query import SplitQuery


def explain_view(split: SplitQuery, static: Sequence[str], beside: Sequence[str]) -> str:
    """Describe the static, stream and upper pipelines of a view.

    `static` names the relations that were computed once, and `beside` what the upper part reads
    besides merged relations.
    """
    lines = []
    if static:
        lines.append(f"once, when the view was created: {', '.join(dict.fromkeys(static))}")
    lines += [f"as rows arrive in {read_by(leaf)}: {computed(leaf)}" for leaf in split.leaves]
    also = f", with {', '.join(dict.fromkeys(beside))}" if beside else ""
    if not split.leaves:
        lines.append(f"when the view is read: the query{also}")
    elif beside or asks_for_more(split):
        lines.append(f"when the view is read: the rest of the query, over these results{also}")
    else:
        lines.append("when the view is read: the results are merged")
    lines.append("if nothing has come since the view was last read, its last result is used again")
    return "\n".join(lines)
