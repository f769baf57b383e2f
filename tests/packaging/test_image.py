"""The image and the compose file, as far as they can be checked without Docker.

No image is built here and no container started: what is checked is what the files say, that what
they name exists, and the health check, which runs as it would in the container.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

import upstream
from api.settings import Settings, load_settings, variable

ROOT = Path(__file__).resolve().parents[2]

Instruction = tuple[str, str]


def instructions() -> list[Instruction]:
    """Return the instructions of the Dockerfile, continued lines joined."""
    text = re.sub(r"^\s*#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    lines = re.sub(r"\\\n\s*", " ", text).splitlines()
    pairs = (line.split(maxsplit=1) for line in lines if line.strip())
    return [(keyword, rest) for keyword, rest in pairs]


def stages() -> list[list[Instruction]]:
    """Return the instructions of each stage."""
    found: list[list[Instruction]] = []
    for instruction in instructions():
        if instruction[0] == "FROM":
            found.append([])
        found[-1].append(instruction)
    return found


def all_of(keyword: str, stage: list[Instruction]) -> list[str]:
    return [rest for each, rest in stage if each == keyword]


def the_only(keyword: str, stage: list[Instruction]) -> str:
    (rest,) = all_of(keyword, stage)
    return rest


def environment_of(stage: list[Instruction]) -> dict[str, str]:
    pairs = [pair for rest in all_of("ENV", stage) for pair in rest.split()]
    return dict(pair.split("=", 1) for pair in pairs)


def copied_from_the_checkout() -> list[str]:
    """Return what the Dockerfile copies from the folder that it is built from."""
    copies = [rest.split() for stage in stages() for rest in all_of("COPY", stage)]
    return [source for copy in copies if not copy[0].startswith("--from") for source in copy[:-1]]


def compose() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
    return read


SERVICES = sorted(compose()["services"])


# The image


def test_the_image_is_built_in_two_stages_from_one_python() -> None:
    build, final = stages()
    assert the_only("FROM", build) == "python:3.11-slim AS build"
    assert the_only("FROM", final) == "python:3.11-slim"


def test_packages_are_installed_by_hash_and_nothing_else_is_fetched() -> None:
    installs = [json.loads(run) for run in all_of("RUN", stages()[0]) if '"install"' in run]
    locked, own = installs
    assert "--require-hashes" in locked
    assert locked[-1] == "requirements/run.txt"
    assert own[-3:] == ["--no-deps", "--no-build-isolation", "."]


def test_the_service_does_not_run_as_root() -> None:
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", the_only("USER", stages()[-1]))


def test_signals_reach_the_service() -> None:
    final = stages()[-1]
    assert json.loads(the_only("ENTRYPOINT", final)) == ["python", "-m", "api"]
    assert the_only("STOPSIGNAL", final) == "SIGTERM"


def test_the_service_can_be_reached_from_outside_at_the_exposed_port() -> None:
    final = stages()[-1]
    environment = environment_of(final)
    assert environment["UPSTREAM_HOST"] == "0.0.0.0"  # noqa: S104  # inside a container
    assert the_only("EXPOSE", final) == str(Settings.model_fields["port"].default)


def test_the_image_sets_settings_that_there_are() -> None:
    named = {name for name in environment_of(stages()[-1]) if name.startswith("UPSTREAM_")}
    assert named <= {variable(name) for name in Settings.model_fields}


def test_nothing_is_written_when_the_service_runs() -> None:
    environment = environment_of(stages()[-1])
    assert environment["PYTHONDONTWRITEBYTECODE"] == "1"
    assert environment["PYTHONUNBUFFERED"] == "1"


def test_labels_say_what_the_project_says() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    labels = dict(
        re.findall(r'org\.opencontainers\.image\.(\w+)="([^"]*)"', the_only("LABEL", stages()[-1]))
    )
    assert labels["version"] == upstream.__version__
    assert labels["licenses"] == project["license"]
    assert labels["description"]
    assert compose()["services"]["upstream"]["image"].endswith(f":{upstream.__version__}")


def test_everything_that_is_copied_exists_and_is_sent_to_the_builder() -> None:
    assert "api" in copied_from_the_checkout()
    for source in copied_from_the_checkout():
        assert (ROOT / source).exists(), source
        assert not is_ignored(source), source


def test_no_other_file_is_sent_to_the_builder() -> None:
    copied = copied_from_the_checkout()
    listing = [path.relative_to(ROOT) for path in ROOT.iterdir()]
    sent = {str(path) for path in listing if not is_ignored(str(path))}
    assert sent <= set(copied)
    for path in ("requirements/dev.txt", "api/__pycache__", "upstream/queues/x.pyc", ".git"):
        assert is_ignored(path), path


def is_ignored(path: str) -> bool:
    """Tell what .dockerignore says of a path: the last pattern that matches it, or a parent."""
    ignored = False
    for pattern in (ROOT / ".dockerignore").read_text().splitlines():
        if not pattern or pattern.startswith("#"):
            continue
        name = pattern.removeprefix("!")
        alternatives = {name, name.removeprefix("**/")}
        parts = path.split("/")
        parents = ["/".join(parts[: count + 1]) for count in range(len(parts))]
        if any(fnmatch(parent, each) for parent in parents for each in alternatives):
            ignored = not pattern.startswith("!")
    return ignored


# Its health check


class _Ready(BaseHTTPRequestHandler):
    status = 200

    def do_GET(self) -> None:
        self.send_response(self.status if self.path == "/readyz" else 404)
        self.end_headers()

    def log_message(self, *args: object) -> None:
        """Say nothing."""


class _NotReady(_Ready):
    status = 503


@contextmanager
def listening(handler: type[BaseHTTPRequestHandler]) -> Iterator[int]:
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


def check_health(port: int) -> int:
    """Run the image's health check, behind a proxy that does not exist, and return its status."""
    _, _, command = the_only("HEALTHCHECK", stages()[-1]).partition("CMD ")
    interpreter, *arguments = json.loads(command)
    assert interpreter == "python"
    environment = {"UPSTREAM_PORT": str(port), "http_proxy": "http://127.0.0.1:9"}
    finished = subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        timeout=60,
        check=False,
    )
    return finished.returncode


