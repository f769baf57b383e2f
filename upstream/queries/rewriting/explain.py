"""The parts of a query for people to read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .trees import key

if TYPE_CHECKING:
    from .split_query import Leaf, SplitQuery


def explain(split: SplitQuery) -> str:
    """Return what is done with each step, how steps are merged, what the finish does, and why."""
    lines = [line for leaf in split.leaves for line in _leaf(leaf)]
    if split.direct is not None:
        columns = ", ".join(f"{merged} as {name}" for name, merged in split.direct)
        lines.append(f"finish: none, the result is {split.leaves[0].relation}: {columns}")
    else:
        lines.append(f"finish: {key(split.finish)}")
    return "\n".join(lines)


def _leaf(leaf: Leaf) -> list[str]:
    chunks = " with ".join(f"chunk_{index}" for index in leaf.windows)
    lines = [f"{leaf.relation} from {chunks}: {leaf.rule}"]
    if leaf.reason:
        lines.append(f"  re-evaluated because {leaf.reason}")
    lines.append(f"  partial: {key(leaf.partial)}")
    if leaf.groups is None:
        lines.append("  merge: one after the other")
    elif not leaf.states:
        lines.append(f"  merge: without duplicates of {', '.join(leaf.groups)}")
    lines += [
        f"  merge: {name} = {key(merge)}"
        for state in leaf.states
        for name, merge in zip(state.columns, state.merge, strict=True)
    ]
    return lines
