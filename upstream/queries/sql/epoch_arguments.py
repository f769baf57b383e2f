"""The arguments that only `epochs(…)` has: what cuts the stream, and how chunks are paired.

epochs(stream, INTERVAL '60 seconds')       by time; with `by => arrival`, by arrival
epochs(stream, rows => 1000)                by count
epochs(stream, by => column)                by object: consecutive rows with one value
epochs(stream, punctuation => condition)    after each row for which the condition is true
"""

from __future__ import annotations

from typing import Final, Never

import pyarrow as pa
from sqlglot import exp

from ...database.duck import Duck
from ...errors import UnknownColumnError, WindowError
from ...rows.stream_definition import StreamDefinition
from ...rows.type_names import type_name
from .checking import check
from .constants import check_constants
from .dialect import DIALECT
from .functions import functions_of
from .names import did_you_mean, found
from .statement import ParsedQuery
from .trees import named, place_of
from .window_arguments import WindowArguments
from .window_bounds import HIDDEN
from .window_clause import Axis, EpochCut, PairingName, WindowClause, WindowKind

_CUTS: Final = {
    "length": EpochCut.TIME,
    "rows": EpochCut.COUNT,
    "by": EpochCut.OBJECT,
    "punctuation": EpochCut.PUNCTUATION,
}
"""The arguments that cut a stream; beside a length, `by` names the axis instead."""
_OF_TIME: Final = ("offset", "zone")


def cut_of(arguments: WindowArguments, definition: StreamDefinition) -> EpochCut:
    """Return what cuts the stream; raise WindowError unless it is exactly one of the arguments."""
    given = [name for name in _CUTS if arguments.get(name) is not None]
    if given[:2] == ["length", "by"]:
        given.remove("by")
    stream = definition.name
    if not given:
        hint = (
            f"write epochs({stream}, INTERVAL '60 seconds'), epochs({stream}, rows => 1000), "
            f"epochs({stream}, by => column) or epochs({stream}, punctuation => condition)"
        )
        arguments.refuse("epochs needs a length, rows, by or punctuation", None, hint)
    if len(given) > 1:
        one, other, *_ = given
        reason = f"a stream is cut into epochs in one way: either {one} or {other}"
        arguments.refuse(reason, arguments[other], f"leave {other} or {one} out")
    cut = _CUTS[given[0]]
    for name in _OF_TIME:
        if cut is not EpochCut.TIME and (node := arguments.get(name)) is not None:
            reason = f"{name} applies to epochs by time only"
            hint = f"leave it out, or write epochs({stream}, INTERVAL '60 seconds', {name} => …)"
            arguments.refuse(reason, node, hint)
    if cut is EpochCut.OBJECT:
        _check_arrival(arguments, definition)
    return cut


def _check_arrival(arguments: WindowArguments, definition: StreamDefinition) -> None:
    """Refuse `by => arrival` without a length, unless a column has this name."""
    by = arguments["by"].unnest()
    is_name = isinstance(by, exp.Column | exp.Literal) and by.name.lower() == Axis.ARRIVAL
    if is_name and definition.column_named(Axis.ARRIVAL) is None:
        hint = f"write epochs({definition.name}, INTERVAL '60 seconds', by => arrival)"
        arguments.refuse("epochs by arrival need a length", by, hint)


def pairing_of(arguments: WindowArguments) -> PairingName | None:
    """Return which chunks of several inputs meet, or None if the query does not say."""
    node = arguments.get("pairing")
    if node is None:
        return None
    if not isinstance(node, exp.Literal) or not node.is_string:
        names = ", ".join(f"'{name}'" for name in PairingName)
        arguments.refuse("a pairing is named by a string", node, f"write one of {names}")
    name = found(node.this, PairingName)
    if name is None:
        hint = did_you_mean(node.this, PairingName)
        arguments.refuse(f"there is no pairing named {node.this}", node, hint)
    return PairingName(name)


# Punctuation


def condition_of(
    arguments: WindowArguments, definition: StreamDefinition, duck: Duck | None
) -> str:
    """Return the condition of a punctuation as SQL over the columns of the stream.

    With `duck`, the condition is checked by DuckDB; raises QueryError if it cannot be evaluated.
    """
    return _Punctuation(arguments, definition).condition(duck)


