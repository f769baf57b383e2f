"""Semi and anti joins with a stream, written as EXISTS.

Whether a row has a match depends on all rows of the stream, so it is a late condition like any
other subquery over a stream.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlglot import exp

from ..sql.trees import chunks_in, column, named
from .block import read_block
from .not_incremental import NotIncrementalError

if TYPE_CHECKING:
    from .block import Source
    from .trial import Trial

ONE: Final = "__one"
"""The column of a subquery that is only asked whether it has rows."""


def with_exists(select: exp.Select, trial: Trial) -> exp.Select:
    """Return a block without its semi and anti joins with streams; they become conditions."""
    joins = select.args.get("joins") or []
    if not any(map(_is_meant, joins)):
        return select
    copy = select.copy()
    joins = copy.args["joins"]
    sources = read_block(select, trial).sources
    conditions = []
    for number, join in enumerate(list(joins), 1):
        if not _is_meant(join):
            continue
        if any(later.method or later.side in ("RIGHT", "FULL") for later in joins[number:]):
            raise NotIncrementalError(
                f"{join.kind} JOIN with a stream must come after other outer joins"
            )
        rows = exp.select(named(exp.Literal.number(1), ONE)).from_(join.this.copy())
        exists = exp.Exists(this=rows.where(*_condition(join, number, sources)))
        conditions.append(exp.Not(this=exists) if join.kind == "ANTI" else exists)
    copy.set("joins", [join for join in joins if not _is_meant(join)])
    return copy.where(*conditions, copy=False)


def _is_meant(join: exp.Join) -> bool:
    return join.kind in ("SEMI", "ANTI") and not join.method and bool(chunks_in(join.this))


def _condition(join: exp.Join, number: int, sources: tuple[Source, ...]) -> list[exp.Expr]:
    """Return ON or, for USING, what it compares; `number` is that of the join's source."""
    if join.args.get("on"):
        return [join.args["on"].copy()]
    left = [source for source in sources[:number] if source.is_visible]
    return [_equal(name.name, left, sources[number]) for name in join.args.get("using") or ()]


def _equal(name: str, left: list[Source], right: Source) -> exp.Expr:
    owners = [each for each in left if name.lower() in map(str.lower, each.columns)]
    if len(owners) != 1:
        raise NotIncrementalError(f"several relations have {name}: write ON instead of USING")
    mine, other = (column(name, each.alias) for each in (owners[0], right))
    return exp.EQ(this=mine, expression=other)
