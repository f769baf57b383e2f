"""Which columns of a partial can be merged in NumPy, and by what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...rows.group_places import has_places
from ..rewriting.split_query import StateKind
from .exact_sum import ExactSum
from .kernels import kernel_of
from .stacked_state import StackedState
from .subtracted_sum import SubtractedSum, can_subtract

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from ..rewriting.split_query import State
    from .stacked_state import StateValues
    from .sum_column import SumColumn, SumPart


class DenseColumns:
    """The columns of a schema: groups, then sums that are subtracted, then stacked states."""

    __slots__ = ("_groups", "_schema", "_stacked", "_sums", "group_types", "stacked", "sums")

    def __init__(self, groups: tuple[str, ...], states: Sequence[State], schema: pa.Schema) -> None:
        self._groups = groups
        self._schema = schema
        self.group_types = [schema.field(name).type for name in groups]
        subtracted = [state for state in states if _is_subtracted(state, schema)]
        others = [state for state in states if not _is_subtracted(state, schema)]
        self._sums = [state.columns[0] for state in subtracted]
        self._stacked = [state.columns for state in others]
        self.sums = [_sum_of(schema.field(name).type) for name in self._sums]
        self.stacked = [_stacked(state, schema) for state in others]

    def read(self, partial: pa.Table) -> tuple[list[pa.Array], list[SumPart], list[StateValues]]:
        """Return the group columns of a partial, its sums, and its stacked states."""
        groups = [_array(partial, name) for name in self._groups]
        sums = zip(self.sums, self._sums, strict=True)
        stacked = zip(self.stacked, self._stacked, strict=True)
        return (
            groups,
            [column.read(_array(partial, name)) for column, name in sums],
            [state.read([_array(partial, name) for name in names]) for state, names in stacked],
        )

    def in_order(
        self, groups: Sequence[pa.Array], states: Sequence[pa.Array | None]
    ) -> list[pa.Array]:
        """Return arrays in the order of the schema: those of groups, of sums, of stacked states."""
        names = [*self._groups, *self._sums, *(name for names in self._stacked for name in names)]
        by_name = dict(zip(names, [*groups, *states], strict=True))
        return [by_name[name] for name in self._schema.names]


def can_be_dense(groups: tuple[str, ...], states: Sequence[State], schema: pa.Schema) -> bool:
    """Tell whether the groups can be given places, and all states be merged in NumPy."""
    return all(has_places(schema.field(name).type) for name in groups) and all(
        _is_subtracted(state, schema) or kernel_of(state.kind, _types(state, schema)) is not None
        for state in states
    )


def _is_subtracted(state: State, schema: pa.Schema) -> bool:
    type_ = schema.field(state.columns[0]).type
    return state.kind is StateKind.SUM and (can_subtract(type_) or _is_double(type_))


def _is_double(type_: pa.DataType) -> bool:
    from pyarrow import types

    return bool(types.is_float64(type_))


def _sum_of(type_: pa.DataType) -> SumColumn:
    return ExactSum(type_) if _is_double(type_) else SubtractedSum(type_)


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
