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
        made = getattr(self, f"_{kind}")()
        sql, is_exact = (made.sql, made.is_exact) if isinstance(made, Aggregate) else (made, True)
        return Aggregate(sql, is_exact, is_merged=kind not in KEPT)

    def _whole_sum(self) -> str:
        return f"sum({self.of.exact_number()})"

    def _real_sum(self) -> Aggregate:
        return Aggregate(f"sum({self.of.real()})", is_exact=False)

    def _count(self) -> str:
        return self.random.choice(["count(*)", f"count({self.of.any()})"])

    def _average(self) -> Aggregate:
        return Aggregate(f"avg({self.of.number()})", is_exact=False)

    def _extreme(self) -> str:
        return f"{self.random.choice(['min', 'max'])}({self.of.any()})"

    def _top(self) -> str:
        name = self.random.choice(["min", "max"])
        return f"{name}({self.of.whole()}, {self.random.randint(1, 4)})"

    def _collated(self) -> str:
        """Return an extreme of which several texts may be, so that the first is chosen."""
        name = self.random.choice(["min", "max"])
        return f"{name}(({self.of.text()}) COLLATE NOCASE)"

    def _logic(self) -> str:
        return f"{self.random.choice(['bool_and', 'bool_or'])}({self.of.truth()})"

    def _spread(self) -> Aggregate:
        names = ["var_samp", "var_pop", "stddev_samp", "stddev_pop", "variance", "stddev"]
        sql = f"{self.random.choice(names)}({self.of.number()})"
        return Aggregate(sql, is_exact=False)

    def _chosen(self) -> Aggregate:
        name = self.random.choice(["arg_max", "arg_min", "max_by", "min_by"])
        return Aggregate(f"{name}({self.of.any()}, {self.of.number()})")

    def _first(self) -> Aggregate:
        name = self.random.choice(["first", "last", "any_value"])
        return Aggregate(f"{name}({self.of.any()})")

    def _mode(self) -> Aggregate:
        return Aggregate(f"mode({self.random.choice([self.of.text, self.of.whole])()})")

    def _in_order(self) -> Aggregate:
        forms = [f"string_agg({self.of.text()}, ',')", f"list({self.of.whole()})"]
        return Aggregate(self.random.choice(forms))

    def _distinct(self) -> Aggregate:
        forms = [f"count(DISTINCT {self.of.any()})", f"sum(DISTINCT {self.of.whole()})"]
        forms.append(f"count(DISTINCT {self.of.text(0)})")
        return Aggregate(self.random.choice(forms))

    def _quantile(self) -> Aggregate:
        number = self.of.number()
        forms = [f"median({number})", f"quantile_cont({number}, 0.25)"]
        forms.append(f"quantile_disc({number}, 0.75)")
        forms.append(f"quantile_cont({number}, [0.1, 0.9])")
        return Aggregate(self.random.choice(forms))

    def _collected(self) -> Aggregate:
        text, whole = self.of.text(), self.of.whole()
        forms = [
            f"string_agg({text}, '-' ORDER BY {text})",
            f"string_agg(DISTINCT {text}, '-' ORDER BY {text})",
            f"list({whole} ORDER BY {whole} DESC)",
            f"histogram({text})",
            f"list(DISTINCT {whole} ORDER BY {whole})",
        ]
        return Aggregate(self.random.choice(forms))

    def _together(self) -> Aggregate:
        name = self.random.choice(["covar_samp", "covar_pop", "corr", "regr_slope", "regr_r2"])
        sql = f"{name}({self.of.number()}, {self.of.number()})"
        return Aggregate(sql, is_exact=False)

    def _moment(self) -> Aggregate:
        name = self.random.choice(["skewness", "kurtosis", "entropy"])
        return Aggregate(f"{name}({self.of.whole(0)})", is_exact=False)

    def _bits(self) -> Aggregate:
        name = self.random.choice(["bit_and", "bit_or", "bit_xor", "count_if"])
        what = self.of.truth() if name == "count_if" else self.of.whole()
        return Aggregate(f"{name}({what})")
