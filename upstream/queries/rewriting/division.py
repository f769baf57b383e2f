"""What a rule makes of one block: a partial, and what stands for the block in the finish."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

if TYPE_CHECKING:
    from ..sql.functions import Functions
    from .block import Block
    from .split_query import State
    from .trial import Shape, Trial


@dataclass(frozen=True, slots=True)
class Task:
    """A block to divide.

    `original` is the SELECT as the user wrote it and `shape` its columns; `block` has its names
    resolved. `relation` is the name of the merged relation; `is_shared` says that the finish reads
    others as well, so that a group may come from several. `finished` are the relations that the
    subqueries in the block read. `is_lasting` says that the windows are landmarks, over which a
    query can be evaluated in parts only.
    """

    original: exp.Select
    shape: Shape
    block: Block
    relation: str
    trial: Trial
    functions: Functions
    is_shared: bool = False
    finished: frozenset[str] = frozenset()
    is_lasting: bool = False


@dataclass(frozen=True, slots=True)
class Division:
    """A block divided: see `Leaf` and `SplitQuery` for what the parts mean."""

    rule: str
    partial: exp.Select
    partial_by_step: exp.Select
    finish: exp.Select
    groups: tuple[str, ...] | None = None
    states: tuple[State, ...] = ()
    direct: tuple[tuple[str, str], ...] | None = None
    row_wise: bool = False
    reason: str = ""
