"""Random aggregates: what is summed, counted, chosen and collected in a window."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from .expressions import Expressions


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate.

    It is exact if it gives the same to the last bit in whatever order and grouping its rows are
    added up, so that it may be compared with a constant and sorted by; and merged if it can be made
    of what it is for parts of the rows, else it needs every value.
    """

    sql: str
    is_exact: bool = True
    is_merged: bool = True


SIMPLE = ("whole_sum", "real_sum", "count", "average", "extreme", "logic", "spread")
ORDERED = ("chosen", "first", "mode", "in_order", "collated")
OTHER = ("distinct", "together", "bits", "quantile", "collected", "moment", "top")
INEXACT = ("real_sum", "average", "spread", "together", "moment")  # sums of these are rounded
KEPT = ("mode", "in_order", "quantile", "collected", "moment")  # these need every value


class Aggregates:
    """Writes aggregates over the columns of a scope."""

    def __init__(self, expressions: Expressions, *, has_order: bool = True) -> None:
        self.of = expressions
        self.random: Random = expressions.random
        self.has_order = has_order

    def exact(self) -> Aggregate:
        """Return one that may be compared and sorted by."""
        return self._filtered(self._make(self.random.choice(("whole_sum", "count", "extreme"))))

    def simple(self) -> Aggregate:
        """Return one that has to be incremental."""
        return self._filtered(self._make(self.random.choice(SIMPLE)))

    def any(self) -> Aggregate:
        """Return any."""
        kinds = SIMPLE * 2 + OTHER + (ORDERED if self.has_order else ())
        made = self._filtered(self._make(self.random.choice(kinds)))
        if self.random.random() < 0.12:
            return self._combined(made)
        return made

    def _combined(self, made: Aggregate) -> Aggregate:
        """Put an aggregate into an expression."""
        forms = [
            Aggregate(f"count(*) + coalesce(sum({self.of.whole(0)}), 0)"),
            Aggregate(f"max({self.of.whole(0)}) - min({self.of.whole(0)})"),
            Aggregate(f"sum({self.of.real(0)}) / count(*)", is_exact=False),
            Aggregate(f"CASE WHEN count(*) > 3 THEN {made.sql} END", made.is_exact, made.is_merged),
        ]
        return self.random.choice(forms)

    def _filtered(self, made: Aggregate) -> Aggregate:
        if self.random.random() < 0.85 or not made.sql.endswith(")") or "ORDER BY" in made.sql:
            return made
        sql = f"{made.sql} FILTER (WHERE {self.of.truth()})"
        return Aggregate(sql, made.is_exact, made.is_merged)

    def _make(self, kind: str) -> Aggregate:
        maker = (
            self._simple if kind in SIMPLE else self._ordered if kind in ORDERED else self._other
        )
        return Aggregate(maker(kind), kind not in INEXACT, kind not in KEPT)

    def _pick(self, *names: str) -> str:
        return self.random.choice(names)

    def _simple(self, kind: str) -> str:
        match kind:
            case "whole_sum":
                return f"sum({self.of.exact_number()})"
            case "real_sum":
                return f"sum({self.of.real()})"
            case "count":
                return self._pick("count(*)", f"count({self.of.any()})")
            case "average":
                return f"avg({self.of.number()})"
            case "extreme":
                return f"{self._pick('min', 'max')}({self.of.any()})"
            case "logic":
                return f"{self._pick('bool_and', 'bool_or')}({self.of.truth()})"
        names = ("var_samp", "var_pop", "stddev_samp", "stddev_pop", "variance", "stddev")
        return f"{self._pick(*names)}({self.of.number()})"

    def _ordered(self, kind: str) -> str:
        match kind:
            case "chosen":
                name = self._pick("arg_max", "arg_min", "max_by", "min_by")
                return f"{name}({self.of.any()}, {self.of.number()})"
            case "first":
                return f"{self._pick('first', 'last', 'any_value')}({self.of.any()})"
            case "mode":
                return f"mode({self.random.choice([self.of.text, self.of.whole])()})"
            case "in_order":
                return self._pick(f"string_agg({self.of.text()}, ',')", f"list({self.of.whole()})")
        # an extreme that several texts may be, so that the first is chosen
        return f"{self._pick('min', 'max')}(({self.of.text()}) COLLATE NOCASE)"

    def _other(self, kind: str) -> str:
        match kind:
            case "top":
                name = self._pick("min", "max")
                return f"{name}({self.of.whole()}, {self.random.randint(1, 4)})"
            case "distinct":
                forms = [f"count(DISTINCT {self.of.any()})", f"sum(DISTINCT {self.of.whole()})"]
                return self._pick(*forms, f"count(DISTINCT {self.of.text(0)})")
            case "quantile":
                number = self.of.number()
                forms = [f"median({number})", f"quantile_cont({number}, 0.25)"]
                forms.append(f"quantile_disc({number}, 0.75)")
                return self._pick(*forms, f"quantile_cont({number}, [0.1, 0.9])")
            case "collected":
                return self._collected()
            case "together":
                name = self._pick("covar_samp", "covar_pop", "corr", "regr_slope", "regr_r2")
                return f"{name}({self.of.number()}, {self.of.number()})"
            case "moment":
                return f"{self._pick('skewness', 'kurtosis', 'entropy')}({self.of.whole(0)})"
        name = self._pick("bit_and", "bit_or", "bit_xor", "count_if")
        return f"{name}({self.of.truth() if name == 'count_if' else self.of.whole()})"

    def _collected(self) -> str:
        text, whole = self.of.text(), self.of.whole()
        return self._pick(
            f"string_agg({text}, '-' ORDER BY {text})",
            f"string_agg(DISTINCT {text}, '-' ORDER BY {text})",
            f"list({whole} ORDER BY {whole} DESC)",
            f"histogram({text})",
            f"list(DISTINCT {whole} ORDER BY {whole})",
        )
