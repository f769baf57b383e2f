"""Which stream of a view has a column of signs, and which leaves can take rows away by it.

    CREATE VIEW sizes WITH (sign = 'op') AS SELECT symbol, sum(size) AS size FROM orders GROUP BY 1

A row of the stream with op = 1 adds itself, and one with op = -1 takes an equal row away. The query
reads the rows that are left. These have no column of signs, so `SELECT *` does not show it, and
rows that differ only in their signs are equal.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple, Never

import pyarrow as pa

from ...errors import StatementError
from ...rows.group_codes import has_places
from ..partials.grouped_state import subtracts
from ..rewriting.explain import spoken
from ..rewriting.not_incremental import listed
from ..rewriting.split_query import StateKind
from ..sql.names import did_you_mean
from .changing_leaf import subtractable
from .planning import WITHOUT_END
from .view_sources import is_all_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...errors import QueryError, UnknownColumnError
    from ...rows.stream_definition import StreamDefinition
    from ..rewriting.split_query import Leaf, State
    from ..sql import ParsedQuery

_EXACT: Final = frozenset({"sum", "count", "avg", "mean", "count_if", "countif"})
"""The aggregates of integers that have an inverse."""


@dataclass(frozen=True, slots=True)
class SignOption:
    """The option `sign` of a view: the name of a column, and its place in the statement."""

    column: str
    text: str
    place: int


@dataclass(frozen=True, slots=True)
class SignedStream:
    """The stream of a view that has the signs, and its column of signs."""

    stream: str
    column: str

    def without_signs(
        self, definitions: Mapping[str, StreamDefinition]
    ) -> dict[str, StreamDefinition]:
        """Return definitions in which the stream has all columns but the signs."""
        whole = definitions[self.stream]
        schema = pa.schema([field for field in whole.schema if field.name != self.column])
        return {**definitions, self.stream: replace(whole, schema=schema)}


def no_such_column(error: UnknownColumnError, signed: SignedStream) -> QueryError:
    """Return the error about a column that is not there, also if it is that of the signs."""
    if error.reason.lower() != f"there is no column named {signed.column}".lower():
        return error
    hint = f"{signed.column} tells whether a row of {signed.stream} is added or taken away; "
    return error.within(error.text, f"{hint}the rows that are left have no such column")


class Obstacle(NamedTuple):
    """Why rows cannot be taken away from a leaf, and what the user can do."""

    reason: str
    hint: str


def signed_stream(
    option: SignOption, parsed: ParsedQuery, definitions: Mapping[str, StreamDefinition]
) -> SignedStream:
    """Return the stream with the signs; raise StatementError unless exactly one can have them."""
    column, windows = option.column, parsed.windows
    closing = [each for each in windows if each.kind not in WITHOUT_END and not is_all_rows(each)]
    if closing:
        reason = f"rows of {closing[0].kind}(…) cannot be taken away by a column of signs"
        _refuse(option, reason, f"leave sign out, and write the sign into sums: sum({column} * x)")
    read = [*dict.fromkeys(window.stream for window in windows if is_all_rows(window))]
    if not read:
        reason = "a column of signs needs a stream of which the view reads all rows"
        hint = "leave sign out: newer rows and deleted keys change what latest(…) reads"
        _refuse(option, reason, hint)
    named = {name: definitions[name].column_named(column) for name in read}
    signed = [SignedStream(name, found) for name, found in named.items() if found is not None]
    if not signed:
        columns = [name for each in read for name in definitions[each].schema.names]
        reason = f"{listed(read)} {'have' if len(read) > 1 else 'has'} no column {column}"
        _refuse(option, reason, did_you_mean(column, columns))
    if len(signed) > 1:
        streams = listed([each.stream for each in signed])
        reason = f"the column {column} must be in one stream only, and it is in {streams}"
        hint = f"make a view of each WITH (sign = '{column}'), and read these views here"
        _refuse(option, reason, hint)
    _check(option, signed[0], parsed, definitions[signed[0].stream])
    return signed[0]


def _check(
    option: SignOption, signed: SignedStream, parsed: ParsedQuery, definition: StreamDefinition
) -> None:
    """Refuse a column that cannot have signs, and other readings of the stream."""
    stream, column = signed.stream, signed.column
    kind = definition.schema.field(column).type
    if not pa.types.is_signed_integer(kind):
        reason = f"the column {column} of {stream} has the type {kind}, which cannot be a sign"
        _refuse(option, reason, f"give {column} the type TINYINT; its values are 1 and -1")
    if column in definition.required:
        what = "the time" if column == definition.time else "part of the key"
        reason = f"the column {column} is {what} of {stream}, and cannot be a sign as well"
        _refuse(option, reason, f"give {stream} another column, such as sign TINYINT")
    if any(each.stream == stream and not is_all_rows(each) for each in parsed.windows):
        reason = f"the newest row of a key of {stream} may be one that takes a row away"
        _refuse(option, reason, f"read latest({stream}) in a view of its own, without sign")


def _refuse(option: SignOption, reason: str, hint: str) -> Never:
    raise StatementError(reason, option.text, option.place, hint)


def obstacle_to_taking_away(leaf: Leaf, stream: str) -> Obstacle | None:
    """Return why rows of a stream cannot be taken away from a leaf; None if they can be."""
    newest = f"leave sign out and read latest({stream}), the newest row of each key"
    if leaf.groups is None or leaf.schema is None:
        reason = "the first rows of an order cannot be followed: the next ones are not kept"
        return Obstacle(reason, newest)
    written = {item.alias: spoken(item.unalias()) for item in leaf.partial.expressions}
    lost = [state for state in leaf.states if not subtracts(state, leaf.schema)]
    if lost:
        texts = {each.columns[0]: _aggregate(written[each.columns[0]], leaf) for each in lost}
        return _of_states(leaf, lost, texts, newest)
    if subtractable(leaf) is None:
        schema = leaf.schema
        of_type = [name for name in leaf.groups if not has_places(schema.field(name).type)]
        groups = listed([written[name] for name in of_type or leaf.groups])
        reason = f"rows cannot be taken away from groups of this type: {groups}"
        return Obstacle(reason, "group by numbers, texts or times, as in GROUP BY kind::TEXT")
    return None


def _of_states(
    leaf: Leaf, states: Sequence[State], written: Mapping[str, str], newest: str
) -> Obstacle:
    """Return the obstacle that states are; `written` are their aggregates by their columns."""
    sums = [written[each.columns[0]] for each in states if each.kind is StateKind.SUM]
    if sums:
        reason = f"{sums[0]} does not add integers or decimals, and would not be exact any more"
        return Obstacle(reason, "cast the values, as in sum(x::DECIMAL(18, 2))")
    if any(each.kind in (StateKind.MOMENTS, StateKind.CO_MOMENTS) for each in states):
        others = [each for each in leaf.aggregates if each.partition("(")[0] not in _EXACT]
        reason = f"{listed(others or [*leaf.aggregates])} would not be exact any more"
        return Obstacle(reason, f"use sums, counts and averages, or {newest}")
    reason = f"a value cannot be taken away from {listed([*dict.fromkeys(written.values())])}: "
    reason += "the next one is not kept"
    distinct = "aggregate over a subquery with SELECT DISTINCT, which keeps all values"
    return Obstacle(reason, f"{newest}, or {distinct}")


def _aggregate(text: str, leaf: Leaf) -> str:
    """Return the aggregate of the query to which a state belongs: avg(x) for the sum of x."""
    arguments = text[text.find("(") :]
    return next((each for each in leaf.aggregates if each == text), "") or next(
        (each for each in leaf.aggregates if each.endswith(arguments)), text
    )
