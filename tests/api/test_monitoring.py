"""The dashboard and the alert rules use only metrics and labels that the service exposes.

Neither Grafana nor promtool runs here. What is checked is what goes wrong silently: a query for a
metric that is not exposed shows an empty panel, and an alert on it never fires.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families as parse_text

from tests.api.watched_service import define_queue, make_service

FOLDER = Path(__file__).resolve().parents[2] / "api" / "monitoring"

WORDS = {"and", "or", "unless", "on", "ignoring", "by", "without", "bool", "offset"}
WORDS |= {"group_left", "group_right"}
OF_PROMETHEUS = {"up": {"job", "instance"}}
TARGET_LABELS = {"job", "instance"}
NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"


@cache
def dashboard() -> dict[str, Any]:
    read: dict[str, Any] = json.loads((FOLDER / "grafana.json").read_text(encoding="utf-8"))
    return read


def rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load((FOLDER / "alerts.yaml").read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def charts() -> list[dict[str, Any]]:
    """Return the panels that show something, that is all but the rows."""
    return [panel for panel in dashboard()["panels"] if panel["type"] != "row"]


def queries_of_dashboard() -> Iterator[tuple[str, str]]:
    for panel in charts():
        for target in panel["targets"]:
            yield panel["title"], target["expr"]


def queries_of_rules() -> Iterator[tuple[str, str]]:
    for rule in rules():
        yield rule["alert"], rule["expr"]


QUERIES = [*queries_of_dashboard(), *queries_of_rules()]


@cache
def exposed() -> dict[str, set[str]]:
    """Return the names of all metrics that a service exposes, each with its labels."""
    service = make_service()
    define_queue(service, "idle")
    _, text = asyncio.run(service.metrics.exposition())
    found: dict[str, set[str]] = {"upstream_push_connections": {"transport"}} | OF_PROMETHEUS
    for family in parse_text(text.decode()):
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
    return found


def without_variables(query: str) -> str:
    """Return a query with Grafana's variables filled in."""
    return query.replace("$__rate_interval", "1m").replace("$queue", ".*")


def bare(query: str) -> str:
    """Return a query without what is in quotes."""
    return re.sub(r'"(?:[^"\\]|\\.)*"', '""', query)


def metrics_of(query: str) -> set[str]:
    """Return the names of the metrics that a query asks for."""
    text = re.sub(r"\{[^}]*\}|\[[^]]*\]", " ", bare(without_variables(query)))
    text = re.sub(r"\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)", " ", text)
    names = re.finditer(rf"(?<![\w.]){NAME}\b(?!\s*\()", text)
    return {found[0] for found in names} - WORDS - {"inf", "nan"}


def matchers_of(query: str) -> Iterator[tuple[str, str]]:
    """Yield each metric that a query selects by labels, with each of these labels."""
    selectors = re.finditer(rf"({NAME})\{{([^}}]*)\}}", bare(without_variables(query)))
    for metric, matchers in (found.groups() for found in selectors):
        for label in re.findall(rf"({NAME})\s*(?:=~|!~|!=|=)", matchers):
            yield metric, label


def grouped_labels_of(query: str) -> set[str]:
    """Return the labels that a query groups or joins by."""
    lists = re.findall(r"\b(?:by|without|on|ignoring)\s*\(([^)]*)\)", query)
    return {label.strip() for listed in lists for label in listed.split(",")} - {""}


def is_balanced(query: str) -> bool:
    open_ones = []
    pairs = {")": "(", "]": "[", "}": "{"}
    for character in bare(query):
        if character in pairs.values():
            open_ones.append(character)
        elif character in pairs and (not open_ones or open_ones.pop() != pairs[character]):
            return False
    return not open_ones


# Queries


def test_a_query_is_read_as_prometheus_reads_it() -> None:
    query = (
        'sum by (route, le) (rate(a_total{queue=~"$queue",of="b{c}"}[$__rate_interval]))\n'
        "  / on (job) group_left (x) (b_seconds > 0) and increase(c_total[10m]) == 0.5 or vector(0)"
    )
    assert metrics_of(query) == {"a_total", "b_seconds", "c_total"}
    assert set(matchers_of(query)) == {("a_total", "queue"), ("a_total", "of")}
    assert grouped_labels_of(query) == {"route", "le", "job"}
    assert is_balanced(query)
    assert not is_balanced("sum(rate(a[5m])")
    assert not is_balanced("sum(rate(a[5m)])")