@pytest.mark.parametrize(("handler", "is_healthy"), [(_Ready, True), (_NotReady, False)])
def test_only_a_ready_service_is_healthy(
    handler: type[BaseHTTPRequestHandler], is_healthy: bool
) -> None:
    with listening(handler) as port:
        assert (check_health(port) == 0) == is_healthy


def test_a_service_that_does_not_listen_is_unhealthy() -> None:
    with listening(_Ready) as port:
        pass
    assert check_health(port) != 0


# Compose


@pytest.mark.parametrize("name", SERVICES)
def test_a_container_has_no_privileges_and_writes_only_to_its_volumes(name: str) -> None:
    service = compose()["services"][name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not service.keys() & {"privileged", "cap_add", "network_mode", "pid", "user"}


@pytest.mark.parametrize("name", SERVICES)
def test_images_are_pinned(name: str) -> None:
    tag = compose()["services"][name]["image"].partition(":")[2]
    assert re.fullmatch(r"v?\d+\.\d+\.\d+", tag)


@pytest.mark.parametrize("name", SERVICES)
def test_ports_are_open_to_this_machine_only(name: str) -> None:
    ports = compose()["services"][name]["ports"]
    assert ports
    assert all(re.fullmatch(r"127\.0\.0\.1:\d+:\d+", port) for port in ports)


@pytest.mark.parametrize("name", SERVICES)
def test_mounted_files_exist_and_are_read_only(name: str) -> None:
    volumes = compose()["volumes"]
    for mount in compose()["services"][name].get("volumes", []):
        source, _, rest = mount.partition(":")
        if source.startswith("./"):
            assert (ROOT / source).is_file(), source
            assert rest.endswith(":ro")
        else:
            assert source in volumes


@pytest.mark.parametrize("name", SERVICES)
def test_health_is_checked_and_waited_for(name: str) -> None:
    services = compose()["services"]
    assert services[name]["healthcheck"]["interval"]
    for other, condition in services[name].get("depends_on", {}).items():
        assert condition == {"condition": "service_healthy"}
        assert "healthcheck" in services[other]


def test_the_settings_in_compose_are_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    environment = compose()["services"]["upstream"]["environment"]
    for name, value in environment.items():
        default = re.fullmatch(r"\$\{(\w+):-(.*)\}", value)
        assert default is None or default[1] == name
        monkeypatch.setenv(name, default[2] if default else value)
    load_settings()
    assert set(environment) <= {variable(name) for name in Settings.model_fields}


def test_a_stop_may_take_longer_than_the_service_needs() -> None:
    grace = compose()["services"]["upstream"]["stop_grace_period"]
    assert int(grace.removesuffix("s")) > load_settings().shutdown_seconds + 1


def test_prometheus_reaches_the_service_and_grafana_reaches_prometheus() -> None:
    monitoring = ROOT / "api" / "monitoring"
    scrapes = yaml.safe_load((monitoring / "prometheus.yaml").read_text())["scrape_configs"]
    port = Settings.model_fields["port"].default
    assert scrapes[0]["static_configs"][0]["targets"] == [f"upstream:{port}"]
    sources = yaml.safe_load((monitoring / "provisioning" / "datasources.yaml").read_text())
    assert sources["datasources"][0]["url"] == "http://prometheus:9090"
    assert {"upstream", "prometheus", "grafana"} == set(SERVICES)


def test_grafana_shows_the_dashboard_that_is_mounted() -> None:
    grafana = compose()["services"]["grafana"]
    mounted = {mount.split(":")[1] for mount in grafana["volumes"]}
    home = grafana["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    assert home in mounted
    providers = ROOT / "api" / "monitoring" / "provisioning" / "dashboards.yaml"
    (provider,) = yaml.safe_load(providers.read_text())["providers"]
    assert Path(home).parent == Path(provider["options"]["path"])
