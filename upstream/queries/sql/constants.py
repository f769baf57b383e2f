"""Finds constants that DuckDB cannot evaluate when a query is defined, not at each row.

`price > 'high'` can be bound, and fails at each row, because the text is cast to the type of the
column. So what every row needs is evaluated once by DuckDB: constants as they are and, where a
constant is compared or combined with something else, the expression with NULL of that type in its
place. What may not be needed is not evaluated: the branches of CASE and coalesce, TRY, the second
side of OR, and columns of subqueries, which may never be read. In a condition with AND both sides
are needed, since no row passes without them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Final

import pyarrow as pa
from sqlglot import exp
from sqlglot.errors import SqlglotError

from ...database.duck import Duck
from ...database.failure import DatabaseError, DatabaseValueError
from ...errors import QueryTypeError
from ...rows.stream_definition import StreamDefinition
from .duck_messages import headline_of
from .functions import Functions, functions_of
from .lending import run_once, written
from .statement import ParsedQuery
from .trees import cast, conjuncts, place_of

_OPAQUE: Final = (exp.Query, exp.Subquery, exp.Exists, exp.Lambda, exp.Window, exp.Star)
_VARYING: Final = (*_OPAQUE, exp.Column, exp.Placeholder, exp.Parameter)
_PLAIN: Final = (exp.Literal, exp.Boolean, exp.Null, exp.Var, exp.Identifier, exp.DataType)
_MEETING: Final = (exp.Binary, exp.Between, exp.In)
"""Operators that convert their operands to one type."""
_LAZY: Final = (exp.Coalesce, exp.Or, exp.And, exp.If)
"""Expressions that always evaluate their first operand, and the others only if necessary."""
_COMPARING: Final = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
_DIGITS: Final = 18
"""Integers of at most this many digits can be compared with numbers of any width."""
_ROW: Final = "one_row"


def check_constants(
    parsed: ParsedQuery, definitions: Mapping[str, StreamDefinition], duck: Duck
) -> None:
    """Raise QueryTypeError for a constant that every row needs and DuckDB cannot evaluate."""
    needed = list(_needed(parsed.query))
    if not needed:
        return
    schemas = parsed.schemas(definitions)
    functions = functions_of(duck)
    trial = _Constants(duck, schemas, functions)
    numbers = _numbers(parsed.query, schemas)
    for select, root in needed:
        for node in _of_expression(root):
            if _compares_numbers(node, numbers):
                continue
            if (said := trial.failure(select, node)) is not None:
                hint = "write a value of the type that is expected there, or cast the other side"
                raise QueryTypeError(said, parsed.text, place_of(node), hint)


def _needed(query: exp.Expr, *, is_outermost: bool = True) -> Iterator[tuple[exp.Select, exp.Expr]]:
    """Yield what a query evaluates for every row that it reads, each with its block."""
    if isinstance(query, exp.Subquery):
        yield from _needed(query.this, is_outermost=is_outermost)
    if isinstance(query, exp.Union):
        yield from _needed(query.this, is_outermost=is_outermost)
        yield from _needed(query.expression, is_outermost=is_outermost)
    if not isinstance(query, exp.Select) or query.args.get("limit") is not None:
        return
    for clause in ("where", "having", "qualify"):
        if (condition := query.args.get(clause)) is not None:
            yield from ((query, each) for each in conjuncts(condition.this))
    if is_outermost:
        yield from ((query, item) for item in query.expressions)
    source = query.args.get("from_")
    if source is not None and isinstance(source.this, exp.Subquery):
        yield from _needed(source.this, is_outermost=False)


def _of_expression(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the constants in an expression that are always evaluated, with their operators."""
    if isinstance(node, (*_OPAQUE, *_PLAIN)) or _calls(node, "try"):
        return
    if not node.find(*_VARYING):
        yield node
    elif isinstance(node, exp.Filter):
        condition = node.expression
        for each in conjuncts(condition.this if isinstance(condition, exp.Where) else condition):
            yield from _of_expression(each)
    elif isinstance(node, exp.Case):
        first = node.args["ifs"][0] if node.args.get("this") is None else node
        yield from _of_expression(first.this)
    elif isinstance(node, _LAZY) or _calls(node, "coalesce", "ifnull", "if"):
        first = next(node.iter_expressions(), None)
        if first is not None:
            yield from _of_expression(first)
    else:
        if isinstance(node, _MEETING) and any(not _is_varying(each) for each in _operands(node)):
            yield node
        for each in node.iter_expressions():
            yield from _of_expression(each)


