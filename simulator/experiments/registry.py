"""All experiments by name, the report's figures first.

An experiment is found by importing its module, so that running one does not import them all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Final

from ..errors import OptionError
from .experiment import Experiment

MODULES: Final = {
    "2": "figure_2",
    "4": "figure_4",
    "5a": "figure_5a",
    "5b": "figure_5b",
    "7a": "figure_7a",
    "7b": "figure_7b",
    "8": "figure_8",
    "9": "figure_9",
    "12a": "figure_12a",
    "12b": "figure_12b",
    "13a": "figure_13a",
    "13b": "figure_13b",
    "14": "figure_14",
    "16a": "figure_16a",
    "16b": "figure_16b",
    "17a": "figure_17a",
    "17b": "figure_17b",
    "policies": "policies",
    "bursts": "bursts",
    "changing-rates": "changing_rates",
    "weights": "weights",
    "subscribers": "subscribers",
}
"""The module of each experiment, by the experiment's name."""


class _Experiments(Mapping[str, Experiment]):
    """Experiments by name, each imported when it is first asked for."""

    def __getitem__(self, name: str) -> Experiment:
        module = import_module(f"{__package__}.{MODULES[name]}")
        experiment = module.EXPERIMENT
        assert isinstance(experiment, Experiment)
        assert experiment.name == name, "an experiment of another name"
        return experiment

    def __iter__(self) -> Iterator[str]:
        return iter(MODULES)

    def __len__(self) -> int:
        return len(MODULES)


EXPERIMENTS: Final[Mapping[str, Experiment]] = _Experiments()


def find_experiment(name: str) -> Experiment:
    """Return an experiment; OptionError, with the names that there are, if there is none."""
    wanted = name.lower().removeprefix("figure").strip(" -_").replace("_", "-")
    if wanted not in EXPERIMENTS:
        raise OptionError("experiment", repr(name), "one of " + ", ".join(EXPERIMENTS))
    return EXPERIMENTS[wanted]
