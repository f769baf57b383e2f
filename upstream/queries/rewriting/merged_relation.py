"""Reading a merged relation: partials travel as Arrow, which does not know all types of DuckDB.

A sum of integers is a HUGEINT and comes back as DECIMAL(38, 0); what the finish computes with it
would have other types, so each column is cast back to what it was.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from .not_incremental import NotIncrementalError
from .trees import cast, column
from .trial import Trial

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa
    from sqlglot import exp

    from .trial import Shape


def travelling(partial: exp.Select, groups: int, trial: Trial) -> Shape:
    """Change groups that come back from Arrow as text into text, in place.

    An ENUM is handed out as a dictionary and read as text; merged, it is handed out as text. The
    types of the result are those before the change. States of such types are refused: text has
    another order than an ENUM.
    """
    shape = trial.shape(partial)
    back = arrow_types(shape.schema, trial, "merged")
    for i, (type_name, found) in enumerate(zip(shape.types, back, strict=True)):
        if found == "VARCHAR" and type_name != found:
            if i >= groups:
                raise NotIncrementalError(f"states of type {type_name} do not merge as text")
            item = partial.expressions[i]
            item.set("this", cast(item.this, found))
    return replace(shape, schema=trial.shape(partial).schema)


def reading(shape: Shape, trial: Trial, relation: str) -> Mapping[str, exp.Expr]:
    """Return for each column of a partial how to read it from the merged relation."""
    types = arrow_types(shape.schema, trial, relation)
    return {
        name: _as_it_was(name, type_name, back)
        for name, type_name, back in zip(shape.names, shape.types, types, strict=True)
    }


def arrow_types(schema: pa.Schema, trial: Trial, relation: str) -> tuple[str, ...]:
    """Return the types as which DuckDB reads an Arrow table."""
    from sqlglot import exp

    query = exp.select("*").from_(exp.to_table(relation))
    return trial.lending({relation: schema}).columns(query).types


def _as_it_was(name: str, type_name: str, back: str) -> exp.Expr:
    if type_name == back:
        return column(name)
    if _in_arrow(type_name) != back:
        raise NotIncrementalError(
            f"values of type {type_name} do not survive the way through Arrow"
        )
    return cast(column(name), type_name)


def _in_arrow(type_name: str) -> str:
    """Return what becomes of a type without any loss."""
    text = re.sub(r"\bHUGEINT\b", "DECIMAL(38,0)", type_name)
    return re.sub(r"\b(?:UUID|JSON)\b|\bENUM\([^()]*\)", "VARCHAR", text)
