"""An experiment that costs nothing, for tests of what runs experiments."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from simulator.experiments.experiment import Experiment, Point, Scale, Table, Verdict, column

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass
class Coins:
    """Toss coins: one point for each number of them. Notes what was measured."""

    name: str = "9"
    measured: list[int] = field(default_factory=list)
    fails_at: int | None = None

    def points(self, scale: Scale) -> list[Point]:
        """Return one coin, two, and so on."""
        return [{"coins": coins} for coins in range(1, scale.choose(full=6, quick=3) + 1)]

    def measure(self, point: Point, scale: Scale) -> Table:
        """Toss them."""
        coins = int(point["coins"])
        if coins == self.fails_at:
            raise KeyboardInterrupt
        self.measured.append(coins)
        heads = int(np.random.default_rng([scale.seed, coins]).binomial(coins, 0.5))
        return [{"coins": coins, "heads": heads, "share": heads / coins}]

    def draw(self, table: Table, figure: Figure) -> None:
        """Draw the heads."""
        figure.subplots().plot(column(table, "coins"), column(table, "heads"))

    def verdict(self, table: Table) -> Verdict:
        """Count the heads."""
        return Verdict(f"{sum(column(table, 'heads')):g} heads & more.", held=True)

    @property
    def experiment(self) -> Experiment:
        """Return it as an experiment."""
        return Experiment(
            name=self.name,
            title="Coins <tossed>",
            claim="Heads are as many as tails.",
            points=self.points,
            measure=self.measure,
            draw=self.draw,
            verdict=self.verdict,
        )


@dataclass
class Heard:
    """Progress that remembers what it hears."""

    expected: dict[str, tuple[int, int]] = field(default_factory=dict)
    advanced: list[str] = field(default_factory=list)

    def expect(self, name: str, *, points: int, measured: int) -> None:
        """Note it."""
        self.expected[name] = (points, measured)

    def advance(self, name: str) -> None:
        """Note it."""
        self.advanced.append(name)
