"""The dashboard in a real browser: journeys of readers, and what only a browser can tell."""

import json
import socket
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import streamlit
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.support.ui import WebDriverWait

from pages.drawn import shading
from pages.export.item import item_of
from pages.export.web import web_page
from pages.kit.contents import PAGES
from pages.kit.links import VIEWS
from pages.kit.page import _content_of
from pages.kit.presentation import _STYLE, MOST_ROWS, _slide
from tests.pages.kit.chromium import (
    Patient,
    needs_chromium,
    parameters,
    serving,
    settled,
    show_on,
    title_of,
    wait_until,
)
from tests.pages.kit.ran import FOR_ALL, ran
from tests.pages.kit.section_checks import home_of, sections
from tests.pages.test_report import HOSTILE, ITEMS

pytestmark = needs_chromium

DEEP_LINK = "/norms?lang=ja&file=tiny.duckdb&an_view=transformation"
HARMLESS = ("Executing inline script", "_stcore/host-config", "_stcore/health")


@pytest.fixture(scope="module")
def fresh(store_folder) -> Iterator[str]:
    """A server that no page has been asked of yet, which leaves the folder as it is."""
    before = {path: path.stat().st_mtime_ns for path in store_folder.rglob("*")}
    with serving(store_folder, "/behind/mixscope") as address:
        yield address
    assert {path: path.stat().st_mtime_ns for path in store_folder.rglob("*")} == before


@pytest.fixture(scope="module")
def first(fresh, browser) -> WebDriver:
    """The browser after the very first request to the server, which is a deep link."""
    browser.get(fresh + DEEP_LINK)
    title_of(browser)
    return browser


def test_a_deep_link_is_answered_by_a_server_that_has_just_started(first):
    assert title_of(first).startswith("注意重み")
    settled(first, '[data-testid="stSidebar"] [data-testid="stPageLink-NavLink"]')
    links = first.find_elements(By.CSS_SELECTOR, '[data-testid="stPageLink-NavLink"]')
    assert {"概要", "測定方法"} <= {link.text for link in links}
    assert parameters(first)["an_view"] == ["transformation"]
    settled(first, '[data-testid="stVegaLiteChart"] svg, [data-testid="stVegaLiteChart"] canvas')
    assert not first.find_elements(By.CSS_SELECTOR, '[data-testid="stException"]')


def test_the_language_follows_links_and_goes_back_with_the_address(fresh, first):
    first.get(f"{fresh}/?lang=ja")
    title_of(first)
    idle = "[data-test-script-state=notRunning]"  # a click before that may be lost
    selector = f"{idle} [data-testid=stMain] [data-testid=stPageLink-NavLink]"
    settled(first, selector)
    link = first.find_element(By.CSS_SELECTOR, selector)
    first.execute_script("arguments[0].click()", link)
    wait = WebDriverWait(first, 60)
    wait.until(lambda d: d.current_url.startswith(f"{fresh}/norms"))
    assert parameters(first)["lang"] == ["ja"]
    first.get(f"{fresh}/norms")
    english = title_of(first)
    settled(first, f"{idle} .st-key-lang button")
    first.find_elements(By.CSS_SELECTOR, ".st-key-lang button")[1].click()
    wait.until(lambda d: parameters(d).get("lang") == ["ja"])
    wait.until(lambda d: title_of(d) != english)
    first.back()
    wait.until(lambda d: title_of(d) == english)