def _calls(node: exp.Expr, *names: str) -> bool:
    return isinstance(node, exp.Anonymous) and node.name.lower() in names


def _operands(node: exp.Expr) -> list[exp.Expr]:
    return [each for each in node.iter_expressions() if not isinstance(each, exp.DataType)]


def _is_varying(node: exp.Expr) -> bool:
    return node.find(*_VARYING) is not None


def _numbers(query: exp.Query, schemas: Mapping[str, pa.Schema]) -> frozenset[str]:
    """Return the columns that are integers or floats, wherever the query reads them.

    Returns None if columns other than those of streams may have such a name.
    """
    tables = [table.name for table in query.find_all(exp.Table)]
    if query.find(exp.Subquery, exp.CTE) is not None or not schemas.keys() >= set(tables):
        return frozenset()
    fields = [field for name in tables for field in schemas[name]]
    is_number = (pa.types.is_integer, pa.types.is_floating)
    others = {each.name for each in fields if not any(of(each.type) for of in is_number)}
    others |= {each.alias for each in query.find_all(exp.Alias, exp.TableAlias)}
    return frozenset(each.name.lower() for each in fields) - {each.lower() for each in others}


def _compares_numbers(node: exp.Expr, numbers: frozenset[str]) -> bool:
    """Tell whether an integer is compared with a column of numbers, which cannot fail."""
    if not isinstance(node, _COMPARING):
        return False
    sides = node.left, node.right
    column = next((each for each in sides if isinstance(each, exp.Column)), None)
    literal = next((each for each in sides if isinstance(each, exp.Literal)), None)
    if column is None or literal is None:
        return False
    is_short = literal.is_int and len(literal.name) <= _DIGITS
    return is_short and len(column.parts) <= 2 and column.name.lower() in numbers


class _Constants:
    """Lets DuckDB evaluate constants."""

    def __init__(self, duck: Duck, schemas: Mapping[str, pa.Schema], functions: Functions) -> None:
        self._duck = duck
        self._schemas = schemas
        self._functions = functions

    def failure(self, select: exp.Select, node: exp.Expr) -> str | None:
        """Return DuckDB's message if an expression over NULLs cannot be evaluated, or None."""
        aggregates = any(self._functions.is_aggregate(each) for each in node.walk())
        if self._functions.volatile_in(node) or (aggregates and not _is_varying(node)):
            return None
        try:
            alone = node.copy()
            varying = [each for each in _operands(alone) if _is_varying(each)]
            types = self._types(select, varying)
            if any(kind.startswith("UNION") for kind in types):
                return None  # DuckDB has no cast to this type from the text NULL
            for i, each in enumerate(varying):
                each.replace(exp.column(f"operand_{i}"))
            self._evaluate(alone, types)
        except DatabaseValueError as error:
            return headline_of(str(error))
        except (DatabaseError, SqlglotError, ValueError, RecursionError):
            return None  # it only works inside the query, which DuckDB has accepted
        return None

    def _evaluate(self, alone: exp.Expr, types: list[str]) -> None:
        """Evaluate an expression whose operands are NULLs of these types."""
        operands = [
            exp.alias_(cast(exp.column("nothing"), kind), f"operand_{i}")
            for i, kind in enumerate(types)
        ]
        nulls = exp.select(*(operands or [exp.Star()])).from_(exp.to_table(_ROW))
        row = pa.table({"nothing": pa.array([None], pa.string())})
        query = exp.select(exp.alias_(alone, "found")).from_(nulls.subquery("row"))
        run_once(self._duck, query, {_ROW: row})

    def _types(self, select: exp.Select, operands: list[exp.Expr]) -> list[str]:
        """Return the types that expressions of a block have in DuckDB."""
        if not operands:
            return []
        block = exp.Select(
            expressions=[exp.alias_(e.copy(), f"c{i}") for i, e in enumerate(operands)]
        )
        for clause in ("with_", "from_", "joins", "laterals"):
            if select.args.get(clause):
                copied = select.copy().args[clause]
                block.set(clause, copied)
        with closing(written(self._duck, block, self._schemas)) as statement:
            return [*statement.columns()[1]]
