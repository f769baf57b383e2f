"""DuckDB's functions: which of them aggregate, and which return another value each time."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Final

from sqlglot import exp

from ...database.duck import Duck
from .dialect import DIALECT

# These are written without brackets, so the list of functions lacks them.
_CLOCK_WORDS: Final = frozenset(
    {"current_date", "current_time", "current_timestamp", "localtime", "localtimestamp"}
)

_CALLED: Final = re.compile(r'"?(\w+)"?(?:\(|$)')
"""How a call begins; CURRENT_DATE and similar functions have no brackets."""

_BLIND_TO_ORDER: Final = frozenset(
    {
        *{"sum", "count", "count_star", "count_if", "countif", "min", "max", "avg", "mean"},
        *{"median", "quantile", "quantile_cont", "quantile_disc", "mad", "entropy", "product"},
        *{"var_pop", "var_samp", "variance", "stddev_pop", "stddev_samp", "stddev", "sem"},
        *{"bool_and", "bool_or", "bit_and", "bit_or", "bit_xor", "histogram"},
        *{"kurtosis", "kurtosis_pop", "skewness", "approx_count_distinct"},
        *{"corr", "covar_pop", "covar_samp", "regr_slope", "regr_intercept", "regr_r2"},
        *{"regr_count", "regr_avgx", "regr_avgy", "regr_sxx", "regr_syy", "regr_sxy"},
        *{"fsum", "kahan_sum", "sumkahan", "favg", "geomean", "geometric_mean"},
        *{"wavg", "weighted_avg", "histogram_exact", "bitstring_agg"},
    }
)


@dataclass(frozen=True, slots=True)
class Functions:
    """The names of DuckDB's functions, grouped by what matters for splitting.

    `hiding` are macros whose body aggregates (`geomean`, `weighted_avg`), although they look like
    functions of one row. `reading` are macros whose body may read a table. `own` are the macros
    that the user has defined.
    """

    aggregates: frozenset[str]
    volatile: frozenset[str]
    hiding: frozenset[str]
    reading: frozenset[str]
    own: frozenset[str]

    def is_aggregate(self, node: exp.Expr) -> bool:
        """Tell whether this call aggregates the rows of its block."""
        name = name_of(node)
        return name in self.aggregates or name in self.hiding

    def sees_order(self, node: exp.Expr) -> bool:
        """Tell whether an aggregate may depend on the order of its rows."""
        return name_of(node) not in _BLIND_TO_ORDER

    def volatile_in(self, tree: exp.Expr) -> str:
        """Return a function in the tree whose value does not depend on its arguments alone."""
        if tree.find(exp.TableSample):
            return "tablesample"
        calls = [(name_of(node), node) for node in tree.find_all(exp.Func)]
        return next((name for name, node in calls if self._is_volatile(name, node)), "")

    def reading_in(self, tree: exp.Expr) -> str:
        """Return a macro in the tree that may read a table; "" if there is none."""
        names = map(name_of, tree.find_all(exp.Func))
        return next((name for name in names if name in self.reading), "")

    def own_in(self, tree: exp.Expr) -> frozenset[str]:
        """Return the user's macros that a tree calls, directly."""
        return self.own.intersection(map(name_of, tree.find_all(exp.Func)))

    def _is_volatile(self, name: str, node: exp.Expr) -> bool:
        if name == "age" and len([*node.iter_expressions()]) == 2:
            return False  # with two arguments; with one, it depends on the current time
        return name in self.volatile


def functions_of(duck: Duck) -> Functions:
    """Return DuckDB's functions, including the user's macros."""
    if duck.has_own_functions:
        return duck.known(_asked)
    built_in = _built_in()
    if not built_in:
        built_in.append(_asked(duck))
    return built_in[0]


@cache
def _built_in() -> list[Functions]:
    """Return the functions of a database that has none of its own, after asking one once.

    They stay the same as long as the process runs.
    """
    return []


def _asked(duck: Duck) -> Functions:
    rows = duck.rows(
        "SELECT DISTINCT lower(function_name), function_type, stability, macro_definition, "
        "if(internal OR NOT contains(function_type, 'macro'), '', lower(function_name)) "
        "FROM duckdb_functions() "
        "WHERE function_type IN ('scalar', 'aggregate', 'macro', 'table_macro')"
    )
    aggregates = {name for name, kind, *_ in rows if kind == "aggregate"}
    volatile = {
        name for name, _, stability, *_ in rows if (stability or "CONSISTENT") != "CONSISTENT"
    }
    own = frozenset(own for *_, own in rows if own)
    macros = [(name, body) for name, kind, _, body, _ in rows if kind == "macro" and body]
    return Functions(
        frozenset(aggregates),
        _with_callers(volatile | _CLOCK_WORDS, macros),
        _with_callers(aggregates, macros) - aggregates,
        _with_callers({"from"}, macros) & own,
        own,
    )


def name_of(node: exp.Expr) -> str:
    """Return DuckDB's name of the function that is called here; "" if there is no call.

    sqlglot also counts things as functions that are not written as calls, such as AND and COLLATE.
    """
    if isinstance(node, exp.Anonymous):
        return str(node.name).lower()
    if not isinstance(node, exp.Func):
        return ""
    text = node.sql(DIALECT, comments=False)
    first = next(node.iter_expressions(), None)
    if first is not None and text.startswith(f"{first.sql(DIALECT, comments=False)} "):
        return ""  # an operator after its first operand
    found = _CALLED.match(text)
    return found[1].lower() if found else ""


def _with_callers(names: Iterable[str], macros: list[tuple[str, str]]) -> frozenset[str]:
    """Add the macros that call any of these, directly or indirectly."""
    found = set(names)
    calls = [(name, _words(body)) for name, body in macros]
    while more := {name for name, words in calls if words & found} - found:
        found |= more
    return frozenset(found)


def _words(body: str) -> set[str]:
    """Return the names that a macro calls; it may return too many, but not too few."""
    text = re.sub(r"'(?:[^']|'')*'", "''", body)
    return {word.lower() for word in re.findall(r"\w+", text)}
