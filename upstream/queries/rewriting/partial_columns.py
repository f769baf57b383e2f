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


@dataclass(slots=True)
class PartialColumns:
    """Groups and states. What is asked for twice is there once.

    `is_refined` says that there are more groups than the query's own; `needs_order` that a state
    depends on the order of rows, so that merging in groups' order would be wrong; `breaks_ties`
    that it does so for rows that tie only. Groups in `apart` need not be brought together before
    the finish does it. `is_lasting` is that of the task.
    """

    groups: dict[str, exp.Expr] = field(default_factory=dict)
    states: list[StateDraft] = field(default_factory=list)
    is_refined: bool = False
    needs_order: bool = False
    breaks_ties: bool = False
    is_lasting: bool = False
    apart: set[str] = field(default_factory=set)
    _names: dict[str, str] = field(default_factory=dict)
    _states: dict[str, StateDraft] = field(default_factory=dict)

    def group(self, tree: exp.Expr) -> exp.Column:
        """Return the column of a group."""
        text = key(tree)
        if text not in self._names:
            self._names[text] = f"__g{len(self.groups)}"
            self.groups[self._names[text]] = tree.copy()
        return column(self._names[text])

    def group_of(self, tree: exp.Expr) -> exp.Column | None:
        """Return the column of a group that there is already."""
        name = self._names.get(key(tree))
        return column(name) if name else None

    def refining(self, tree: exp.Expr, *, is_counted: bool) -> exp.Column:
        """Return the column of what is to be a group for the sake of one aggregate.

        If the values are only counted, it does not matter which of equal ones is kept.
        """
        found = self.group_of(tree)
        if found is None:
            self.is_refined = True
            found = self.group(tree)
            self.apart.add(found.name)
        if not is_counted:
            self.apart.discard(found.name)
        return found

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
            draft = StateDraft(kind, names, tuple(values), merge, when_empty)
            self._states[text] = draft
            self.states.append(draft)
        return tuple(column(name) for name in self._states[text].columns)

    def items(self) -> list[exp.Expr]:
        """Return the select items of the partial."""
        states = [
            named(value.copy(), name)
            for state in self.states
            for name, value in zip(state.columns, state.values, strict=True)
        ]
        return [named(tree.copy(), name) for name, tree in self.groups.items()] + states
