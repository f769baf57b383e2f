"""Describes how a query is evaluated: in words, and as the SQL of its parts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from sqlglot import exp

from ..sql.dialect import DIALECT
from ..sql.trees import chunk_index, chunk_tables, key
from ..sql.window_bounds import with_plain_bounds
from .aggregates.aggregate_call import is_call
from .not_incremental import listed
from .split_query import LATE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..sql.functions import Functions
    from ..sql.window_clause import WindowClause
    from .split_query import Leaf, SplitQuery

_BY_RULE: Final = {
    "distinct rows": "the distinct rows",
    "synchronous replication": "the groups",
    "concatenation": "rows as they arrive",
    "top rows": "the first rows",
    "sorted rows": "rows as they arrive",
}
"""What a leaf without aggregates computes."""
_WHOLE: Final = "the whole query"
_SORTED: Final = {
    "top rows": "  only the first rows of each chunk are kept, and sorted for each {}",
    "sorted rows": "  they are sorted for each {}",
}
_OTHERS: Final = re.compile(r'"(mode|columns)"\(| FILTER\(')
"""What sqlglot writes otherwise than users."""
_PLAIN: Final = re.compile(r"[a-z_][a-z0-9_]*", re.IGNORECASE)
_ABOVE: Final = ("having", "qualify", "order", "limit", "offset", "distinct")


def explain(split: SplitQuery, merges: Sequence[str], noun: str = "window") -> str:
    """Describe what is evaluated incrementally, what is recomputed for each window, and why.

    `merges` says for each leaf how its partials are merged. `noun` is the word for a window.
    """
    streams: dict[tuple[str, ...], list[str]] = {}
    for leaf, merge in zip(split.leaves, merges, strict=True):
        streams.setdefault(_explained(leaf, merge, noun), []).append(read_by(leaf))
    lines = [
        line
        for (first, *others), names in streams.items()
        for line in (f"{first}, from {' and '.join(dict.fromkeys(names))}", *others)
    ]
    if asks_for_more(split):
        lines.append(f"for each {noun}: the rest of the query, over these results")
    return "\n".join(lines)


def asks_for_more(split: SplitQuery) -> bool:
    """Tell whether the finish does more than read the merged relations."""
    if split.direct is not None or all(leaf.reason for leaf in split.leaves):
        return False
    if any(leaf.rule.endswith(LATE) for leaf in split.leaves):
        return True
    if not isinstance(split.whole, exp.Select):
        return True
    if any(split.whole.args.get(name) for name in _ABOVE):
        return True
    known = {each for leaf in split.leaves for each in (*leaf.aggregates, *leaf.grouping)}
    items = [item.unalias() for item in split.whole.expressions]
    return not all(known & {spoken(item), spoken(item, qualified=True)} for item in items)


def _explained(leaf: Leaf, merge: str, noun: str) -> tuple[str, ...]:
    """Return the lines about a leaf; what the leaf reads is added to the first line."""
    rule, about = leaf.rule.partition(",")[0], computed(leaf)
    if leaf.reason:
        anew = f"  rows are kept; {leaf.reason}, so {_anew(leaf)} recomputed for each {noun}"
        return f"recomputed for each {noun}: {about}", anew
    if rule == "counted rows":
        counted = f"  equal rows are kept once and counted incrementally: {merge}"
        return f"recomputed for each {noun}, from counts: {about}", counted
    lines: tuple[str, ...] = (f"incrementally: {about}", f"  {merge}")
    if leaf.rule.endswith(LATE):
        lines += (
            f"  conditions that depend on other parts of the query are checked for each {noun}",
        )
    return (*lines, _SORTED[rule].format(noun)) if rule in _SORTED else lines


def computed(leaf: Leaf) -> str:
    """Return what the leaf computes, in the words of the query."""
    what = ", ".join(leaf.aggregates) or _BY_RULE.get(leaf.rule.partition(",")[0], _WHOLE)
    return f"{what} by {', '.join(leaf.grouping)}" if leaf.grouping else what


def read_by(leaf: Leaf) -> str:
    """Return what the leaf reads, by the user's alias or the stream's name."""
    names = [table.alias_or_name for table in chunk_tables(leaf.partial)]
    return " joined with ".join(dict.fromkeys(names))


def _anew(leaf: Leaf) -> str:
    others = [each for each in leaf.aggregates if each not in leaf.reason]
    if not leaf.aggregates:
        return "the query is"
    if len(others) == len(leaf.aggregates):
        return "all of it is"
    these = "they" if "need every" in leaf.reason else "it"
    if others:
        return f"{listed([these, *others])} are"
    return f"{these} {'are' if these == 'they' else 'is'}"


def parts(split: SplitQuery) -> str:
    """Return the SQL of the parts: the partial of each step, the merge of steps, and the finish.

    Our relations are called `merged_0`, …, their groups `__g0`, …, their states `__s0`, ….
    """
    lines = [line for leaf in split.leaves for line in _parts(leaf, split)]
    if split.direct is not None:
        columns = ", ".join(f"{merged} as {name}" for name, merged in split.direct)
        lines.append(f"finish: none, the result is {split.leaves[0].relation}: {columns}")
    else:
        lines.append(f"finish: {key(split.finish)}")
    return "\n".join(lines)


def whole(split: SplitQuery) -> str:
    """Return the query as it is evaluated in full, over the rows of its streams."""
    return f"whole: {key(over_streams(split.whole, split.windows))}"


def _parts(leaf: Leaf, split: SplitQuery) -> list[str]:
    streams = " with ".join(
        split.windows[index].stream if index < len(split.windows) else f"chunk_{index}"
        for index in leaf.windows
    )
    lines = [f"{leaf.relation} from {streams}: {leaf.rule}"]
    if leaf.reason:
        lines.append(f"  re-evaluated because {leaf.reason}")
    lines.append(f"  partial: {key(over_streams(leaf.partial, split.windows))}")
    if leaf.keep is not None:
        lines.append(f"  merge: {key(leaf.keep)}")
    elif leaf.groups is None:
        lines.append("  merge: one after the other")
    elif not leaf.states:
        lines.append(f"  merge: without duplicates of {', '.join(leaf.groups)}")
    lines += [
        f"  merge: {name} = {key(merge)}"
        for state in leaf.states
        for name, merge in zip(state.columns, state.merge, strict=True)
    ]
    return lines


# Expressions as the user would write them, never to be run


def spoken(tree: exp.Expr, *, qualified: bool = False) -> str:
    """Return an expression as a user would write it, with the names of relations if asked to."""
    copy = with_plain_bounds(tree)
    for name in list(copy.find_all(exp.Identifier)):
        if _PLAIN.fullmatch(name.name):
            name.set("quoted", False)
    for column in list(copy.find_all(exp.Column)):
        if not qualified and not column.find_ancestor(exp.Query):
            column.set("table", None)
    text = copy.sql(DIALECT, comments=False, normalize_functions="lower")
    return _OTHERS.sub(lambda found: f"{found[1]}(" if found[1] else " FILTER (", text)


def calls_in(trees: Iterable[exp.Expr], functions: Functions) -> Iterator[exp.Expr]:
    """Yield the outermost aggregates and window functions, with their FILTER, OVER and the like."""
    for tree in trees:
        function = is_call(tree)
        is_aggregate = function is not None and functions.is_aggregate(function)
        if is_aggregate or isinstance(tree, exp.Window):
            yield tree
        elif not isinstance(tree, exp.Query):
            yield from calls_in(tree.iter_expressions(), functions)


def over_streams(query: exp.Query, windows: tuple[WindowClause, ...]) -> exp.Query:
    """Return a query that reads streams by their names where it read chunks."""
    copy = with_plain_bounds(query)
    assert isinstance(copy, exp.Query)
    for table in copy.find_all(exp.Table):
        index = chunk_index(table)
        if index is not None and index < len(windows):
            name = windows[index].stream
        elif table.name.startswith("__") and table.alias:
            name = table.alias  # a side table, whose name in DuckDB is internal
        else:
            continue
        table.set("this", exp.to_identifier(name))
        if table.alias == name and not table.args["alias"].columns:
            table.set("alias", None)
    return copy


def state_names(split: SplitQuery) -> dict[str, str]:
    """Return what the user wrote for the columns of merged relations, for errors that name them.

    A name that means different things in two relations is left out.
    """
    found: dict[str, str] = {}
    for leaf in split.leaves:
        items = leaf.partial.expressions if isinstance(leaf.partial, exp.Select) else ()
        written = {*leaf.aggregates, *leaf.grouping}
        for item in items:
            texts = (spoken(item.unalias()), spoken(item.unalias(), qualified=True))
            text = next((text for text in texts if text in written), "")
            name = item.alias
            found[name] = text if found.get(name, text) == text else ""
    return {name: text for name, text in found.items() if text}
