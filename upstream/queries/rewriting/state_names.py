"""What the user wrote for the columns of partials, for errors that speak of these."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .spoken import spoken

if TYPE_CHECKING:
    from sqlglot import exp

    from .split_query import SplitQuery


def state_names(split: SplitQuery) -> dict[str, str]:
    """Return the columns of merged relations that are something the user wrote.

    A name that is one thing in one relation and another in the next is left out.
    """
    from sqlglot import exp

    found: dict[str, str] = {}
    for leaf in split.leaves:
        items = leaf.partial.expressions if isinstance(leaf.partial, exp.Select) else ()
        written = {*leaf.aggregates, *leaf.grouping}
        for item in items:
            text = _written(item.unalias(), written)
            name = item.alias
            found[name] = text if found.get(name, text) == text else ""
    return {name: text for name, text in found.items() if text}


def _written(tree: exp.Expr, written: set[str]) -> str:
    texts = spoken(tree), spoken(tree, qualified=True)
    return next((text for text in texts if text in written), "")
