"""How a query is evaluated, as text: what it buffers, its parts, and where results go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..rewriting.explain import explain, parts, whole

if TYPE_CHECKING:
    from ..results.answer import Description
    from ..rewriting.split_query import SplitQuery


def described(
    split: SplitQuery, description: Description, into: Sequence[str], *, sql: bool
) -> str:
    """Describe a query in words and, with `sql`, by the statements that are run.

    `into` says where its results go.
    """
    if description.merges is None:
        lines = [*description.about, description.now, *into]
        return "\n".join([*lines, whole(split)] if sql else lines)
    leaves = [explain(split, description.merges, description.noun)] if split.leaves else []
    lines = [*description.about, *leaves, description.now, *into]
    return "\n".join([*lines, parts(split)] if sql else lines)
