"""A partial for many steps at once: with the column `__step` in front, which is also grouped by."""

from __future__ import annotations

from sqlglot import exp

from ..sql.names import STEP
from ..sql.trees import call, chunk_index, chunks_in, named, step_column
from .block import source_nodes


def by_step(partial: exp.Select, *, groups: int | None = None) -> exp.Select:
    """Return the partial over chunks with a column `__step`.

    A row that comes from several streams has the oldest of their steps. A partial that aggregates
    has its groups in front, and groups by their numbers; the step becomes the first group.
    """
    partial = partial.copy()
    steps = []
    for node in source_nodes(partial):
        if not chunks_in(node):
            continue
        if chunk_index(node) is None:
            _inside(node)
        steps.append(step_column(node.alias_or_name))
    for item in partial.expressions:
        _leave_step_out(item, {column.table.lower() for column in steps})
    step = steps[0] if len(steps) == 1 else call("least", *steps)
    partial.set("expressions", [named(step, STEP), *partial.expressions])
    if groups is not None:
        group_by_first(partial, 1 + groups)
    return partial


def group_by_first(select: exp.Select, count: int) -> None:
    """Group by the first columns, by their numbers, in place; with none, do not group."""
    numbers = [exp.Literal.number(i) for i in range(1, count + 1)]
    select.set("group", exp.Group(expressions=numbers) if numbers else None)


def _inside(node: exp.Expr) -> None:
    """Let a subquery in FROM pass the step on."""
    node.set("this", by_step(node.this))
    alias = node.args.get("alias")
    if alias and alias.columns:
        alias.set("columns", [exp.to_identifier(STEP, quoted=True), *alias.columns])


def _leave_step_out(item: exp.Expr, streams: set[str]) -> None:
    """Exclude the step from the columns that a star stands for."""
    star = item.this if isinstance(item, exp.Columns | exp.Column) else item
    is_of_table = isinstance(item, exp.Column) and item.table.lower() not in streams
    if isinstance(star, exp.Star) and not is_of_table:
        step = exp.column(STEP, quoted=True)
        star.set("except_", [*(star.args.get("except_") or ()), step])
