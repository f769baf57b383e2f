"""Which tables a query reads, and which one a statement would change under it."""

from __future__ import annotations

from sqlglot import exp

from ...database.duck import Duck
from .names import is_reserved
from .source_text import SourceText
from .statement import OtherStatement


def tables_read(query: exp.Query) -> frozenset[str]:
    """Return the names of the tables that a query over chunks reads, in small letters."""
    defined = {cte.alias.lower() for cte in query.find_all(exp.CTE)}
    names = {table.name.lower() for table in query.find_all(exp.Table)}
    return frozenset(name for name in names - defined if name and not is_reserved(name))


def changed_tables(statement: OtherStatement, duck: Duck) -> frozenset[str]:
    """Return the tables of which a statement may change more than the rows, in small letters.

    Of a statement that only DuckDB can read these are all names that are in it.
    """
    tree = statement.tree
    if tree is None or isinstance(tree, exp.Command):
        is_change = duck.statement_type(statement.text) in {"ALTER", "CREATE", "DROP"}
        return frozenset(words_of(statement.text)) if is_change else frozenset()
    is_replaced = isinstance(tree, exp.Create) and bool(tree.args.get("replace"))
    if not is_replaced and not isinstance(tree, exp.Drop | exp.Alter):
        return frozenset()
    table = tree.find(exp.Table)
    return frozenset() if table is None else frozenset({table.name.lower()})


def words_of(text: str) -> set[str]:
    """Return all names and other words in a statement, in small letters."""
    return {token.text.lower() for token in SourceText(text).all_tokens()}
