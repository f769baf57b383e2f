"""Finds the state of a stream that a new view can share, or makes one.

A state is shared if it has the same leaves and no row has come since it was made. Then the other
view and the new one mean the same rows. `on_error` makes no difference: it decides what a view says
of rows that failed, and these are counted in any case.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...held_interrupt import HeldInterrupt
from .stream_leaf import PartTables, PlannedLeaf, StreamLeaf
from .stream_state import StreamState

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...database.duck import Duck
    from ...tables.log import Log
    from ..rewriting.split_query import Leaf
    from .stream_state import Share
    from .view_sources import ViewSources


class StatePlanner:
    """Plans the states of the streams of one view.

    `states` are those of other views. `undo` receives what closes all that is made.
    """

    def __init__(
        self,
        view: str,
        sources: ViewSources,
        states: Sequence[StreamState],
        *,
        duck: Duck,
        tables_version: Callable[[], int],
        undo: list[Callable[[], None]],
    ) -> None:
        self._view = view
        self._sources = sources
        self._states = () if sources.is_restored else states
        self._duck = duck
        self._tables_version = tables_version
        self._undo = undo

    def share(
        self, number: int, leaves: Sequence[Leaf], *, sign: str | None
    ) -> tuple[Share, list[StreamLeaf]]:
        """Return a share in a state of the stream with this number, and what evaluates the leaves.

        Equal leaves are evaluated once. `sign` is the column of signs, which the leaves do not
        read. So it is not in the schema of the rows, and leaves with other signs are not equal.
        """
        stream = self._sources.names[number]
        all_planned = [self._planned(leaf, number) for leaf in leaves]
        different: list[PlannedLeaf] = []
        places = [_place_among(different, each) for each in all_planned]
        share, kept = self._share_of(stream, number, different, sign)
        used = [each.planned for each in kept]
        for planned in all_planned:
            if planned not in used:
                planned.parts.drop()
        self._sources.opened.setdefault(stream, []).append(share.state.reader)
        return share, [kept[place] for place in places]

    def _planned(self, leaf: Leaf, number: int) -> PlannedLeaf:
        parts = PartTables(self._duck)
        self._undo.append(parts.drop)
        schema, version = self._sources.chunks[f"chunk_{number}"], self._tables_version()
        return PlannedLeaf(leaf, schema, self._duck, parts, tables_version=version)

    def _share_of(
        self, stream: str, number: int, leaves: Sequence[PlannedLeaf], sign: str | None
    ) -> tuple[Share, list[StreamLeaf]]:
        log, schema = self._sources.log_of(stream), self._sources.chunks[f"chunk_{number}"]
        for state in self._states:
            found = _found_in(state, log, leaves)
            with HeldInterrupt():
                if found is not None and state.is_empty(log):  # no other thread has appended
                    return self._joined(state), found
        made = [StreamLeaf.of(each, schema, self._duck, sign) for each in leaves]
        with HeldInterrupt():
            reader = self._sources.reader(stream)
            state = StreamState(stream, log, reader, made, is_begun=self._sources.is_restored)
            return self._joined(state), made

    def _joined(self, state: StreamState) -> Share:
        """Let the view use a state until it is closed, or undone."""
        share = state.share(self._view)
        self._undo.append(share.close)
        return share


def _place_among(known: list[PlannedLeaf], leaf: PlannedLeaf) -> int:
    """Return the place of a leaf that is the same; the leaf is added if there is none."""
    for place, each in enumerate(known):
        if leaf.is_same(each):
            return place
    known.append(leaf)
    return len(known) - 1


def _found_in(
    state: StreamState, log: Log, leaves: Sequence[PlannedLeaf]
) -> list[StreamLeaf] | None:
    """Return the leaves of a state that are the same as these, or None if it is another state."""
    if not state.is_empty(log) or len(state.leaves) != len(leaves):
        return None
    same = [
        next((each for each in state.leaves if leaf.is_same(each.planned)), None) for leaf in leaves
    ]
    found = [each for each in same if each is not None]
    return found if len(found) == len(leaves) else None
