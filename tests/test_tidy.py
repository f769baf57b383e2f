"""Tidiness, held by tests: each check over the whole tree, and each check against a bad example.

A check takes the text of a file, or the paths of all files, and returns what is wrong with them;
so every one of them can be shown to fail.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parents[1]

LINE_LENGTH = 100
FUNCTION_LINES = 60
MODULE_LINES = 500
SMALL_MODULE_LINES = 60

# Packages whose every module has a test module, and the folder of tests that mirrors each.
TEST_FOLDERS = {
    "upstream": "tests",
    "simulator": "tests/simulator",
    "api": "tests/api",
    "datasets": "tests/datasets",
}
TOP_LEVEL_PACKAGES = {*TEST_FOLDERS, "tests"}
UNTESTED_NAMES = {"__init__.py", "__main__.py"}  # they only import and call
UNTESTED_MODULES = {
    "upstream/queues/waiting.py": "a protocol has nothing to run; the contract suites test it",
    "upstream/queues/windows/window_kind.py": "likewise",
}

VAGUE_NAMES = {"utils", "util", "helpers", "helper", "common", "base", "core", "misc"}
GENERATED_FOLDERS = {
    *{".hypothesis", ".import_linter_cache", ".ipynb_checkpoints", ".mypy_cache", ".pytest_cache"},
    *{".ruff_cache", ".venv", "__pycache__", "build", "dist", "htmlcov", "node_modules"},
}
GENERATED_ENDINGS = (".pyc", ".pyo", ".so", ".whl", ".coverage", ".DS_Store", ".swp")
BINARY_ENDINGS = {".png", ".jpg", ".gif", ".ico", ".parquet", ".woff2"}

MACHINE_PATH = re.compile(r"(?<![\w.])/(?:home|Users|root|work|tmp|opt)/\w+|[A-Z]:\\+Users\b")
REGISTRY = re.compile(
    r"\b(?:pypi|pythonhosted|npmjs|debian|anaconda|crates)\.(?:org|com|io)\b"
    r"|--(?:extra-)?index-url\s+\S|--find-links\s+\S",
    re.IGNORECASE,
)


@cache
def tracked_files() -> tuple[PurePosixPath, ...]:
    """Return the files that git tracks or would add; without git, those that no tool makes."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        listing = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        return tuple(walk(ROOT))
    names = sorted(set(listing.stdout.split("\0")) - {""})
    return tuple(PurePosixPath(name) for name in names if (ROOT / name).is_file())


