"""The page, as Chromium shows it, against the real service in a process of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

import pytest

from tests.api.browser.visit import DEMO, NEEDS_CHROMIUM, PATIENCE, Visit
from tests.server_process import running
from upstream.client import Client

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
from playwright.sync_api import Browser, Page, ViewportSize, expect  # noqa: E402

RANKS_TITLE = "rank of the key by its updates, 1 = busiest"
PHONE: ViewportSize = {"width": 360, "height": 740}
CHARTS = ("staleness-chart", "rates-chart", "ranks-chart", "memory-chart")
QUEUES = ["demo-append", "demo-fifo", "demo-in-place", "demo-index"]
CHOSEN = "/#queue=demo-append"
HOSTILE = "<img src=x onerror=\"document.title='hurt'\">"

pytestmark = NEEDS_CHROMIUM


@pytest.fixture
def page(visit: Visit, service: str) -> Page:
    """Return the page of the service with the demo, once it shows queues."""
    page = visit.open(service, CHOSEN)
    expect(page.get_by_role("tab")).to_have_count(len(QUEUES))
    return page


@pytest.fixture(scope="class")
def watched(shared_visit: Visit, service: str) -> Iterator[Page]:
    """Return a page whose charts are drawn, for tests that change nothing on it."""
    page = shared_visit.open(service, CHOSEN)
    wait_for_charts(page)
    yield page
    shared_visit.leave()


def tile(page: Page, name: str) -> str:
    figure = page.locator("#tiles-now > div", has=page.get_by_text(name, exact=True))
    return figure.locator(".value").inner_text()


def wait_for_charts(page: Page) -> None:
    """Wait until every chart has been drawn with at least three points."""
    page.wait_for_function(
        """ids => ids.every(id => {
            const traces = document.getElementById(id).data;
            return traces?.length && traces.every(({y}) => y.filter(v => v !== null).length >= 3);
        })""",
        arg=list(CHARTS),
        timeout=PATIENCE,
    )


def selected(page: Page) -> str:
    return page.locator("[role=tab][aria-selected=true] .tab-name").inner_text()


# What it shows


class TestLooking:
    """Tests that look at one page and change nothing on it."""

    def test_the_numbers_change_without_a_reload(self, watched: Page) -> None:
        watched.wait_for_function(
            "() => !document.querySelector('#tiles-now').innerText.includes('\u2013')"
        )
        before = watched.locator("#tiles-now").inner_text()
        watched.wait_for_function(
            "before => document.querySelector('#tiles-now').innerText !== before", arg=before
        )
        assert re.fullmatch(r"[\d.]+ (µs|ms|s)", tile(watched, "Queue staleness"))
        assert re.fullmatch(r"[\d,.]+ /s", tile(watched, "Arriving"))
        assert re.fullmatch(r"[\d.]+ [kMG]?B", watched.locator("#facts .value").first.inner_text())

    def test_every_chart_has_lines_with_points_in_them(self, watched: Page) -> None:
        names = watched.evaluate(
            "ids => ids.map(id => document.getElementById(id).data.map(trace => trace.name))",
            list(CHARTS),
        )
        assert names == [
            [*QUEUES, "lower bound"],
            ["arrived", "superseded", "delivered"],
            QUEUES,
            ["memory"],
        ]
        assert watched.locator(".chart svg.main-svg").count() >= len(CHARTS)

    def test_the_numbers_in_the_charts_make_sense(self, watched: Page) -> None:
        staleness, rates, ranks = (
            {
                trace["name"]: trace["y"]
                for trace in watched.evaluate(f"document.getElementById('{chart}').data")
            }
            for chart in CHARTS[:3]
        )
        assert all(0 < value < 60 for value in staleness["demo-index"] if value is not None)
        assert 300 < rates["arrived"][-1] < 3_000
        assert rates["delivered"][-1] < rates["arrived"][-1]
        assert all(value >= 0 for value in ranks["demo-fifo"])
        xs = watched.evaluate("document.getElementById('ranks-chart').data[0].x")
        assert xs == sorted(set(xs))
        assert xs[0] == 1

    def test_the_chart_says_in_words_what_it_shows(self, watched: Page) -> None:
        for chart in CHARTS:
            label = watched.locator(f"#{chart}").get_attribute("aria-label")
            assert label is not None
            assert re.search(r"\d", label)
        assert watched.locator("#ranks-chart .xtitle").text_content() == RANKS_TITLE

    def test_the_stalest_keys_are_listed_with_the_stalest_first(self, watched: Page) -> None:
        expect(watched.locator("#stalest tr")).to_have_count(10)
        widths = watched.locator("#stalest .bar").evaluate_all(
            "cells => cells.map(cell => parseFloat(cell.style.getPropertyValue('--part')))"
        )
        assert widths[0] == pytest.approx(100)
        assert widths == sorted(widths, reverse=True)


def test_queue_staleness_is_shown_on_demand(page: Page) -> None:
    wait_for_charts(page)
    label = page.locator("#staleness-chart")
    expect(label).to_have_attribute("aria-label", re.compile("^Application staleness"))
    page.get_by_text("Queue", exact=True).click()
    expect(label).to_have_attribute("aria-label", re.compile("^Queue staleness"))


def test_queues_that_are_not_compared_are_not_in_the_charts(page: Page) -> None:
    wait_for_charts(page)
    page.get_by_role("checkbox", name="demo-fifo").uncheck()
    page.wait_for_function("() => document.getElementById('ranks-chart').data.length === 3")
    legend = page.locator("#ranks-chart-legend li")
    expect(legend).to_have_text(["demo-append", "demo-in-place", "demo-index"])


def test_of_many_queues_some_are_compared_in_colours_that_differ(
    visit: Visit, empty_service: str
) -> None:
    names = [f"queue-{number}" for number in range(9)]
    for name in names:
        queue = f"{empty_service}/v1/queues/{name}"
        assert visit.page.request.put(queue, data={"stream": "all"}).ok
    updates = f"{empty_service}/v1/streams/all/updates"
    assert visit.page.request.post(updates, data={"key": "IBM", "value": 24.5}).ok
    page = visit.open(empty_service, "/#queue=queue-0")
    boxes = page.get_by_role("checkbox")
    expect(boxes).to_have_count(8)
    assert [box.is_checked() for box in boxes.all()] == [True] * 5 + [False] * 3
    assert [box.is_enabled() for box in boxes.all()] == [True] * 5 + [False] * 3
    boxes.nth(0).uncheck()
    boxes.nth(7).check()
    legend = page.locator("#staleness-chart-legend li")
    expect(legend).to_have_text(["queue-0", *names[2:6], "queue-8"])
    colours = legend.evaluate_all(
        "items => items.map(item => item.style.getPropertyValue('--series'))"
    )
    assert len(set(colours)) == 6


def test_subscribers_are_shown_with_their_pace(page: Page) -> None:
    row = page.locator("#subscribers tr")
    expect(page.locator("#stalest tr")).to_have_count(10)
    expect(page.get_by_text("Subscribers", exact=True).first).to_be_hidden()
    page.evaluate(
        """() => {
            const socket = new WebSocket(
                `ws://${location.host}/v1/queues/demo-append/socket?max_rate=5`);
            socket.onmessage = () => socket.send('{"credit": 1}');
            window.other = socket;
        }"""
    )
    expect(row).to_have_count(1)
    facts = page.locator("#facts > div", has=page.get_by_text("Subscribers", exact=True))
    expect(facts.locator(".value")).to_have_text("1")  # not this page's own connection
    page.wait_for_function(
        "() => /\\d.*\\//.test(document.querySelector('#subscribers td').innerText)"
    )
    page.evaluate("window.other.close()")
    expect(row).to_have_count(0)


def test_a_paused_page_does_not_change_until_it_goes_on(page: Page) -> None:
    wait_for_charts(page)
    button = page.get_by_role("button", name="Pause")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#connection")).to_have_text("Paused")
    count = "document.getElementById('memory-chart').data[0].x.length"
    before = page.evaluate(count)
    page.wait_for_timeout(2_500)  # at least two more states have come by then
    assert page.evaluate(count) == before
    button.click()
    page.wait_for_function(f"before => {count} >= before + 2", arg=before)


# How it can be used


@pytest.mark.parametrize("address", ["service", "empty_service"])
def test_on_a_phone_nothing_has_to_be_scrolled_sideways(
    browser: Browser, address: str, request: pytest.FixtureRequest
) -> None:
    visit = Visit(browser, viewport=PHONE, is_mobile=True, has_touch=True)
    page = visit.open(request.getfixturevalue(address))
    if address == "service":
        wait_for_charts(page)
    expect(page.locator("#memory-chart svg.main-svg").first).to_be_visible()
    assert page.evaluate("innerWidth") == PHONE["width"]
    # How many pixels the page is wider than the window.
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    visit.context.close()
    assert visit.errors == []


@pytest.mark.parametrize("system", ["light", "dark"])
def test_the_theme_is_the_systems_until_another_is_chosen(
    visit: Visit, service: str, system: Literal["light", "dark"]
) -> None:
    visit.page.emulate_media(color_scheme=system)
    page = visit.open(service)
    button = page.get_by_role("button", name="Dark")
    assert brightness(page) == system
    expect(button).to_have_attribute("aria-pressed", str(system == "dark").lower())
    button.click()
    other = {"light": "dark", "dark": "light"}[system]
    assert brightness(page) == other
    page.reload()
    assert brightness(page) == other


def brightness(page: Page) -> str:
    """Return whether the page is light or dark."""
    colour = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    return "light" if luminance(colour) > 0.5 else "dark"


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour, as accessibility guidelines define it."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("system", ["light", "dark"])
def test_text_and_lines_stand_out_from_the_background(
    visit: Visit, service: str, system: Literal["light", "dark"]
) -> None:
    visit.page.emulate_media(color_scheme=system)
    page = visit.open(service)
    names = ["card", "page", "raised", "text", "muted", "accent", "bad", "bound"]
    names += [f"series-{number}" for number in range(6)]
    colours = page.evaluate(
        """names => Object.fromEntries(names.map(name => {
            const probe = document.body.appendChild(document.createElement("i"));
            probe.style.color = `var(--${name})`;
            return [name, getComputedStyle(probe).color];
        }))""",
        names,
    )

    def contrast(one: str, other: str) -> float:
        low, high = sorted((luminance(colours[one]), luminance(colours[other])))
        return (high + 0.05) / (low + 0.05)

    for behind in ("card", "page"):
        for text in ("text", "muted", "accent", "bad"):
            assert contrast(text, behind) >= 4.5, (text, behind)
    assert contrast("text", "raised") >= 4.5
    for line in ("bound", *(name for name in names if name.startswith("series"))):
        assert contrast(line, "card") >= 3, line


def test_arrow_keys_go_from_queue_to_queue(page: Page) -> None:
    page.keyboard.press("Tab")
    expect(page.locator(".skip-link")).to_be_focused()
    for _ in range(5):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.getAttribute('role')") == "tab":
            break
    names = page.locator(".tab-name").all_inner_texts()  # which stay while one has the focus
    assert page.locator(":focus .tab-name").inner_text() == names[0] == "demo-append"
    for key, place in (
        *(("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", 3)),
        *(("ArrowRight", 0), ("ArrowLeft", 3), ("Home", 0), ("ArrowRight", 1)),
    ):
        name = names[place]
        page.keyboard.press(key)
        assert selected(page) == name
        assert page.locator(":focus .tab-name").inner_text() == name
        panel = page.get_by_role("tabpanel")
        assert panel.get_attribute("aria-labelledby") == f"tab-{name}"
    assert "fifo" in page.locator("#about").inner_text()
    assert page.locator("[role=tab][tabindex='0']").count() == 1


def test_the_focused_element_can_be_seen(page: Page) -> None:
    seen: dict[str, str] = {}
    while "BODY" not in seen:  # from the last element the next one is the first again
        page.keyboard.press("Tab")
        name, outline = page.evaluate(
            """() => {
                const shown = document.activeElement.closest(".switch") ?? document.activeElement;
                const name = shown.id || shown.className || shown.tagName;
                return [name, getComputedStyle(shown).outlineStyle];
            }"""
        )
        seen[name] = outline
    del seen["BODY"]
    assert {"skip-link", "pause", "theme", "tab-demo-append", "switch", "scroll"} <= seen.keys()
    assert set(seen.values()) == {"solid"}


def test_the_focus_stays_where_it_is_while_numbers_change(page: Page) -> None:
    page.get_by_role("checkbox", name="demo-fifo").focus()
    before = page.locator("#facts").inner_text()
    page.wait_for_function("before => facts.innerText !== before", arg=before)
    expect(page.get_by_role("checkbox", name="demo-fifo")).to_be_focused()


def test_the_chosen_queue_is_in_the_address(visit: Visit, page: Page) -> None:
    page.get_by_role("tab", name="demo-in-place").click()
    assert page.url.endswith("#queue=demo-in-place")
    page.reload()
    expect(page.get_by_role("tab")).to_have_count(len(QUEUES))
    assert selected(page) == "demo-in-place"


def test_nothing_moves_if_reduced_motion_is_wanted(visit: Visit, service: str) -> None:
    visit.page.emulate_media(reduced_motion="reduce")
    visit.page.goto(service)
    animations = visit.page.evaluate(
        """() => [...document.querySelectorAll("*")].map(element => {
            const {animationName, transitionDuration} = getComputedStyle(element);
            return `${animationName} ${transitionDuration}`;
        }).filter(text => text !== "none 0s")"""
    )
    assert animations == []


# What goes wrong


def test_names_from_clients_are_shown_as_text_only(visit: Visit, service: str) -> None:
    page = visit.open(service)
    created = page.request.put(f"{service}/v1/queues/hostile")
    assert created.ok
    keys = [HOSTILE, "<script>document.title='hurt'</script>", "%{y} &lt;b&gt;"]
    for key in keys:
        body = {"key": key, "value": {"<b>": HOSTILE}}
        assert page.request.post(f"{service}/v1/streams/hostile/updates", data=body).ok
    try:
        page.get_by_role("tab", name="hostile").click()
        expect(page.locator("#stalest th")).to_have_count(len(keys))
        shown = page.locator("#stalest th").all_inner_texts()
        assert sorted(shown) == sorted(keys)
        assert page.locator("main img, main script").count() == 0
        assert page.title() == "UpStream"
    finally:
        page.request.delete(f"{service}/v1/streams/hostile")
    expect(page.get_by_role("tab", name="hostile")).to_have_count(0)
    assert selected(page) == "demo-append"


def test_an_empty_service_says_what_to_do(visit: Visit, empty_service: str) -> None:
    page = visit.open(empty_service)
    trades = f"{empty_service}/v1/queues/trades"
    updates = f"{empty_service}/v1/streams/trades/updates"
    expect(page.get_by_text("There is no queue yet")).to_be_visible()
    assert page.locator("#command-queue").inner_text() == f"curl -X PUT {trades}"
    assert updates in page.locator("#command-update").inner_text()
    assert page.request.put(trades).ok
    expect(page.get_by_role("tab")).to_have_count(1)
    expect(page.get_by_text("There is no queue yet")).to_be_hidden()
    expect(page.locator("#tiles-now")).to_be_visible()
    expect(page.locator(".grid > .card:visible .chart")).to_have_count(1)  # of the memory
    about = page.locator("#about")
    expect(about).not_to_contain_text("Only push connections")
    with Client(empty_service) as client, client.watch("trades"):
        expect(about).to_contain_text("Only push connections use it")
    assert page.request.post(f"{trades}/dequeue").ok
    expect(about).not_to_contain_text("Only push connections")
    assert page.request.post(updates, data={"key": "IBM", "value": 24.5}).ok
    expect(page.locator("#stalest th")).to_have_text(["IBM"])


def test_the_page_finds_a_service_that_was_started_again(browser: Browser) -> None:
    visit = Visit(browser)
    connection = visit.page.locator("#connection")
    with running(DEMO) as server:
        page = visit.open(server.url)
        expect(page.get_by_role("tab")).to_have_count(len(QUEUES))
        first = page.locator("#version").inner_text()
    expect(connection).to_have_attribute("data-state", re.compile("waiting|connecting"))
    expect(visit.page.locator("#retry")).to_contain_text("trying again in")
    with running(("-m", "api", "--no-demo", "--port", str(server.port))):
        expect(connection).to_have_text("Live")
        expect(page.get_by_text("There is no queue yet")).to_be_visible()
        page.wait_for_function("first => version.innerText !== first", arg=first)
        visit.context.close()


def test_without_the_plot_library_the_tables_are_there(browser: Browser, service: str) -> None:
    visit = Visit(browser)
    visit.page.route("**/plotly.min.js", lambda route: route.fulfill(status=404, body=""))
    page = visit.open(service)
    expect(page.locator("#staleness-chart")).to_contain_text("pip install plotly")
    expect(page.locator("#stalest tr")).to_have_count(10)
    before = page.locator("#tiles-now").inner_text()
    page.wait_for_function(
        "before => document.querySelector('#tiles-now').innerText !== before", arg=before
    )
    visit.context.close()
    assert [error for error in visit.errors if "404" not in error] == []
