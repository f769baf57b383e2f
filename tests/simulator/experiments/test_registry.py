"""The registry: every figure of the report that the simulator reproduces, and our own.

What holds for every experiment is tested here: its quick results, and the labels of its plot.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import simulator.experiments
from simulator.errors import OptionError
from simulator.experiments.registry import EXPERIMENTS, MODULES, find_experiment

from .golden import assert_drawn, assert_golden

LABELS = {
    "2": ("time", "staleness"),
    "4": ("time (number of updates)", "staleness (number of updates)"),
    "5a": ("load factor", "staleness (number of updates)"),
    "5b": ("load factor", "staleness (number of updates)"),
    "7a": ("load factor", "mean staleness (in updates)"),
    "7b": ("load factor", "mean staleness (in updates)"),
    "8": ("symbols by rank", "number of updates"),
    "9": ("number of slow updaters", "queue staleness, IN-PLACE / LINECUTTING"),
    "12a": ("time", "arrivals"),
    "12b": ("time", "arrivals"),
    "13a": ("window size", "application staleness"),
    "13b": ("window size", "application staleness"),
    "14": ("window size (ticks)", "application staleness, EAGER / LAZY"),
    "16a": ("Zipf theta", "average effective usage"),
    "16b": ("Zipf theta", "average usage, in tuples"),
    "17a": ("load factor", "average effective usage"),
    "17b": ("load factor", "average usage, in tuples"),
    "policies": ("load", "application staleness\nover that of IN-PLACE"),
    "bursts": ("slow keys of 100, updating in bursts", "queue staleness / IN-PLACE"),
    "changing-rates": ("updates until the rates change", "queue staleness, index / IN-PLACE"),
    "weights": ("weight of a tenth of the keys", "weighted staleness / IN-PLACE"),
    "subscribers": ("processing cost of the subscriber", "queue staleness"),
}
"""The experiments in their order, each with the labels of the first panel's axes."""


def test_the_experiments_are_the_figures_and_our_own() -> None:
    assert list(EXPERIMENTS) == list(LABELS)


@pytest.mark.parametrize("name", LABELS)
def test_the_quick_results_are_the_golden_ones(name: str) -> None:
    assert_golden(EXPERIMENTS[name])


@pytest.mark.parametrize("name", LABELS)
def test_it_is_drawn_with_the_labels_of_its_axes(name: str) -> None:
    x_label, y_label = LABELS[name]
    assert_drawn(EXPERIMENTS[name], x_label=x_label, y_label=y_label)


def test_every_module_with_an_experiment_is_registered() -> None:
    folder = Path(simulator.experiments.__path__[0])
    exported = ("\nEXPERIMENT: Final", "\nFIGURES: Final")
    texts = {path.stem: path.read_text() for path in folder.glob("*.py")}
    found = {name for name, text in texts.items() if any(each in text for each in exported)}
    assert found == set(MODULES.values())


@pytest.mark.parametrize("word", ["5a", "5A", "figure5a", "Figure 5a", "figure_5a"])
def test_a_figure_is_found_however_it_is_called(word: str) -> None:
    assert find_experiment(word).name == "5a"


def test_ours_are_found_by_their_modules_names_too() -> None:
    assert find_experiment("changing_rates").name == "changing-rates"


@pytest.mark.parametrize("word", ["", "3", "figure", "5", "nine", "../9"])
def test_an_unknown_name_is_refused_with_a_list_of_names(word: str) -> None:
    with pytest.raises(OptionError, match=r"expected one of 2, 4, .*subscribers"):
        find_experiment(word)
