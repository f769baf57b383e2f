"""Files of the page and of `/docs`: served as they are, compressed, and from this host only."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from api import page_files
from api.page_files import INDEX, PAGE_FOLDER, PLOT_LIBRARY, page_paths, page_routes
from tests.api.serving import Client, assert_problem, serving

PLAIN = {"accept-encoding": "identity"}
PACKED = {"accept-encoding": "gzip, deflate, br"}
OWN_FILES = sorted(path.name for path in PAGE_FOLDER.iterdir())


@pytest.fixture
def page() -> Iterator[TestClient]:
    with TestClient(Starlette(routes=page_routes())) as page:
        yield page


def test_the_root_is_the_page(page: TestClient) -> None:
    answer = page.get("/")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.text == (PAGE_FOLDER / INDEX).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", OWN_FILES)
def test_every_file_in_the_folder_is_served_as_it_is(page: TestClient, name: str) -> None:
    expected = (PAGE_FOLDER / name).read_bytes()
    for headers in (PLAIN, PACKED):
        answer = page.get(f"/page/{name}", headers=headers)
        assert answer.status_code == 200
        assert answer.content == expected


def test_the_plot_library_comes_from_the_installed_package(page: TestClient) -> None:
    answer = page.get(f"/page/{PLOT_LIBRARY}")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert answer.headers["cache-control"] == "public, max-age=86400"
    assert answer.text.startswith("/**\n* plotly.js v")


def test_a_file_is_compressed_if_the_client_accepts_that() -> None:
    with TestClient(Starlette(routes=page_routes())) as page:
        with page.stream("GET", f"/page/{PLOT_LIBRARY}", headers=PACKED) as answer:
            packed = b"".join(answer.iter_raw())
        plain = page.get(f"/page/{PLOT_LIBRARY}", headers=PLAIN)
    assert answer.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert answer.headers["vary"] == plain.headers["vary"] == "accept-encoding"
    assert gzip.decompress(packed) == plain.content
    assert len(packed) < len(plain.content) / 2


@pytest.mark.parametrize("header", ["gzip;q=0", "gzip; q=0.000", "br, deflate"])
def test_a_client_that_refuses_gzip_gets_the_file_uncompressed(
    page: TestClient, header: str
) -> None:
    answer = page.get("/page/page.css", headers={"accept-encoding": header})
    assert "content-encoding" not in answer.headers


def test_a_client_that_has_the_file_gets_a_304(page: TestClient) -> None:
    first = page.get("/page/page.css")
    tags = ("{}", "W/{}", '"other", {}', "*")
    for tag in (form.format(first.headers["etag"]) for form in tags):
        again = page.get("/page/page.css", headers={"if-none-match": tag})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == first.headers["etag"]
    changed = page.get("/page/page.css", headers={"if-none-match": '"other"'})
    assert changed.status_code == 200


def test_the_pages_own_files_are_asked_for_again_each_time(page: TestClient) -> None:
    assert page.get("/").headers["cache-control"] == "no-cache"
    assert page.get("/page/page.js").headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("path", ["/", "/page/page.js", "/page/nothing.js"])
def test_nothing_from_another_host_may_run_in_the_page(page: TestClient, path: str) -> None:
    headers = page.get(path).headers
    policy = dict(
        part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";")
    )
    assert policy["default-src"] == "'self'"
    assert "script-src" not in policy  # so scripts are the page's own, and never inline
    assert headers["x-content-type-options"] == "nosniff"


def test_the_files_name_no_other_host_and_have_nothing_inline() -> None:
    for path in PAGE_FOLDER.iterdir():
        if path.suffix == ".png":
            continue
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"(?:https?:)?//[a-z]+\.", text), path.name
        assert "innerHTML" not in text, path.name
        assert "insertAdjacentHTML" not in text, path.name
    index = (PAGE_FOLDER / INDEX).read_text(encoding="utf-8")
    assert not re.search(r"<script(?![^>]* src=)|<style|\sstyle=|\son[a-z]+=", index)


@pytest.mark.parametrize(
    "name", ["nothing.js", "..%2Fpage_files.py", "%2e%2e%2fpage_files.py", "page.css%00", "%2Fetc"]
)
def test_no_other_file_can_be_asked_for(page: TestClient, name: str) -> None:
    answer = page.get(f"/page/{name}")
    assert answer.status_code == 404
    assert "page_files" not in answer.text


def test_a_file_that_is_not_there_is_a_problem(page: TestClient) -> None:
    answer = page.get("/page/nothing.js")
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == 404
    assert "nothing" not in answer.text


def test_without_plotly_the_page_is_there_and_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(page_files, "plotly_folder", lambda: None)
    assert PLOT_LIBRARY not in page_paths()
    with TestClient(Starlette(routes=page_routes())) as page:
        assert page.get("/").status_code == 200
        missing = page.get(f"/page/{PLOT_LIBRARY}")
    assert missing.status_code == 404
    assert "plotly" in missing.json()["detail"]


def test_a_file_is_read_once(page: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    assert page.get("/page/page.css").status_code == 200

    def refuse(path: Path) -> bytes:
        raise AssertionError(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert page.get("/page/page.css").status_code == 200


def test_head_is_answered_and_nothing_else_may_be_done(page: TestClient) -> None:
    assert page.head("/").status_code == 200
    assert page.post("/").status_code == 405


def test_the_kept_history_is_found_before_the_files_of_the_page() -> None:
    with serving() as service:
        answer = service.get("/page/history.json")
    assert answer.status_code == 200
    assert "service" in answer.json()
    assert answer.headers["cache-control"] == "no-store"


def test_every_file_that_the_docs_name_is_here(client: Client) -> None:
    docs = client.get("/docs")
    assert docs.status_code == 200
    named = re.findall(r'(?:src|href)="([^"]+)"', docs.text)
    assert len(named) >= 3
    for path in [*named, "openapi.json"]:
        assert "//" not in path
        assert client.get("/" + path).status_code == 200, path


def test_docs_have_no_other_file(client: Client) -> None:
    assert_problem(client.get("/docs/__init__.py"), 404)
    assert_problem(client.get("/docs/..%2fapplication.py"), 404)
