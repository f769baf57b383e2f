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
from .result_columns import stream_of_results
from .standing_needs import check_key
from .standing_options import choices_of
from .statement import (
    CreateStream,
    CreateStreamAs,
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
    "CreateStreamAs",
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
    "choices_of",
    "definition_of",
    "did_you_mean",
    "error_of",
    "is_reserved",
    "parse",
    "parse_as_duckdb",
    "read_query",
    "rows_to_insert",
    "stream_of_results",
]
