"""Random expressions over the columns of a query, by type."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from operator import add
from random import Random


@dataclass(frozen=True, slots=True)
class Scope:
    """The columns that an expression may name, by type, each as it is to be written."""

    whole: tuple[str, ...]
    real: tuple[str, ...] = ()
    decimal: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    truth: tuple[str, ...] = ()
    time: tuple[str, ...] = ()

    def and_also(self, other: Scope) -> Scope:
        """Return the columns of both."""
        return Scope(*map(add, astuple(self), astuple(other)))


@dataclass(slots=True)
class Expressions:
    """Writes expressions over one row, which are the same to the last bit wherever evaluated."""

    random: Random
    scope: Scope
    can_fail: bool = False

    def whole(self, depth: int = 1) -> str:
        """Return an integer."""
        name = self.random.choice(self.scope.whole)
        if depth == 0 or self.random.random() < 0.6:
            return name
        other = self.whole(depth - 1)
        forms = [f"{name} + {other}", f"{name} * 2", f"{name} % 3", f"coalesce({name}, -1)"]
        forms.append(f"CASE WHEN {self.truth(0)} THEN {name} ELSE {other} END")
        forms.append(f"-{name}")
        if self.scope.text:
            forms.append(f"length({self.random.choice(self.scope.text)})")
        if self.can_fail and self.scope.truth:  # which only trades have
            forms.extend(["note::INTEGER"] * 12)
        return self._bracketed(self.random.choice(forms))

    def real(self, depth: int = 1) -> str:
        """Return a double."""
        if not self.scope.real:
            return f"{self.whole(depth)}::DOUBLE"
        name = self.random.choice(self.scope.real)
        if depth == 0 or self.random.random() < 0.6:
            return name
        forms = [f"{name} * {self.whole(0)}", f"abs({name})", f"{name} - {self.real(0)}"]
        forms.append(f"{name} / nullif({self.whole(0)}, 0)")
        forms.append(f"greatest({name}, 1.5)")
        forms.append(f"CASE WHEN {self.truth(0)} THEN {name} END")
        return self._bracketed(self.random.choice(forms))

    def exact_number(self) -> str:
        """Return a number that sums exactly."""
        if self.scope.decimal and self.random.random() < 0.3:
            return self.random.choice(self.scope.decimal)
        return self.whole()

    def number(self) -> str:
        """Return a number of any type."""
        return self.exact_number() if self.random.random() < 0.5 else self.real()

    def text(self, depth: int = 1) -> str:
        """Return a string."""
        if not self.scope.text:
            return f"{self.whole(0)}::VARCHAR"
        name = self.random.choice(self.scope.text)
        if depth == 0 or self.random.random() < 0.7:
            return name
        forms = [f"lower({name})", f"{name} || '!'", f"coalesce({name}, 'none')"]
        forms.append(f"CASE WHEN {self.truth(0)} THEN {name} ELSE 'else' END")
        return self._bracketed(self.random.choice(forms))

    def truth(self, depth: int = 1) -> str:
        """Return a condition."""
        forms = [f"{self.whole(0)} > {self.random.randint(-2, 6)}"]
        forms.append(f"{self.whole(0)} IN (1, 2, 4)")
        forms.append(f"{self.whole(0)} BETWEEN 0 AND 5")
        forms.append(f"{self.whole(0)} IS NOT NULL")
        forms.extend(f"{name} < {self.random.randint(0, 60) / 4}" for name in self.scope.real)
        forms.extend(f"{name} <> 'A'" for name in self.scope.text)
        forms.extend(f"{name} LIKE 'b%'" for name in self.scope.text)
        forms.extend(self.scope.truth)
        if depth:
            forms.append(self._bracketed(f"{self.truth(0)} OR {self.truth(0)}"))
            forms.append(self._bracketed(f"{self.truth(0)} AND {self.truth(0)}"))
            forms.append(f"NOT ({self.truth(0)})")
        return self.random.choice(forms)

    def _bracketed(self, expression: str) -> str:
        """Write brackets or not: a reader of the expression must see through them."""
        return f"({expression})" if self.random.random() < 0.4 else expression

    def any(self) -> str:
        """Return a value of any type."""
        makers = [self.whole, self.real, self.text, self.truth]
        if self.scope.time and self.random.random() < 0.15:
            return self.random.choice(self.scope.time)
        return self.random.choice(makers)()

    def group(self) -> str:
        """Return something of which there are few values."""
        forms: list[str] = [f"{self.whole(0)} % 3", f"{self.whole(0)} > 2", *self.scope.truth]
        forms.extend(self.scope.text * 3)
        forms.extend(f"upper({name})" for name in self.scope.text)
        forms.extend(f"date_trunc('minute', {name})" for name in self.scope.time)
        forms.append(f"CASE WHEN {self.truth(0)} THEN 'yes' ELSE 'no' END")
        return self.random.choice(forms)