class _Punctuation:
    """The condition that ends an epoch."""

    def __init__(self, arguments: WindowArguments, definition: StreamDefinition) -> None:
        self._arguments = arguments
        self._definition = definition
        self._node = arguments["punctuation"]
        self._own_names = {definition.name.lower(), arguments.alias.lower()}

    def condition(self, duck: Duck | None) -> str:
        """Return the condition as SQL."""
        self._check_parts()
        tree = self._over_columns()
        if duck is not None:
            self._check_functions(duck)
            self._check_by_duckdb(tree, duck)
        return tree.sql(DIALECT, comments=False)

    def _check_parts(self) -> None:
        """Refuse what is not a condition on one row."""
        for part in self._node.walk():
            what = next(
                (what for kind, what in _NOT_OF_ONE_ROW.items() if isinstance(part, kind)), ""
            )
            is_counted = isinstance(part, exp.Star) and isinstance(part.parent, exp.Anonymous)
            if what and not is_counted:
                self._refuse(f"a punctuation cannot have {what}", part)

    def _check_functions(self, duck: Duck) -> None:
        functions = functions_of(duck)
        for call in self._node.find_all(exp.Func):
            if functions.is_aggregate(call):
                self._refuse("a punctuation cannot have an aggregate", call)
            if functions.reading_in(call):
                self._refuse("a punctuation cannot have a subquery, as this macro may have", call)
            if name := functions.volatile_in(call):
                reason = f"{name} returns another value each time, so epochs would not be the same"
                self._refuse(reason, call)

    def _over_columns(self) -> exp.Expr:
        """Return the condition over the bare columns of the stream."""
        lambdas = self._node.find_all(exp.Lambda)
        bound = {each.name.lower() for node in lambdas for each in node.expressions}
        copy = exp.Paren(this=self._node.copy())
        for column in list(copy.find_all(exp.Column)):
            names = [part.name for part in column.parts]
            if names[0].lower() in bound and not self._has(names[0]):
                continue
            is_qualified = len(names) > 1 and names[0].lower() in self._own_names
            if is_qualified and self._has(names[1]):
                column.replace(_without_table(column))
            elif not self._has(names[0]):
                self._refuse_column(column, is_qualified=is_qualified)
        inner: exp.Expr = copy.this
        return inner.pop()

    def _has(self, name: str) -> bool:
        return self._definition.column_named(name) is not None

    def _refuse_column(self, column: exp.Column, *, is_qualified: bool) -> Never:
        stream = self._definition.name
        if column.table and not is_qualified:
            table = ".".join(part.name for part in column.parts[:-1])
            hint = f"write a condition over the columns of {stream} alone"
            if column.table.lower() in self._own_names and self._has(column.name):
                hint = f"write {column.name} alone, since streams are in no schema"
            reason = f"a punctuation reads the columns of its own stream, and {table} is not"
            self._refuse(f"{reason} {stream}", column, hint)
        if column.name.lower() in HIDDEN:
            reason = f"a punctuation cannot read {column.name}: it decides where epochs end"
            self._refuse(reason, column)
        reason = f"the stream {stream} has no column {column.name}"
        hint = did_you_mean(column.name, self._definition.schema.names)
        self._arguments.refuse(reason, column, hint, UnknownColumnError)

    def _check_by_duckdb(self, tree: exp.Expr, duck: Duck) -> None:
        """Let DuckDB type the condition, and evaluate its constants."""
        definition = self._definition
        parsed = self._query(exp.select(named(tree.copy(), "condition")))
        kind = check(parsed, {definition.name: definition}, duck).outer.field(0).type
        if not pa.types.is_boolean(kind):
            self._refuse(f"a punctuation must be a BOOLEAN, not {type_name(kind)}", self._node)
        parsed = self._query(exp.select(exp.Star()).where(tree.copy()))
        check_constants(parsed, {definition.name: definition}, duck)

    def _query(self, select: exp.Select) -> ParsedQuery:
        """Return a query over the stream alone, whose parts have their places in the text."""
        window = WindowClause(WindowKind.STREAM, self._definition.name)
        query = select.from_(exp.to_table("chunk_0"))
        return ParsedQuery(self._arguments.text, query, (window,), (place_of(self._node),))

    def _refuse(self, reason: str, node: exp.Expr, hint: str = "") -> Never:
        stream = self._definition.name
        hint = hint or f"write a condition on one row: epochs({stream}, punctuation => column > 0)"
        self._arguments.refuse(reason, node, hint, WindowError)


_NOT_OF_ONE_ROW: Final[dict[type[exp.Expr], str]] = {
    exp.Query: "a subquery",
    exp.Window: "a window function",
    exp.Star: "a star",
    exp.Columns: "COLUMNS",
}


def _without_table(column: exp.Column) -> exp.Expr:
    """Return a qualified column, or a part of one, without the name of its relation."""
    _, *parts = column.parts
    parts = [part.copy() for part in parts]
    for part in parts:
        part.set("quoted", True)
    names = ("this", "table", "db", "catalog")
    return exp.Column(**dict(zip(names, reversed(parts), strict=False)))
