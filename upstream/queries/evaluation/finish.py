"""The finish of a query: from the merged relations of its leaves to the result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from ..duck import Duck
    from ..rewriting.split_query import SplitQuery


class Finish:
    """Runs the finish, or does without it where it would only rename columns."""

    __slots__ = ("_direct", "_finish", "_names", "schema")

    def __init__(
        self, split: SplitQuery, merged: Sequence[pa.Schema], schema: pa.Schema, duck: Duck
    ) -> None:
        self.schema = schema
        """The schema of results."""
        self._names = [leaf.relation for leaf in split.leaves]
        self._direct = None if split.direct is None else [column for _, column in split.direct]
        self._finish = duck.prepare(split.finish, dict(zip(self._names, merged, strict=True)))

    def run(self, merged: Sequence[pa.Table]) -> pa.Table:
        """Make a result of the merged relations, one for each leaf."""
        if self._direct is not None:
            result = merged[0].select(self._direct).rename_columns(self.schema.names)
        else:
            result = self._finish.run(**dict(zip(self._names, merged, strict=True)))
        return result if result.schema.equals(self.schema) else result.cast(self.schema)
