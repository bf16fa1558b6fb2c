"""The dashboard in a real browser: journeys of readers, and what only a browser can tell."""

import json
import socket
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
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
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

from pages.drawn import shading
from pages.export.item import item_of
from pages.export.web import web_page
from pages.kit.contents import PAGES
from pages.kit.links import VIEWS
from pages.kit.page import _content_of
from pages.kit.presentation import _STYLE, MOST_ROWS, _slide
from tests.pages.kit.chromium import (
    Patient,
    chromium,
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
from tests.pages.kit.walk import walk
from tests.pages.shared.test_collection import HOSTILE, ITEMS

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
def new_browser(tmp_path_factory) -> Iterator[WebDriver]:
    """A browser that has seen no page yet."""
    with chromium(tmp_path_factory.mktemp("downloads")) as driver:
        yield driver


@pytest.fixture(scope="module")
def first(fresh, new_browser) -> WebDriver:
    """The browser after the very first request to the server, which is a deep link."""
    new_browser.get(fresh + DEEP_LINK)
    title_of(new_browser)
    return new_browser


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
    selector = '[data-testid="stMain"] [data-testid="stPageLink-NavLink"]'
    settled(first, selector)
    link = first.find_element(By.CSS_SELECTOR, selector)
    first.execute_script("arguments[0].click()", link)
    wait = WebDriverWait(first, 60)
    wait.until(lambda d: d.current_url.startswith(f"{fresh}/norms"))
    assert parameters(first)["lang"] == ["ja"]
    first.get(f"{fresh}/norms")
    english = title_of(first)
    settled(first, ".st-key-lang button")
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


def test_pages_of_other_sites_open_no_socket_and_the_server_calls_nobody(store_folder):
    with socket.create_server(("127.0.0.1", 0)) as proxy, socket.socket() as stalled:
        called = f"http://127.0.0.1:{proxy.getsockname()[1]}"
        with serving(store_folder, http_proxy=called, https_proxy=called, no_proxy="") as server:
            address = f"{server.replace('http', 'ws')}/_stcore/stream"
            for site in ("https://elsewhere.example", "http://127.0.0.1.example", "null"):
                with pytest.raises(InvalidStatus) as refused:
                    connect(address, origin=Origin(site))
                assert refused.value.response.status_code == 403
            with connect(address, origin=Origin(server), subprotocols=[Subprotocol("streamlit")]):
                pass
            _ask_and_read_nothing(stalled, server)  # which does not keep the server from ending
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


def mark(*words: str) -> str:
    """Selector of a mark of a chart by words of its accessible label."""
    return "path" + "".join(f"[aria-label*='{word}']" for word in words)


@dataclass(frozen=True)
class Click:
    """A click on a mark of a chart, what it chooses, and words that are shown then."""

    address: str
    chart: str
    mark: str
    chosen: tuple[tuple[str, str], ...] = ()
    shown: str = ""

    def choose(self, browser: WebDriver) -> None:
        target = browser.find_element(By.CSS_SELECTOR, f"[class*=st-key-{self.chart}] {self.mark}")
        ActionChains(browser).move_to_element(target).click().perform()

    def is_shown(self, browser: WebDriver) -> bool:
        """Return True if the words can be read, in a text or as the value of a picker."""
        return browser.execute_script(SHOWN, self.shown)


def until_address_has(
    expected: dict[str, str], click: Callable[[WebDriver], None]
) -> Callable[..., bool]:
    """Condition that the address has these choices; clicks until it holds."""
    patient = Patient(click)

    def is_chosen(browser: WebDriver) -> bool:
        return address_has(browser, expected) or bool(patient(browser))

    return is_chosen


def address_has(browser: WebDriver, expected: dict[str, str]) -> bool:
    """Return True if the address has these choices."""
    return all(parameters(browser).get(key) == [value] for key, value in expected.items())


CLICKS = [
    Click(
        "head-map?hm_view=groups&head=1-1",
        "hm_groups_plane",
        mark("layer: 2; head: 3"),
        (("head", "2-3"),),
        "L2·H3",
    ),
    Click(
        "layer-mixing?lm_view=similarity",
        "lm_similarity",
        "[aria-roledescription='text mark']"
        "[aria-label^='compared with: whole layer; counted up to: after the residual;']",
        (("lm_scope_a", "attn_res"), ("lm_scope_b", "attn_res_ln_ff_res_ln")),
        "Where do “after the residual” and “whole layer” agree least?",
    ),
    Click(
        "syntax?sy_view=relations&sy_chosen_on=all&sy_least=1&lang=ja",
        "sy_relations_rows",
        ".mark-symbol " + mark("conj · 並列要素"),
        (("sy_relation", "conj"),),
        "conj · 並列要素",
    ),
]


@pytest.fixture
def go(request, servers, browser):
    """Open an address on the files that suit the page; return a wait on the browser."""

    def open_page(address: str) -> WebDriverWait:
        page = address.partition("?")[0]
        name = {"relevance": "images", "coreference": "treebank", "syntax": "treebank"}.get(page)
        folder = request.getfixturevalue(f"{name or 'store'}_folder")
        browser.get(f"{servers(folder)}/{address}")
        title_of(browser)
        return WebDriverWait(browser, 60, ignored_exceptions=REDRAWN)

    return open_page


@pytest.mark.parametrize("click", CLICKS, ids=lambda click: click.chart)
def test_a_click_chooses_and_a_fresh_session_shows_it_again(click, go, browser):
    wait = go(click.address)
    wait.until(until_address_has(dict(click.chosen), click.choose))
    wait.until(click.is_shown)
    browser.get(browser.current_url)  # nothing but the address tells what was chosen
    wait.until(click.is_shown)
    assert address_has(browser, dict(click.chosen))


def test_a_cell_of_all_layers_opens_its_pair_in_the_same_window(go, browser):
    wait = go("token-pairs?lang=ja&tp_view=tables&tp_effect=ff_res&tp_least=3")
    cell = Click("", "tp_tables_amplified", ".mark-rect path[aria-label*=' → ']")
    wait.until(until_address_has({"tp_view": "workbench"}, cell.choose))
    ((source,), (target,)) = (parameters(browser)[f"tp_{side}"] for side in ("source", "target"))
    asked = f"{source} → {target} は各層でどれだけ変わるか"
    wait.until(lambda d: asked in [heading.text for heading in d.find_elements(By.TAG_NAME, "h3")])
    assert address_has(browser, {"lang": "ja", "tp_effect": "ff_res", "tp_least": "3"})
    assert len(browser.window_handles) == 1


TOP, SEEN, SMALLEST = 300, 300, 90  # pixels
NARROWEST = 180  # pixels of a caption
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
LABELS = """
const shown = (selector) => [...document.querySelectorAll(selector)]
    .map(each => [each.textContent.trim(), each.getBoundingClientRect()])
    .filter(([text, box]) => text && box.width);
const charts = [...document.querySelectorAll("[data-testid=stVegaLiteChart]")]
    .filter(each => each.getClientRects().length);
const idle = document.querySelector("[data-test-script-state=notRunning]");
if (!idle || !charts.length || !charts.every(each => each.querySelector("svg")?.clientHeight))
    return null;
const labels = shown("[data-testid=stVegaLiteChart] svg .role-axis-label text");
const crossed = labels.flatMap(([text, box], place) => labels.slice(place + 1)
    .filter(([, other]) =>
        Math.min(box.right, other.right) - Math.max(box.left, other.left) > 1 &&
        Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top) > box.height / 2)
    .map(([beside]) => text + " over " + beside));
const captions = shown("[data-testid=stMain] [data-testid=stCaptionContainer]");
const cut = shown("[data-testid=stVegaLiteChart] svg .role-title text")
    .map(([text]) => text).filter(text => text.includes("…"));
return [crossed, Math.min(...captions.map(([, box]) => box.width)), cut];
"""
"""Labels that stand on one another, the width of the narrowest caption, titles that are cut."""
PLACES = [
    ("sinks", "scores", "en", "gpt2"),
    ("compare", "headlines", "ja", "gpt2"),
    ("syntax", "relations", "ja", "treebank"),
    ("relevance", "map", "en", "images"),
]
"""Sections with few rows, long names or little width, and files."""


@pytest.mark.parametrize(("page", "stem", "lang", "name"), PLACES)
def test_the_first_chart_is_seen_without_scrolling_and_labels_have_room(
    page, stem, lang, name, browser: WebDriver, servers, request
):
    server = servers(request.getfixturevalue(f"{name}_folder"))

    def has_room(driver: WebDriver) -> bool:
        crossed, narrowest, cut = driver.execute_script(LABELS) or (["nothing drawn"], 0, [])
        return not crossed and narrowest >= NARROWEST and not cut

    def is_in_place(driver: WebDriver) -> bool:
        """Return True if the chart is in place; while it is drawn, it may move what is below."""
        top, tall = driver.execute_script(FIRST, SMALLEST) or (TOP + 1, 0)
        in_sight = min(top + tall, driver.execute_script("return innerHeight")) - top
        return top <= TOP and in_sight >= min(tall / 2, SEEN)

    try:
        wait = WebDriverWait(browser, 60)
        show_on(browser, 1280, 1900)
        browser.get(f"{server}/{PAGES[page]}?lang={lang}&{VIEWS[page]}={stem}")
        if name == "gpt2":
            wait.until(has_room, "labels cross, a caption is narrow or a title cut")
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


DRAWN = """
const charts = [...document.querySelectorAll("[data-testid=stVegaLiteChart]")]
    .filter(element => element.getClientRects().length);
const idle = document.querySelector("[data-test-script-state=notRunning]");
const waits = [...document.querySelectorAll("[data-testid=stSkeleton]")]
    .filter(element => element.getClientRects().length);
const drawn = charts.every(element => element.querySelector("svg, canvas")?.clientHeight);
return idle && drawn && !waits.length;
"""
"""Script that tells if all charts are drawn and nothing is awaited."""
NAMED = {"token_pairs": ("Pairs and sentences", "Layer", "How to read this", "Export", "Collect")}
"""Some of what is come by on a page."""
WALKED = ("token_pairs", "query")
"""Pages that have all kinds of controls between them."""
QUIET = """
const [done] = arguments;
let timer;
const rest = () => {
    clearTimeout(timer);
    timer = setTimeout(() => { observer.disconnect(); done(true); }, 300);
};
const observer = new MutationObserver(rest);
observer.observe(document.body, {subtree: true, childList: true, attributes: true});
rest();
"""
"""Script that ends when nothing has changed for a moment."""


def drawn(browser: WebDriver) -> WebDriver:
    """The page, drawn to its end; what is drawn last comes after a moment of rest."""
    title_of(browser)
    wait = WebDriverWait(browser, 60)
    wait.until(lambda d: d.execute_script(DRAWN) and d.execute_async_script(QUIET))
    wait.until(lambda d: d.execute_script(DRAWN))
    return browser


@pytest.mark.parametrize("name", WALKED)
def test_every_control_is_come_by_in_its_order_and_is_marked(name, browser, server):
    browser.get(f"{server}/{PAGES[name]}?lang=en")
    drawn(browser)
    result = walk(browser)
    for _ in range(2):  # a part that is drawn anew takes the focus with it
        if result.faults:
            result = walk(browser)
    assert not result.faults
    assert result.names[0] == "A Skip to main content"
    names = "\n".join(result.names)
    assert all(control in names for control in ("Find anything", *NAMED.get(name, ("Methods",))))


SMALLEST, LOWEST = 16, 200  # pixels of a list's letters, and of the room of a view
LEFT_OUT = ("compare", "query", "sequences")
"""Of several files, and those that run a model."""
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


@pytest.mark.parametrize("page", [page for page in VIEWS if page not in LEFT_OUT])
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
            given = (MOST_ROWS, SMALLEST, LOWEST)
            assert browser.execute_script(FAULTS, *given) == [len(still), []], (width, height)
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