def walk(root: Path) -> Iterator[PurePosixPath]:
    """Yield the files under `root`, without the folders that tools make."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(set(folders) - GENERATED_FOLDERS - {".git"})
        for name in sorted(names):
            yield PurePosixPath((Path(folder) / name).relative_to(root).as_posix())


def python_files(packages: Iterable[str] = TOP_LEVEL_PACKAGES) -> list[PurePosixPath]:
    """Return the modules of these top-level packages."""
    found = [path for path in tracked_files() if path.suffix == ".py"]
    return [path for path in found if path.parts[0] in set(packages)]


def text_files() -> list[PurePosixPath]:
    """Return every file that is not binary."""
    return [path for path in tracked_files() if path.suffix not in BINARY_ENDINGS]


def faults(check: Callable[[str], list[str]], paths: Iterable[PurePosixPath]) -> list[str]:
    """Apply a check of texts to files, and say in which file each fault is."""
    return [f"{path}: {fault}" for path in paths for fault in check(text_of(path))]


@cache
def text_of(path: PurePosixPath) -> str:
    """Return what is in a file."""
    return (ROOT / path).read_text(encoding="utf-8")


def assert_none(found: list[str]) -> None:
    """Fail with the whole list, one fault a line."""
    assert not found, "\n" + "\n".join(found)


def collected(tests: Path, *, hash_seed: int) -> list[str]:
    """Return the ids of the tests in a folder, in order, as a process of its own collects them."""
    options = [
        "--collect-only",
        "--quiet",
        "--assert=plain",
        f"--config-file={ROOT}/pyproject.toml",
    ]
    options += ["--override-ini=addopts=--import-mode=importlib", "--override-ini=filterwarnings="]
    environment = {name: value for name, value in os.environ.items() if "PYTEST" not in name}
    environment |= {"PYTHONHASHSEED": str(hash_seed), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", *options, str(tests)]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True, text=True
    )
    return [line for line in done.stdout.splitlines() if "::" in line]


def collected_differently(tests: Path) -> list[str]:
    """Collect the tests in a folder twice, and return the ids that only one process has.

    The second process starts when the first has ended, so the times that it reads are others too.
    """
    return different(collected(tests, hash_seed=1), collected(tests, hash_seed=2))


def different(first: list[str], second: list[str]) -> list[str]:
    """Return the ids that only one of two lists has."""
    assert first
    if sorted(first) == sorted(second) and first != second:
        return ["the tests are the same and their order is not"]
    return sorted(set(first) ^ set(second))


# What is checked in the text of a file


def long_lines(text: str) -> list[str]:
    lines = enumerate(text.splitlines(), start=1)
    return [f"line {number} is too long" for number, line in lines if len(line) > LINE_LENGTH]


def long_module(text: str) -> list[str]:
    count = len(text.splitlines())
    return [f"{count} lines"] if count > MODULE_LINES else []


def long_functions(text: str) -> list[str]:
    found = []
    for node in statements(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > FUNCTION_LINES:
                found.append(f"{node.name} has {length} lines")
    return found


def statements(parent: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements in a statement, and those in them, but not the many expressions."""
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, ast.stmt | ast.excepthandler | ast.match_case):
            yield node
            yield from statements(node)


def missing_docstrings(text: str) -> list[str]:
    module = ast.parse(text)
    found = [] if ast.get_docstring(module) else ["the module has no docstring"]
    return found + [f"{name} has no docstring" for name in undocumented_names(module, "")]


def undocumented_names(parent: ast.Module | ast.ClassDef, prefix: str) -> Iterator[str]:
    """Yield the public classes and functions in `parent`, and in its classes, with no docstring."""
    for node in parent.body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if node.name.startswith("_") or is_spoken_for(node):
            continue
        if not ast.get_docstring(node):
            yield prefix + node.name
        if isinstance(node, ast.ClassDef):
            yield from undocumented_names(node, f"{prefix}{node.name}.")


