"""Statements over streams: parsed, checked and classified, with errors that point into the text.

An engine imports this package once it has found DuckDB, Arrow and sqlglot, so its modules may
import these at the top.
"""

from .checking import check
from .constants import check_constants
from .defining import definition_of
from .duck_messages import error_of
from .inserting import rows_to_insert
from .names import did_you_mean, is_reserved
from .parsing import parse, parse_as_duckdb
from .reading import read_query
from .standing_needs import check_key
from .statement import (
    CreateStream,
    CreateView,
    DropStream,
    DropView,
    ExplainName,
    InsertInto,
    OtherStatement,
    ParsedQuery,
    Statement,
)

__all__ = [
    "CreateStream",
    "CreateView",
    "DropStream",
    "DropView",
    "ExplainName",
    "InsertInto",
    "OtherStatement",
    "ParsedQuery",
    "Statement",
    "check",
    "check_constants",
    "check_key",
    "definition_of",
    "did_you_mean",
    "error_of",
    "is_reserved",
    "parse",
    "parse_as_duckdb",
    "read_query",
    "rows_to_insert",
]
