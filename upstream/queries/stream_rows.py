"""Statements that fill and empty streams: COPY … FROM, DELETE FROM and TRUNCATE."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from ..errors import QueryError
from .sql.copying import copied_rows, copy_in
from .sql.deleting import deletion_in, in_statement

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..database.duck import Duck
    from ..tables.engine_stream import Streams
    from .sql import OtherStatement
    from .sql.copying import CopyFrom
    from .sql.deleting import DeleteFrom


class StreamRows:
    """Runs such statements; `append` adds rows to a stream, and `ask` answers a query."""

    __slots__ = ("_append", "_ask", "_duck", "_streams")

    def __init__(
        self,
        streams: Streams,
        duck: Duck,
        *,
        append: Callable[[str, pa.Table], int],
        ask: Callable[[str], pa.Table],
    ) -> None:
        self._streams = streams
        self._duck = duck
        self._append = append
        self._ask = ask

    def run(self, statement: OtherStatement) -> pa.Table | None:
        """Run a statement, and return how many rows or keys it was about; None if it is another."""
        if (deletion := deletion_in(statement, self._streams, self._duck)) is not None:
            return _count(self._delete(deletion))
        if (copy := copy_in(statement, self._streams, self._duck)) is not None:
            return _count(self._copy(copy))
        return None

    def _delete(self, deletion: DeleteFrom) -> int:
        """Delete keys, and return how many.

        If other threads append rows of these keys while the statement runs, these are deleted too.
        """
        stream = self._streams[deletion.stream]
        rows = stream.scan() if deletion.query is None else self._matching(deletion, deletion.query)
        if rows.num_rows:
            stream.delete(stream.definition.conform_keys(rows.select([*stream.definition.key])))
        return int(rows.num_rows)

    def _matching(self, deletion: DeleteFrom, query: str) -> pa.Table:
        try:
            return self._ask(query)
        except QueryError as error:
            raise in_statement(error, deletion) from error

    def _copy(self, copy: CopyFrom) -> int:
        with copied_rows(copy, self._streams[copy.stream].definition, self._duck) as batches:
            return sum(self._append(copy.stream, batch) for batch in batches)


def _count(number: int) -> pa.Table:
    return pa.table({"Count": pa.array([number], pa.int64())})