def is_spoken_for(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    """Tell whether another definition of the same name, or a parent's, has the docstring."""
    last_names = {ast.unparse(decorator).rpartition(".")[2] for decorator in node.decorator_list}
    return bool(last_names & {"overload", "override", "setter", "deleter"})


def notebook_outputs(text: str) -> list[str]:
    cells = enumerate(json.loads(text)["cells"])
    dirty = (n for n, cell in cells if cell.get("outputs") or cell.get("execution_count"))
    return [f"cell {number} has outputs" for number in dirty]


def machine_paths(text: str) -> list[str]:
    return [f"{found[0]} is a path of one machine" for found in MACHINE_PATH.finditer(text)]


def registry_hosts(text: str) -> list[str]:
    return [f"{found[0]} names a package registry" for found in REGISTRY.finditer(text)]


# What is checked in the paths of all files


def mirror_of(module: PurePosixPath) -> PurePosixPath:
    """Return the path of the test module that mirrors `module`."""
    folder = PurePosixPath(TEST_FOLDERS[module.parts[0]], *module.parts[1:-1])
    return folder / f"test_{module.name.lstrip('_')}"


def shares_a_test(module: PurePosixPath, paths: set[PurePosixPath]) -> bool:
    """Tell whether a small module is tested beside its neighbours, by a module that names it."""
    if module not in tracked_files() or len(text_of(module).splitlines()) >= SMALL_MODULE_LINES:
        return False
    name = re.compile(rf"\b{re.escape(module.stem)}\b")
    beside = [path for path in paths if path.parent == mirror_of(module).parent]
    return any(path.name.startswith("test_") and name.search(text_of(path)) for path in beside)


def untested_modules(paths: Iterable[PurePosixPath]) -> list[str]:
    paths = set(paths)
    modules = {path for path in paths if path.suffix == ".py" and path.parts[0] in TEST_FOLDERS}
    expected = {
        module: mirror_of(module)
        for module in modules
        if module.name not in UNTESTED_NAMES and str(module) not in UNTESTED_MODULES
    }
    return sorted(
        f"{module} needs {test}"
        for module, test in expected.items()
        if test not in paths and not shares_a_test(module, paths)
    )


def deep_classes(texts: Iterable[str]) -> list[str]:
    """Return the classes whose parent has a parent of ours; exceptions and protocols may have.

    A parent is the class of that name in the same text or, if there is none, in any other.
    """
    ours: dict[str, dict[int, set[str]]] = {}
    for number, text in enumerate(texts):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef) and not node.name.endswith("Error"):
                names = {ast.unparse(base).partition("[")[0] for base in node.bases}
                if "Protocol" not in names:
                    ours.setdefault(node.name, {})[number] = names - {node.name}
    deep = {
        name
        for name, by_text in ours.items()
        for number, parents in by_text.items()
        for parent in parents & ours.keys()
        for place in ({number} & ours[parent].keys() or ours[parent])
        if ours[parent][place] & ours.keys()
    }
    return sorted(f"{name} is two levels below another class of ours" for name in deep)


def folders_without_init(paths: Iterable[PurePosixPath]) -> list[str]:
    paths = set(paths)
    folders = {path.parent for path in paths if path.suffix == ".py" and len(path.parts) > 1}
    return sorted(str(folder) for folder in folders if folder / "__init__.py" not in paths)


def generated_files(paths: Iterable[PurePosixPath]) -> list[str]:
    return [
        str(path)
        for path in paths
        if set(path.parts) & GENERATED_FOLDERS
        or path.name.endswith(GENERATED_ENDINGS)
        or any(part.endswith(".egg-info") for part in path.parts)
    ]


def vague_names(paths: Iterable[PurePosixPath]) -> list[str]:
    """Return the modules and packages whose name says nothing about what is in them."""
    return [
        str(path)
        for path in paths
        if path.suffix == ".py"
        and {part.strip("_") for part in path.with_suffix("").parts} & VAGUE_NAMES
    ]


def unknown_packages(paths: Iterable[PurePosixPath]) -> list[str]:
    """Return the top-level packages that no layer and no check knows of."""
    packages = {path.parts[0] for path in paths if path.suffix == ".py"}
    return sorted(packages - TOP_LEVEL_PACKAGES)


# The tree as it is


def test_there_are_files_to_check() -> None:
    assert PurePosixPath("upstream/updates.py") in python_files()
    assert PurePosixPath("Makefile") in text_files()


def test_no_line_is_longer_than_100_characters() -> None:
    assert_none(faults(long_lines, python_files()))


def test_no_module_is_longer_than_500_lines() -> None:
    assert_none(faults(long_module, python_files()))


def test_no_function_is_longer_than_60_lines() -> None:
    assert_none(faults(long_functions, python_files()))


def test_every_public_module_class_and_function_has_a_docstring() -> None:
    assert_none(faults(missing_docstrings, python_files(TEST_FOLDERS)))


def test_notebooks_have_no_outputs() -> None:
    notebooks = [path for path in tracked_files() if path.suffix == ".ipynb"]
    assert_none(faults(notebook_outputs, notebooks))


def test_no_file_has_a_path_of_one_machine() -> None:
    assert_none(faults(machine_paths, text_files()))


