"""The package: what it offers by name, and what it needs."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

from upstream import client
from upstream.extras import install_command


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )


def test_all_names_are_there_and_in_order() -> None:
    assert sorted(set(client.__all__)) == client.__all__
    assert all(hasattr(client, name) for name in client.__all__)


@pytest.mark.parametrize("name", [name for name in client.__all__ if name != "Key"])
def test_every_class_is_documented_and_so_are_its_methods(name: str) -> None:
    value = getattr(client, name)
    assert value.__doc__
    methods = [each for each in vars(value).items() if inspect.isfunction(each[1])]
    assert [found for found, method in methods if found[0] != "_" and not method.__doc__] == []


@pytest.mark.parametrize("missing", ["httpx2", "msgspec", "websockets"])
def test_a_missing_extra_is_named(missing: str) -> None:
    found = run(f"import sys; sys.modules[{missing!r}] = None; import upstream.client")
    assert f"upstream.client needs {missing}" in found.stderr
    assert install_command("client") in found.stderr


def test_a_fault_of_ours_is_not_taken_for_a_missing_extra() -> None:
    found = run("import sys; sys.modules['upstream.client.feed'] = None; import upstream.client")
    assert "pip install" not in found.stderr
    assert "upstream.client.feed" in found.stderr


def test_tables_need_arrow_and_nothing_else_does() -> None:
    found = run(
        "import sys; sys.modules['pyarrow'] = None\n"
        "from upstream.client import Client\n"
        "Client('http://127.0.0.1:1').put_table('s', [])"
    )
    assert "install the extra `client`" in found.stderr


def test_the_library_does_not_import_its_client() -> None:
    found = run("import sys, upstream; print(sorted(m for m in sys.modules if 'client' in m))")
    assert "upstream.client" not in found.stdout
