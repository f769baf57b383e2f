"""Which columns of a partial can be merged in NumPy, and by what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...rows.group_places import has_places
from ..rewriting.split_query import StateKind
from .kernels import kernel_of
from .stacked_state import StackedState
from .subtracted_sum import SubtractedSum, can_subtract

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from ...rows.arrow_words import Integers
    from ...rows.group_places import GroupPlaces
    from ..rewriting.split_query import State
    from .kernels import Arrays
    from .stacked_state import StateValues
    from .subtracted_sum import SumValues


class Part:
    """A part of a chunk's partial: the table, and what is derived from it to be merged.

    `before` is what was in the front of the stacks when this part was pushed to it.
    """

    __slots__ = ("before", "is_exact", "places", "stacked", "sums", "table")

    places: Integers
    sums: list[SumValues]
    stacked: list[StateValues]
    is_exact: bool
    before: list[Arrays] | None

    def __init__(self, table: pa.Table) -> None:
        self.table = table


class DenseColumns:
    """The columns of a schema: groups, then sums that are subtracted, then stacked states."""

    __slots__ = ("_groups", "_stacked", "_sums", "group_types", "schema", "stacked", "sums")

    def __init__(self, groups: tuple[str, ...], states: Sequence[State], schema: pa.Schema) -> None:
        self._groups = groups
        self.schema = schema
        self.group_types = [schema.field(name).type for name in groups]
        subtracted = [state for state in states if _is_subtracted(state, schema)]
        others = [state for state in states if not _is_subtracted(state, schema)]
        self._sums = [state.columns[0] for state in subtracted]
        self._stacked = [state.columns for state in others]
        self.sums = [SubtractedSum(schema.field(name).type) for name in self._sums]
        self.stacked = [_stacked(state, schema) for state in others]

    def read(self, part: Part, places: GroupPlaces) -> None:
        """Derive from a part's table what is merged."""
        table = part.table
        groups = [_array(table, name) for name in self._groups]
        part.places = places.places_of(groups, table.num_rows)
        sums = zip(self.sums, self._sums, strict=True)
        part.sums = [column.read(_array(table, name)) for column, name in sums]
        stacked = zip(self.stacked, self._stacked, strict=True)
        part.stacked = [
            state.read([_array(table, each) for each in names]) for state, names in stacked
        ]
        part.is_exact = all(values.is_exact for values in part.stacked)
        part.before = None

    def in_order(
        self, groups: Sequence[pa.Array], states: Sequence[pa.Array | None]
    ) -> list[pa.Array]:
        """Return arrays in the order of the schema: those of groups, of sums, of stacked states."""
        names = [*self._groups, *self._sums, *(name for names in self._stacked for name in names)]
        by_name = dict(zip(names, [*groups, *states], strict=True))
        return [by_name[name] for name in self.schema.names]


def can_be_dense(groups: tuple[str, ...], states: Sequence[State], schema: pa.Schema) -> bool:
    """Tell whether the groups can be given places, and all states be merged in NumPy."""
    return all(has_places(schema.field(name).type) for name in groups) and all(
        _is_subtracted(state, schema) or kernel_of(state.kind, _types(state, schema)) is not None
        for state in states
    )


def _is_subtracted(state: State, schema: pa.Schema) -> bool:
    return state.kind is StateKind.SUM and can_subtract(schema.field(state.columns[0]).type)


def _stacked(state: State, schema: pa.Schema) -> StackedState:
    types = _types(state, schema)
    kernel = kernel_of(state.kind, types)
    assert kernel is not None, "only what can be dense is made so"
    return StackedState(kernel, types)


def _types(state: State, schema: pa.Schema) -> list[pa.DataType]:
    return [schema.field(name).type for name in state.columns]


def _array(table: pa.Table, name: str) -> pa.Array:
    import pyarrow as pa

    column = table.column(name)
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)
