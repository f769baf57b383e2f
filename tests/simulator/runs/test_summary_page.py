"""The page of all results: every plot, verdict and table, with nothing that is not escaped."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

from simulator.experiments.experiment import Scale
from simulator.runs.results import Result, write_result
from simulator.runs.summary_page import summary_page, write_summary_page

from .coin_experiment import Coins


class Links(HTMLParser):
    """Collect what a page links to, and check that every tag is closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for name, value in attributes if name in ("href", "src")]
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def write(out: Path, name: str, scale: Scale | None = None) -> Result:
    experiment = Coins(name).experiment
    scale = scale or Scale(is_quick=True)
    return write_result(experiment, experiment.table(scale), scale, out=out, fingerprint="")


def test_it_shows_each_result_with_its_plot_and_table(tmp_path: Path) -> None:
    write(tmp_path, "weights")
    write(tmp_path, "9")
    path = write_summary_page(tmp_path)
    links = Links(path.read_text(encoding="utf-8"))
    assert links.open == []
    assert links.found == [
        *("#9", "#weights"),
        *("figure_9.png", "figure_9.csv", "weights.png", "weights.csv"),
    ]
    assert all((tmp_path / link).exists() for link in links.found if not link.startswith("#"))


def test_it_says_what_held_and_from_which_seed(tmp_path: Path) -> None:
    page = summary_page([write(tmp_path, "9"), write(tmp_path, "2", Scale(seed=3))])
    assert "2 experiments: 2 claims held, 0 did not" in page
    assert "seed 1, quick scale; with seed 3, full scale" in page


def test_texts_are_escaped(tmp_path: Path) -> None:
    page = summary_page([write(tmp_path, "9")])
    assert "Coins &lt;tossed&gt;" in page
    assert "heads &amp; more" in page
    assert "<tossed>" not in page


def test_without_results_it_is_a_page_all_the_same() -> None:
    assert Links(summary_page([])).found == []
