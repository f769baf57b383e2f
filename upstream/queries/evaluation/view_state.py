"""What a view has taken from its streams, as a whole: it can be saved, and restored elsewhere.

partials of leaves + newest rows + positions of readers = all that a view knows of rows

The parts of tables that rows have met are computed again, and compared by a checksum: earlier rows
must have met the same tables as later ones.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from json import dumps, loads
from typing import TYPE_CHECKING

from ...errors import StatementError
from ...tables.resuming import position_in
from ..sql.dialect import DIALECT
from ..sql.source_text import words_of

if TYPE_CHECKING:
    import pyarrow as pa

    from ...database.duck import Duck
    from ...rows.stream_definition import StreamDefinition
    from ...tables.resuming import Position, Start
    from ..results.failing_rows import FailingRowsOfInputs, Saved
    from ..rewriting.split_query import Leaf
    from .stream_leaf import StreamLeaf
    from .view_sources import ViewSources

Form = Mapping[str, object]
"""What a view is made of, in plain lists and mappings."""


@dataclass(frozen=True, slots=True)
class SavedState:
    """What a view had taken from its streams.

    `tables` are the merges of leaves and the newest rows, by name. `form` is what a view must be
    made of that begins with them.
    """

    moment: float
    form: Form
    positions: Mapping[str, Position]
    failed: Saved
    tables: Mapping[str, pa.Table]

    def table(self, name: str) -> pa.Table:
        """Return the table of this name; raise StatementError if there is none."""
        if name not in self.tables:
            raise _another_view()
        return self.tables[name]


@dataclass(frozen=True, slots=True)
class Beginning:
    """With what a view begins that is restored: a saved state, and where it reads each stream."""

    state: SavedState
    starts: Mapping[str, Start]


class ViewState:
    """The state of a view. `leaves` are those over all rows of a stream, and what evaluates them.

    Other views may use the states of its streams, too.
    """

    __slots__ = (
        "_definitions",
        "_duck",
        "_failing",
        "_leaves",
        "_macros",
        "_schema",
        "_sources",
    )

    def __init__(
        self,
        sources: ViewSources,
        leaves: Sequence[tuple[Leaf, StreamLeaf]],
        definitions: Sequence[StreamDefinition],
        *,
        schema: pa.Schema,
        macros: Collection[str],
        failing: FailingRowsOfInputs,
        duck: Duck,
    ) -> None:
        self._sources = sources
        self._leaves = leaves
        self._definitions = definitions
        self._schema = schema
        self._macros = macros
        self._failing = failing
        self._duck = duck

    def positions(self) -> dict[str, Position]:
        """Return how far each stream was read: by its slowest reader, if there are several."""
        found = {}
        for stream, readers in self._sources.opened.items():
            rows = min(reader.position for reader in readers)
            following = [each.deletions for each in readers if each.deletions is not None]
            deletions = min(following, default=0)
            found[stream] = position_in(self._sources.log_of(stream), rows, deletions)
        return found

    def is_even(self) -> bool:
        """Tell whether all readers of each stream have read equally far."""
        readers = self._sources.opened.values()
        rows = [{each.position for each in of} for of in readers]
        deletions = [{each.deletions for each in of if each.follows_deletions} for of in readers]
        return all(len(of) == 1 for of in rows) and all(len(of) <= 1 for of in deletions)

    def saved(self, moment: float) -> SavedState:
        """Return the state; everything that has been read must be taken in.

        Raises StatementError if the same query may mean something else where it is restored.
        """
        words = set[str]().union(
            *(words_of(each) for leaf, _ in self._leaves for each in _texts(leaf))
        )
        if own := {*self._macros, *(words & self._duck.own_types())}:
            reason = f"a view cannot be saved whose rows meet {min(own)}, which may be defined "
            hint = f"create the view with what {min(own)} stands for"
            raise StatementError(f"{reason}otherwise where it is restored", hint=hint)
        tables = {leaf.relation: each.merge.saved() for leaf, each in self._leaves}
        tables |= {name: newest.saved() for name, newest in self._sources.newest_rows.items()}
        failed = self._failing.saved()
        return SavedState(moment, self._form(), self.positions(), failed, tables)

    def restore(self, saved: SavedState) -> None:
        """Begin with a saved state; raise StatementError if it is that of another view."""
        self._compare(saved.form)
        try:
            for merge, relation in {
                each.merge: leaf.relation for leaf, each in self._leaves
            }.items():
                merge.restore(saved.table(relation))
        except ValueError as error:
            raise _another_view() from error
        self._failing.restore(saved.failed)

    def _compare(self, saved: Form) -> None:
        form: Form = loads(dumps(self._form()))
        if form["environment"] != saved["environment"]:
            found, expected = form["environment"], saved["environment"]
            reason = f"the view was saved with {_other(expected, found)}, "
            reason += f"and here it is {_other(found, expected)}, which results may depend on"
            hint = "restore the view in such an engine, or create it anew"
            raise StatementError(reason, hint=hint)
        if form["tables"] != saved["tables"]:
            names = _tables_of_other_parts(form["tables"], saved["tables"])
            reason = f"{' or '.join(names)} has other rows than when the view was saved, "
            hint = "restore the table as it was, or create the view anew"
            raise StatementError(f"{reason}and the rows of its streams have met these", hint=hint)
        if form != saved:
            raise _another_view()

    def _form(self) -> Form:
        return {
            "environment": self._duck.environment(),
            "columns": [[field.name, str(field.type)] for field in self._schema],
            "sources": {each.name: source_form(each) for each in self._definitions},
            "leaves": [_leaf_form(leaf) for leaf, _ in self._leaves],
            "newest": sorted(self._sources.newest_rows),
            "tables": [
                [*part.reads, *self._duck.checksum(part.name)]
                for _, each in self._leaves
                for part in each.planned.parts.made
            ],
        }


def _other(some: object, others: object) -> str:
    """Return in words which settings are other than those of others."""
    assert isinstance(some, dict)
    assert isinstance(others, dict)
    return ", ".join(
        f"{name} {value or repr('')}" for name, value in some.items() if others.get(name) != value
    )


def _tables_of_other_parts(some: object, others: object) -> list[str]:
    """Return the tables that those parts read which are not in both lists."""
    assert isinstance(some, list)
    assert isinstance(others, list)
    parts = [each for each in [*some, *others] if each not in some or each not in others]
    return sorted({name for *reads, _, _ in parts for name in reads})


def _another_view() -> StatementError:
    reason = "the query of the saved view is evaluated in another way here"
    return StatementError(reason, hint="create the view anew, and feed it from the beginning")


def source_form(definition: StreamDefinition) -> Form:
    """Return what a stream or a view must be that a restored view reads."""
    columns = {field.name: str(field.type) for field in definition.schema}
    key, time = [*definition.key], definition.time
    return {"columns": columns, "key": key, "time": time, "is_view": definition.is_view}


def _leaf_form(leaf: Leaf) -> Form:
    states = [
        [state.kind.value, *state.columns, *(each.sql(DIALECT) for each in state.merge)]
        for state in leaf.states
    ]
    groups = leaf.groups
    return {"relation": leaf.relation, "groups": groups, "states": states, "queries": _texts(leaf)}


def _texts(leaf: Leaf) -> list[str]:
    """Return the queries of a leaf as text."""
    queries = [leaf.partial, *([] if leaf.keep is None else [leaf.keep])]
    return [each.sql(DIALECT) for each in queries]