def test_no_file_names_a_package_registry() -> None:
    assert_none(faults(registry_hosts, text_files()))


def test_every_module_has_its_test_module() -> None:
    assert_none(untested_modules(tracked_files()))


def test_inheritance_is_at_most_one_deep() -> None:
    assert_none(deep_classes(map(text_of, python_files(TEST_FOLDERS))))


def test_a_class_below_a_class_below_another_is_found() -> None:
    one, two = "class A: ...\nclass B(A[int]): ...", "class C(B): ..."
    assert deep_classes([one]) == []
    assert deep_classes([one, two]) == ["C is two levels below another class of ours"]
    assert deep_classes(["class AError(Exception): ...\nclass BError(AError): ..."]) == []
    assert (
        deep_classes(["class P(Protocol): ...\nclass Q(P, Protocol): ...\nclass R(Q): ..."]) == []
    )
    assert deep_classes(["class Filter: ...\nclass Quiet(logging.Filter): ..."]) == []
    of_another = "class B(Protocol): ..."
    assert deep_classes([one, two, of_another]) == deep_classes([of_another, one, two]) != []


def test_every_folder_of_modules_is_a_package() -> None:
    assert_none(folders_without_init(tracked_files()))


def test_no_generated_file_is_tracked() -> None:
    assert_none(generated_files(tracked_files()))


def test_no_module_has_a_vague_name() -> None:
    assert_none(vague_names(tracked_files()))


def test_every_top_level_package_is_known() -> None:
    assert_none(unknown_packages(tracked_files()))


def test_exceptions_are_listed_only_for_existing_modules() -> None:
    assert set(UNTESTED_MODULES) <= {str(path) for path in tracked_files()}


@pytest.mark.slow
def test_every_process_collects_the_same_tests_at_any_time(request: pytest.FixtureRequest) -> None:
    # This process has collected the tests as well; it may have left some out, and orders modules.
    items = [item for item in request.session.items if isinstance(item, pytest.Function)]
    here = [item.nodeid for item in items if item.nodeid.startswith("tests/")]
    known = set(here)
    there = [each for each in collected(ROOT / "tests", hash_seed=1) if each in known]
    assert_none(different(sorted(here, key=module_of), sorted(there, key=module_of)))


def module_of(test: str) -> str:
    """Return the path of the module in the id of a test."""
    return test.partition("::")[0]


# The checks find what they look for, and nothing else

SLASH = "/"  # so that the examples are not themselves found in this file
LONG_BODY = "    pass\n" * FUNCTION_LINES


@pytest.mark.parametrize(
    ("check", "bad", "good"),
    [
        (long_lines, "x" * 101, "x" * 100),
        (long_module, "x\n" * 501, "x\n" * 500),
        (long_functions, f"def f():\n{LONG_BODY}", "def f():\n    pass\n" + "x = 1\n" * 99),
        (long_functions, f"async def f():\n{LONG_BODY}", "async def f():\n    pass\n"),
        (
            long_functions,
            f"try: pass\nexcept OSError:\n match x:\n  case 1:\n   def f():\n{LONG_BODY}",
            "try: pass\nexcept OSError:\n    def f(): pass\n",
        ),
        (missing_docstrings, "x = 1", '"""Doc."""'),
        (missing_docstrings, '"""Doc."""\ndef f(): ...', '"""Doc."""\ndef _f(): ...'),
        (missing_docstrings, '"""Doc."""\nclass C: ...', '"""Doc."""\nclass _C: ...'),
        (
            missing_docstrings,
            '"""Doc."""\nclass C:\n    """Doc."""\n    def f(self): ...',
            '"""Doc."""\nclass C:\n    """Doc."""\n    @override\n    def f(self): ...',
        ),
        (
            notebook_outputs,
            '{"cells": [{"cell_type": "code", "outputs": [{}], "execution_count": null}]}',
            '{"cells": [{"cell_type": "code", "outputs": [], "execution_count": null}]}',
        ),
        (
            notebook_outputs,
            '{"cells": [{"cell_type": "code", "outputs": [], "execution_count": 3}]}',
            '{"cells": [{"cell_type": "markdown"}]}',
        ),
        (machine_paths, f"see {SLASH}home/me/x", "see https://example.org/home/me"),
        (machine_paths, f"at {SLASH}root/x", "at ./root/x"),
        (machine_paths, r"at C:\Us" + "ers", "at C: Users"),
        (registry_hosts, "https://py" + "pi.org/simple", "on PyPI"),
        (registry_hosts, "--extra-index" + "-url file:x", "--no-emit-index-url"),
    ],
)
def test_a_check_of_texts_finds_the_bad_one_only(
    check: Callable[[str], list[str]], bad: str, good: str
) -> None:
    assert check(bad)
    assert check(good) == []