@pytest.mark.parametrize(("where", "query"), QUERIES)
def test_every_metric_that_is_asked_for_is_exposed(where: str, query: str) -> None:
    assert metrics_of(query), where
    assert metrics_of(query) <= exposed().keys()


@pytest.mark.parametrize(("where", "query"), QUERIES)
def test_every_label_that_is_asked_for_is_one_of_the_metric(where: str, query: str) -> None:
    for metric, label in matchers_of(query):
        assert label in exposed()[metric] | TARGET_LABELS, f"{where}: {metric} has no {label}"
    known = set().union(*(exposed()[metric] for metric in metrics_of(query)))
    assert grouped_labels_of(query) <= known | TARGET_LABELS, where


@pytest.mark.parametrize(("where", "query"), QUERIES)
def test_brackets_are_balanced_and_no_label_is_a_key(where: str, query: str) -> None:
    assert is_balanced(query), where
    assert not re.search(r"\bkey\b", query), where


@pytest.mark.parametrize(("where", "query"), QUERIES)
def test_rates_are_of_counters_and_counters_are_asked_for_their_rates(
    where: str, query: str
) -> None:
    text = bare(without_variables(query))
    rated = set(re.findall(rf"\b(?:rate|increase|irate)\(\s*({NAME})", text))
    assert all(name.endswith(("_total", "_bucket", "_count", "_sum")) for name in rated), where
    ranged = set(re.findall(rf"({NAME})(?:\{{[^}}]*\}})?\[", text))
    assert ranged == rated, where


# The dashboard


def test_every_metric_of_queues_is_in_the_dashboard() -> None:
    """What is exposed and shown nowhere is forgotten; these few are for queries of one's own."""
    shown = set().union(*(metrics_of(query) for _, query in queries_of_dashboard()))
    of_queues = {name for name in exposed() if name.startswith("upstream_queue_")}
    assert of_queues - shown == {
        "upstream_queue_info",
        "upstream_queue_keys",
        "upstream_queue_updates_dequeued_total",
        "upstream_queue_updates_taken_as_delivered_total",
        "upstream_queue_windows_taken_as_delivered_total",
    }


def test_every_chart_says_what_it_shows_in_which_unit() -> None:
    for panel in charts():
        assert panel["description"].endswith("."), panel["title"]
        assert panel["fieldConfig"]["defaults"]["unit"], panel["title"]


def test_every_chart_has_its_data_from_the_chosen_source() -> None:
    (source,) = [each for each in dashboard()["templating"]["list"] if each["name"] == "datasource"]
    assert (source["type"], source["query"]) == ("datasource", "prometheus")
    for panel in charts():
        sources = [panel["datasource"], *(target["datasource"] for target in panel["targets"])]
        assert all(each == {"type": "prometheus", "uid": "${datasource}"} for each in sources)


def test_queues_can_be_chosen() -> None:
    (queue,) = [each for each in dashboard()["templating"]["list"] if each["name"] == "queue"]
    assert queue["multi"]
    assert queue["includeAll"]
    found = re.fullmatch(r"label_values\((\w+), (\w+)\)", queue["query"]["query"])
    assert found is not None
    assert found[2] in exposed()[found[1]]


def test_no_variable_is_used_that_is_not_there() -> None:
    known = {each["name"] for each in dashboard()["templating"]["list"]}
    text = json.dumps(dashboard())
    used = set(re.findall(r"\$\{?(\w+)", text)) - {"__rate_interval", "__all"}
    assert used == known


