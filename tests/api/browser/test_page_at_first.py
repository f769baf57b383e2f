"""What the page shows as soon as it is opened."""

from __future__ import annotations

import re
import time
from urllib.parse import urlsplit

import pytest

from tests.api.browser.visit import NEEDS_CHROMIUM, Visit
from tests.api.raw_client import connected, strict_json

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
from playwright.sync_api import expect  # noqa: E402

pytestmark = NEEDS_CHROMIUM


def port_of(service: str) -> int:
    port = urlsplit(service).port
    assert port is not None
    return port


def test_charts_begin_before_the_page_was_opened(visit: Visit, service: str) -> None:
    with connected(port_of(service)) as client:
        while len(strict_json(client.get("/page/history.json").body).get("service", [])) < 2:
            pass  # until it has been up for some seconds
    opened = time.time() * 1_000
    page = visit.open(service)
    page.wait_for_function("() => document.getElementById('memory-chart').data?.[0].x.length >= 2")
    drawn = page.evaluate(
        "() => document.getElementById('staleness-chart').data[0].x.map(x => +new Date(x))"
    )
    assert drawn[0] < opened - 1_000
    assert drawn == sorted(drawn)


def test_the_page_opens_with_the_same_feed_under_four_policies(visit: Visit, service: str) -> None:
    page = visit.open(service)
    expect(page.locator("[role=tab] .tab-name")).to_have_text(
        ["demo-append", "demo-fifo", "demo-in-place", "demo-index"]
    )
    expect(page.locator("#lead")).to_contain_text("the same 1,000 updates per second of 200 keys")
    append = page.locator("#tab-demo-append")
    expect(append).to_have_attribute("aria-selected", "true")
    expect(append).to_contain_text("and growing")
    expect(append.locator(".tab-figure")).to_have_text(re.compile(r"^[\d,.]+ (s|min)$"))
    expect(page.locator("#tab-demo-index")).not_to_contain_text("growing")
    expect(page.locator("#tab-demo-index .tab-figure")).to_have_text(re.compile(r"^\d+ ms$"))
    top = page.locator("#tabs").bounding_box()
    assert top is not None
    assert top["y"] + top["height"] < 500  # without scrolling


def test_the_stalest_queue_comes_first_and_streams_in_the_order_of_their_creation(
    visit: Visit, empty_service: str
) -> None:
    names = ["zebra", "apple", "mango", "kiwi", "fig"]
    with connected(port_of(empty_service)) as client:
        for name in names:
            client.put(f"/v1/queues/{name}", {})
        for name in ("kiwi", "apple"):  # their keys wait from now on
            client.post(f"/v1/streams/{name}/updates", b'{"key": "IBM", "value": 1}')
        page = visit.open(empty_service)
        expect(page.locator("#order")).to_contain_text("Stalest queue first")
        cards = page.locator("[role=tab] .tab-name")
        stale = re.compile("apple|kiwi")
        expect(cards).to_have_text([stale, stale, "zebra", "mango", "fig"])
        expect(page.locator("#streams tr > :first-child")).to_have_text(names)
        facts = page.locator("#facts > div", has=page.get_by_text("Subscribers", exact=True))
        expect(facts.locator(".value")).to_have_text("0")  # the page's own does not count


def test_a_queue_that_began_just_now_is_warming_up(visit: Visit, empty_service: str) -> None:
    with connected(port_of(empty_service)) as client:
        client.put("/v1/queues/trades", {"processing_cost": 60})
        for _ in range(3):
            client.post("/v1/streams/trades/updates", b'[["IBM", null, 1], ["GM", null, 2]]')
        page = visit.open(empty_service)
        expect(page.locator("#tiles-since")).to_contain_text("warming up")
        expect(page.locator("#tab-trades")).to_contain_text("warming up")