def test_exports_arrive(fresh, first, tmp_path):
    downloads = {"behavior": "allow", "downloadPath": str(tmp_path)}
    first.execute_cdp_cmd("Browser.setDownloadBehavior", downloads)
    first.get(f"{fresh}/norms?an_view=frequency&lang=en")
    settled(first, "[data-test-script-state=notRunning] [data-testid=stVegaLiteChart]")
    popover = first.find_element(By.XPATH, "//button[contains(., 'Export')]")
    first.execute_script("arguments[0].click()", popover)
    for button, start in (("SVG", b"<svg"), ("PDF", b"%PDF"), ("CSV", b"\xef")):
        selector = f"[class*=st-key-an_][class*=-{button}] button"
        WebDriverWait(first, 30).until(
            lambda d, selector=selector: d.find_element(By.CSS_SELECTOR, selector).is_displayed()
        )
        first.find_element(By.CSS_SELECTOR, selector).click()
        ending = f"*_tiny*.{button.lower()}"
        wait_until(lambda ending=ending: list(tmp_path.glob(ending)), 30)
        [written] = tmp_path.glob(ending)
        assert written.read_bytes().startswith(start)


def test_methods_draws_its_formulas(fresh, first):
    first.get(f"{fresh}/methods?me_page=relevance&me_entry=relevance_map")
    title_of(first)
    settled(first, ".katex")
    assert not first.find_elements(By.CSS_SELECTOR, ".katex-error")


def test_nothing_was_asked_of_any_other_machine(fresh, first):
    entries = [json.loads(entry["message"])["message"] for entry in first.get_log("performance")]
    asked = [
        entry["params"]["request"]["url"]
        for entry in entries
        if entry["method"] == "Network.requestWillBeSent"
    ]
    web = [url for url in asked if urlsplit(url).scheme in ("http", "https")]
    assert len(web) > 10, "this test could not have failed"
    assert {urlsplit(url).netloc for url in web} == {urlsplit(fresh).netloc}


def test_the_console_holds_no_error(first):
    """Of all pages before this."""
    messages = [entry["message"] for entry in first.get_log("browser")]
    assert not [text for text in messages if not any(known in text for known in HARMLESS)]


def test_every_answer_carries_the_security_headers(fresh):
    with urllib.request.urlopen(fresh) as answer:
        headers = answer.headers
    content = headers["Content-Security-Policy"]
    assert "unsafe-eval" not in content
    assert "script-src 'self';" in content
    assert "frame-ancestors 'self'" in content
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"


def test_the_server_calls_nobody_and_ends_although_somebody_reads_nothing(store_folder):
    with socket.create_server(("127.0.0.1", 0)) as proxy, socket.socket() as stalled:
        called = f"http://127.0.0.1:{proxy.getsockname()[1]}"
        with serving(store_folder, http_proxy=called, https_proxy=called, no_proxy="") as server:
            _ask_and_read_nothing(stalled, server)
        proxy.setblocking(False)
        with pytest.raises(BlockingIOError):  # nobody came by
            proxy.accept()


