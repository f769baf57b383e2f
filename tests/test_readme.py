"""The README: its examples run as pasted and print what they say, and what it names exists."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.server_process import running

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "GLOSSARY.md", "CHANGELOG.md"]


def code_blocks(text: str, language: str) -> list[str]:
    """Return the fenced blocks of `text` that are in `language`."""
    fence = re.compile(rf"^```{language}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    return fence.findall(text)


def output_shown(example: str) -> str:
    """Return what an example claims to print: the comments that are its last lines."""
    shown = re.search(r"(?:^#(?: .*)?\n)+\Z", example, re.MULTILINE)
    lines = shown[0].splitlines() if shown else []
    return "".join(line.removeprefix("#").removeprefix(" ") + "\n" for line in lines)


def output_of(example: str) -> str:
    """Return what an example prints in a process of its own."""
    command = [sys.executable, "-W", "error", "-c", example]
    run = subprocess.run(
        command, cwd=ROOT, check=False, capture_output=True, text=True, encoding="utf-8"
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def make_targets_named(text: str) -> set[str]:
    """Return the targets of the `make` commands in code, inline or in blocks."""
    code = "\n".join([*code_blocks(text, "sh"), *re.findall(r"`([^`\n]+)`", text)])
    code = re.sub(r'"[^"\n]*"', "", code)
    commands = re.findall(r"^(?:\w+=\S* +)*make((?: +[\w=./-]+)*)", code, re.MULTILINE)
    words = {word for command in commands for word in command.split()}
    return {word for word in words if re.fullmatch(r"[a-z]+", word)}


def make_targets_defined(makefile: str) -> set[str]:
    return set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))


def files_linked(text: str) -> list[str]:
    return re.findall(r"\]\(([^)#:]+)\)", text)


EXAMPLES = code_blocks(README, "python")


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_an_example_prints_the_output_below_it(example: str) -> None:
    assert output_of(example) == output_shown(example) != ""


def test_there_is_an_example_of_about_ten_lines() -> None:
    lines = [line for line in EXAMPLES[0].splitlines() if line and not line.startswith("#")]
    assert 8 <= len(lines) <= 12


def test_the_two_commands_come_first() -> None:
    first = re.search(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert first is not None
    assert first[1] == "sh"
    commands = [line.partition("#")[0].strip() for line in first[2].splitlines()]
    assert commands == ["make run", "make test"]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_make_targets_that_are_named_exist(document: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = make_targets_named((ROOT / document).read_text(encoding="utf-8"))
    assert named <= make_targets_defined(makefile)
    assert named or document not in {"README.md", "CONTRIBUTING.md"}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_files_that_are_linked_exist(document: str) -> None:
    linked = files_linked((ROOT / document).read_text(encoding="utf-8"))
    assert [name for name in linked if not (ROOT / name).is_file()] == []


def service_commands() -> list[str]:
    """Return the commands that talk to the service, except the live view, which does not end."""
    blocks = [
        block for block in code_blocks(README, "sh") if "curl" in block or "upstream" in block
    ]
    lines = "".join(blocks).replace("\\\n", "").splitlines()
    return [line for line in lines if not line.endswith(" top")]


def answers_to_commands(url: str) -> list[str]:
    """Run the commands against a service, and return what each of them printed."""
    program = shlex.join([sys.executable, "-c", "from upstream.cli import main; main()"])
    answers = []
    for command in service_commands():
        command = command.replace("http://127.0.0.1:8000", url)
        command = command.replace(".venv/bin/upstream", program)
        run = subprocess.run(
            shlex.split(command.replace("curl ", "curl -sSf ")),
            env={**os.environ, "UPSTREAM_URL": url},
            check=False,
            capture_output=True,
            text=True,
        )
        assert run.returncode == 0, f"{command}: {run.stderr}"
        answers.append(run.stdout)
    return answers


def test_the_commands_that_talk_to_the_service_work_and_work_again() -> None:
    with running() as server:
        for _ in range(2):
            created, taken, served, _put, listed = answers_to_commands(server.url)
            assert json.loads(created)["stream"] == "trades"
            assert json.loads(taken)["late"] == json.loads(taken)["rejected"] == 0
            assert json.loads(taken)["superseded"] >= 1
            values = {update["key"]: update["value"] for update in json.loads(served)["updates"]}
            assert values == {"IBM": 25.0, "GM": 41.5}
            assert "trades" in listed


def test_the_service_is_shown_in_three_curls() -> None:
    assert sum(line.startswith("curl ") for line in service_commands()) == 3


def test_the_picture_of_the_page_comes_before_the_first_command() -> None:
    picture = re.search(r"^!\[([^\]]+)\]\(([^)]+)\)$", README, re.MULTILINE)
    assert picture is not None
    assert picture.start() < README.index("```sh")
    image = (ROOT / picture[2]).read_bytes()
    assert image.startswith(b"\x89PNG")
    assert len(image) < 200_000


# The checks find what they look for, and nothing else


def test_the_output_shown_is_the_comments_at_the_end_only() -> None:
    assert output_shown("# why\nprint(1)  # one\n\n# 1\n#\n#  2\n") == "1\n\n 2\n"
    assert output_shown("# why\nprint(1)  # 1\n") == ""


def test_an_example_is_run() -> None:
    assert output_of("print(1)\n# 2\n") == "1\n"
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        output_of("1 / 0\n")


def test_make_targets_are_found_in_code_only() -> None:
    text = "make it so\n```sh\nmake a  # make b\n```\n`remake c`, `make d E=f`, `make G=/h i`"
    assert make_targets_named(text) == {"a", "d", "i"}
    assert make_targets_named('`make`, `make a B="c d"`, `E=f make g`') == {"a", "g"}
    assert make_targets_defined("A := b\nc: d ## e\n\tf: g\n.PHONY: h\n") == {"c"}


def test_links_out_of_the_project_are_not_files() -> None:
    assert files_linked("[a](A.md), [b](https://example.org/b), [c](#c)") == ["A.md"]
