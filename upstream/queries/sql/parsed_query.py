"""A query over streams, of which each occurrence has become a chunk with a window."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from ...rows.stream_definition import StreamDefinition
from .window_bounds import bounds_in, bounds_name, bounds_schema
from .window_clause import WindowClause


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A query that reads the tables `chunk_0`, `chunk_1`, … where it named streams.

    `windows` says what each chunk is, and `places` where in the text it was named.
    """

    text: str
    query: exp.Query
    windows: tuple[WindowClause, ...]
    places: tuple[int | None, ...] = ()

    @property
    def bounds(self) -> frozenset[int]:
        """Of which windows the query reads the bounds, each from its table `bounds_i`."""
        return bounds_in(self.query)

    def schemas(self, definitions: Mapping[str, StreamDefinition]) -> dict[str, pa.Schema]:
        """Return the schemas of all tables that are lent to the query: chunks and bounds."""
        of_windows = [definitions[window.stream] for window in self.windows]
        chunks = {f"chunk_{i}": each.schema for i, each in enumerate(of_windows)}
        bounds = {
            bounds_name(i): bounds_schema(self.windows[i], of_windows[i]) for i in self.bounds
        }
        return chunks | bounds
