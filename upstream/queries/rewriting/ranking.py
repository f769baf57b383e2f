"""Queries about rows in an order, of which only the first of each group matter.

The greatest value of a group is its first one in descending order, and the first rows of a LIMIT
are those of one group. As rows come and go, a few more than these are kept of each group. Two
queries do that: one puts some rows in order, and one reads the first rows of some groups again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from ..sql.names import STEP
from ..sql.trees import call, column, is_known
from .block import as_source
from .relations import PARTIALS

PLACE: Final = "__place_0"
"""The column with the place of a row before it is put in order."""
WANTED: Final = "wanted"
"""The relation of the groups that are read again."""
_ROWS: Final = "__rows"


@dataclass(frozen=True, slots=True)
class Ranking:
    """An order of rows in which the first `count` of each group matter.

    `rows` reads a chunk in which rows have numbers, `__step`, that ascend with their arrival. It
    returns the number, the columns of `groups`, and those of `columns`, over which `order` is. Rows
    that are equal in this order are in the order of arrival. A row whose column `known` is NULL has
    no place in it. With `known`, the order is by this column alone, and all of `order` is its
    direction.
    """

    rows: exp.Select
    groups: tuple[str, ...]
    columns: tuple[str, ...]
    order: tuple[exp.Expr, ...]
    count: int
    known: str | None = None

    @property
    def is_downwards(self) -> bool:
        """Whether the greatest value comes first, in the order by one column."""
        [order] = self.order
        return bool(order.args["desc"])

    def in_order(self) -> exp.Select:
        """Return the query that puts partials in order, and returns their places."""
        query = exp.select(column(PLACE)).from_(exp.to_table(PARTIALS))
        return query.order_by(*self._whole_order(), _ascending(PLACE), copy=False)

    def first_rows(self, count: int, *, of_wanted: bool) -> exp.Select:
        """Return the query for the first rows of all groups, or of those that are wanted.

        If few groups are read, the number of a row and its value are one key, because DuckDB then
        keeps the first rows in a heap, and sorts nothing.
        """
        query = exp.select(exp.Star()).from_(as_source(self.rows.copy(), _ROWS))
        if self.known is not None:
            query.where(is_known(column(self.known)), copy=False)
        if not self.groups:
            return query.order_by(*self._whole_order(), copy=False).limit(count)
        if of_wanted:
            query.where(self._is_wanted(), copy=False)
        by = [column(name) for name in self.groups]
        order = self._single_key() if of_wanted else self._whole_order()
        place = exp.Window(
            this=call("row_number"),
            partition_by=by,
            order=exp.Order(expressions=order),
            over="OVER",
        )
        limit = exp.Literal.number(count)
        query.set("qualify", exp.Qualify(this=exp.LTE(this=place, expression=limit)))
        return query

    def _whole_order(self) -> list[exp.Expr]:
        return [*(each.copy() for each in self.order), _ascending(STEP)]

    def _single_key(self) -> list[exp.Expr]:
        if self.known is None:
            return self._whole_order()
        number: exp.Expr = column(STEP)
        if self.is_downwards:
            number = exp.Neg(this=number)
        both = call("row", column(self.known), number)
        return [exp.Ordered(this=both, desc=self.is_downwards)]

    def _is_wanted(self) -> exp.Expr:
        same = [
            exp.NullSafeEQ(this=column(name, WANTED), expression=column(name, _ROWS))
            for name in self.groups
        ]
        wanted = exp.select(exp.Literal.number(1)).from_(exp.to_table(WANTED))
        return exp.Exists(this=wanted.where(*same, copy=False))


def _ascending(name: str) -> exp.Ordered:
    return exp.Ordered(this=column(name), desc=False)
