"""The merge of all partials so far, in NumPy columns that are changed in place.

A partial costs O(its groups), however many groups there are, and a reading one copy of the columns.
Groups keep the order in which they first appeared.

With counts of rows (`CountColumns`), partials can also be taken away, if all states have an
inverse. A group without rows is not in the table. Its place stays empty, because the order of the
groups is that of their places. When most places are empty, the state is built again without them.

In a signed state, numbers may be below zero, and a group is gone when all its sums are zero. So the
state is the same whatever the order of the partials, even if one takes away what comes later.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import pyarrow as pa

from ...rows.arrow_words import one_array
from ..rewriting.split_query import StateKind
from .cells import Cells, PlacedPartial, counts_in
from .combined_state import CombinedState
from .counted_columns import can_subtract
from .dense_window import can_be_dense
from .exact_sum import ExactSum
from .kernels import kernel_of
from .placed_groups import PlacedGroups

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...rows.arrow_words import Integers, Numbers
    from ..rewriting.split_query import State
    from .cells import Write
    from .leading_places import LeadingPlaces
    from .placed_groups import Placing

_SPARE_PLACES: Final = 4_096
_VERSION: Final = 1
_METADATA: Final = b"upstream.grouped_state"


@dataclass(frozen=True, slots=True)
class CountColumns:
    """The columns of partials that count, so that partials can be taken away.

    `rows` has the number of rows of each group. `values` has, by the name of a sum, the column with
    the number of its values that are not NULL. A sum that is not in it must never be NULL. The
    counts may be negative, in a partial of changes.
    """

    rows: str
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Change:
    """What a partial changes in a state. Nothing has changed until it is applied."""

    state: GroupedState
    held: _Held
    version: int
    placing: Placing
    gone: int
    """How many groups of the partial have no rows any more."""
    writes: tuple[Write, ...]

    def apply(self) -> None:
        """Write it. This cannot fail.

        It must be the last change that was computed, because computing one may prepare columns.
        """
        self.state._apply(self)


class _Held:
    """What a state has derived from partials. It is replaced as a whole."""

    __slots__ = ("columns", "counts", "gone", "groups", "version")

    def __init__(
        self,
        groups: PlacedGroups,
        columns: Sequence[ExactSum | CombinedState],
        counts: Cells | None,
    ) -> None:
        self.groups = groups
        self.columns = columns
        self.counts = counts
        """The rows of each group, if they are counted."""
        self.gone = 0
        """How many places are empty, because their groups have no rows any more."""
        self.version = 0
        """How many changes were computed or applied."""

    def live(self) -> Integers | int:
        """Return the places of all groups, or how many there are if no place is empty."""
        size = self.groups.size
        if self.gone == 0:
            return size
        if self.counts is not None:
            return np.flatnonzero(self.counts.of(size))
        return np.flatnonzero(_are_any([cells.of(size) for cells in self.cells()]))

    def cells(self) -> list[Cells]:
        """Return the states by places, without any counts."""
        return [cells for column in self.columns for cells in column.cells]


class _Read(NamedTuple):
    """The groups at the places that were returned last. A place never gets another group."""

    held: _Held
    places: Integers
    groups: list[pa.Array]


class _Keys(NamedTuple):
    """The groups that were looked up last, and their codes."""

    held: _Held
    table: pa.Table
    codes: Integers


class GroupedState:
    """One row for each group: its states over all partials.

    >>> from upstream.queries.rewriting.split_query import State
    >>> schema = pa.schema([("k", pa.string()), ("n", pa.int64())])
    >>> state = GroupedState(("k",), (State(StateKind.SUM, ("n",), ()),), schema)
    >>> for group, number in [("a", 1), ("b", 2), ("a", 3)]:
    ...     change = state.update(pa.table([[group], [number]], schema=schema))
    ...     change.apply()
    >>> state.table().to_pydict()
    {'k': ['a', 'b'], 'n': [4, 2]}
    """

    __slots__ = (
        "_counted_by",
        "_groups",
        "_held",
        "_is_signed",
        "_keys",
        "_read",
        "_schema",
        "_states",
        "_table",
    )

    def __init__(
        self,
        groups: tuple[str, ...],
        states: Sequence[State],
        schema: pa.Schema,
        counted_by: CountColumns | None = None,
        *,
        is_signed: bool = False,
    ) -> None:
        assert can_be_dense(groups, states, schema)
        if counted_by is not None or is_signed:
            assert all(subtracts(state, schema) for state in states)
        assert counted_by is None or not is_signed
        self._groups = groups
        self._states = states
        self._schema = schema
        self._counted_by = counted_by
        self._is_signed = is_signed
        self._held = self._empty()
        self._table: pa.Table | None = None
        self._keys: _Keys | None = None
        self._read: _Read | None = None

    @property
    def rows(self) -> int:
        """How many groups there are."""
        return self._held.groups.size - self._held.gone

    def update(self, partial: pa.Table, sign: int = 1) -> Change | None:
        """Compute what a partial changes, which has one row per group at most; -1 takes it away.

        None if DuckDB has to merge instead: values are too large for an exact result, or rows have
        different groups in DuckDB and the same one in Arrow. O(rows), amortized.
        """
        held = self._compacted()
        held.version += 1
        groups = [one_array(partial.column(name)) for name in self._groups]
        placing = held.groups.placing(groups, partial.num_rows)
        if placing is None:
            return None
        placed = PlacedPartial(partial, placing.places, held.groups.size, placing.size, sign)
        writes: list[Write] = []
        for column in held.columns:
            changed = column.changed(placed)
            if changed is None:
                return None
            writes += changed
        gone = 0
        if held.counts is not None and self._counted_by is not None:
            counts = held.counts.at(placed) + sign * counts_in(partial, self._counted_by.rows)
            assert not (counts < 0).any(), "more rows of a group are taken away than were added"
            writes.append((held.counts, counts))
            gone = int(counts.size - np.count_nonzero(counts))
            if gone:
                placing = placing.of_those(counts > 0)
        elif self._is_signed:
            stay = _are_any([values for _, values in writes])
            gone = int(stay.size - np.count_nonzero(stay))
            if gone:
                placing = placing.of_those(stay)
        return Change(self, held, held.version, placing, gone, tuple(writes))

    def table(self) -> pa.Table:
        """Return the merge; a returned table never changes. O(groups), if something has changed."""
        if self._table is None:
            live = self._held.live()
            self._table = self._table_of(live, self._held.groups.values(live))
        return self._table

    def first(self, leading: LeadingPlaces) -> pa.Table:
        """Return the rows with the first values of a column, or all rows.

        All are returned if a value is NULL or does not fit 64 bits.
        """
        live = self._held.live()
        values = self._values_of(leading.column, live) if isinstance(live, int) else None
        if values is None:
            return self.table()
        return self._rows_at(leading.among(values))

    def of_groups(self, keys: pa.Table | None) -> pa.Table:
        """Return the rows of these groups, if there are any; all rows if no groups are given.

        The same table of keys is looked up only once. All rows may also be returned if they are not
        many more.
        """
        held, known = self._held, self._keys
        if keys is None or 2 * keys.num_rows > held.groups.size or held.gone:
            return self.table()
        if known is None or known.held is not held or known.table is not keys:
            columns = [one_array(column) for column in keys.columns]
            known = _Keys(held, keys, held.groups.codes_of(columns, keys.num_rows))
            self._keys = known
        return self._rows_at(held.groups.places_of(known.codes))

    def _rows_at(self, places: Integers) -> pa.Table:
        known = self._read
        is_known = known is not None and known.held is self._held
        if known is None or not is_known or not np.array_equal(places, known.places):
            known = _Read(self._held, places, self._held.groups.values(places))
            self._read = known
        return self._table_of(places, known.groups)

    def _values_of(self, name: str, size: int) -> Integers | None:
        """Return the values of a column at the first places as integers in the same order."""
        for state, column in zip(self._states, self._held.columns, strict=True):
            if name in state.columns:
                return column.integers(size)
        return None

    def _table_of(self, live: Integers | int, groups: list[pa.Array]) -> pa.Table:
        arrays = dict(zip(self._groups, groups, strict=True))
        for column in self._held.columns:
            arrays |= column.columns(live)
        in_order = [arrays[name] for name in self._schema.names]
        return pa.Table.from_arrays(in_order, schema=self._schema)

    def save(self) -> pa.Table:
        """Return all that is needed to go on, to be restored in a state of the same form."""
        held = self._held
        live = held.live()
        arrays = {f"group.{i}": array for i, array in enumerate(held.groups.values(live))}
        for name, cells in _cells_of(held).items():
            if cells is not None:
                arrays[name] = _saved(cells.of(live))
        return pa.table(arrays).replace_schema_metadata({_METADATA: self._form()})

    def restore(self, table: pa.Table) -> None:
        """Replace everything by what was saved; raises ValueError if that has another form."""
        if (table.schema.metadata or {}).get(_METADATA) != self._form():
            raise ValueError("the table was saved by another version, or for another query")
        self._held, self._table = self._loaded(table), None

    def _empty(self) -> _Held:
        values = {} if self._counted_by is None else self._counted_by.values
        columns = [_column_of(state, self._schema, values) for state in self._states]
        groups = PlacedGroups([self._schema.field(name).type for name in self._groups])
        return _Held(groups, columns, None if self._counted_by is None else Cells(0))

    def _loaded(self, table: pa.Table) -> _Held:
        held = self._empty()
        groups = [one_array(table.column(f"group.{i}")) for i in range(len(self._groups))]
        held.groups.load(groups, table.num_rows)
        if held.counts is not None:
            held.counts.load(_numbers_in(table, "rows"))
        for number, column in enumerate(held.columns):
            for i, cells in enumerate(column.cells):
                cells.load(_numbers_in(table, f"state.{number}.{i}"))
            for i, counts in enumerate(column.counts):
                name = f"values.{number}.{i}"
                counts.load(_numbers_in(table, name) if name in table.column_names else None)
        return held

    def _form(self) -> bytes:
        """Describe what only a state with the same columns can restore."""
        states = [[state.kind.value, *state.columns] for state in self._states]
        columns = [[column.name, str(column.type)] for column in self._schema]
        counted = self._counted_by
        counts = None if counted is None else [counted.rows, sorted(counted.values.items())]
        signed = ["signed"] if self._is_signed else []
        return json.dumps([_VERSION, self._groups, states, columns, counts, *signed]).encode()

    def _compacted(self) -> _Held:
        """Return what is held, built again if most places are empty. The table stays the same."""
        if self._held.gone > self.rows + _SPARE_PLACES:
            self._held = self._loaded(self.save())
        return self._held

    def _apply(self, change: Change) -> None:
        held = self._held
        assert change.held is held, "the state was built again since"
        assert change.version == held.version, "another change was computed or applied since"
        places = change.placing.places
        for cells, values in change.writes:
            cells.write(places, values)
        held.groups.keep(change.placing)
        held.gone += change.gone
        held.version += 1
        self._table = None

    def _check(self) -> None:
        """Assert every invariant."""
        held = self._held
        size = held.groups.size
        is_live = None if held.counts is None else held.counts.of(size) > 0
        if self._is_signed:
            is_live = _are_any([cells.of(size) for cells in held.cells()])
            assert all(count.cells is None for each in held.columns for count in each.counts)
        held.groups._check(is_live)
        if is_live is None:
            assert held.gone == 0
            return
        assert held.gone == np.count_nonzero(~is_live)
        for cells in filter(None, _cells_of(held).values()):
            assert not cells.of(size)[~is_live].any(), "what is left where no rows are is 0"


Read = Callable[[GroupedState], pa.Table]
"""Returns the rows of a state that a reader needs."""


def subtracts(state: State, schema: pa.Schema) -> bool:
    """Tell whether a partial of a state can be taken away again, exactly."""
    return state.kind is StateKind.SUM and can_subtract(schema.field(state.columns[0]).type)


def _column_of(
    state: State, schema: pa.Schema, counted: Mapping[str, str]
) -> ExactSum | CombinedState:
    fields = [schema.field(name) for name in state.columns]
    if subtracts(state, schema):
        return ExactSum(fields[0], counted.get(state.columns[0]))
    kernel = kernel_of(state.kind, [each.type for each in fields])
    assert kernel is not None
    return CombinedState(kernel, fields)


def _are_any(columns: Sequence[Numbers]) -> NDArray[np.bool_]:
    """Tell where any of some columns is not zero."""
    found = np.zeros(len(columns[0]), np.bool_)
    for each in columns:
        found |= each != 0 if each.ndim == 1 else each.any(axis=1)
    return found


def _cells_of(held: _Held) -> dict[str, Cells | None]:
    """Return all cells by the names under which they are saved; None for what is not kept yet."""
    named: dict[str, Cells | None] = {"rows": held.counts}
    for number, column in enumerate(held.columns):
        named |= {f"state.{number}.{i}": cells for i, cells in enumerate(column.cells)}
        named |= {f"values.{number}.{i}": each.cells for i, each in enumerate(column.counts)}
    return named


def _saved(values: Numbers) -> pa.Array:
    flat = pa.array(values.ravel())
    return flat if values.ndim == 1 else pa.FixedSizeListArray.from_arrays(flat, values.shape[1])


def _numbers_in(table: pa.Table, name: str) -> Numbers:
    array = one_array(table.column(name))
    if pa.types.is_fixed_size_list(array.type):
        width = array.type.list_size
        pairs: Numbers = array.flatten().to_numpy().reshape(-1, width)
        return pairs
    numbers: Numbers = array.to_numpy()
    return numbers