@pytest.mark.parametrize(
    ("check", "bad", "good"),
    [
        (
            untested_modules,
            ["upstream/keys/key_cell.py", "tests/test_key_cell.py"],
            ["upstream/keys/key_cell.py", "tests/keys/test_key_cell.py"],
        ),
        (untested_modules, ["upstream/clock.py"], ["upstream/clock.py", "tests/test_clock.py"]),
        (
            untested_modules,
            ["simulator/demo.py", "tests/test_demo.py"],
            ["simulator/demo.py", "tests/simulator/test_demo.py", "simulator/__main__.py"],
        ),
        (folders_without_init, ["tests/keys/test_x.py"], ["a/b.py", "a/__init__.py", "setup.py"]),
        (generated_files, ["upstream/__pycache__/x.txt"], ["upstream/builder.py"]),
        (generated_files, ["x.egg-info/PKG-INFO"], ["README.md"]),
        (generated_files, ["upstream/clock.pyc"], ["upstream/clock.py"]),
        (vague_names, ["upstream/utils.py"], ["upstream/utilisation.py"]),
        (vague_names, ["upstream/_base.py"], ["docs/base.md"]),
        (vague_names, ["upstream/core/x.py"], ["upstream/scores/x.py"]),
        (unknown_packages, ["tools/x.py"], ["upstream/x.py", "docs/x.md"]),
    ],
)
def test_a_check_of_paths_finds_the_bad_one_only(
    check: Callable[[Iterable[PurePosixPath]], list[str]], bad: list[str], good: list[str]
) -> None:
    assert check([PurePosixPath(name) for name in bad])
    assert check([PurePosixPath(name) for name in good]) == []


def test_without_git_the_files_are_found_by_walking(tmp_path: Path) -> None:
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "x.py").touch()
    (tmp_path / "upstream").mkdir()
    (tmp_path / "upstream" / "x.py").touch()
    assert list(walk(tmp_path)) == [PurePosixPath("upstream/x.py")]


@pytest.mark.parametrize(
    ("values", "difference"),
    [
        ("[time.time_ns()]", 2),
        ("sorted({'a', 'b', 'c', 'd', 'e', 'f'})", 0),
        ("{'a', 'b', 'c', 'd', 'e', 'f'}", 1),
    ],
)
def test_ids_that_differ_between_processes_are_found(
    tmp_path: Path, values: str, difference: int
) -> None:
    decorated = f"@pytest.mark.parametrize('x', [*{values}])\ndef test_x(x): pass\n"
    (tmp_path / "test_x.py").write_text(f"import pytest, time\n{decorated}")
    assert len(collected_differently(tmp_path)) == difference


@pytest.mark.parametrize("content", [b"text", b"\xff", b""])
def test_only_bytes_that_can_be_read_are_in_ids(
    request: pytest.FixtureRequest, content: bytes
) -> None:
    assert request.node.callspec.id == {b"text": "text", b"": ""}.get(content, "content")
