"""All experiments by name, the report's figures first.

A module has one `EXPERIMENT`, or several `FIGURES` of one family. It is imported when one of its
experiments is looked up, so that running one does not import them all.
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
    "5a": "figure_5",
    "5b": "figure_5",
    "7a": "figure_7",
    "7b": "figure_7",
    "8": "figure_8",
    "9": "figure_9",
    "12a": "figure_12",
    "12b": "figure_12",
    "13a": "figure_13",
    "13b": "figure_13",
    "14": "figure_14",
    "16a": "memory_figures",
    "16b": "memory_figures",
    "17a": "memory_figures",
    "17b": "memory_figures",
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
        family = module.FIGURES if hasattr(module, "FIGURES") else (module.EXPERIMENT,)
        [experiment] = (each for each in family if each.name == name)
        assert isinstance(experiment, Experiment)
        return experiment

    def __iter__(self) -> Iterator[str]:
        return iter(MODULES)

    def __len__(self) -> int:
        return len(MODULES)


EXPERIMENTS: Final[Mapping[str, Experiment]] = _Experiments()


def find_experiment(name: str) -> Experiment:
    """Return an experiment; OptionError, which lists the names, if it does not exist."""
    wanted = name.lower().removeprefix("figure").strip(" -_").replace("_", "-")
    if wanted not in EXPERIMENTS:
        raise OptionError("experiment", repr(name), "one of " + ", ".join(EXPERIMENTS))
    return EXPERIMENTS[wanted]
