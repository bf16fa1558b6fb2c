"""The dashboard in a real browser: journeys of readers, and what only a browser can tell."""

import json
import socket
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import streamlit
from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webdriver import WebDriver

from pages.drawn import shading
from pages.export.item import item_of
from pages.export.web import web_page
from pages.kit.page import _content_of
from pages.kit.presentation import _STYLE, MOST_ROWS, _slide
from tests.pages.kit.chromium import (
    IDLE,
    needs_chromium,
    parameters,
    screens,
    serving,
    settled,
    title_of,
    wait_until,
    waiting,
)
from tests.pages.kit.ran import FOR_ALL, home_of, ran, sections
from tests.pages.test_report import HOSTILE, ITEMS

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def server(store_folder) -> Iterator[str]:
    """A server behind a prefix, which leaves the folder as it is."""
    before = {path: path.stat().st_mtime_ns for path in store_folder.rglob("*")}
    with serving(store_folder, "/behind/mixscope") as address:
        yield address
    assert {path: path.stat().st_mtime_ns for path in store_folder.rglob("*")} == before


def test_a_reader_follows_links_goes_back_and_exports(server, browser, tmp_path):
    """From the very first request to the server on; nothing else is asked, and nothing fails."""
    browser.get(f"{server}/norms?lang=ja&file=tiny.duckdb&an_view=transformation")
    assert title_of(browser).startswith("注意重み")
    settled(browser, "[data-testid=stVegaLiteChart] :is(svg, canvas)")
    links = browser.find_elements(By.CSS_SELECTOR, "[data-testid=stPageLink-NavLink]")
    assert {"概要", "測定方法"} <= {link.text for link in links}
    assert parameters(browser)["an_view"] == ["transformation"]
    assert not browser.find_elements(By.CSS_SELECTOR, "[data-testid=stException]")

    browser.get(f"{server}/?lang=ja")
    link = f"{IDLE} [data-testid=stMain] [data-testid=stPageLink-NavLink]"
    settled(browser, link)
    browser.execute_script("document.querySelector(arguments[0]).click()", link)
    wait = waiting(browser)
    wait.until(lambda d: d.current_url.startswith(f"{server}/norms"))
    assert parameters(browser)["lang"] == ["ja"]
    browser.get(f"{server}/norms")
    english = title_of(browser)
    settled(browser, f"{IDLE} .st-key-lang button")
    browser.find_elements(By.CSS_SELECTOR, ".st-key-lang button")[1].click()
    wait.until(lambda d: parameters(d).get("lang") == ["ja"] and title_of(d) != english)
    browser.back()
    wait.until(lambda d: title_of(d) == english)

    downloads = {"behavior": "allow", "downloadPath": str(tmp_path)}
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", downloads)
    browser.get(f"{server}/norms?an_view=frequency&lang=en")
    settled(browser, f"{IDLE} [data-testid=stVegaLiteChart]")
    popover = browser.find_element(By.XPATH, "//button[contains(., 'Export')]")
    browser.execute_script("arguments[0].click()", popover)
    for kind, start in (("SVG", b"<svg"), ("PDF", b"%PDF"), ("CSV", b"\xef")):
        button = (By.CSS_SELECTOR, f"[class*=st-key-an_][class*=-{kind}] button")
        wait.until(lambda d, button=button: d.find_element(*button).is_displayed())
        browser.find_element(*button).click()
        wait_until(lambda kind=kind: list(tmp_path.glob(f"*_tiny*.{kind.lower()}")), 30)
        [written] = tmp_path.glob(f"*_tiny*.{kind.lower()}")
        assert written.read_bytes().startswith(start)

    browser.get(f"{server}/methods?me_page=relevance&me_entry=relevance_map")
    settled(browser, ".katex")
    assert not browser.find_elements(By.CSS_SELECTOR, ".katex-error")

    entries = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [of["params"] for of in entries if of["method"] == "Network.requestWillBeSent"]
    web = [url for of in asked if (url := urlsplit(of["request"]["url"])).scheme.startswith("http")]
    assert len(web) > 10, "this test could not have failed"
    assert {url.netloc for url in web} == {urlsplit(server).netloc}
    harmless = ("Executing inline script", "_stcore/host-config", "_stcore/health")
    messages = [entry["message"] for entry in browser.get_log("browser")]
    assert not [text for text in messages if not any(known in text for known in harmless)]
    with urllib.request.urlopen(server) as answer:
        content = answer.headers["Content-Security-Policy"]
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert "unsafe-eval" not in content
    assert "script-src 'self';" in content
    assert "frame-ancestors 'self'" in content


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