def test_panels_have_numbers_of_their_own_and_do_not_overlap() -> None:
    panels = dashboard()["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)

    def cells(panel: dict[str, Any]) -> set[tuple[int, int]]:
        at = panel["gridPos"]
        assert at["x"] + at["w"] <= 24
        columns = range(at["x"], at["x"] + at["w"])
        return {(x, y) for x in columns for y in range(at["y"], at["y"] + at["h"])}

    for one, other in combinations(panels, 2):
        assert not cells(one) & cells(other), (one["title"], other["title"])


def test_targets_of_a_panel_have_letters_of_their_own() -> None:
    for panel in charts():
        letters = [target["refId"] for target in panel["targets"]]
        assert len(set(letters)) == len(letters), panel["title"]


def test_every_label_of_a_legend_is_left_by_its_query() -> None:
    for panel in charts():
        for target in panel["targets"]:
            query = target["expr"]
            aggregated = re.match(r"(?:sum|max|min)\b|histogram_quantile", query)
            if aggregated:
                left = grouped_labels_of(query)
            else:
                left = set().union(*(exposed()[metric] for metric in metrics_of(query)))
                left |= TARGET_LABELS
            named = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
            assert named <= left, (panel["title"], target["legendFormat"])


# The rules


def test_there_are_eight_rules_of_different_names() -> None:
    assert len(rules()) == 8
    assert len({rule["alert"] for rule in rules()}) == 8


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule["alert"])
def test_a_rule_says_what_happened_what_it_means_and_what_to_do(rule: dict[str, Any]) -> None:
    assert rule.keys() == {"alert", "expr", "for", "labels", "annotations"}
    assert rule["annotations"].keys() == {"summary", "description", "action"}
    assert all(text.strip().endswith(".") for text in rule["annotations"].values())
    assert rule["labels"]["severity"] in {"warning", "critical"}
    assert re.fullmatch(r"\d+m", rule["for"])
    assert len(rule["annotations"]["summary"]) <= 100


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule["alert"])
def test_an_annotation_names_only_labels_that_the_alert_has(rule: dict[str, Any]) -> None:
    made = set(re.findall(r'label_replace\(.*?, "(\w+)", "', rule["expr"]))
    has = set().union(*(exposed()[metric] for metric in metrics_of(rule["expr"])))
    for text in rule["annotations"].values():
        assert set(re.findall(r"\$labels\.(\w+)", text)) <= has | made | TARGET_LABELS


def test_the_rules_are_about_what_can_go_wrong() -> None:
    asked = {rule["alert"]: metrics_of(rule["expr"]) for rule in rules()}
    assert {"up", "upstream_ready"} <= asked["UpstreamDown"]
    bound = "upstream_queue_staleness_lower_bound_seconds"
    assert bound in asked["UpstreamStalenessFarAboveBound"]
    assert "upstream_stream_updates_rejected_total" in asked["UpstreamRejections"]
    assert "upstream_queue_waiting" in asked["UpstreamNoDeliveries"]
    assert "upstream_stream_updates_late_total" in asked["UpstreamLateUpdates"]
    ahead = "upstream_stream_updates_too_far_ahead_total"
    assert asked["UpstreamTimesTooFarAhead"] == {ahead}
    assert "upstream_http_request_seconds_bucket" in asked["UpstreamSlowRequests"]


def test_long_polls_and_streams_do_not_count_as_slow() -> None:
    (rule,) = [rule for rule in rules() if rule["alert"] == "UpstreamSlowRequests"]
    found = re.search(r'route!~"([^"]*)"', rule["expr"])
    assert found is not None
    waiting = ["/v1/queues/{queue}/dequeue", "/v1/queues/{queue}/events"]
    assert all(re.fullmatch(found[1], route) for route in waiting)
    assert not re.fullmatch(found[1], "/v1/streams/{stream}/updates")


# Prometheus and Grafana


def test_prometheus_watches_the_service_under_the_name_that_the_rules_use() -> None:
    configuration = yaml.safe_load((FOLDER / "prometheus.yaml").read_text(encoding="utf-8"))
    assert configuration["rule_files"] == ["alerts.yaml"]
    (job,) = configuration["scrape_configs"]
    used = {name for _, query in QUERIES for name in re.findall(r'job="(\w+)"', query)}
    assert used == {job["job_name"]}


def test_grafana_finds_its_data_and_the_dashboard() -> None:
    provisioning = FOLDER / "provisioning"
    (source,) = yaml.safe_load((provisioning / "datasources.yaml").read_text())["datasources"]
    assert (source["type"], source["isDefault"]) == ("prometheus", True)
    (provider,) = yaml.safe_load((provisioning / "dashboards.yaml").read_text())["providers"]
    assert provider["type"] == "file"
