"""`/docs` needs nothing from the web."""

from __future__ import annotations

import re

from tests.api.serving import Client, assert_problem


def test_everything_that_the_page_names_is_here(client: Client) -> None:
    page = client.get("/docs")
    assert page.status_code == 200
    named = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert len(named) >= 3
    for path in [*named, "openapi.json"]:
        assert "//" not in path
        assert client.get("/" + path).status_code == 200, path


def test_no_other_file_is_served(client: Client) -> None:
    assert_problem(client.get("/docs/__init__.py"), 404)
    assert_problem(client.get("/docs/..%2fapplication.py"), 404)
