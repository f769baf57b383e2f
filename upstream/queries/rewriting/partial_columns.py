"""The columns of a partial that aggregates, as the rules for aggregates request them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlglot import exp

from ..sql.trees import column, key, named
from .split_query import StateKind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Merge = Callable[[Sequence[exp.Expr]], Sequence[exp.Expr]]


@dataclass(frozen=True, slots=True)
class StateDraft:
    """A state as a rule requests it; `when_empty` is its value over no rows."""

    kind: StateKind
    columns: tuple[str, ...]
    values: tuple[exp.Expr, ...]
    merge: Merge
    when_empty: int | None = None


class Numbered(dict[str, "exp.Expr"]):
    """Expressions by names of columns, such as `__g0`, `__g1`, …; equal ones share a name."""

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self._prefix = prefix
        self._names: dict[str, str] = {}

    def name(self, tree: exp.Expr) -> str:
        """Return the name of an expression, which is added if it is new."""
        text = key(tree)
        if text not in self._names:
            self._names[text] = f"{self._prefix}{len(self)}"
            self[self._names[text]] = tree.copy()
        return self._names[text]

    def known(self, tree: exp.Expr) -> str | None:
        """Return the name of a known expression."""
        return self._names.get(key(tree))

    def selected(self) -> list[exp.Expr]:
        """Return the select items."""
        return [named(tree.copy(), name) for name, tree in self.items()]


@dataclass(slots=True)
class PartialColumns:
    """Groups and states. Equal requests share a column.

    `is_refined` says that there are more groups than the query's own. `needs_order` says that a
    state depends on the order of rows, so that merging in the order of groups would be wrong;
    `breaks_ties` says that it does so only for tied rows. Groups in `apart` are combined only in
    the finish. `is_lasting` is that of the task.
    """

    groups: Numbered = field(default_factory=lambda: Numbered("__g"))
    is_refined: bool = False
    needs_order: bool = False
    breaks_ties: bool = False
    is_lasting: bool = False
    apart: set[str] = field(default_factory=set)
    _states: dict[str, StateDraft] = field(default_factory=dict)

    @property
    def states(self) -> tuple[StateDraft, ...]:
        """The states in the order in which they were requested."""
        return tuple(self._states.values())

    def refining(self, tree: exp.Expr, *, is_counted: bool) -> exp.Column:
        """Return the column of an additional group, which one aggregate needs.

        If the values are only counted, it does not matter which of equal ones is kept.
        """
        is_new = self.groups.known(tree) is None
        name = self.groups.name(tree)
        if is_new:
            self.is_refined = True
            self.apart.add(name)
        if not is_counted:
            self.apart.discard(name)
        return column(name)

    def state(
        self,
        kind: StateKind,
        values: Sequence[exp.Expr],
        merge: Merge,
        when_empty: int | None = None,
    ) -> tuple[exp.Column, ...]:
        """Return the columns of a state."""
        text = " | ".join([kind, *(key(value) for value in values)])
        if text not in self._states:
            first = sum(len(state.columns) for state in self.states)
            names = tuple(f"__s{first + i}" for i in range(len(values)))
            self._states[text] = StateDraft(kind, names, tuple(values), merge, when_empty)
        return tuple(column(name) for name in self._states[text].columns)

    def items(self) -> list[exp.Expr]:
        """Return the select items of the partial."""
        states = [
            named(value.copy(), name)
            for state in self.states
            for name, value in zip(state.columns, state.values, strict=True)
        ]
        return self.groups.selected() + states
