"""The registry: every figure of the report that the simulator reproduces, and our own."""

from __future__ import annotations

from pathlib import Path

import pytest

import simulator.experiments
from simulator.errors import OptionError
from simulator.experiments.registry import EXPERIMENTS, MODULES, find_experiment

FIGURES = [
    *("2", "4", "5a", "5b", "7a", "7b", "8", "9"),
    *("12a", "12b", "13a", "13b", "14", "16a", "16b", "17a", "17b"),
]
OURS = ["policies", "bursts", "changing-rates", "weights", "subscribers"]


def test_there_are_the_figures_and_our_own() -> None:
    assert list(EXPERIMENTS) == [*FIGURES, *OURS]


@pytest.mark.parametrize("name", [*FIGURES, *OURS])
def test_each_is_found_under_its_name_and_says_what_it_shows(name: str) -> None:
    experiment = EXPERIMENTS[name]
    assert experiment.name == name
    assert experiment.title
    assert experiment.claim
    assert experiment.is_figure == (name in FIGURES)


def test_every_module_with_an_experiment_is_registered() -> None:
    folder = Path(simulator.experiments.__path__[0])
    found = {path.stem for path in folder.glob("*.py") if "EXPERIMENT: Final" in path.read_text()}
    assert found == set(MODULES.values())


@pytest.mark.parametrize("word", ["5a", "5A", "figure5a", "Figure 5a", "figure_5a"])
def test_a_figure_is_found_however_it_is_called(word: str) -> None:
    assert find_experiment(word).name == "5a"


def test_ours_are_found_by_their_modules_names_too() -> None:
    assert find_experiment("changing_rates").name == "changing-rates"


@pytest.mark.parametrize("word", ["", "3", "figure", "5", "nine", "../9"])
def test_others_are_refused_with_the_names_that_there_are(word: str) -> None:
    with pytest.raises(OptionError, match=r"expected one of 2, 4, .*subscribers"):
        find_experiment(word)
