"""`COPY stream FROM 'file'`: DuckDB reads the file into a table of its own, and the stream from it.

The table has the name and the columns of the stream while the statement runs, so DuckDB runs the
statement as it was written, with all of its options. DuckDB writes the table to disk if it is too
large for memory. Rows are accepted once all of them were read and fit.

DuckDB's COPY would round 1.7 for an INTEGER, and a stream refuses it. So columns of whole numbers
and decimals are read as decimals with more digits; from formats with types such as Parquet as
texts first, since DuckDB does not convert a DOUBLE to such a decimal exactly.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Never

import pyarrow as pa
from sqlglot import exp

from ...database.duck import Duck
from ...database.failure import DatabaseError
from ...errors import QueryTypeError, StatementError, StreamTypeError
from ...held_interrupt import HeldInterrupt
from ...rows.arrow_data import empty_table
from ...rows.stream_definition import StreamDefinition
from ...rows.type_names import type_name
from .duck_messages import error_of
from .lending import run_once
from .names import found
from .source_text import lowered
from .statement import OtherStatement
from .trees import cast, column, named, place_of

_BATCH_ROWS: Final = 131_072
"""So many rows are taken out of DuckDB together."""
_DIGITS: Final = 38
_MORE: Final = 10
"""The digits after the point that a number is read with, in addition to those of its column. With
more, Arrow could not convert all numbers back."""
_WHOLE_DIGITS: Final = 20
"""The most digits of a whole number."""
_TYPED: Final = re.compile(r"\.(?:parquet|json|jsonl|ndjson)(?:\.gz|\.zst)?$", re.IGNORECASE)
"""The names of files in formats with types."""
_FAILED: Final = re.compile(r"CSV Error on Line: (\d+)\n(?:Original Line: .*\n)?(.*)")
_COLUMN: Final = re.compile(r'converting column "(.*?)"\. ')
_FILE: Final = re.compile(r"\n\s*file = (.*)")
_ROW: Final = "rowid"
_NOTHING: Final = "no row was accepted"


@dataclass(frozen=True, slots=True)
class CopyFrom:
    """`COPY trades (time, symbol) FROM 'trades.csv'`."""

    stream: str
    file: str
    has_types: bool
    """Whether the format of the file has types. A wrong guess makes no wrong row: some numbers
    would be refused."""
    text: str
    place: int


def copy_in(statement: OtherStatement, streams: Iterable[str], duck: Duck) -> CopyFrom | None:
    """Return what a statement copies into a stream; None if it is another statement."""
    tree = statement.tree
    if not isinstance(tree, exp.Copy) or not tree.args.get("kind"):  # it has TO
        return None
    target = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
    if not isinstance(target, exp.Table) or target.args.get("db"):
        return None
    name = found(target.name, streams)
    if name is None or duck.statement_type(statement.text) != "COPY":
        return None
    files = tree.args.get("files") or []
    file = files[0].name if len(files) == 1 else "the files"
    return CopyFrom(name, file, _has_types(tree, file), statement.text, place_of(target) or 0)


def _has_types(tree: exp.Copy, file: str) -> bool:
    for parameter in tree.args.get("params") or []:
        if parameter.name.upper() == "CSV":
            return False
        if parameter.name.upper() == "FORMAT" and parameter.expression is not None:
            return bool(parameter.expression.name.lower() != "csv")
    return _TYPED.search(file) is not None


@contextmanager
def copied_rows(
    copy: CopyFrom, definition: StreamDefinition, duck: Duck
) -> Iterator[Iterator[pa.Table]]:
    """Read the file, check its rows, and give them in batches that conform to the stream.

    Raise QueryError if a row does not fit.
    """
    if definition.column_named(_ROW) is not None:
        hint = f"write INSERT INTO {copy.stream} FROM read_csv('{copy.file}')"
        reason = f"COPY cannot fill a stream with a column named {_ROW}"
        raise StatementError(reason, copy.text, copy.place, hint)
    staging = _Staging(copy, definition, duck)
    try:
        staging.fill()
        if staging.rows <= _BATCH_ROWS:
            yield iter([*staging.batches()])
        else:
            for _ in staging.batches():
                pass  # each is checked before the first is accepted
            yield staging.batches()
    finally:
        with HeldInterrupt():
            duck.drop_own_table(definition.name)


class _Staging:
    """A table of DuckDB with the name of the stream, that the file is read into."""

    def __init__(self, copy: CopyFrom, definition: StreamDefinition, duck: Duck) -> None:
        self._copy = copy
        self._definition = definition
        self._duck = duck
        self._table = exp.Table(this=exp.to_identifier(definition.name, quoted=True))
        self.rows = 0

    def fill(self) -> None:
        """Read the file."""
        run_once(self._duck, self._create(), {"rows_given": empty_table(self._definition.schema)})
        try:
            self.rows = self._duck.run_as_written(self._copy.text, {}).column(0)[0].as_py()
        except DatabaseError as error:
            self._refuse(str(error))

    def batches(self) -> Iterator[pa.Table]:
        """Give the rows, conformed, in the order of the file."""
        rows = exp.select(*map(self._taken_out, self._definition.schema))
        rows = rows.from_(self._table.copy())
        for start in range(0, self.rows, _BATCH_ROWS):
            last = exp.Literal.number(start + _BATCH_ROWS - 1)
            number = exp.column(_ROW)
            part = exp.Between(this=number, low=exp.Literal.number(start), high=last)
            try:
                batch = run_once(self._duck, rows.where(part), {})
            except DatabaseError as error:
                self._refuse(str(error))
            try:
                yield self._definition.conform(batch)
            except StreamTypeError as error:
                self._refuse_row(batch, start, error)

    def _taken_out(self, field: pa.Field) -> exp.Expr:
        """Return what a column of the stream is taken from."""
        kind = _wider(field.type) if self._copy.has_types else None
        given = column(field.name)
        return given if kind is None else named(cast(given, kind), field.name)

    def _create(self) -> exp.Create:
        items = []
        for field in self._definition.schema:
            kind = _wider(field.type)
            kind = "VARCHAR" if kind is not None and self._copy.has_types else kind
            given = column(field.name)
            items.append(named(given if kind is None else cast(given, kind), field.name))
        return exp.Create(
            this=self._table.copy(),
            kind="TABLE",
            replace=True,
            expression=exp.select(*items).from_("rows_given"),
            properties=exp.Properties(expressions=[exp.TemporaryProperty()]),
        )

    def _refuse(self, message: str) -> Never:
        """Raise an error for a message of DuckDB, with the line of the file."""
        copy = self._copy
        failed = _FAILED.search(message)
        if failed is None:
            raise error_of(message, copy.text) from None
        line, reason = failed.groups()
        name = _COLUMN.search(reason)
        field = None if name is None else self._definition.column_named(name[1])
        if name is not None and field is not None:
            kind = type_name(self._definition.schema.field(field).type)
            reason = f"column {field}: {lowered(reason[name.end() :])}"
            reason = re.sub(r" to '[^']*'$", f" to {kind}", reason.rstrip(". "))
        file = _FILE.search(message)
        where = f"line {line} of {copy.file if file is None else file[1]}"
        raise QueryTypeError(f"{where}: {lowered(reason)}", copy.text, copy.place, _NOTHING)

    def _refuse_row(self, batch: pa.Table, start: int, error: StreamTypeError) -> Never:
        """Raise an error for a row that does not fit, with its number in the file."""
        reason = error.reason
        if error.column in batch.schema.names and error.row is not None:
            value = batch.column(error.column)[error.row].as_py()
            kind = type_name(self._definition.schema.field(error.column).type)
            if isinstance(value, Decimal):
                reason = f"{value.normalize():f} does not fit into {kind}"
        colon = "" if reason.startswith("is ") else ":"
        where = "" if error.row is None else f"row {start + error.row + 1} of {self._copy.file}, "
        reason = f"{where}column {error.column}{colon} {reason}"
        raise QueryTypeError(reason, self._copy.text, self._copy.place, _NOTHING) from error


def _wider(kind: pa.DataType) -> str | None:
    """Return a type that holds the numbers of this type, and also those that do not fit."""
    if pa.types.is_integer(kind):
        whole, fraction = _WHOLE_DIGITS, 0
    elif pa.types.is_decimal128(kind):
        whole, fraction = kind.precision - kind.scale, kind.scale
    else:
        return None
    fraction = min(_DIGITS - whole, fraction + _MORE)
    return f"DECIMAL({whole + fraction}, {fraction})"
