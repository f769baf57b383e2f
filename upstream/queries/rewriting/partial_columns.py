"""The columns of a partial that aggregates, as the rules for aggregates ask for them."""

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
    """A state as a rule wants it; `when_empty` is its value if there are no rows at all."""

    kind: StateKind
    columns: tuple[str, ...]
    values: tuple[exp.Expr, ...]
    merge: Merge
    when_empty: int | None = None


class Numbered(dict[str, "exp.Expr"]):
    """Expressions by names of columns, such as `__g0`, `__g1`, …; each is there once."""

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self._prefix = prefix
        self._names: dict[str, str] = {}

    def name(self, tree: exp.Expr) -> str:
        """Return the name for an expression, which is added if it is not there."""
        text = key(tree)
        if text not in self._names:
            self._names[text] = f"{self._prefix}{len(self)}"
            self[self._names[text]] = tree.copy()
        return self._names[text]

    def known(self, tree: exp.Expr) -> str | None:
        """Return the name for an expression that is there."""
        return self._names.get(key(tree))

    def selected(self) -> list[exp.Expr]:
        """Return the select items."""
        return [named(tree.copy(), name) for name, tree in self.items()]


@dataclass(slots=True)
class PartialColumns:
    """Groups and states. What is asked for twice is there once.

    `is_refined` says that there are more groups than the query's own; `needs_order` that a state
    depends on the order of rows, so that merging in groups' order would be wrong; `breaks_ties`
    that it does so for rows that tie only. Groups in `apart` need not be brought together before
    the finish does it. `is_lasting` is that of the task.
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
        """The states in the order in which they were asked for."""
        return tuple(self._states.values())

    def refining(self, tree: exp.Expr, *, is_counted: bool) -> exp.Column:
        """Return the column of what is to be a group for the sake of one aggregate.

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
