"""The walks of an update and of a query in DESIGN.md name files and functions that exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOTS = (ROOT / "upstream", ROOT / "upstream" / "queries")


def hops(title: str) -> Iterator[tuple[str, str]]:
    """Yield what stands in code in the column of places, as files and the names in them."""
    design = (ROOT / "DESIGN.md").read_text(encoding="utf-8")
    walk = re.split(r"^#", design.partition(f"# {title}\n")[2], flags=re.MULTILINE)[0]
    for row in re.findall(r"^\| .* \| (`.*) \|$", walk, re.MULTILINE):
        folder = file = ""
        for word in re.findall(r"`([^`]+)`", row):
            if word.endswith(".py"):
                before, _, name = word.rpartition("/")
                folder = before or folder
                file = f"{folder}/{name}".lstrip("/")
                yield file, ""
            else:
                yield file, word


HOPS = list(hops("The walk of one query"))
HOPS_OF_AN_UPDATE = list(hops("The walk of an update"))


def test_the_walk_goes_from_the_text_to_the_result() -> None:
    files = [file for file, _ in HOPS]
    assert len(files) > 20
    assert files[0].startswith("queries/sql/")
    assert files[-1].startswith("queries/results/") or files[-1].startswith("results/")


def test_the_walk_of_an_update_goes_from_enqueue_to_staleness() -> None:
    files = [file for file, _ in HOPS_OF_AN_UPDATE]
    assert files[0] == "queues/stream/intake.py"
    assert files[-1] == "staleness/sums.py"


EITHER = sorted({*HOPS, *HOPS_OF_AN_UPDATE})


@pytest.mark.parametrize(("file", "name"), EITHER, ids=[":".join(hop) for hop in EITHER])
def test_each_hop_is_there(file: str, name: str) -> None:
    [path] = [root / file for root in ROOTS if (root / file).is_file()]
    if name:
        *_, last = name.split(".")
        source = path.read_text(encoding="utf-8")
        assert re.search(rf"^\s*(?:def|class) {last}\b", source, re.MULTILINE), name
