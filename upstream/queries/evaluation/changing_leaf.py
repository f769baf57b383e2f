"""Leaves of a view over rows that come and go, such as the newest row of each key.

    rows added, rows removed -> partials, by DuckDB -> their difference -> grouped state
                             -> single rows with numbers -> first rows, exact sums of doubles

The cost of a change depends on the rows that changed. Where that is not possible, because a state
needs every row or rows of several streams are joined, the partial is evaluated over the present
rows when the view is read: `PresentLeaf`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

import pyarrow as pa

from ...database.failure import DatabaseError
from ...rows.group_codes import has_places
from ..partials.grouped_state import subtracts
from ..rewriting.changing import ChangingLeaf, changing
from ..rewriting.ranking import Ranking
from ..sql.lending import prepare
from ..sql.names import STEP
from .followed_state import FollowedFirstRows, FollowedGroups

if TYPE_CHECKING:
    from ...database.duck import Duck
    from ..chunks.cutter import Piece
    from ..chunks.windows import Span
    from ..results.failing_rows import FailedRows
    from ..rewriting.split_query import Leaf
    from ..rewriting.trial import Shape, Trial
    from ..sql.trees import Query
    from .followed_state import FollowedState
    from .increments import Take

Followable: TypeAlias = ChangingLeaf | Ranking
"""How a leaf follows rows: by states of groups, or by the first rows in an order."""
Version = Callable[[], object]
"""Returns something that is different after rows or tables have changed."""


FEW: Final = 100_000
"""With no more rows than this, they are read anew: a state costs about as much as reading them."""
PER_CHANGE: Final = 100
"""A state is built if there are that many more rows for each one that comes or goes."""


class _LeafWithoutInput:
    """What leaves have in common that read no log themselves."""

    __slots__ = ()
    keeps_rows = False

    @property
    def merge_query(self) -> None:
        """None, since the table from `merged` is already merged."""
        return None

    def reads(self, number: int) -> bool:
        """Tell whether the leaf is fed from an input, which it is not."""
        return False

    def feed(self, number: int, pieces: Sequence[Piece], failed: FailedRows) -> Take:
        """Do nothing; this is never called, because no input is read."""
        return lambda: None

    def settle(self) -> None:
        """Do nothing, since nothing waits."""

    def advance(self, spans: Sequence[Span]) -> None:
        """Do nothing, since there are no windows."""

    def forget(self, before: Sequence[int]) -> None:
        """Do nothing, since no chunk is kept."""


class PresentLeaf(_LeafWithoutInput):
    """A leaf that is evaluated over the present rows, when they have changed.

    `rows` returns the present rows of each chunk by its name.
    """

    __slots__ = ("_known", "_partial", "_rows", "_version", "schema")

    def __init__(
        self,
        leaf: Leaf,
        schemas: Mapping[str, pa.Schema],
        duck: Duck,
        *,
        rows: Mapping[str, Callable[[], pa.Table]],
        version: Version,
    ) -> None:
        self._partial = prepare(duck, leaf.partial, schemas)
        self.schema = self._partial.schema
        self._rows = rows
        self._version = version
        self._known: tuple[object, pa.Table] | None = None

    def merged(self, spans: Sequence[Span]) -> pa.Table:
        """Return the leaf over the present rows."""
        version = self._version()
        if self._known is None or self._known[0] != version:
            rows = {name: present() for name, present in self._rows.items()}
            self._known = version, self._partial.run(**rows)
        return self._known[1]

    @property
    def rows(self) -> int:
        """How many rows are held."""
        return 0 if self._known is None else self._known[1].num_rows

    def describe(self) -> str:
        """Describe how the leaf is merged."""
        return "evaluated over the rows that there are when the view is read"

    def close(self) -> None:
        """Release its statement in DuckDB."""
        self._partial.close()


def changeable(leaf: Leaf, trial: Trial) -> Followable | None:
    """Return how a leaf can follow rows that come and go, or None if this one cannot.

    The chunks of the trial have a column of steps.
    """
    if leaf.ranking is not None:
        rows = _rows_by_groups(leaf.ranking.rows, leaf.ranking.groups, trial)
        return None if rows is None else leaf.ranking
    made = _changing(leaf)
    if made is None or not (made.rankings or made.doubles):
        return made
    assert leaf.groups is not None
    assert leaf.schema is not None
    rows = _rows_by_groups(made.stepped, leaf.groups, trial)
    return made if rows is not None and _have_the_types(made, rows, leaf.schema) else None


def subtractable(leaf: Leaf) -> ChangingLeaf | None:
    """Return a leaf whose partials can be subtracted, or None if a state of it cannot."""
    made = _changing(leaf)
    return None if made is None or made.rankings or made.doubles else made


def _changing(leaf: Leaf) -> ChangingLeaf | None:
    schema = leaf.schema
    if leaf.groups is None or schema is None:
        return None
    if not all(has_places(schema.field(name).type) for name in leaf.groups):
        return None
    return changing(leaf, lambda state: subtracts(state, schema))


def _rows_by_groups(rows: Query, groups: Sequence[str], trial: Trial) -> Shape | None:
    """Return the columns of rows that can be kept by groups; None if they cannot.

    Times are refused: DuckDB's times of a zone become plain ones, which are other groups. So are
    texts that a collation makes equal.
    """
    try:
        shape = trial.shape(rows)
    except DatabaseError:
        return None
    types = [shape.schema.field(name).type for name in groups]
    if any(not has_places(each) or pa.types.is_time(each) for each in types):
        return None
    return None if any(map(shape.collates, groups)) else shape


def _have_the_types(made: ChangingLeaf, rows: Shape, schema: pa.Schema) -> bool:
    """Tell whether rows have the types of the states that are made of them, with this schema."""
    for ranking in made.rankings:
        fields = [(rows.schema.field(name), schema.field(name)) for name in ranking.columns]
        if any(not ours.type.equals(theirs.type) for ours, theirs in fields):
            return False
        assert ranking.known is not None
        has_order = has_places(schema.field(ranking.known).type)
        if not has_order or rows.collates(ranking.known):
            return False
    of_doubles = [name for each in made.doubles for name in each.columns[-1:]]
    return all(pa.types.is_float64(schema.field(name).type) for name in of_doubles)


class ChangeableLeaf(_LeafWithoutInput):
    """A leaf whose state follows the rows that come and go.

    If the state cannot follow exactly (a value is too large, or a statement fails), it is left out,
    and is built again from the present rows when it is read next. `version` is that of the tables
    that the leaf reads: when they change, all rows meet other ones.

    As long as there are few rows, there is no state: one statement over all of them costs less than
    to follow any change.
    """

    __slots__ = (
        "_built",
        "_changed",
        "_partial",
        "_present",
        "_relation",
        "_state",
        "_version",
        "schema",
    )

    def __init__(
        self,
        leaf: Leaf,
        made: Followable,
        input_schema: pa.Schema,
        duck: Duck,
        *,
        present: Callable[[], pa.Table],
        version: Version,
    ) -> None:
        assert leaf.schema is not None
        self.schema = leaf.schema
        self._relation = relation = f"chunk_{leaf.windows[0]}"
        self._partial = prepare(duck, leaf.partial, {relation: input_schema})
        self._state: FollowedState
        if isinstance(made, ChangingLeaf):
            self._state = FollowedGroups(made, leaf.schema, input_schema, duck)
        else:
            names = leaf.schema.names
            self._state = FollowedFirstRows(made, relation, input_schema, names, duck)
        self._present = present
        self._version = version
        self._built: object = None
        """The version of the tables with which the state was built; None if it is not valid."""
        self._changed = 0
        """How many rows came or went before the last reading."""

    def follow(self, added: pa.Table, removed: pa.Table) -> Take:
        """Compute what rows that came and went change; the returned function applies it."""
        built, self._built = self._built, None  # an exception leaves no state
        change = None
        self._changed = added.num_rows + removed.num_rows
        if built is not None and built == self._version():
            try:
                change = self._state.change(added, removed)
            except DatabaseError:
                change = None  # the next reader gets the error
            self._built = None if change is None else built

        def take() -> None:
            if change is not None:
                change()

        return take

    def merged(self, spans: Sequence[Span]) -> pa.Table:
        """Return the state, which is built from the present rows if there is none."""
        version = self._version()
        built, self._built = self._built, None  # an exception leaves no state
        is_built = built is not None and built == version
        rows = None if is_built else self._present()
        is_state = rows is None or rows.num_rows > FEW + PER_CHANGE * self._changed
        if not (is_state and self._is_complete(is_built=is_built)):
            rows = self._present() if rows is None else rows
            return self._partial.run(**{self._relation: rows.drop_columns([STEP])})
        table = self._state.table()
        self._built = version
        return table

    def _is_complete(self, *, is_built: bool) -> bool:
        """Bring the state up to date; False if that is not possible."""
        try:
            if not is_built:
                return self._state.build(self._present())
            self._state.complete(self._present)
        except DatabaseError:
            return False  # which the query gives to the reader, unless only the state needs it
        return True

    @property
    def rows(self) -> int:
        """How many rows are held."""
        return 0 if self._built is None else self._state.rows

    @property
    def groups_read_again(self) -> int:
        """How often a group was read again, because too few of its rows were left."""
        return self._state.groups_read_again

    def describe(self) -> str:
        """Describe how the leaf is merged."""
        return self._state.describe()

    def close(self) -> None:
        """Release its statements in DuckDB."""
        self._partial.close()
        self._state.close()
