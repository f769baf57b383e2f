"""Checks that DuckDB reads what sqlglot wrote for a query as it reads what the user wrote.

DuckDB parses both texts and returns its trees as JSON, and the trees are compared. Differences in
notation only are removed first. So no translation by sqlglot, and nothing that it leaves out, goes
unnoticed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from ...database.duck import Duck
from ...errors import QuerySyntaxError

_Json: TypeAlias = "dict[str, _Json] | list[_Json] | str | int | bool | None"
_Tree: TypeAlias = dict[str, _Json]

_LOCATIONS: Final = re.compile(r'"query_location(?:_length)?":\d+,?')
_UNIMPORTANT: Final = {
    *("query_location", "query_location_length"),
    "is_operator",  # `a + b` or "+"(a, b)
    "qualified_name",  # the name and its schema say the same
}
_SERIALIZE: Final = "SELECT json_serialize_sql(?::VARCHAR), json_serialize_sql(?::VARCHAR)"
_ERROR: Final = '{"error":true'
_NOWHERE: Final = 1 << 63
"""From here on, DuckDB's number for a place means that there is none."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Two trees differ; `place` is where in the user's text, as far as DuckDB knows."""

    place: int | None


def difference(
    text: str, written: str, duck: Duck, *, for_duckdb: str | None = None
) -> Difference | None:
    """Return where DuckDB reads two texts of a query differently; None if it does not.

    Raises QuerySyntaxError if DuckDB cannot read the first text. `for_duckdb` is a text of the same
    length that DuckDB reads instead of the first.
    """
    readable = text if for_duckdb is None else for_duckdb
    [(one, other)] = duck.rows(_SERIALIZE, [readable, written])
    if _LOCATIONS.sub("", one) == _LOCATIONS.sub("", other) and not one.startswith(_ERROR):
        return None
    tree: _Tree = json.loads(one)
    if tree["error"] and tree["error_type"] != "parser":
        return Difference(None)  # it is not a single SELECT, as in a PIVOT over all values
    if tree["error"]:
        message, place = str(tree["error_message"]), int(str(tree.get("position", 0)))
        reason = message[:1].lower() + message[1:]
        raise QuerySyntaxError(reason, text, _character(readable, place))
    found = _Comparison(duck).of(tree, json.loads(other), None)
    if found is None or found.place is None:
        return found
    return Difference(_character(readable, found.place))


def _character(text: str, byte: int) -> int:
    """Return the character of a text at this byte, since DuckDB counts bytes."""
    return len(text.encode()[:byte].decode(errors="ignore"))


_ALIASES: Final = {
    "type_name": "SELECT lower(type_name), lower(logical_type) FROM duckdb_types()",
    "function_name": "SELECT function_name, coalesce(alias_of, function_name) "
    "FROM duckdb_functions()",
}
"""Names that have aliases in DuckDB, and the query for the name that the aliases share."""


class _Comparison:
    """Compares trees; each pair of nodes is first brought to a form that is unique."""

    def __init__(self, duck: Duck) -> None:
        self._duck = duck
        self._asked: dict[str, dict[str, str]] = {}

    def of(self, one: _Json, other: _Json, place: int | None) -> Difference | None:
        """Return the first difference; `place` is that of the nearest node with a place."""
        if isinstance(one, dict) and isinstance(other, dict):
            return self._of_nodes(one, other, place)
        if isinstance(one, list) and isinstance(other, list):
            if len(one) != len(other):
                return Difference(place)
            found = (self.of(a, b, place) for a, b in zip(one, other, strict=True))
            return next((each for each in found if each is not None), None)
        return None if one == other else Difference(place)

    def _of_nodes(self, one: _Tree, other: _Tree, place: int | None) -> Difference | None:
        at = one.get("query_location")
        place = at if isinstance(at, int) and at < _NOWHERE else place
        for rule in _RULES:
            one, other = rule(one), rule(other)
        for name in sorted((one.keys() | other.keys()) - _UNIMPORTANT):
            mine, others = one.get(name), other.get(name)
            if mine == others or (name in _ALIASES and self._is_alias(name, mine, others)):
                continue
            if (deeper := self.of(mine, others, place)) is not None:
                return deeper
        return None

    def _is_alias(self, kind: str, one: object, other: object) -> bool:
        """Tell whether two names are of the same type or function."""
        names = str(one).lower(), str(other).lower()
        if names[0] != names[1] and kind not in self._asked:
            rows = self._duck.rows(_ALIASES[kind])
            self._asked[kind] = {str(name): str(of) for name, of in rows}
        known = self._asked.get(kind, {})
        return known.get(names[0], names[0]) == known.get(names[1], names[1])


_POSITIVE: Final[Mapping[object, str]] = {
    "OPERATOR_IS_NULL": "OPERATOR_IS_NOT_NULL",
    "COMPARE_NOT_DISTINCT_FROM": "COMPARE_DISTINCT_FROM",
}


def _negated(node: _Tree) -> _Tree:
    """Read `NOT x IS NULL` as `x IS NOT NULL`, and `NOT x IS TRUE` as `x IS NOT TRUE`."""
    match node:
        case {"type": "OPERATOR_NOT", "children": [dict(inner)]} if inner["type"] in _POSITIVE:
            return inner | {"type": _POSITIVE[inner["type"]], "alias": node["alias"]}
    return node


def _column(node: _Tree) -> _Tree:
    """Ignore the case of column names."""
    match node:
        case {"class": "COLUMN_REF", "column_names": list(names)}:
            return node | {"column_names": [str(name).lower() for name in names]}
    return node


def _number(node: _Tree) -> _Tree:
    """Read `1_000` as `1000`."""
    match node:
        case {"class": "CONSTANT", "literal": {"kind": kind, "text": str(text)}}:
            if kind != "STRING":
                return node | {"literal": {"kind": kind, "text": text.replace("_", "")}}
    return node


def _list(node: _Tree) -> _Tree:
    """Read `[1, 2]` as `ARRAY[1, 2]`."""
    match node:
        case {"function_name": "list_value", "filter": None, "arguments": list(arguments)}:
            items = [each["expression"] for each in arguments if isinstance(each, dict)]
            array: _Tree = {"class": "OPERATOR", "type": "ARRAY_CONSTRUCTOR"}
            array |= {"alias": node["alias"], "children": [*items]}
            return array
    return node


_RULES: Final[tuple[Callable[[_Tree], _Tree], ...]] = (_negated, _column, _number, _list)
"""Each returns a node in another form, or unchanged."""
