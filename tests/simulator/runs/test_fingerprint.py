"""What tells whether results are those of this code, at this scale."""

from __future__ import annotations

from simulator.experiments.experiment import Scale
from simulator.runs.fingerprint import fingerprint

from .coin_experiment import Coins


def test_it_is_the_same_for_the_same() -> None:
    assert fingerprint(Coins().experiment, Scale()) == fingerprint(Coins().experiment, Scale())


def test_it_differs_by_experiment_seed_and_scale() -> None:
    marks = {
        fingerprint(Coins(name).experiment, scale)
        for name in ("9", "14")
        for scale in (Scale(), Scale(seed=2), Scale(is_quick=True))
    }
    assert len(marks) == 6
