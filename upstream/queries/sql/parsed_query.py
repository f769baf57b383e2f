"""A query over streams, of which each occurrence has become a chunk with a window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp

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