def _ask_and_read_nothing(reader: socket.socket, server: str) -> None:
    """Ask for the largest file that there is, of which the system's buffers hold only a part."""
    static = Path(streamlit.__file__).parent / "static"
    largest = max(static.rglob("*.js"), key=lambda file: file.stat().st_size)
    assert largest.stat().st_size > 4 * 2**20
    reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    reader.connect(("127.0.0.1", urlsplit(server).port))
    reader.sendall(f"GET /{largest.relative_to(static)} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    assert reader.recv(12) == b"HTTP/1.1 200"


REDRAWN = [NoSuchElementException, StaleElementReferenceException]
SHOWN = """
const values = [...document.querySelectorAll("[role=combobox]")].map(each => each.value ?? "");
return [document.body.innerText, ...values].some(each => each.includes(arguments[0]));
"""


CLICKS = [
    (
        "head-map?hm_view=groups&head=1-1",
        "[class*=st-key-hm_groups_plane] path[aria-label*='layer: 2; head: 3']",
        {"head": "2-3"},
        "L2·H3",
    ),
    (
        "layer-mixing?lm_view=similarity",
        "[class*=st-key-lm_similarity] [aria-roledescription='text mark']"
        "[aria-label^='compared with: whole layer; counted up to: after the residual;']",
        {"lm_scope_a": "attn_res", "lm_scope_b": "attn_res_ln_ff_res_ln"},
        "Where do “after the residual” and “whole layer” agree least?",
    ),
]
"""Address, a mark of a chart, what a click on it chooses, and words that are shown then."""


@pytest.mark.parametrize(("address", "mark", "chosen", "shown"), CLICKS)
def test_a_click_chooses_and_a_fresh_session_shows_it_again(
    address, mark, chosen, shown, server, browser
):
    def choose(driver: WebDriver) -> None:
        target = driver.find_element(By.CSS_SELECTOR, mark)
        ActionChains(driver).move_to_element(target).click().perform()

    def is_chosen(driver: WebDriver) -> bool:
        return all(parameters(driver).get(key) == [value] for key, value in chosen.items())

    browser.get(f"{server}/{address}")
    title_of(browser)
    wait, click = WebDriverWait(browser, 60, ignored_exceptions=REDRAWN), Patient(choose)
    wait.until(lambda driver: is_chosen(driver) or click(driver))
    for _ in range(2):
        wait.until(lambda driver: driver.execute_script(SHOWN, shown))
        browser.get(browser.current_url)  # nothing but the address tells what was chosen
    assert is_chosen(browser)


TOP, SEEN, SMALLEST = 300, 300, 90  # pixels
FIRST = """
const main = "[data-testid=stMain] ";
const charts = [...document.querySelectorAll(main + "[data-testid=stVegaLiteChart]")];
const others = document.querySelectorAll(
    main + ":is([data-testid=stDataFrame], [data-testid=stHtml])");
const drawn = charts.every(each => each.querySelector("svg, canvas")?.clientHeight);
const idle = document.querySelector("[data-test-script-state=notRunning]");
const shown = [...charts, ...others].map(each => each.getBoundingClientRect());
const first = shown.filter(each => each.height > arguments[0]).sort((a, b) => a.top - b.top)[0];
return idle && drawn && first ? [first.top, first.height] : null;
"""
"""Top and height of the first chart or table, once the page and all its charts are drawn."""
PLACES = [
    ("compare", "headlines", "ja", "gpt2"),
    ("relevance", "map", "en", "images"),
]
"""Sections with few rows, long names or little width, and files."""


@pytest.mark.parametrize(("page", "stem", "lang", "name"), PLACES)
def test_the_first_chart_is_seen_without_scrolling(
    page, stem, lang, name, browser: WebDriver, servers, request
):
    server = servers(request.getfixturevalue(f"{name}_folder"))

    def is_in_place(driver: WebDriver) -> bool:
        """Return True if the chart is in place; while it is drawn, it may move what is below."""
        top, tall = driver.execute_script(FIRST, SMALLEST) or (TOP + 1, 0)
        in_sight = min(top + tall, driver.execute_script("return innerHeight")) - top
        return top <= TOP and in_sight >= min(tall / 2, SEEN)

    try:
        wait = WebDriverWait(browser, 60)
        browser.get(f"{server}/{PAGES[page]}?lang={lang}&{VIEWS[page]}={stem}")
        for width, height in ((1280, 720), (1920, 1080)):
            show_on(browser, width, height)
            wait.until(is_in_place, f"too low at {width} x {height}")
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


SIZES = """
const charts = [...document.querySelectorAll("[data-testid=stVegaLiteChart] svg")]
    .map(each => each.getBoundingClientRect());
const main = document.querySelector("[data-testid=stMain]");
const idle = document.querySelector("[data-test-script-state=notRunning]");
if (!idle || charts.length < 2 || !charts.every(each => each.height)) return null;
return {
    widths: charts.map(each => each.width / main.getBoundingClientRect().width),
    right: Math.max(...charts.map(each => each.right)) - innerWidth,
    beside: Math.abs(charts[0].left - charts[1].left) > 50,
};
"""
"""Shares of the page's width that charts take, and pixels beyond it."""
SLIDE = """
const slide = document.querySelector(".slide")?.getBoundingClientRect();
const others = "[data-testid=stSidebar], [data-testid=stHeader], .st-key-bar, .st-key-sections, "
    + ".st-key-presenting, [data-testid=stVegaLiteChart]";
const seen = [...document.querySelectorAll(others)].filter(each => each.getClientRects().length);
return slide && [Math.round(slide.width), Math.round(slide.height), seen.length];
"""
"""Width and height of the slide, and what is seen of the page beside it."""


def test_slides_fill_the_screen_and_narrow_windows_stack_their_columns(
    browser: WebDriver, servers, store_folder
):
    wait = WebDriverWait(browser, 60)
    page = f"{servers(store_folder)}/token-pairs?lang=en&tp_view=workbench"

    def seen(width: int, height: int, holds: Callable[[dict], bool]) -> None:
        show_on(browser, width, height)
        message = f"not at {width} x {height}"
        wait.until(lambda driver: (at := driver.execute_script(SIZES)) and holds(at), message)

    try:
        browser.get(page)
        seen(1280, 800, lambda at: at["beside"])
        seen(900, 800, lambda at: min(at["widths"]) > 0.8 and at["right"] <= 0)
        browser.get(f"{page}&present=True")
        for width, height in ((1280, 720), (1920, 1080)):
            show_on(browser, width, height)
            wait.until(lambda driver, of=[width, height, 0]: driver.execute_script(SLIDE) == of)
        for key, number in ((Keys.RIGHT, "2 / "), (Keys.LEFT, "1 / ")):
            browser.find_element(By.TAG_NAME, "body").send_keys(key)
            shown = f"//*[contains(@class, 'st-key-steps')]//p[starts-with(., '{number}')]"
            wait.until(lambda driver, shown=shown: driver.find_elements(By.XPATH, shown))
        browser.find_element(By.TAG_NAME, "body").send_keys(Keys.ESCAPE)
        wait.until(lambda driver: driver.execute_script(SLIDE) is None)
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_collection_outlives_its_tab(browser, server):
    kept = "return JSON.parse(localStorage.getItem('mixscope-collection') || '{}').items?.length"
    page, wait = f"{server}/layer-mixing?lang=en&lm_view=ratio", WebDriverWait(browser, 60)
    listed_n = "return document.querySelectorAll('[data-testid=stTextArea]').length"
    first = browser.current_window_handle
    try:
        browser.get(page)
        wait.until(lambda at: at.find_elements(By.XPATH, "//button[contains(., 'Collect')]"))[
            0
        ].click()
        wait.until(lambda at: at.execute_script(kept) == 1)
        browser.refresh()
        wait.until(lambda at: at.find_elements(By.XPATH, "//button[contains(., 'Collect')]"))
        browser.switch_to.new_window("tab")
        browser.get(f"{server}/report?lang=en")
        wait.until(lambda at: at.execute_script(listed_n) == 1)
        browser.find_element(By.XPATH, "//button[contains(., '✕')]").click()
        wait.until(lambda at: at.execute_script(kept) == 0)
    finally:
        browser.execute_script("localStorage.clear()")
        if browser.current_window_handle != first:
            browser.close()
            browser.switch_to.window(first)


def test_the_web_page_draws_and_sorts_without_a_server(browser, tmp_path):
    page = tmp_path / "report.html"
    page.write_text(web_page("", ITEMS), encoding="utf-8")
    browser.get_log("browser")
    browser.get(page.as_uri())
    settled(browser, ".chart svg")
    table = browser.find_elements(By.TAG_NAME, "table")[1]
    share = table.find_elements(By.TAG_NAME, "th")[1]
    for cell in ("[SEP]", HOSTILE):
        share.click()
        assert table.find_element(By.CSS_SELECTOR, "tbody td").text == cell
    assert not [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]


FOCUSED = """
const each = document.activeElement;
each.setAttribute("data-seen", "");
return (each.ariaLabel || each.innerText || each.placeholder || "").split("\\n")[0];
"""
MISSED = """
return [...document.querySelectorAll("a[href], button, input, textarea, summary")].filter(each =>
    each.checkVisibility({visibilityProperty: true}) && each.tabIndex >= 0 && !each.disabled
    && !each.hasAttribute("data-seen") && !each.closest("[role=radiogroup], canvas")
).map(each => each.outerHTML.slice(0, 200));
"""


def test_the_tab_key_comes_by_every_control_from_the_top(browser, server):
    browser.get(f"{server}/token-pairs?lang=en")
    title_of(browser)
    WebDriverWait(browser, 60).until(lambda driver: driver.execute_script(FIRST, SMALLEST))
    names: list[str] = []
    while "Skip to main content" not in names[1:]:
        assert len(names) < 500, names
        ActionChains(browser).send_keys(Keys.TAB).perform()
        names.append(browser.execute_script(FOCUSED))
    assert names[0] == "Skip to main content"
    wanted = ("Find anything", "Pairs and sentences", "Layer", "How to read this", "Export")
    assert all(any(control in name for name in names) for control in wanted), names
    assert not browser.execute_script(MISSED)


LETTERS, LOWEST = 16, 200  # pixels of a list's letters, and of the room of a view
FAULTS = """
const [rows, smallest, lowest] = arguments, faults = [];
for (const slide of document.querySelectorAll(".slide")) {
  const box = slide.getBoundingClientRect(), title = slide.querySelector("h1");
  const note = (fault, of) => faults.push(`${title.textContent}: ${fault} ${of ?? ""}`);
  if (Math.abs(box.width / box.height - 16 / 9) > 0.01) note("is no 16:9");
  const parts = [...slide.querySelectorAll("h1, .shown, .more, .source, img, table")];
  for (const part of parts) {
    const {left, right, top, bottom} = part.getBoundingClientRect();
    const fits = left >= box.left && right <= box.right && top >= box.top && bottom <= box.bottom;
    if (!fits) note("has no room for", part.outerHTML.slice(0, 40));
  }
  const line = parseFloat(getComputedStyle(title).lineHeight);
  if (title.clientHeight > 2 * line + 2) note("has a long headline");
  const source = slide.querySelector(".source");
  if (source.clientHeight > 2 * parseFloat(getComputedStyle(source).fontSize)) note("long source");
  const shown = slide.querySelector(".shown").clientHeight;
  if (shown < lowest) note("leaves little room", shown);
  const body = slide.querySelectorAll("tbody tr"), cell = slide.querySelector("td");
  if (body.length > rows) note("has a long list", body.length);
  if (cell && parseFloat(getComputedStyle(cell).fontSize) < smallest) note("has small letters");
}
return [document.querySelectorAll(".slide").length, faults];
"""


@pytest.mark.parametrize("page", ["norms", "syntax", "relevance"])
def test_every_view_fits_on_a_slide(page, request, monkeypatch, browser, tmp_path):
    still = []
    for section in sections(page):
        folder = request.getfixturevalue(f"{home_of(page, section)}_folder")
        monkeypatch.setenv("MIXSCOPE_STATISTICS", str(folder))
        shown: list[Any] = ran(page, section.name, **FOR_ALL).shown
        still += [view for view in shown if not callable(getattr(view, "body", ""))]
    slides = "".join(_slide(item_of(_content_of(view, None))) for view in still)
    path = tmp_path / "slides.html"
    markup = f"<!doctype html><meta charset='utf-8'>{_STYLE}{shading.STYLE}{slides}"
    path.write_text(markup, encoding="utf-8")
    browser.get(path.as_uri())
    try:
        for width, height in ((1280, 720), (1920, 1080)):
            show_on(browser, width, height)
            given = (MOST_ROWS, LETTERS, LOWEST)
            assert browser.execute_script(FAULTS, *given) == [len(still), []], (width, height)
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
