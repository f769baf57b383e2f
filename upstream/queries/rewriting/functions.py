"""What DuckDB says about its functions: which aggregate, and which give another value each time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlglot import exp

    from ..duck import Duck

DIALECT: Final = "duckdb"

# Written without brackets, and so missing from the list of functions.
_CLOCK_WORDS: Final = frozenset(
    {"current_date", "current_time", "current_timestamp", "localtime", "localtimestamp"}
)


@dataclass(frozen=True, slots=True)
class Functions:
    """The names of DuckDB's functions by what matters for splitting.

    `hiding` are macros whose body aggregates (`geomean`, `weighted_avg`): they look like functions
    of one row and are not.
    """

    aggregates: frozenset[str]
    volatile: frozenset[str]
    hiding: frozenset[str]

    def is_aggregate(self, node: exp.Expr) -> bool:
        """Tell whether this call aggregates the rows of its block."""
        from sqlglot import exp

        return isinstance(node, exp.Func) and name_of(node) in self.aggregates | self.hiding

    def volatile_in(self, tree: exp.Expr) -> str:
        """Return the name of a function in there whose value is not its arguments' alone."""
        from sqlglot import exp

        for node in tree.find_all(exp.Func, exp.TableSample):
            if isinstance(node, exp.TableSample):
                return "tablesample"
            if name_of(node) in self.volatile:
                return name_of(node)
        return ""


def functions_of(duck: Duck) -> Functions:
    """Ask DuckDB, macros of the user's included."""
    rows = duck.connection.sql(
        "SELECT DISTINCT function_name, function_type, stability, macro_definition "
        "FROM duckdb_functions() WHERE function_type IN ('scalar', 'aggregate', 'macro')"
    ).fetchall()
    aggregates = {name for name, kind, _, _ in rows if kind == "aggregate"}
    volatile = {
        name for name, _, stability, _ in rows if (stability or "CONSISTENT") != "CONSISTENT"
    }
    macros = [(name, body) for name, kind, _, body in rows if kind == "macro" and body]
    return Functions(
        frozenset(aggregates),
        _with_callers(volatile | _CLOCK_WORDS, macros),
        _with_callers(aggregates, macros) - aggregates,
    )


def name_of(node: exp.Func) -> str:
    """Return the name by which DuckDB knows the function."""
    from sqlglot import exp

    if isinstance(node, exp.Anonymous):
        return str(node.name).lower()
    return node.sql(DIALECT, comments=False).partition("(")[0].strip().lower()


def _with_callers(names: Iterable[str], macros: list[tuple[str, str]]) -> frozenset[str]:
    """Add the macros that call any of these, directly or through one another."""
    found = set(names)
    calls = [(name, _words(body)) for name, body in macros]
    while more := {name for name, words in calls if words & found} - found:
        found |= more
    return frozenset(found)


def _words(body: str) -> set[str]:
    """Return the names that are called in a macro: too many rather than too few."""
    import re

    text = re.sub(r"'(?:[^']|'')*'", "''", body)
    return {word.lower() for word in re.findall(r"\w+", text)}