SHOWN = """
const values = [...document.querySelectorAll("[role=combobox]")].map(each => each.value ?? "");
return [document.body.innerText, ...values].some(each => each.includes("L2·H3"));
"""


def test_a_click_chooses_and_a_fresh_session_shows_it_again(server, browser):
    mark = "[class*=st-key-hm_groups_plane] path[aria-label*='layer: 2; head: 3']"
    not_before = 0.0

    def is_chosen(driver: WebDriver) -> bool:
        """Click while nothing comes of it; a mark that is clicked twice is left again."""
        nonlocal not_before
        if parameters(driver).get("head") == ["2-3"]:
            return True
        if time.monotonic() > not_before and driver.find_elements(By.CSS_SELECTOR, IDLE):
            target = driver.find_element(By.CSS_SELECTOR, mark)
            ActionChains(driver).move_to_element(target).click().perform()
            not_before = time.monotonic() + 5
        return False

    browser.get(f"{server}/head-map?hm_view=groups&head=1-1")
    wait = waiting(browser)
    wait.until(is_chosen)
    for _ in range(2):
        wait.until(lambda driver: driver.execute_script(SHOWN))
        browser.get(browser.current_url)  # nothing but the address tells what was chosen
    assert parameters(browser)["head"] == ["2-3"]


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


def test_slides_fill_the_screen_and_narrow_windows_stack_their_columns(server, browser):
    wait, page = waiting(browser), f"{server}/token-pairs?lang=en&tp_view=workbench"

    def seen(holds: Callable[[dict], bool]) -> None:
        wait.until(lambda driver: (at := driver.execute_script(SIZES)) and holds(at))

    browser.get(page)
    with screens(browser) as show_on:
        show_on(1280, 800)
        seen(lambda at: at["beside"])
        show_on(900, 800)
        seen(lambda at: min(at["widths"]) > 0.8 and at["right"] <= 0)
        browser.get(f"{page}&present=True")
        for size in ((1280, 720), (1920, 1080)):
            show_on(*size)
            wait.until(lambda driver, of=[*size, 0]: driver.execute_script(SLIDE) == of)
        body = browser.find_element(By.TAG_NAME, "body")
        for key, number in ((Keys.RIGHT, "2 / "), (Keys.LEFT, "1 / ")):
            body.send_keys(key)
            shown = f"//*[contains(@class, 'st-key-steps')]//p[starts-with(., '{number}')]"
            wait.until(lambda driver, shown=shown: driver.find_elements(By.XPATH, shown))
        body.send_keys(Keys.ESCAPE)
        wait.until(lambda driver: driver.execute_script(SLIDE) is None)


def test_a_collection_outlives_its_tab(server, browser):
    kept = "return JSON.parse(localStorage.getItem('mixscope-collection') || '{}').items?.length"
    listed_n = "return document.querySelectorAll('[data-testid=stTextArea]').length"
    wait, first = waiting(browser), browser.current_window_handle
    browser.get(f"{server}/layer-mixing?lang=en&lm_view=ratio")
    wait.until(lambda at: at.find_element(By.XPATH, "//button[contains(., 'Collect')]")).click()
    wait.until(lambda at: at.execute_script(kept) == 1)
    browser.switch_to.new_window("tab")
    browser.get(f"{server}/report?lang=en")
    wait.until(lambda at: at.execute_script(listed_n) == 1)
    browser.find_element(By.XPATH, "//button[contains(., '✕')]").click()
    wait.until(lambda at: at.execute_script(kept) == 0)
    browser.close()
    browser.switch_to.window(first)


def test_the_web_page_draws_and_sorts_without_a_server(browser, tmp_path):
    page = tmp_path / "report.html"
    page.write_text(web_page("", ITEMS), encoding="utf-8")
    browser.get_log("browser")
    browser.get(page.as_uri())
    settled(browser, ".chart svg")
    table = browser.find_elements(By.TAG_NAME, "table")[1]
    for cell in ("[SEP]", HOSTILE):
        table.find_elements(By.TAG_NAME, "th")[1].click()
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


def test_the_tab_key_comes_by_every_control_from_the_top(server, browser):
    browser.get(f"{server}/token-pairs?lang=en")
    settled(browser, f"{IDLE} [data-testid=stVegaLiteChart] svg")
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


@pytest.mark.parametrize("page", ["syntax", "relevance"])
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
    with screens(browser) as show_on:
        for size in ((1280, 720), (1920, 1080)):
            show_on(*size)
            faults = browser.execute_script(FAULTS, MOST_ROWS, LETTERS, LOWEST)
            assert faults == [len(still), []], size
