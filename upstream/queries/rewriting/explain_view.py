"""Describes which part of a view runs once, which as rows arrive, and which when it is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .explain import asks_for_more, computed, read_by

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from .split_query import SplitQuery


def explain_view(
    split: SplitQuery,
    static: Sequence[str],
    beside: Sequence[str],
    followed: Collection[str],
    present: Collection[str],
    *,
    signs: Mapping[str, str] | None = None,
    is_lasting: bool = True,
) -> str:
    """Describe the static, stream and upper pipelines of a view.

    `static` names the relations that were computed once, and `beside` what the upper part reads
    besides merged relations. `followed` are the relations of leaves over rows that come and go, and
    `present` those of leaves that are evaluated over the present rows. `signs` has the column of
    signs, by the relations of leaves whose rows are added or taken away by it. If the result
    `is_lasting`, it stays the same as long as nothing comes.
    """
    lines = []
    if static:
        lines.append(f"once, when the view was created: {', '.join(dict.fromkeys(static))}")
    for leaf in split.leaves:
        when = f"as rows arrive in {read_by(leaf)}"
        if leaf.relation in followed:
            when = f"as the newest rows of {read_by(leaf)} change"
        elif leaf.relation in present:
            when = f"when the view is read, over the newest rows of {read_by(leaf)}"
        elif signs and leaf.relation in signs:
            when += f", added or taken away by {signs[leaf.relation]}"
        lines.append(f"{when}: {computed(leaf)}")
    also = f", with {', '.join(dict.fromkeys(beside))}" if beside else ""
    if not split.leaves:
        lines.append(f"when the view is read: the query{also}")
    elif beside or asks_for_more(split):
        lines.append(f"when the view is read: the rest of the query, over these results{also}")
    else:
        lines.append("when the view is read: the results are merged")
    last = "if nothing has come since the view was last read, its last result is used again"
    anew = "it reads a file, the clock or random numbers, so each read computes its result"
    lines.append(last if is_lasting else anew)
    return "\n".join(lines)
